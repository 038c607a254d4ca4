//! When a round is due, who does it, and what becomes of one whose holder died.

use std::fs;
use std::process::{Command, Stdio};
use std::time::Duration;

use hedgerow_core::{Kind, Timestamp, Work};
use hedgerow_engine::engine::{Round, SweptOutcome};
use hedgerow_engine::{Clock as _, Engine, Settings, timer};
use hedgerow_testkit::World;
use hedgerow_testkit::world::alice;

use super::{CHORE, DAY, of, ticks};
use crate::acts::{Scene, git_that, is_there};
use crate::cleaning::lines;

use SweptOutcome::{Kept, Removed};

async fn is_done(world: &World) -> bool {
    world.engine.run_if_due().await.expect("an answer").is_some()
}

async fn next(world: &World) -> Timestamp {
    world.engine.next_round_at().await.expect("an answer").expect("rounds are on")
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_round_is_due_at_once_and_the_next_after_the_interval() {
    let world = World::new().await;
    assert!(next(&world).await <= world.clock.now());
    for round in 0..10 {
        let began = world.clock.now();
        assert!(is_done(&world).await, "round {round}");
        assert!(!is_done(&world).await, "round {round} is done");
        let at = next(&world).await;
        let after = at.seconds_since(began);
        assert!((6 * 3600 * 9 / 10..=6 * 3600 * 11 / 10).contains(&after), "{after} s");
        world.clock.set(at.plus_seconds(-1));
        assert!(!is_done(&world).await, "not a second too early");
        world.clock.set(at);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_round_by_hand_counts_for_the_timer() {
    let world = World::new().await;
    ticks(&world, false).await;
    assert!(!is_done(&world).await);
    ticks(&world, false).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn with_an_interval_of_zero_no_round_is_ever_due() {
    let world = World::with(|settings| settings.cleanup_every_hours = 0).await;
    assert!(!is_done(&world).await);
    assert_eq!(world.engine.next_round_at().await.expect("an answer"), None);
    ticks(&world, false).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn of_sixteen_who_find_a_round_due_one_does_it() {
    let world = World::new().await;
    let (_repo, codebase) = world.given_a_repo("shop").await;
    world.environment(&codebase, Work::Issue(1)).await;
    let mut engines = Vec::new();
    for _ in 0..16 {
        engines.push(world.another_engine().await);
    }
    for moment in 0..3 {
        let start = std::sync::Arc::new(tokio::sync::Barrier::new(engines.len()));
        let mut racers = tokio::task::JoinSet::new();
        for engine in engines.clone() {
            let start = start.clone();
            racers.spawn(async move {
                start.wait().await;
                engine.run_if_due().await.expect("an answer").is_some()
            });
        }
        let done = racers.join_all().await.into_iter().filter(|done| *done).count();
        assert_eq!(done, 1, "moment {moment}");
        world.clock.days_pass(1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn while_a_round_is_under_way_nobody_begins_another() {
    let folder = tempfile::tempdir().expect("a folder");
    let pipe = |name: &str| {
        let pipe = folder.path().join(name);
        assert!(Command::new("mkfifo").arg(&pipe).status().expect("mkfifo starts").success());
        pipe
    };
    let (begun, go_on) = (pipe("begun"), pipe("go-on"));
    let first = format!(
        "case \" $* \" in *\" worktree list \"*) if [ -e '{0}/slow' ]; then rm '{0}/slow'; echo > '{1}'; read _ < '{2}'; fi;; esac",
        folder.path().display(),
        begun.display(),
        go_on.display()
    );
    let world = World::with(|settings| settings.git = git_that(folder.path(), &first)).await;
    let (_repo, codebase) = world.given_a_repo("shop").await;
    world.environment(&codebase, Work::Issue(1)).await;
    let others = [world.another_engine().await, world.engine.clone()];
    fs::write(folder.path().join("slow"), "").expect("from now on");
    let engine = world.engine.clone();
    let round = tokio::spawn(async move { engine.run_if_due().await.expect("an answer").is_some() });
    tokio::task::spawn_blocking(move || fs::read(begun)).await.expect("it runs").expect("it is in the middle of it");
    for other in &others {
        world.clock.days_pass(1);
        assert!(other.run_if_due().await.expect("an answer").is_none());
        assert_eq!(other.tick(false, &alice()).await.expect_err("somebody is at it").kind(), Kind::Busy);
        assert!(other.next_round_at().await.expect("an answer").is_some());
    }
    fs::write(go_on, "\n").expect("it goes on");
    assert!(round.await.expect("it ends"));
    assert!(is_done(&world).await, "two days have passed");
}

/// A process of this machine that is no more.
fn dead_pid() -> u32 {
    let mut child = Command::new("true").stdout(Stdio::null()).spawn().expect("it starts");
    child.wait().expect("it ends");
    child.id()
}

/// Somebody began a round and is still at it, or died.
async fn held_by(world: &World, holder: &str, until: i64) {
    let store = world.engine.store();
    let (seen, now) = (store.chore(CHORE).await.expect("read"), world.clock.now());
    assert!(store.take_chore(CHORE, &seen, holder, now, now.plus_seconds(until)).await.expect("answers"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_round_whose_holder_was_killed_is_taken_over_at_once() {
    let world = World::new().await;
    held_by(&world, &format!("here:{}", dead_pid()), 100).await;
    assert!(next(&world).await <= world.clock.now(), "what was not finished is due");
    assert!(is_done(&world).await);
    assert!(!is_done(&world).await);
    // Its process is alive, or on a machine that cannot be asked: wait until the claim runs out.
    for holder in [format!("here:{}", std::os::unix::process::parent_id()), "elsewhere:1".to_owned()] {
        world.clock.days_pass(1);
        held_by(&world, &holder, 100).await;
        assert!(!is_done(&world).await, "{holder}");
        let refused = world.engine.tick(false, &alice()).await.expect_err("somebody is at it");
        assert_eq!(refused.kind(), Kind::Busy);
        world.clock.set(world.clock.now().plus_seconds(100));
        assert!(is_done(&world).await, "{holder}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_claim_from_the_future_was_written_by_a_clock_that_went_back() {
    let world = World::new().await;
    held_by(&world, "elsewhere:1", 365 * DAY).await;
    assert!(is_done(&world).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn every_machine_of_a_store_has_rounds_of_its_own() {
    let world = World::new().await;
    let (_repo, codebase) = world.given_a_repo("shop").await;
    let environment = world.environment(&codebase, Work::Issue(1)).await;
    world.clock.days_pass(20);
    let settings = world.settings().clone();
    let home = world.folder().join("wren");
    let wren = Settings { node: "wren".to_owned(), worktrees: home.join("worktrees"), home, ..settings };
    let wren = Engine::open(wren, world.clock.clone()).await.expect("another machine");
    let round = wren.run_if_due().await.expect("an answer").expect("it is due there");
    assert_eq!(lines(of(&round, &codebase)), [("issue-1", Kept, "on the machine `here`")]);
    assert_eq!((round.live, round.away), (0, None));
    assert!(is_there(&environment.path));
    let round = world.engine.run_if_due().await.expect("an answer").expect("it is due here");
    assert_eq!(lines(of(&round, &codebase)), [("issue-1", Removed, "stale: no activity for 20 days")]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_timer_does_what_is_due_and_ends_when_it_is_told() {
    let scene = Scene::begin().await;
    scene.world.clock.days_pass(20);
    let (stop, stopped) = tokio::sync::oneshot::channel();
    let (mut stop, mut rounds) = (Some(stop), Vec::new());
    let told = |round: Round| {
        rounds.push(round);
        let _ = stop.take().expect("one round is due").send(());
    };
    let stopped = async { _ = stopped.await };
    let minute = Duration::from_mins(1);
    tokio::time::timeout(minute, timer::run(&scene.world.engine, stopped, told)).await.expect("it ends");
    assert_eq!(rounds.len(), 1);
    assert_eq!(lines(of(&rounds[0], &scene.codebase))[0].1, Removed);
    // With nothing due it waits, and wakes when it is told.
    let told = |round: Round| panic!("not due: {round:?}");
    let moment = tokio::time::sleep(Duration::from_millis(20));
    tokio::time::timeout(minute, timer::run(&scene.world.engine, moment, told)).await.expect("it ends");
}

#[tokio::test(flavor = "multi_thread")]
async fn no_error_ends_the_timer_and_the_next_look_finds_the_round_due() {
    let scene = Scene::begin().await;
    scene.world.clock.days_pass(20);
    let database = scene.world.database();
    database.meddle("ALTER TABLE codebases RENAME TO away").await.expect("the store is in trouble");
    let error = scene.world.engine.run_if_due().await.expect_err("the store is in trouble");
    assert_eq!(error.kind(), Kind::Failed);
    let moment = tokio::time::sleep(Duration::from_millis(20));
    let told = |round: Round| panic!("nothing can be done: {round:?}");
    tokio::time::timeout(Duration::from_mins(1), timer::run(&scene.world.engine, moment, told)).await.expect("it ends");
    database.meddle("ALTER TABLE away RENAME TO codebases").await.expect("it is well again");
    scene.world.clock.days_pass(1);
    let round = scene.world.engine.run_if_due().await.expect("an answer").expect("due");
    assert_eq!(lines(of(&round, &scene.codebase))[0].1, Removed);
}
