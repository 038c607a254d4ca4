//! Cleanup on demand: what goes, what stays, and the reason that is given.

use std::fs::{self, File, FileTimes};
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use hedgerow_core::environment::TrashedBecause;
use hedgerow_core::platform::PlatformKind;
use hedgerow_core::{Codebase, Environment, EnvironmentId, State, Timestamp, Work};
use hedgerow_engine::Clock as _;
use hedgerow_engine::engine::{Resolved, Sweep, Swept, SweptOutcome};
use hedgerow_engine::store::NewEvent;
use hedgerow_testkit::git::{command, git};
use hedgerow_testkit::repo::{commit, write};
use hedgerow_testkit::world::alice;
use hedgerow_testkit::{TestRepo, Tree, World};

use crate::acts::{Acts as _, Scene, admin, is_there};

use SweptOutcome::{Failed, Forgotten, Kept, Listed, Removed, TakenOver, WouldRemove};

async fn sweeps(world: &World, codebase: &Codebase, sweep: Sweep, dry_run: bool) -> Vec<Swept> {
    world.engine.cleanup(codebase, sweep, dry_run, &alice()).await.expect("a report")
}

pub(crate) fn lines(report: &[Swept]) -> Vec<(&str, SweptOutcome, &str)> {
    report.iter().map(|line| (line.name.as_str(), line.outcome, line.because.as_str())).collect()
}

/// An environment with a commit that is merged into `main` on the remote.
pub(crate) async fn merged(world: &World, repo: &TestRepo, codebase: &Codebase, issue: u64) -> Environment {
    let environment = world.environment(codebase, Work::Issue(issue)).await;
    commit(&environment.path, &format!("file-{issue}"), "work\n");
    git(&environment.path, &["push", "--quiet", "origin", &format!("issue-{issue}:main")]);
    repo.git(&["pull", "--quiet", "--ff-only", "origin", "main"]);
    environment
}

#[tokio::test(flavor = "multi_thread")]
async fn merged_environments_go_and_the_others_say_why_not() {
    let world = World::new().await;
    let (repo, codebase) = world.given_a_repo("shop").await;
    let done = merged(&world, &repo, &codebase, 1).await;
    let open = world.environment(&codebase, Work::Issue(2)).await;
    commit(&open.path, "a", "1\n");
    let fresh = world.environment(&codebase, Work::Issue(3)).await;

    let before = (Tree::of(&done.path), repo.branches());
    let report = sweeps(&world, &codebase, Sweep::Merged, true).await;
    assert_eq!(
        lines(&report),
        [
            ("issue-1", WouldRemove, "merged: it is at the same commit as main"),
            ("issue-2", Kept, "not merged: 1 commit is not in the base"),
            ("issue-3", Kept, "new: nothing was committed in it yet"),
        ]
    );
    assert_eq!((Tree::of(&done.path), repo.branches()), before, "a dry run changes nothing");
    assert_eq!(world.row(&done).await, done);

    let report = sweeps(&world, &codebase, Sweep::Merged, false).await;
    assert_eq!(lines(&report)[0], ("issue-1", Removed, "merged: it is at the same commit as main"));
    assert_eq!((report[0].path.as_path(), report[0].branch.as_deref()), (done.path.as_path(), Some("issue-1")));
    let row = world.row(&done).await;
    assert_eq!(row.trash.map(|trash| (trash.because, trash.branch_deleted)), Some((TrashedBecause::Merged, true)));
    assert!(!is_there(&done.path) && is_there(&open.path) && is_there(&fresh.path));
    assert_eq!(repo.branches(), ["issue-2", "issue-3", "main"]);
    world.engine.restore(&codebase, "issue-1", &alice()).await.expect("it comes back");
    assert!(is_there(&done.path));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_squash_merge_that_only_the_remote_knows_is_seen() {
    let scene = Scene::begin().await;
    commit(scene.path(), "a", "1\n");
    commit(scene.path(), "a", "2\n");
    commit(scene.path(), "b", "3\n");
    scene.repo.commit_on_origin("main", "a", "2\n");
    scene.repo.commit_on_origin("main", "other", "4\n");
    scene.repo.commit_on_origin("main", "b", "3\n");
    let report = sweeps(&scene.world, &scene.codebase, Sweep::Merged, false).await;
    assert_eq!(report[0].outcome, Removed, "{report:?}");
    assert!(report[0].because.starts_with("merged: "), "{report:?}");
    let restored = scene.restores().await.expect("it comes back").environment;
    assert_eq!(git(&restored.path, &["rev-list", "--count", "main..HEAD"]), "3", "with its own commits");
}

#[tokio::test(flavor = "multi_thread")]
async fn offline_the_last_known_state_has_to_do() {
    let world = World::new().await;
    let (repo, codebase) = world.given_a_repo("shop").await;
    merged(&world, &repo, &codebase, 1).await;
    repo.goes_offline();
    let report = sweeps(&world, &codebase, Sweep::Merged, false).await;
    assert_eq!(report[0].outcome, Removed, "{report:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_protected_stays_although_it_is_merged() {
    let world = World::new().await;
    let (repo, codebase) = world.given_a_repo("shop").await;
    let mut all = Vec::new();
    for issue in 1..=7 {
        all.push(merged(&world, &repo, &codebase, issue).await);
    }
    world.talks(PlatformKind::Telegram, "7", &all[0]).await;
    world.engine.pin(&all[1], true, &alice()).await.expect("pinned");
    let now = world.engine.store_now().await.expect("the store answers");
    world.engine.store().take_lease(all[2].id, "wren:1", now, 3600).await.expect("answers").expect("free");
    write(&all[3].path, "notes", "mine\n");
    git(&all[4].path, &["bisect", "start"]);
    repo.git(&["worktree", "unlock", all[5].path.to_str().expect("a plain path")]);
    repo.git(&["worktree", "lock", "--reason", "backup", all[5].path.to_str().expect("a plain path")]);
    let mine = world.folder().join("mine");
    repo.git(&["worktree", "add", "--quiet", "-b", "mine", mine.to_str().expect("a plain path"), "issue-1"]);
    world.engine.adopt(&codebase, &mine, &alice()).await.expect("adopted");
    let report = sweeps(&world, &codebase, Sweep::Merged, false).await;
    let told = lines(&report);
    assert_eq!(told[0], ("issue-1", Kept, "used by a Telegram conversation"));
    assert_eq!(told[1], ("issue-2", Kept, "pinned"));
    assert_eq!(told[2], ("issue-3", Kept, "a run is active"));
    assert_eq!(told[3], ("issue-4", Kept, "uncommitted changes"));
    assert_eq!(told[4], ("issue-5", Kept, "bisect in progress"));
    assert_eq!(told[5], ("issue-6", Kept, "locked by someone else: backup"));
    assert_eq!((told[6].0, told[6].1), ("issue-7", Removed), "the rest is not held up");
    assert_eq!((told[7].0, told[7].1), ("task-mine", Kept));
    assert!(is_there(&mine));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_environment_is_stale_after_fourteen_days_and_not_before() {
    let scene = Scene::begin().await;
    let day = |n: i64| Timestamp::from_millis(scene.environment.last_activity_at.as_millis() + n * 86_400_000);
    scene.world.clock.set(day(14).plus_seconds(-60));
    let report = sweeps(&scene.world, &scene.codebase, Sweep::Stale, false).await;
    assert_eq!(lines(&report), [("issue-42", Kept, "active 13 days ago")]);
    // A clock that goes back makes nothing older.
    scene.world.clock.set(day(-400));
    let report = sweeps(&scene.world, &scene.codebase, Sweep::Stale, false).await;
    assert_eq!(lines(&report), [("issue-42", Kept, "active today")]);
    scene.world.clock.set(day(14));
    let report = sweeps(&scene.world, &scene.codebase, Sweep::Stale, true).await;
    assert_eq!(lines(&report), [("issue-42", WouldRemove, "stale: no activity for 14 days")]);
    assert!(is_there(scene.path()));
    let report = sweeps(&scene.world, &scene.codebase, Sweep::Stale, false).await;
    assert_eq!(lines(&report), [("issue-42", Removed, "stale: no activity for 14 days")]);
    assert_eq!(scene.row().await.trash.map(|trash| trash.because), Some(TrashedBecause::Stale));
    // Whoever asks for the work again gets it back as it was.
    let Resolved { environment, as_of, .. } =
        scene.world.resolve(&scene.world.asks(&scene.codebase, Work::Issue(42))).await.expect("restored");
    assert!(environment.id == scene.environment.id && as_of.is_some());
}

#[tokio::test(flavor = "multi_thread")]
async fn with_a_threshold_of_zero_nothing_is_ever_stale() {
    let world = World::with(|settings| settings.stale_after_days = 0).await;
    let (repo, codebase) = world.given_a_repo("shop").await;
    let scene = Scene::of(world, repo, codebase).await;
    scene.world.clock.days_pass(4000);
    let report = sweeps(&scene.world, &scene.codebase, Sweep::Stale, false).await;
    assert_eq!(report[0].outcome, Kept);
}

/// Sets when a file was changed last, by the clock of the world.
pub(crate) fn changed_at(path: &Path, at: Timestamp) {
    let at = UNIX_EPOCH + Duration::from_millis(u64::try_from(at.as_millis()).expect("after 1970"));
    let file = File::options().write(true).open(path).expect("a file");
    file.set_times(FileTimes::new().set_modified(at)).expect("a time");
}

#[tokio::test(flavor = "multi_thread")]
async fn commits_changed_files_and_use_count_as_activity() {
    let world = World::new().await;
    let (_repo, codebase) = world.given_a_repo("shop").await;
    let mut all = Vec::new();
    for issue in 1..=4 {
        all.push(world.environment(&codebase, Work::Issue(issue)).await);
    }
    world.clock.days_pass(20);
    let three_days_ago = world.clock.now().plus_seconds(-3 * 86_400 - 60);
    write(&all[0].path, "a", "1\n");
    git(&all[0].path, &["add", "a"]);
    let committed = command(&all[0].path)
        .env("GIT_COMMITTER_DATE", three_days_ago.to_string())
        .args(["commit", "--quiet", "-m", "late"])
        .status();
    assert!(committed.expect("git can be started").success());
    write(&all[1].path, "notes", "fresh\n");
    changed_at(&all[1].path.join("notes"), three_days_ago);
    write(&all[2].path, "notes", "old\n");
    changed_at(&all[2].path.join("notes"), all[2].created_at);
    world.engine.touch(&all[3]).await.expect("used");
    let report = sweeps(&world, &codebase, Sweep::Stale, false).await;
    assert_eq!(
        lines(&report),
        [
            ("issue-1", Kept, "active 3 days ago"),
            ("issue-2", Kept, "active 3 days ago"),
            ("issue-3", Kept, "uncommitted changes"),
            ("issue-4", Kept, "active today"),
        ]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn one_bad_environment_does_not_stop_the_rest() {
    let world = World::new().await;
    let (_repo, codebase) = world.given_a_repo("shop").await;
    let mut all = Vec::new();
    for issue in 1..=4 {
        all.push(world.environment(&codebase, Work::Issue(issue)).await);
    }
    world.clock.days_pass(20);
    // Something else in its place; gone; no way into the trash; well.
    fs::rename(&all[0].path, world.folder().join("aside")).expect("moved");
    fs::create_dir(&all[0].path).expect("a folder");
    fs::remove_dir_all(&all[1].path).expect("deleted");
    write(&world.settings().worktrees, &format!(".trash/{}", all[2].id), "in the way");
    let report = sweeps(&world, &codebase, Sweep::Stale, false).await;
    let told = lines(&report);
    assert_eq!(told[0], ("issue-1", Kept, "needs a look: it has no `.git`"));
    assert_eq!(told[1], ("issue-2", Forgotten, "its folder was gone"));
    assert_eq!((told[2].0, told[2].1), ("issue-3", Failed));
    assert_eq!(told[3], ("issue-4", Removed, "stale: no activity for 20 days"));
    assert_eq!(world.row(&all[2]).await.state, State::Active);
    assert!(is_there(&all[2].path));
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_concluded_while_the_disk_is_away() {
    let scene = Scene::begin().await;
    scene.world.clock.days_pass(20);
    let (base, away) = (scene.world.settings().worktrees.clone(), scene.world.folder().join("away"));
    fs::rename(&base, &away).expect("the disk goes");
    for sweep in [Sweep::Merged, Sweep::Stale] {
        let report = sweeps(&scene.world, &scene.codebase, sweep, false).await;
        assert_eq!(report[0].outcome, Kept, "{report:?}");
    }
    assert_eq!(scene.row().await.state, State::Active);
    fs::rename(&away, &base).expect("the disk is back");
    let report = sweeps(&scene.world, &scene.codebase, Sweep::Stale, false).await;
    assert_eq!(report[0].outcome, Removed, "{report:?}");
}

/// The store forgets an environment, as an older backup of it would.
pub(crate) async fn forgotten(world: &World, id: EnvironmentId) {
    let tables = ["events WHERE environment_id", "environment_works WHERE environment_id", "environments WHERE id"];
    for table in tables {
        world.database().meddle(&format!("DELETE FROM {table} = '{id}'")).await.expect("forgotten");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_orphan_of_ours_goes_to_the_trash_and_a_strangers_is_only_listed() {
    let scene = Scene::begin().await;
    let known = scene.world.environment(&scene.codebase, Work::Issue(1)).await;
    let theirs = scene.world.folder().join("theirs");
    scene.repo.git(&["worktree", "add", "--quiet", "-b", "theirs", theirs.to_str().expect("a plain path")]);
    write(scene.path(), "ignored.tmp", "kept\n");
    commit(scene.path(), ".gitignore", "*.tmp\n");
    forgotten(&scene.world, scene.environment.id).await;
    let before = (Tree::of(scene.path()), Tree::of(&theirs));
    let report = sweeps(&scene.world, &scene.codebase, Sweep::Orphans, true).await;
    let mut told = lines(&report);
    told.sort_unstable_by_key(|line| line.0);
    assert_eq!(
        told,
        [
            ("issue-42", WouldRemove, "made by Hedgerow, but not in its store"),
            ("theirs", Listed, "not made by Hedgerow")
        ]
    );
    assert_eq!((Tree::of(scene.path()), Tree::of(&theirs)), before);
    let report = sweeps(&scene.world, &scene.codebase, Sweep::Orphans, false).await;
    assert!(report.iter().any(|line| line.name == "issue-42" && line.outcome == Removed), "{report:?}");
    assert!(!is_there(scene.path()) && is_there(&known.path));
    assert_eq!(before.1.differences(&Tree::of(&theirs)), Vec::<String>::new());
    let trashed = scene.world.engine.trash(Some(&scene.codebase)).await.expect("the trash");
    assert_eq!(trashed[0].id, scene.environment.id, "under its old id");
    scene.world.engine.restore(&scene.codebase, trashed[0].name(), &alice()).await.expect("it comes back");
    assert_eq!(before.0.differences(&Tree::of(scene.path())), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_orphan_whose_row_is_history_is_an_orphan_of_ours() {
    let scene = Scene::begin().await;
    let gone = Environment { state: State::Destroyed, ..scene.environment.clone() };
    let event = NewEvent::new(scene.world.clock.now(), &alice(), "environment-gone");
    scene.world.engine.store().save(&gone, (State::Active, gone.generation), &event).await.expect("it is history");
    assert_eq!(scene.row().await.state, State::Destroyed);
    let report = sweeps(&scene.world, &scene.codebase, Sweep::Orphans, false).await;
    assert_eq!((report[0].name.as_str(), report[0].outcome), ("issue-42", Removed), "{report:?}");
    let name = scene.row().await.name().to_owned();
    scene.world.engine.restore(&scene.codebase, &name, &alice()).await.expect("it comes back");
    assert!(is_there(scene.path()));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_orphan_with_work_in_it_stays_and_is_an_environment_again() {
    let scene = Scene::begin().await;
    write(scene.path(), "notes", "mine\n");
    forgotten(&scene.world, scene.environment.id).await;
    let before = Tree::of(scene.path());
    let report = sweeps(&scene.world, &scene.codebase, Sweep::Orphans, true).await;
    let told = "made by Hedgerow, but not in its store; to be taken over: uncommitted changes";
    assert_eq!(lines(&report), [("issue-42", Kept, told)]);
    assert_eq!(scene.world.engine.store().environment(scene.environment.id).await.expect("the store answers"), None);
    let report = sweeps(&scene.world, &scene.codebase, Sweep::Orphans, false).await;
    let told = "made by Hedgerow, but not in its store; it is the environment `task-issue-42`: uncommitted changes";
    assert_eq!(lines(&report), [("issue-42", TakenOver, told)]);
    assert_eq!(before.differences(&Tree::of(scene.path())), Vec::<String>::new());
    assert!(is_there(&scene.path().join("notes")) && is_there(&admin(scene.path())));
    assert_eq!(scene.row().await.state, State::Active);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_orphan_of_which_only_gits_entry_is_left_is_only_listed() {
    let scene = Scene::begin().await;
    forgotten(&scene.world, scene.environment.id).await;
    fs::remove_dir_all(scene.path()).expect("deleted");
    let report = sweeps(&scene.world, &scene.codebase, Sweep::Orphans, false).await;
    assert_eq!(lines(&report), [("issue-42", Listed, "its folder is gone")]);
    assert_eq!(scene.repo.worktrees(), [scene.path()]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_another_machine_has_is_neither_gone_nor_swept() {
    let scene = Scene::begin().await;
    scene.world.clock.days_pass(20);
    let settings = hedgerow_engine::Settings { node: "wren".to_owned(), ..scene.world.settings().clone() };
    let wren = hedgerow_engine::Engine::open(settings, scene.world.clock.clone()).await.expect("another machine");
    let aside = scene.world.folder().join("aside");
    fs::rename(scene.path(), &aside).expect("on the disk of the other machine there is nothing");
    for sweep in [Sweep::Merged, Sweep::Stale, Sweep::Scheduled] {
        let report = wren.cleanup(&scene.codebase, sweep, false, &alice()).await.expect("a report");
        assert_eq!(lines(&report), [("issue-42", Kept, "on the machine `here`")], "{sweep:?}");
    }
    assert_eq!(scene.row().await.state, State::Active);
}
