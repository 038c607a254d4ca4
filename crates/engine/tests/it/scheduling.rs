//! Rounds: what they do over all codebases, when they are due, and that nobody does one twice.

mod due;
mod year;

use std::fs;

use hedgerow_core::environment::{Actor, Trash, TrashedBecause};
use hedgerow_core::platform::PlatformKind;
use hedgerow_core::{Codebase, Environment, State, Work};
use hedgerow_engine::Clock as _;
use hedgerow_engine::engine::{Round, Sweep, Swept, SweptOutcome};
use hedgerow_engine::store::{Chore, NewEvent};
use hedgerow_testkit::repo::{commit, write};
use hedgerow_testkit::world::alice;
use hedgerow_testkit::{Tree, World};

use crate::acts::{Acts as _, Scene, is_there};
use crate::cleaning::{changed_at, forgotten, lines, merged};

use SweptOutcome::{Failed, Forgotten, Kept, Listed, Removed, TakenOver, WouldRemove};

const CHORE: &str = "cleanup:here";
const DAY: i64 = 86_400;

async fn ticks(world: &World, dry_run: bool) -> Round {
    world.engine.tick(dry_run, &Actor::automation()).await.expect("a round")
}

/// The part of a codebase in a round.
fn of<'a>(round: &'a Round, codebase: &Codebase) -> &'a [Swept] {
    let tidied = round.codebases.iter().find(|tidied| tidied.codebase == codebase.name);
    &tidied.unwrap_or_else(|| panic!("{} is in the round", codebase.name)).report
}

#[tokio::test(flavor = "multi_thread")]
async fn a_round_takes_what_is_merged_or_stale_and_says_why_the_rest_stays() {
    let world = World::new().await;
    let (repo, shop) = world.given_a_repo("shop").await;
    let (_, press) = world.given_a_repo("press").await;
    let done = merged(&world, &repo, &shop, 1).await;
    let mut all = Vec::new();
    for issue in 2..=7 {
        all.push(world.environment(&shop, Work::Issue(issue)).await);
    }
    let other = world.environment(&press, Work::Issue(1)).await;
    let mine = world.folder().join("mine");
    repo.git(&["worktree", "add", "--quiet", "-b", "mine", mine.to_str().expect("a plain path"), "issue-1"]);
    world.engine.adopt(&shop, &mine, &alice()).await.expect("adopted");
    world.clock.days_pass(20);
    world.talks(PlatformKind::Telegram, "7", &all[0]).await;
    world.engine.pin(&all[1], true, &alice()).await.expect("pinned");
    let now = world.engine.store_now().await.expect("the store answers");
    world.engine.store().take_lease(all[2].id, "wren:1", now, 3600).await.expect("ok").expect("free");
    write(&all[3].path, "notes", "mine\n");
    changed_at(&all[3].path.join("notes"), all[3].created_at);
    world.engine.touch(&all[4]).await.expect("used");

    let expected = |gone| {
        vec![
            ("issue-1", gone, "merged: it is at the same commit as main"),
            ("issue-2", Kept, "used by a Telegram conversation"),
            ("issue-3", Kept, "pinned"),
            ("issue-4", Kept, "a run is active"),
            ("issue-5", Kept, "uncommitted changes"),
            ("issue-6", Kept, "active today"),
            ("issue-7", gone, "stale: no activity for 20 days"),
            ("task-mine", Kept, "adopted"),
        ]
    };
    let before = Tree::of(&world.settings().worktrees);
    let round = ticks(&world, true).await;
    assert_eq!(lines(of(&round, &shop)), expected(WouldRemove));
    assert_eq!(before.differences(&Tree::of(&world.settings().worktrees)), Vec::<String>::new(), "a dry run");
    assert_eq!(world.engine.store().chore(CHORE).await.expect("read"), Chore::default(), "a dry run claims nothing");

    let round = ticks(&world, false).await;
    assert_eq!(lines(of(&round, &shop)), expected(Removed));
    assert_eq!(lines(of(&round, &press)), [("issue-1", Removed, "stale: no activity for 20 days")]);
    assert!(!is_there(&done.path) && !is_there(&other.path) && is_there(&mine));
    assert_eq!((round.live, round.trashed, round.away), (6, 3, None));
    let disk = round.disk.expect("the disk is known");
    assert!(disk.free_bytes > 0 && disk.free_bytes <= disk.total_bytes);
    let chore = world.engine.store().chore(CHORE).await.expect("read");
    assert!(chore.holder.is_none() && chore.ended_at > chore.began_at, "{chore:?}");
    world.engine.restore(&shop, "issue-7", &alice()).await.expect("it comes back");
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_that_fails_stops_the_rest_of_a_round() {
    let world = World::new().await;
    let (repo, shop) = world.given_a_repo("shop").await;
    let (_, works) = world.given_a_repo("works").await;
    let mut all = Vec::new();
    for issue in 1..=4 {
        all.push(world.environment(&shop, Work::Issue(issue)).await);
    }
    let (gone_repo, gone) = world.given_a_repo("gone").await;
    let lost = world.environment(&gone, Work::Issue(1)).await;
    let well = world.environment(&works, Work::Issue(1)).await;
    world.clock.days_pass(20);
    fs::rename(&all[0].path, world.folder().join("aside")).expect("moved");
    fs::create_dir(&all[0].path).expect("something else in its place");
    fs::remove_dir_all(&all[1].path).expect("deleted");
    write(&world.settings().worktrees, &format!(".trash/{}", all[2].id), "in the way");
    fs::rename(gone_repo.path(), world.folder().join("gone-away")).expect("the repository is moved away");

    let round = ticks(&world, false).await;
    let told = lines(of(&round, &shop));
    assert_eq!(told[0], ("issue-1", Kept, "broken: it has no `.git`"));
    assert_eq!(told[1], ("issue-2", Forgotten, "its folder was gone"));
    assert_eq!((told[2].0, told[2].1), ("issue-3", Failed));
    assert_eq!(told[3], ("issue-4", Removed, "stale: no activity for 20 days"));
    assert_eq!((world.row(&all[2]).await.state, is_there(&all[2].path)), (State::Active, true));
    let told = lines(of(&round, &gone));
    assert_eq!((told[0].0, told[0].1), ("issue-1", Kept), "{told:?}");
    assert_eq!((told[1].0, told[1].1), ("gone", Failed), "{told:?}");
    assert!(is_there(&lost.path));
    assert_eq!(lines(of(&round, &works)), [("issue-1", Removed, "stale: no activity for 20 days")]);
    assert!(!is_there(&well.path));
    assert!(repo.worktrees().contains(&all[2].path));
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_sentinel_of_the_base_nothing_is_done() {
    let scene = Scene::begin().await;
    let world = &scene.world;
    let stray = world.environment(&scene.codebase, Work::Issue(1)).await;
    let missing = world.environment(&scene.codebase, Work::Issue(2)).await;
    forgotten(world, stray.id).await;
    fs::remove_dir_all(&missing.path).expect("deleted");
    world.clock.days_pass(20);
    let sentinel = world.settings().worktrees.join(".hedgerow-base");
    fs::remove_file(&sentinel).expect("the sentinel is lost");
    let before = Tree::of(&world.settings().worktrees);

    let round = ticks(world, false).await;
    assert!(round.away.as_ref().is_some_and(|why| why.contains("has no sentinel file")), "{round:?}");
    let report = of(&round, &scene.codebase);
    assert!(report.iter().all(|line| line.outcome == Kept && line.because.starts_with("no cleanup: ")), "{report:?}");
    assert_eq!(report.len(), 3);
    for sweep in [Sweep::Merged, Sweep::Stale, Sweep::Orphans] {
        let report = world.engine.cleanup(&scene.codebase, sweep, false, &alice()).await.expect("a report");
        assert!(!report.is_empty() && report.iter().all(|line| line.outcome == Kept), "{sweep:?} {report:?}");
    }
    assert_eq!(before.differences(&Tree::of(&world.settings().worktrees)), Vec::<String>::new());
    assert_eq!((scene.row().await.state, world.row(&missing).await.state), (State::Active, State::Unreachable));

    fs::write(&sentinel, "").expect("the disk is back");
    let round = ticks(world, false).await;
    let outcomes: Vec<_> = of(&round, &scene.codebase).iter().map(|line| line.outcome).collect();
    assert_eq!((outcomes, round.away), (vec![Removed, Forgotten, Removed], None));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_base_that_was_never_made_is_not_away() {
    let world = World::new().await;
    world.given_a_repo("shop").await;
    let round = ticks(&world, false).await;
    assert_eq!((round.away, round.live, round.trashed), (None, 0, 0));
    assert!(!is_there(&world.settings().worktrees.join(".hedgerow-base")), "cleanup makes nothing");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_crash_left_half_made_is_settled_by_the_round() {
    let world = World::new().await;
    let (repo, codebase) = world.given_a_repo("shop").await;
    let making = world.environment(&codebase, Work::Issue(1)).await;
    let going = world.environment(&codebase, Work::Issue(2)).await;
    let store = world.engine.store();
    let event = NewEvent::new(world.clock.now(), &alice(), "meddled");
    let half_made = Environment { state: State::Creating, ..making.clone() };
    store.save(&half_made, (making.state, making.generation), &event).await.expect("as if it was not finished");
    let trash = Trash {
        path: world.settings().worktrees.canonicalize().expect("there").join(".trash").join(going.id.to_string()),
        at: world.clock.now(),
        because: TrashedBecause::Asked,
        head: going.base_sha.clone(),
        was_detached: false,
        branch_deleted: false,
    };
    let half_gone =
        Environment { state: State::Removing, generation: going.generation + 1, trash: Some(trash), ..going.clone() };
    store.save(&half_gone, (going.state, going.generation), &event).await.expect("as if it was not finished");

    let round = ticks(&world, true).await;
    let would = "half-made, and its maker is gone";
    assert_eq!(lines(of(&round, &codebase)), [("issue-1", WouldRemove, would), ("issue-2", WouldRemove, would)]);
    assert!(is_there(&making.path) && is_there(&going.path));
    let round = ticks(&world, false).await;
    let told = [
        ("issue-1", Forgotten, "half-made, and its maker was gone"),
        ("issue-2", Removed, "its removal was interrupted, and is done now"),
    ];
    assert_eq!(lines(of(&round, &codebase)), told);
    assert_eq!((world.row(&making).await.state, world.row(&going).await.state), (State::Destroyed, State::Trashed));
    assert!(!is_there(&making.path) && !is_there(&going.path));
    assert_eq!(repo.branches(), ["issue-2", "main"]);
    world.engine.restore(&codebase, "issue-2", &alice()).await.expect("it comes back");
}

#[tokio::test(flavor = "multi_thread")]
async fn orphans_of_ours_are_trashed_or_taken_over_and_strangers_are_listed() {
    let world = World::new().await;
    let (repo, codebase) = world.given_a_repo("shop").await;
    let clean = world.environment(&codebase, Work::Issue(1)).await;
    let dirty = world.environment(&codebase, Work::Issue(2)).await;
    let trashed = world.environment(&codebase, Work::Issue(3)).await;
    world.removes(&trashed, false).await.expect("removed");
    write(&dirty.path, "notes", "mine\n");
    for orphan in [&clean, &dirty, &trashed] {
        forgotten(&world, orphan.id).await;
    }
    let theirs = world.folder().join("theirs");
    repo.git(&["worktree", "add", "--quiet", "-b", "theirs", theirs.to_str().expect("a plain path")]);
    let before = (Tree::of(&dirty.path), Tree::of(&theirs));
    let round = ticks(&world, false).await;
    let mut told: Vec<_> = lines(of(&round, &codebase)).into_iter().map(|(name, outcome, _)| (name, outcome)).collect();
    told.sort_unstable_by_key(|line| line.0);
    assert_eq!(told, [("(detached)", Kept), ("issue-1", Removed), ("issue-2", TakenOver), ("theirs", Listed)]);
    assert_eq!(before.0.differences(&Tree::of(&dirty.path)), Vec::<String>::new());
    assert_eq!(before.1.differences(&Tree::of(&theirs)), Vec::<String>::new());
    assert!(!is_there(&clean.path));
    let round = ticks(&world, false).await;
    assert!(round.lines().all(|line| matches!(line.outcome, Kept | Listed)), "the next finds nothing to do: {round:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_parked_environment_is_left_alone_until_it_is_verifiably_gone() {
    let scene = Scene::begin().await;
    fs::rename(scene.path(), scene.world.folder().join("aside")).expect("it is moved away");
    fs::create_dir(scene.path()).expect("something else is in its place");
    scene.world.clock.days_pass(20);
    let round = ticks(&scene.world, false).await;
    assert_eq!(scene.row().await.state, State::Broken);
    let told = [("issue-42", Kept, "broken: it has no `.git`")];
    assert_eq!(lines(of(&round, &scene.codebase)), told);
    fs::remove_dir_all(scene.path()).expect("a person deleted it");
    let round = ticks(&scene.world, false).await;
    assert_eq!(lines(of(&round, &scene.codebase)), [("issue-42", Forgotten, "its folder was gone")]);
}

#[tokio::test(flavor = "multi_thread")]
async fn fresh_work_is_not_merged_however_often_a_round_looks() {
    let scene = Scene::begin().await;
    let begun = scene.world.environment(&scene.codebase, Work::Issue(1)).await;
    commit(&begun.path, "a", "1\n");
    for _ in 0..3 {
        let round = ticks(&scene.world, false).await;
        let told = [("issue-42", Kept, "active today"), ("issue-1", Kept, "active today")];
        assert_eq!(lines(of(&round, &scene.codebase)), told);
    }
}
