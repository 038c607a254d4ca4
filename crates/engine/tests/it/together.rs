//! Many at once: one environment per work, none lost, none too many.

use std::collections::HashSet;
use std::sync::Arc;

use hedgerow_core::environment::{Actor, Resolution};
use hedgerow_core::provider::NoProgress;
use hedgerow_core::{Kind, State, Work};
use hedgerow_engine::engine::{Request, Resolved, Sweep};
use hedgerow_engine::{Engine, Failure};
use hedgerow_testkit::World;
use hedgerow_testkit::repo::commit;
use hedgerow_testkit::world::alice;
use tokio::sync::Barrier;
use tokio::task::JoinSet;

/// All requests at the same moment, spread over the engines.
async fn at_once(engines: &[Engine], requests: Vec<Request>) -> Vec<Result<Resolved, Failure>> {
    let barrier = Arc::new(Barrier::new(requests.len()));
    let mut asking = JoinSet::new();
    for (index, request) in requests.into_iter().enumerate() {
        let (engine, barrier) = (engines[index % engines.len()].clone(), Arc::clone(&barrier));
        asking.spawn(async move {
            barrier.wait().await;
            engine.resolve(&request, &NoProgress).await
        });
    }
    asking.join_all().await
}

/// Branches, folders and registrations are those of the live environments and no others.
async fn nothing_is_left_over(world: &World, repo: &hedgerow_testkit::TestRepo, codebase: &hedgerow_core::Codebase) {
    let live = world.engine.store().live(codebase.id).await.expect("the store answers");
    assert!(live.iter().all(|environment| environment.state == State::Active));
    let expected: HashSet<_> = live.iter().map(|environment| environment.path.clone()).collect();
    let trash = world.settings().worktrees.join(".trash");
    let listed: HashSet<_> = repo.worktrees().into_iter().filter(|path| !path.starts_with(&trash)).collect();
    assert_eq!(listed, expected);
    let folders = std::fs::read_dir(world.settings().worktrees.join(&codebase.folder)).expect("the folder");
    assert_eq!(folders.map(|entry| entry.expect("an entry").path()).collect::<HashSet<_>>(), expected);
    let mut branches: Vec<String> = live.iter().map(|environment| environment.branch.to_string()).collect();
    branches.push("main".to_owned());
    branches.sort();
    assert_eq!(repo.branches(), branches);
    assert!(repo.git(&["fsck"]).is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hundred_requests_for_one_work_make_one_environment() {
    let world = World::new().await;
    let (repo, codebase) = world.given_a_repo("shop").await;
    let requests = vec![world.asks(&codebase, Work::Issue(42)); 100];

    let answers = at_once(std::slice::from_ref(&world.engine), requests).await;

    let resolved: Vec<Resolved> = answers.into_iter().map(|answer| answer.expect("an environment")).collect();
    let ids: HashSet<_> = resolved.iter().map(|resolved| resolved.environment.id).collect();
    assert_eq!((resolved.len(), ids.len()), (100, 1));
    assert!(resolved.iter().all(|resolved| resolved.environment.state == State::Active));
    let created = resolved.iter().filter(|resolved| resolved.resolution == Resolution::Created).count();
    assert_eq!(created, 1);
    nothing_is_left_over(&world, &repo, &codebase).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn several_engines_on_one_home_make_one_environment_per_work() {
    let world = World::new().await;
    let (repo, codebase) = world.given_a_repo("shop").await;
    let mut engines = vec![world.engine.clone()];
    for _ in 0..3 {
        engines.push(world.another_engine().await);
    }
    let requests = (0..100).map(|index| world.asks(&codebase, Work::Issue(index % 4 + 1))).collect();

    let answers = at_once(&engines, requests).await;

    let ids: HashSet<_> = answers.into_iter().map(|answer| answer.expect("an environment").environment.id).collect();
    assert_eq!(ids.len(), 4);
    nothing_is_left_over(&world, &repo, &codebase).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hundred_different_works_get_a_hundred_environments() {
    let world = World::with(|settings| settings.limit = 0).await;
    let (repo, codebase) = world.given_a_repo("shop").await;
    let requests = (1..=100).map(|number| world.asks(&codebase, Work::Issue(number))).collect();

    let answers = at_once(std::slice::from_ref(&world.engine), requests).await;

    let resolved: Vec<Resolved> = answers.into_iter().map(|answer| answer.expect("an environment")).collect();
    let ports: HashSet<_> = resolved.iter().map(|resolved| resolved.environment.port).collect();
    assert_eq!((resolved.len(), ports.len()), (100, 100));
    nothing_is_left_over(&world, &repo, &codebase).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hundred_requests_for_the_last_place_make_one_more() {
    let world = World::new().await;
    let (repo, codebase) = world.given_a_repo("shop").await;
    let first = (1..=24).map(|number| world.asks(&codebase, Work::Issue(number))).collect();
    for answer in at_once(std::slice::from_ref(&world.engine), first).await {
        answer.expect("an environment");
    }
    let started = std::time::Instant::now();
    let requests = (101..=200).map(|number| world.asks(&codebase, Work::Issue(number))).collect();

    let answers = at_once(std::slice::from_ref(&world.engine), requests).await;

    let (made, refused): (Vec<_>, Vec<_>) = answers.into_iter().partition(Result::is_ok);
    assert_eq!((made.len(), refused.len()), (1, 99));
    for failure in refused.into_iter().filter_map(Result::err) {
        assert_eq!(failure.kind(), Kind::Limit);
        assert!(failure.to_string().starts_with("You have 25 active worktrees for **shop** (limit reached)."));
        assert!(failure.to_string().contains("• 25 active\n"), "{failure}");
    }
    nothing_is_left_over(&world, &repo, &codebase).await;
    assert!(started.elapsed().as_secs() < 30, "{:?}", started.elapsed());
}

#[tokio::test(flavor = "multi_thread")]
async fn everyone_who_waits_for_a_restore_gets_it() {
    let world = World::new().await;
    let (repo, codebase) = world.given_a_repo("shop").await;
    let made = world.environment(&codebase, Work::Issue(42)).await;
    commit(&made.path, "work.txt", "unmerged");
    world.clock.days_pass(30);
    world.engine.cleanup(&codebase, Sweep::Stale, false, &Actor::automation()).await.expect("a sweep");

    let answers = at_once(std::slice::from_ref(&world.engine), vec![world.asks(&codebase, Work::Issue(42)); 20]).await;

    for answer in answers {
        assert_eq!(answer.expect("an environment").environment.id, made.id);
    }
    nothing_is_left_over(&world, &repo, &codebase).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn making_and_removing_the_same_work_at_once_ends_in_order() {
    let world = World::new().await;
    let (repo, codebase) = world.given_a_repo("shop").await;
    for _ in 0..5 {
        world.environment(&codebase, Work::Issue(42)).await;
        let mut both = JoinSet::new();
        for _ in 0..4 {
            let (engine, request) = (world.engine.clone(), world.asks(&codebase, Work::Issue(42)));
            both.spawn(async move { engine.resolve(&request, &NoProgress).await.map(drop) });
            let (engine, codebase) = (world.engine.clone(), codebase.clone());
            both.spawn(async move {
                let environment = engine.require_environment(&codebase, "issue-42").await?;
                engine.remove(&environment, false, &alice()).await.map(drop)
            });
        }
        for outcome in both.join_all().await {
            if let Err(failure) = outcome {
                assert!(matches!(failure.kind(), Kind::Busy | Kind::NotFound), "{failure:?}");
            }
        }
        nothing_is_left_over_but_trash(&world, &repo, &codebase).await;
    }
}

/// As [`nothing_is_left_over`], at a moment when there may be no environment at all.
async fn nothing_is_left_over_but_trash(
    world: &World,
    repo: &hedgerow_testkit::TestRepo,
    codebase: &hedgerow_core::Codebase,
) {
    world.environment(codebase, Work::Issue(42)).await;
    nothing_is_left_over(world, repo, codebase).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_at_the_same_time_share_their_fetches() {
    let log = tempfile::tempdir().expect("a folder");
    let fetches = log.path().join("fetches");
    let program = log.path().join("git");
    let script = format!(
        "#!/bin/sh\ncase \"$*\" in *' fetch '*) echo fetch >> '{}';; esac\nexec git \"$@\"\n",
        fetches.display()
    );
    std::fs::write(&program, script).expect("the program");
    std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("executable");
    let world = World::with(|settings| settings.git = program).await;
    let (_repo, codebase) = world.given_a_repo("shop").await;
    let requests = (1..=20).map(|number| world.asks(&codebase, Work::Issue(number))).collect();

    for answer in at_once(std::slice::from_ref(&world.engine), requests).await {
        answer.expect("an environment");
    }

    let count = std::fs::read_to_string(&fetches).expect("some were made").lines().count();
    assert!(count <= 10, "{count} fetches for 20 requests");
}
