//! Reconcile: the store says what disk and git say, twice is once, and nothing but rows changes.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use hedgerow_core::environment::{Init, InitState};
use hedgerow_core::provider::NoProgress;
use hedgerow_core::{Environment, State, Work};
use hedgerow_engine::Clock as _;
use hedgerow_engine::reconcile::Reconciled;
use hedgerow_engine::store::NewEvent;
use hedgerow_testkit::git::{git, try_git};
use hedgerow_testkit::repo::{commit, write};
use hedgerow_testkit::world::alice;
use hedgerow_testkit::{Tree, World};

use crate::acts::{Acts as _, Scene, admin, is_there};

async fn reconciles(world: &World) -> Reconciled {
    world.engine.reconcile().await.expect("it reconciles")
}

/// All that a reconcile may touch or must leave: every file of the world, and every row and event.
async fn picture(scene: &Scene) -> (Tree, String) {
    let store = scene.world.engine.store();
    let rows = store.live_everywhere().await.expect("rows");
    let trash = scene.world.engine.trash(None).await.expect("the trash");
    let events = store.events_in(scene.codebase.id).await.expect("events");
    let tree = Tree::of(scene.world.folder());
    let database = ["home/hedgerow.db", "home/hedgerow.db-wal", "home/hedgerow.db-shm", "home"];
    let tree = database.iter().fold(tree, |tree, name| tree.without(name));
    // Lock files come and go, which the times of their folders show.
    (tree.without_times(), format!("{rows:#?}\n{trash:#?}\n{events:#?}"))
}

/// Reconciles once more, which must change nothing at all.
async fn twice_is_once(scene: &Scene) {
    let before = picture(scene).await;
    let again = reconciles(&scene.world).await;
    assert!(again.turned.is_empty() && again.mended.is_empty() && again.left.is_empty(), "{again:#?}");
    let after = picture(scene).await;
    assert_eq!(before.0.differences(&after.0), Vec::<String>::new());
    assert_eq!(before.1, after.1);
}

/// The disk of the base goes away and leaves the empty folder where it was mounted.
fn unmount(world: &World) -> PathBuf {
    let base = &world.settings().worktrees;
    let away = world.folder().join("away");
    fs::rename(base, &away).expect("it goes");
    fs::create_dir(base).expect("a mount point");
    away
}

fn mount(world: &World, away: &Path) {
    let base = &world.settings().worktrees;
    fs::remove_dir(base).expect("nothing was put into the mount point");
    fs::rename(away, base).expect("it is back");
}

#[tokio::test(flavor = "multi_thread")]
async fn where_all_is_well_nothing_is_written() {
    let scene = Scene::begin().await;
    scene.forces().await.expect("one in the trash");
    scene.world.environment(&scene.codebase, Work::Issue(1)).await;
    write(scene.repo.path(), "mine.txt", "a person's\n");
    let done = reconciles(&scene.world).await;
    assert_eq!((done.looked_at, done.turned.len(), done.gone.len()), (1, 0, 0));
    twice_is_once(&scene).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unmounted_base_makes_environments_unreachable_and_its_return_makes_them_active() {
    let mut scene = Scene::begin().await;
    let other = scene.world.environment(&scene.codebase, Work::Issue(7)).await;
    write(scene.path(), "work.txt", "mine\n");
    let away = unmount(&scene.world);
    let before = Tree::of(&away);
    let done = reconciles(&scene.world).await;
    assert_eq!((done.turned.len(), done.gone.len()), (2, 0));
    let row = scene.row().await;
    assert_eq!(row.state, State::Unreachable);
    assert!(row.last_error.expect("why").contains("the folder above it is not there"));
    assert_eq!(scene.events().await.last().map(String::as_str), Some("environment-lost"));
    twice_is_once(&scene).await;
    // Whatever is asked for meanwhile, nothing is removed, forgotten or made in the mount point.
    for force in [false, true] {
        scene.world.removes(&scene.environment, force).await.expect_err("refused");
    }
    scene.world.fails(&scene.world.asks(&scene.codebase, Work::Issue(8))).await;
    scene.world.fails(&scene.world.asks(&scene.codebase, Work::Issue(42))).await;
    scene.world.restarts().await;
    assert_eq!(before.differences(&Tree::of(&away)), Vec::<String>::new());

    mount(&scene.world, &away);
    scene.world.restarts().await;
    assert_eq!(scene.row().await.state, State::Active, "the next command finds it usable");
    assert_eq!(scene.row().await.last_error, None);
    assert_eq!(scene.world.row(&other).await.state, State::Active);
    assert_eq!(scene.events().await.last().map(String::as_str), Some("environment-returned"));
    assert_eq!(fs::read_to_string(scene.path().join("work.txt")).expect("its work"), "mine\n");
    twice_is_once(&scene).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_one_comes_back_failed() {
    let mut scene = Scene::begin().await;
    let init = Init { state: Some(InitState::Failed), error: Some("exit 1".to_owned()) };
    let failed = Environment { state: State::Failed, init, last_error: Some("exit 1".to_owned()), ..scene.row().await };
    let event = NewEvent::new(scene.world.clock.now(), &alice(), "init-failed");
    scene.world.engine.store().save(&failed, (State::Active, 1), &event).await.expect("a row");
    let away = unmount(&scene.world);
    reconciles(&scene.world).await;
    assert_eq!(scene.row().await.state, State::Unreachable);
    mount(&scene.world, &away);
    scene.world.restarts().await;
    assert_eq!(scene.row().await, failed);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repository_that_is_away_is_no_reason_to_park_its_environments() {
    let mut scene = Scene::begin().await;
    let away = scene.world.folder().join("repository away");
    fs::rename(scene.repo.path(), &away).expect("its disk goes");
    reconciles(&scene.world).await;
    let row = scene.row().await;
    assert_eq!(row.state, State::Unreachable, "{row:?}");
    fs::rename(&away, scene.repo.path()).expect("its disk is back");
    scene.world.restarts().await;
    assert_eq!(scene.row().await.state, State::Active);
}

#[tokio::test(flavor = "multi_thread")]
async fn something_else_in_its_place_parks_it_until_it_is_itself_again() {
    let scene = Scene::begin().await;
    let aside = scene.world.folder().join("aside");
    fs::rename(scene.path(), &aside).expect("moved away");
    write(scene.path(), "precious", "somebody's\n");
    let before = Tree::of(scene.path());
    let done = reconciles(&scene.world).await;
    assert_eq!((done.turned.len(), done.turned[0].from), (1, State::Active));
    let row = scene.row().await;
    assert_eq!((row.state, row.last_error.as_deref()), (State::Broken, Some("it has no `.git`")));
    twice_is_once(&scene).await;
    assert_eq!(before.differences(&Tree::of(scene.path())), Vec::<String>::new());
    fs::remove_dir_all(scene.path()).expect("they take it away");
    fs::rename(&aside, scene.path()).expect("and put it back");
    reconciles(&scene.world).await;
    assert_eq!(scene.row().await.state, State::Active);
    twice_is_once(&scene).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_gone_is_told_and_left_to_cleanup() {
    let scene = Scene::begin().await;
    fs::rename(scene.path(), scene.world.folder().join("aside")).expect("moved away");
    let done = reconciles(&scene.world).await;
    assert_eq!(done.gone.len(), 1);
    assert_eq!(scene.row().await.state, State::Active);
    assert!(
        is_there(&scene.repo.path().join(".git/worktrees/issue-42/HEAD")),
        "its entry holds what may be left of it"
    );
    twice_is_once(&scene).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_environment_that_someone_works_on_is_not_turned() {
    let scene = Scene::begin().await;
    let away = unmount(&scene.world);
    let locks = scene.world.settings().home.join("locks");
    fs::create_dir_all(&locks).expect("a folder");
    let file = fs::File::create(locks.join(scene.environment.id.to_string())).expect("a lock");
    file.lock().expect("somebody is at work");
    let done = reconciles(&scene.world).await;
    assert_eq!((done.turned.len(), done.left.len()), (0, 1));
    assert_eq!(scene.row().await.state, State::Active);
    drop(file);
    assert_eq!(reconciles(&scene.world).await.turned.len(), 1);
    mount(&scene.world, &away);
}

/// A person's `git worktree add` that was killed: its `commondir` is empty, and so many seconds old.
fn dead_worktree_add(scene: &Scene, seconds: u64) -> PathBuf {
    let place = scene.world.folder().join("persons");
    scene.repo.git(&["worktree", "add", "--quiet", "--detach", &place.to_string_lossy()]);
    let entry = admin(&place);
    empties(&entry, seconds);
    entry
}

fn empties(entry: &Path, seconds: u64) {
    let file = fs::File::create(entry.join("commondir")).expect("emptied");
    file.set_modified(SystemTime::now() - Duration::from_secs(seconds)).expect("its time");
}

#[tokio::test(flavor = "multi_thread")]
async fn somebodys_half_made_worktree_is_completed_and_nothing_else() {
    let scene = Scene::begin().await;
    let entry = dead_worktree_add(&scene, 60);
    assert!(!try_git(scene.repo.path(), &["worktree", "list"]).status.success(), "it breaks git for everybody");
    let before = picture(&scene).await.0;
    let done = reconciles(&scene.world).await;
    assert_eq!(done.mended, std::slice::from_ref(&entry));
    let changes = before.differences(&picture(&scene).await.0);
    assert_eq!(changes.len(), 1, "{changes:?}");
    assert_eq!(fs::read_to_string(entry.join("commondir")).expect("a file"), "../..\n");
    assert_eq!(scene.repo.worktrees().len(), 2);
    let events = scene.world.engine.store().events_in(scene.codebase.id).await.expect("events");
    let told = events.iter().filter(|event| event.what == "worktree-entry-mended").collect::<Vec<_>>();
    assert_eq!(told.len(), 1);
    assert!(told[0].detail.as_ref().is_some_and(|detail| detail.ends_with("worktrees/persons")), "{told:?}");
    twice_is_once(&scene).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_that_git_may_be_writing_this_moment_is_left_alone() {
    let scene = Scene::begin().await;
    let entry = dead_worktree_add(&scene, 0);
    assert_eq!(reconciles(&scene.world).await.mended, Vec::<PathBuf>::new());
    assert_eq!(fs::read(entry.join("commondir")).expect("a file"), b"");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dead_worktree_add_of_a_person_never_stops_hedgerow() {
    let scene = Scene::begin().await;
    let entry = dead_worktree_add(&scene, 60);
    let world = &scene.world;
    let found = world.engine.codebase_at(scene.repo.path(), &alice()).await.expect("the codebase is found");
    assert_eq!(found.codebase.id, scene.codebase.id);
    empties(&entry, 60);
    world.environment(&scene.codebase, Work::Issue(1)).await;
    empties(&entry, 60);
    world.engine.worktrees(&scene.codebase).await.expect("a list");
    empties(&entry, 60);
    scene.forces().await.expect("a removal");
    empties(&entry, 60);
    scene.restores().await.expect("a restore");
    // One that its maker finishes, or that grows old, while we wait.
    empties(&entry, 1);
    world.environment(&scene.codebase, Work::Issue(2)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn our_own_half_made_worktree_is_rolled_back_although_git_lists_nothing() {
    let mut scene = Scene::begin().await;
    let store = scene.world.engine.store();
    // Two dead gits at once: one of a creation of ours, one of a person's.
    let row = scene.row().await;
    let creating = Environment { state: State::Creating, ..row.clone() };
    let event = NewEvent::new(scene.world.clock.now(), &alice(), "test");
    store.save(&creating, (State::Active, row.generation), &event).await.expect("an intent");
    let entry = admin(scene.path());
    fs::remove_file(entry.join("index")).expect("it was not finished");
    dead_worktree_add(&scene, 60);
    empties(&entry, 60);
    scene.world.restarts().await;
    assert_eq!(scene.row().await.state, State::Destroyed);
    assert!(!is_there(scene.path()) && !is_there(&entry));
    assert_eq!(scene.repo.worktrees().len(), 1, "the person's");
    scene.world.environment(&scene.codebase, Work::Issue(42)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_processes_reconcile_at_once_and_agree() {
    let scene = Scene::begin().await;
    for number in 1..=4 {
        scene.world.environment(&scene.codebase, Work::Issue(number)).await;
    }
    let away = unmount(&scene.world);
    let other = scene.world.another_engine().await;
    let (one, two) = tokio::join!(scene.world.engine.reconcile(), other.reconcile());
    let (one, two) = (one.expect("it reconciles"), two.expect("it reconciles"));
    assert_eq!(one.turned.len() + two.turned.len(), 5, "each was turned once: {one:#?} {two:#?}");
    mount(&scene.world, &away);
    let (one, two) = tokio::join!(scene.world.engine.reconcile(), other.reconcile());
    assert!(one.is_ok() && two.is_ok());
    assert_eq!(scene.row().await.state, State::Active);
}

#[tokio::test(flavor = "multi_thread")]
async fn work_that_was_asked_for_while_the_disk_was_away_goes_on_in_it() {
    let scene = Scene::begin().await;
    commit(scene.path(), "a", "1\n");
    let away = unmount(&scene.world);
    let request = scene.world.asks(&scene.codebase, Work::Issue(42));
    scene.world.fails(&request).await;
    mount(&scene.world, &away);
    // A process that runs on, as a server does, and opens nothing anew.
    let resolved = scene.world.engine.resolve(&request, &NoProgress).await.expect("it is back");
    assert_eq!(resolved.environment.id, scene.environment.id);
    assert_eq!(git(scene.path(), &["status", "--porcelain"]), "");
}
