//! A process that dies in the middle: the next one takes a creation back and carries a removal on, exactly.
//!
//! An act is dropped while git hangs at a chosen call. What is left is what SIGKILL leaves: the row, git's half-done
//! work, a lease nobody gives back. Only the locks are free, as the kernel would have freed them.

use std::fs;
use std::path::Path;
use std::time::Duration;

use hedgerow_core::provider::NoProgress;
use hedgerow_core::{Environment, State, Work};
use hedgerow_engine::Engine;
use hedgerow_testkit::git::git;
use hedgerow_testkit::repo::{commit, write};
use hedgerow_testkit::world::alice;
use hedgerow_testkit::{Tree, World};
use tokio::task::JoinHandle;

use crate::acts::{Scene, admin, git_that, is_there};

/// When git stops answering.
#[derive(Debug, Clone, Copy)]
enum Hangs {
    /// Instead of the call that has this word.
    Before(&'static str),
    /// Right after it.
    After(&'static str),
}

/// What git's own death does to an admin folder and a worktree.
type Damage = fn(&Path, &Path);

/// An engine whose git hangs at one call, and the file that says that it does.
async fn engine_that(world: &World, hangs: Hangs) -> (Engine, std::path::PathBuf) {
    let reached = world.folder().join("reached");
    let _ = fs::remove_file(&reached);
    let (word, run) = match hangs {
        Hangs::Before(word) => (word, ""),
        Hangs::After(word) => (word, "git \"$@\" >/dev/null 2>&1;"),
    };
    let script = format!(
        "for word in \"$@\"; do [ \"$word\" = '{word}' ] && {{ {run} : > '{}'; exec sleep 600; }}; done",
        reached.display()
    );
    let mut settings = world.settings().clone();
    settings.git = git_that(&world.folder().join("bin"), &script);
    (Engine::open(settings, world.clock.clone()).await.expect("it opens"), reached)
}

/// Waits until git hangs.
async fn hanging<T: std::fmt::Debug>(act: &mut JoinHandle<T>, reached: &Path) {
    while !reached.exists() {
        assert!(!act.is_finished(), "it ended without that call: {:?}", act.await);
        tokio::time::sleep(Duration::from_millis(3)).await;
    }
}

/// The process dies while git hangs.
async fn dies<T: std::fmt::Debug>(mut act: JoinHandle<T>, reached: &Path) {
    hanging(&mut act, reached).await;
    act.abort();
    let _ = act.await;
}

async fn creating(
    world: &World,
    codebase: &hedgerow_core::Codebase,
    hangs: Hangs,
) -> (JoinHandle<()>, std::path::PathBuf) {
    let (engine, reached) = engine_that(world, hangs).await;
    let request = world.asks(codebase, Work::Issue(42));
    let act = tokio::spawn(async move {
        let _ = engine.resolve(&request, &NoProgress).await;
    });
    (act, reached)
}

async fn the_row(world: &World, state: State) -> Environment {
    let mut rows = world.engine.store().in_state("here", state).await.expect("the store answers");
    assert_eq!(rows.len(), 1, "{state}");
    rows.remove(0)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_creation_whose_maker_died_is_taken_back_whole() {
    for stage in [Hangs::Before("add"), Hangs::After("add"), Hangs::Before("checkout"), Hangs::After("checkout")] {
        let mut world = World::new().await;
        let (repo, codebase) = world.given_a_repo("shop").await;
        let kept = world.environment(&codebase, Work::Issue(1)).await;
        let (act, reached) = creating(&world, &codebase, stage).await;
        dies(act, &reached).await;
        let row = the_row(&world, State::Creating).await;
        for _ in 0..2 {
            world.restarts().await;
            assert_eq!(world.row(&row).await.state, State::Destroyed, "{stage:?}");
            assert!(!is_there(&row.path), "{stage:?}");
            assert_eq!(repo.worktrees(), std::slice::from_ref(&kept.path), "{stage:?}");
            assert_eq!(repo.branches(), ["issue-1", "main"], "{stage:?}");
        }
        let again = world.environment(&codebase, Work::Issue(42)).await;
        assert_eq!((again.path, again.branch), (row.path, row.branch), "as if nothing had happened, {stage:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_git_leaves_when_it_dies_itself_is_taken_back_too() {
    let damages: [(&str, Damage); 4] = [
        ("only the lock was written", |admin, path| {
            for name in ["gitdir", "commondir", "HEAD"] {
                fs::remove_file(admin.join(name)).expect("it was there");
            }
            fs::remove_file(path.join(".git")).expect("it was there");
        }),
        ("an empty commondir, which breaks `git worktree list`", |admin, _| {
            fs::write(admin.join("commondir"), "").expect("a file");
        }),
        ("no HEAD yet", |admin, _| fs::remove_file(admin.join("HEAD")).expect("it was there")),
        ("a lock file of git's", |admin, _| fs::write(admin.join("index.lock"), "").expect("a file")),
    ];
    for (what, damage) in damages {
        let mut world = World::new().await;
        let (repo, codebase) = world.given_a_repo("shop").await;
        let (act, reached) = creating(&world, &codebase, Hangs::After("add")).await;
        dies(act, &reached).await;
        let row = the_row(&world, State::Creating).await;
        damage(&repo.path().join(".git/worktrees/issue-42"), &row.path);
        world.restarts().await;
        assert_eq!(world.row(&row).await.state, State::Destroyed, "{what}");
        assert!(!is_there(&row.path), "{what}");
        assert_eq!((repo.worktrees().len(), repo.branches()), (0, vec!["main".to_owned()]), "{what}");
        world.environment(&codebase, Work::Issue(42)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_branch_that_has_moved_since_is_not_taken_back() {
    let mut world = World::new().await;
    let (repo, codebase) = world.given_a_repo("shop").await;
    let (act, reached) = creating(&world, &codebase, Hangs::After("add")).await;
    dies(act, &reached).await;
    let moved = repo.commit("a", "someone works\n");
    repo.git(&["update-ref", "refs/heads/issue-42", moved.as_str()]);
    world.restarts().await;
    assert_eq!(repo.rev("refs/heads/issue-42"), Some(moved));
    assert_eq!(repo.worktrees().len(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_that_is_not_the_intents_is_not_taken_back() {
    let mut world = World::new().await;
    let (_repo, codebase) = world.given_a_repo("shop").await;
    let (act, reached) = creating(&world, &codebase, Hangs::Before("add")).await;
    dies(act, &reached).await;
    let row = the_row(&world, State::Creating).await;
    write(&row.path, "precious", "somebody's\n");
    world.restarts().await;
    assert_eq!(fs::read_to_string(row.path.join("precious")).expect("it is there"), "somebody's\n");
    assert_eq!(world.row(&row).await.state, State::Destroyed);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_intent_of_a_live_process_is_not_touched() {
    let mut world = World::new().await;
    let (repo, codebase) = world.given_a_repo("shop").await;
    let (mut act, reached) = creating(&world, &codebase, Hangs::Before("checkout")).await;
    hanging(&mut act, &reached).await;
    world.restarts().await;
    let row = the_row(&world, State::Creating).await;
    assert!(is_there(&row.path));
    assert_eq!(repo.worktrees(), [row.path]);
    act.abort();
    let _ = act.await;
}

/// A removal or restore that died at a stage; the environment has something of every kind in it.
async fn worked_in() -> Scene {
    let scene = Scene::begin().await;
    commit(scene.path(), "a", "1\n");
    scene.git(&["push", "--quiet", "origin", "issue-42"]);
    write(scene.path(), "staged", "2\n");
    scene.git(&["add", "staged"]);
    write(scene.path(), "untracked", "3\n");
    scene
}

#[tokio::test(flavor = "multi_thread")]
async fn a_removal_whose_maker_died_is_carried_on() {
    let stages = [
        Hangs::Before("update-ref"),
        Hangs::After("update-ref"),
        Hangs::Before("--no-deref"),
        Hangs::After("--no-deref"),
        Hangs::Before("-d"),
        Hangs::After("-d"),
    ];
    for stage in stages {
        let mut scene = worked_in().await;
        let before = (Tree::of(scene.path()), scene.git(&["status", "--porcelain"]));
        let (engine, reached) = engine_that(&scene.world, stage).await;
        let environment = scene.environment.clone();
        let act = tokio::spawn(async move { engine.remove(&environment, true, &alice()).await });
        dies(act, &reached).await;
        assert_eq!(scene.row().await.state, State::Removing, "{stage:?}");
        for _ in 0..2 {
            scene.world.restarts().await;
            assert_eq!(scene.row().await.state, State::Trashed, "{stage:?}");
            assert!(!is_there(scene.path()), "{stage:?}");
            assert_eq!(scene.repo.branches(), ["main"], "{stage:?}");
        }
        scene.restores().await.unwrap_or_else(|error| panic!("{stage:?}: {error:?}"));
        assert_eq!(before.0.differences(&Tree::of(scene.path())), Vec::<String>::new(), "{stage:?}");
        assert_eq!(before.1, scene.git(&["status", "--porcelain"]), "{stage:?}");
    }
}

/// Writes down that the environment is to be removed, and dies before anything is moved.
async fn intends_to_remove(scene: &Scene) {
    let row = scene.row().await;
    let trash = hedgerow_core::environment::Trash {
        path: scene.world.settings().worktrees.join(".trash").join(row.id.to_string()),
        at: row.created_at,
        because: hedgerow_core::environment::TrashedBecause::Asked,
        head: scene.repo.rev("issue-42"),
        was_detached: false,
        branch_deleted: false,
    };
    let going = Environment { state: State::Removing, generation: 2, trash: Some(trash), ..row.clone() };
    let event = hedgerow_engine::store::NewEvent::new(row.created_at, &alice(), "environment-removing");
    scene.world.engine.store().save(&going, (State::Active, 1), &event).await.expect("an intent");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_removal_that_had_not_moved_anything_is_carried_on() {
    let mut scene = worked_in().await;
    intends_to_remove(&scene).await;
    scene.world.restarts().await;
    assert_eq!(scene.row().await.state, State::Trashed);
    assert!(!is_there(scene.path()));
    scene.restores().await.expect("it comes back");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_removal_is_abandoned_when_someone_went_on_working() {
    let mut scene = worked_in().await;
    intends_to_remove(&scene).await;
    scene.git(&["switch", "--quiet", "--detach"]);
    let own = commit(scene.path(), "later.txt", "after the crash");
    scene.world.restarts().await;
    assert_eq!(scene.row().await.state, State::Active);
    assert_eq!(scene.git(&["rev-parse", "HEAD"]), own.as_str());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_branch_that_the_main_checkout_is_on_by_now_is_not_deleted() {
    let mut scene = worked_in().await;
    let (engine, reached) = engine_that(&scene.world, Hangs::Before("-d")).await;
    let environment = scene.environment.clone();
    dies(tokio::spawn(async move { engine.remove(&environment, true, &alice()).await }), &reached).await;
    scene.repo.git(&["switch", "--quiet", "issue-42"]);
    scene.world.restarts().await;
    assert_eq!(scene.row().await.state, State::Trashed);
    assert!(scene.repo.rev("issue-42").is_some(), "after a removal");

    let mut world = World::new().await;
    let (repo, codebase) = world.given_a_repo("shop").await;
    let (act, reached) = creating(&world, &codebase, Hangs::Before("add")).await;
    dies(act, &reached).await;
    repo.git(&["switch", "--quiet", "issue-42"]);
    world.restarts().await;
    assert!(repo.rev("issue-42").is_some(), "after a creation");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_branch_that_someone_else_made_just_before_is_not_taken_back() {
    let mut world = World::new().await;
    let (repo, codebase) = world.given_a_repo("shop").await;
    let (act, reached) = creating(&world, &codebase, Hangs::Before("update-ref")).await;
    dies(act, &reached).await;
    repo.git(&["branch", "issue-42"]);
    world.restarts().await;
    assert!(repo.rev("issue-42").is_some());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_creation_that_someone_has_begun_to_work_in_is_kept() {
    let mut world = World::new().await;
    let (_repo, codebase) = world.given_a_repo("shop").await;
    let (act, reached) = creating(&world, &codebase, Hangs::After("checkout")).await;
    dies(act, &reached).await;
    let row = the_row(&world, State::Creating).await;
    write(&row.path, "work.txt", "begun\n");
    world.restarts().await;
    assert_eq!(world.row(&row).await.state, State::Active);
    assert_eq!(fs::read_to_string(row.path.join("work.txt")).expect("still there"), "begun\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_removal_whose_environment_is_nowhere_any_more_ends() {
    let mut scene = worked_in().await;
    let (engine, reached) = engine_that(&scene.world, Hangs::Before("hedgerow: into the trash")).await;
    let environment = scene.environment.clone();
    dies(tokio::spawn(async move { engine.remove(&environment, true, &alice()).await }), &reached).await;
    let trash = scene.row().await.trash.expect("in the trash").path;
    fs::remove_dir_all(&trash).expect("someone empties the trash");
    scene.world.restarts().await;
    assert_eq!(scene.row().await.state, State::Destroyed);
    scene.world.environment(&scene.codebase, Work::Issue(42)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_removal_with_something_else_in_its_place_is_parked_untouched() {
    let mut scene = worked_in().await;
    let (engine, reached) = engine_that(&scene.world, Hangs::Before("hedgerow: into the trash")).await;
    let environment = scene.environment.clone();
    dies(tokio::spawn(async move { engine.remove(&environment, true, &alice()).await }), &reached).await;
    let trash = scene.row().await.trash.expect("in the trash").path;
    fs::rename(&trash, scene.world.folder().join("taken")).expect("someone takes it");
    write(scene.path(), "precious", "somebody's\n");
    scene.world.restarts().await;
    assert_eq!(scene.row().await.state, State::Broken);
    assert!(is_there(&scene.path().join("precious")));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restore_whose_maker_died_goes_back_to_the_trash() {
    let attached = "hedgerow: out of the trash";
    for stage in [Hangs::Before(attached), Hangs::After(attached)] {
        let mut scene = worked_in().await;
        let before = (Tree::of(scene.path()), scene.git(&["status", "--porcelain"]));
        scene.forces().await.expect("into the trash");
        let (engine, reached) = engine_that(&scene.world, stage).await;
        let codebase = scene.codebase.clone();
        let act = tokio::spawn(async move { engine.restore(&codebase, "issue-42", &alice()).await });
        dies(act, &reached).await;
        assert_eq!(scene.row().await.state, State::Removing, "{stage:?}");
        for _ in 0..2 {
            scene.world.restarts().await;
            assert_eq!(scene.row().await.state, State::Trashed, "{stage:?}");
            assert!(!is_there(scene.path()), "{stage:?}");
        }
        scene.restores().await.unwrap_or_else(|error| panic!("{stage:?}: {error:?}"));
        assert_eq!(before.0.differences(&Tree::of(scene.path())), Vec::<String>::new(), "{stage:?}");
        assert_eq!(before.1, scene.git(&["status", "--porcelain"]), "{stage:?}");
        assert_eq!(git(scene.path(), &["branch", "--show-current"]), "issue-42", "{stage:?}");
        assert!(is_there(&admin(scene.path()).join("locked")), "{stage:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_adopted_environment_in_the_trash_of_a_disk_that_is_away_waits_for_it() {
    for stage in [Hangs::Before("--no-commit-header"), Hangs::Before("hedgerow: into the trash")] {
        let mut scene = worked_in().await;
        let mine = scene.world.folder().join("mine");
        scene.repo.git(&["worktree", "add", "--quiet", "-b", "mine", mine.to_str().expect("a plain path")]);
        let adopted = scene.world.engine.adopt(&scene.codebase, &mine, &alice()).await.expect("adopted").environment;
        let (engine, reached) = engine_that(&scene.world, stage).await;
        let environment = adopted.clone();
        dies(tokio::spawn(async move { engine.remove(&environment, true, &alice()).await }), &reached).await;
        let (base, away) = (scene.world.settings().worktrees.clone(), scene.world.folder().join("away"));
        fs::rename(&base, &away).expect("the disk goes");
        scene.world.restarts().await;
        assert_eq!(scene.world.row(&adopted).await.state, State::Removing, "{stage:?}: nothing is concluded");
        fs::rename(&away, &base).expect("the disk is back");
        scene.world.restarts().await;
        assert_eq!(scene.world.row(&adopted).await.state, State::Trashed, "{stage:?}");
        scene.world.engine.restore(&scene.codebase, "mine", &alice()).await.expect("it comes back");
        assert!(is_there(&mine), "{stage:?}");
    }
}
