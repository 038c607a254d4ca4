//! One inconsistency after another is planted. doctor finds and explains each; `--fix` puts it right, or leaves it to a
//! person without touching anything.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::{Duration, SystemTime};

use hedgerow_core::environment::{Trash, TrashedBecause};
use hedgerow_core::{Environment, EnvironmentId, SavedId, State, Work};
use hedgerow_engine::Clock as _;
use hedgerow_engine::engine::{Finding, Level};
use hedgerow_engine::store::{Database, NewEvent};
use hedgerow_testkit::git::{git, try_git};
use hedgerow_testkit::repo::write;
use hedgerow_testkit::world::alice;
use hedgerow_testkit::{TestRepo, Tree, World};

use crate::acts::{Scene, admin};

/// What becomes of a finding.
enum Then {
    /// `--fix` puts it right, and only names with this in them change.
    Fixed(&'static str),
    /// A person must look, and the hint has this in it. Nothing changes.
    Person(&'static str),
}
use Then::{Fixed, Person};

type Case = (&'static str, fn(&Scene), Level, Then);

/// What doctor says that is not fine. The disk of the machine that runs the tests is not part of them.
fn bad(findings: &[Finding]) -> Vec<&Finding> {
    findings.iter().filter(|finding| finding.level != Level::Fine && !finding.what.starts_with("disk")).collect()
}

async fn says(scene: &Scene) -> Vec<Finding> {
    scene.world.engine.doctor().await.expect("findings")
}

fn picture(scene: &Scene) -> Tree {
    let tree = Tree::of(scene.world.folder());
    // Where locks are taken while the base is away; made when first needed.
    let passing = ["home/locks", "home/hedgerow.db", "home/hedgerow.db-wal", "home/hedgerow.db-shm"];
    passing.iter().fold(tree, |tree, name| tree.without(name)).without_times()
}

fn find<'a>(findings: &'a [Finding], text: &str) -> Option<&'a Finding> {
    findings.iter().find(|finding| finding.detail.contains(text))
}

/// Finds what was planted, fixes, and looks again.
async fn holds(scene: &Scene, text: &str, level: Level, then: &Then) {
    let before = picture(scene);
    let found = says(scene).await;
    let finding = find(&found, text).unwrap_or_else(|| panic!("nothing with `{text}` in {found:#?}"));
    assert_eq!((finding.level, finding.fixed), (level, false), "{finding:?}");
    let hint = finding.hint.clone().unwrap_or_default();
    assert_eq!(before.differences(&picture(scene)), Vec::<String>::new(), "`{text}`: looking changes nothing");
    let fixed = scene.world.engine.fix().await.expect("findings");
    let changes = before.differences(&picture(scene));
    match then {
        Fixed(name) => {
            assert!(hint.contains("hedgerow doctor --fix"), "{hint}");
            let put_right = find(&fixed, text).unwrap_or_else(|| panic!("`{text}` is not told: {fixed:#?}"));
            assert!(put_right.fixed, "{put_right:?}");
            assert!(changes.iter().all(|change| change.contains(name)), "`{text}`: {changes:#?}");
            assert!(bad(&says(scene).await).is_empty(), "`{text}` leaves {:#?}", bad(&says(scene).await));
        }
        Person(way_out) => {
            assert!(hint.contains(way_out), "`{text}` says: {hint}");
            assert!(find(&fixed, text).is_some_and(|finding| !finding.fixed), "{fixed:#?}");
            assert_eq!(changes, Vec::<String>::new(), "`{text}`");
        }
    }
}

async fn each(cases: &[Case]) {
    for (text, plant, level, then) in cases {
        let scene = Scene::begin().await;
        plant(&scene);
        holds(&scene, text, *level, then).await;
    }
}

/// A file as if it had been there for an hour.
fn old(path: &Path, text: &str) {
    fs::write(path, text).expect("a file");
    let file = fs::File::options().write(true).open(path).expect("it was written");
    file.set_modified(SystemTime::now() - Duration::from_hours(1)).expect("its time");
}

fn entry(scene: &Scene) -> std::path::PathBuf {
    admin(scene.path())
}

/// A worktree that a person made.
fn persons(scene: &Scene) -> std::path::PathBuf {
    let place = scene.world.folder().join("persons");
    scene.repo.git(&["worktree", "add", "--quiet", "--detach", &place.to_string_lossy()]);
    admin(&place)
}

/// A ref on what a saved state builds on.
fn pin(scene: &Scene, saved: SavedId) {
    scene.repo.git(&["update-ref", &format!("refs/hedgerow/saved/{saved}/base"), "HEAD"]);
}

fn copy(from: &Path, to: &Path) {
    let copied = std::process::Command::new("cp").arg("-r").args([from, to]).status();
    assert!(copied.expect("cp").success());
}

fn base(scene: &Scene) -> &Path {
    &scene.world.settings().worktrees
}

#[tokio::test(flavor = "multi_thread")]
async fn what_only_a_file_is_missing_of_is_put_right() {
    each(&[
        (
            "someone unlocked it",
            |scene| drop(scene.repo.git(&["worktree", "unlock", &scene.path().to_string_lossy()])),
            Level::Warning,
            Fixed("worktrees/issue-42/locked"),
        ),
        (
            "it does not carry our marker",
            |scene| fs::remove_file(entry(scene).join("hedgerow")).expect("it was there"),
            Level::Problem,
            Fixed("worktrees/issue-42/hedgerow"),
        ),
        (
            "the repository knows it under another path",
            |scene| fs::write(entry(scene).join("gitdir"), "").expect("emptied"),
            Level::Problem,
            Fixed("worktrees/issue-42/gitdir"),
        ),
        (
            "git died while making a worktree",
            |scene| old(&entry(scene).join("commondir"), ""),
            Level::Problem,
            Fixed("worktrees/issue-42/commondir"),
        ),
        (
            "git died while making a worktree",
            |scene| old(&persons(scene).join("commondir"), ""),
            Level::Problem,
            Fixed("worktrees/persons/commondir"),
        ),
        (
            "has lost its sentinel",
            |scene| fs::remove_file(base(scene).join(".hedgerow-base")).expect("it was there"),
            Level::Problem,
            Fixed(".hedgerow-base"),
        ),
    ])
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_our_own_is_put_right() {
    each(&[
        (
            "a git that is gone has left",
            |scene| old(&entry(scene).join("index.lock"), "half an index"),
            Level::Warning,
            Fixed("worktrees/issue-42/index.lock"),
        ),
        (
            "lock files that processes left when they died: 1",
            |scene| fs::write(base(scene).join(".locks").join(EnvironmentId::new().to_string()), "").expect("a file"),
            Level::Warning,
            Fixed("home/worktrees/.locks/"),
        ),
        (
            "is open to other users of this machine",
            |scene| {
                let home = &scene.world.settings().home;
                fs::set_permissions(home, fs::Permissions::from_mode(0o755)).expect("it is ours");
            },
            Level::Warning,
            Fixed("`home`"),
        ),
        (
            "home/vault is open to other users",
            |scene| {
                let vault = scene.world.settings().home.join("vault");
                fs::create_dir(&vault).expect("a vault");
                fs::set_permissions(&vault, fs::Permissions::from_mode(0o750)).expect("it is ours");
            },
            Level::Warning,
            Fixed("`home/vault`"),
        ),
        (
            "hold commits for a saved state that there is not",
            |scene| pin(scene, SavedId::new()),
            Level::Warning,
            Fixed("/refs/hedgerow"),
        ),
    ])
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_others_can_read_is_closed_to_them() {
    let scene = Scene::begin().await;
    let Database::Sqlite(path) = scene.world.settings().database.clone() else { return };
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).expect("it is ours");
    holds(&scene, "is open to other users of this machine", Level::Warning, &Fixed("hedgerow.db")).await;
    assert_eq!(fs::metadata(&path).expect("it is there").permissions().mode() & 0o777, 0o600);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_environment_that_is_not_where_it_was_is_left_to_a_person() {
    each(&[
        (
            "issue-42 is gone",
            |scene| fs::rename(scene.path(), scene.world.folder().join("aside")).expect("moved away"),
            Level::Problem,
            Person("hedgerow env remove issue-42"),
        ),
        (
            "is not this environment: it has no `.git`",
            |scene| {
                fs::rename(scene.path(), scene.world.folder().join("aside")).expect("moved away");
                write(scene.path(), "precious", "x\n");
            },
            Level::Problem,
            Person("does not touch it"),
        ),
        (
            "it is another environment",
            |scene| fs::write(entry(scene).join("hedgerow"), format!("{} 1\n", EnvironmentId::new())).expect("a file"),
            Level::Problem,
            Person("does not touch it"),
        ),
        (
            "environments that should be in it: 1",
            |scene| {
                fs::rename(base(scene), scene.world.folder().join("away")).expect("its disk goes");
                fs::create_dir(base(scene)).expect("the mount point");
            },
            Level::Problem,
            Person("mount its disk"),
        ),
    ])
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_entry_that_says_something_else_is_left_to_a_person() {
    each(&[
        (
            "it is locked by someone else: on a stick",
            |scene| {
                let path = scene.path().to_string_lossy();
                scene.repo.git(&["worktree", "unlock", &path]);
                scene.repo.git(&["worktree", "lock", "--reason", "on a stick", &path]);
            },
            Level::Warning,
            Person("git worktree unlock"),
        ),
        (
            "its marker is of generation 9",
            |scene| {
                let id = scene.environment.id;
                fs::write(entry(scene).join("hedgerow"), format!("{id} 9\n")).expect("a file");
            },
            Level::Warning,
            Person("hedgerow env list"),
        ),
        (
            "worktrees/issue-42/HEAD is empty",
            |scene| fs::write(entry(scene).join("HEAD"), "").expect("emptied"),
            Level::Problem,
            Person("echo 'ref: refs/heads/issue-42' > "),
        ),
        (
            "worktrees/persons has no HEAD",
            |scene| fs::write(persons(scene).join("HEAD"), "").expect("emptied"),
            Level::Warning,
            Person("git worktree remove --force --force"),
        ),
        (
            "several worktrees carry the marker of one environment",
            |scene| copy(&entry(scene), &scene.repo.git_dir().join("worktrees/copied")),
            Level::Problem,
            Person("does not choose"),
        ),
    ])
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn locks_of_a_repository_are_left_to_a_person() {
    for name in ["config.lock", "packed-refs.lock", "index.lock", "HEAD.lock", "refs/heads/main.lock"] {
        let scene = Scene::begin().await;
        old(&scene.repo.git_dir().join(name), "");
        holds(&scene, name, Level::Warning, &Person("when no git is running there: `rm ")).await;
    }
    let scene = Scene::begin().await;
    let entry = persons(&scene);
    old(&entry.join("index.lock"), "");
    holds(&scene, "worktrees/persons/index.lock", Level::Warning, &Person("`rm ")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lock_that_a_git_may_still_need_stays() {
    let scene = Scene::begin().await;
    let lock = entry(&scene).join("index.lock");
    fs::write(&lock, "").expect("a git at work");
    assert!(bad(&says(&scene).await).is_empty());
    // One of a git that has been standing there for an hour, as `git commit -a` does while its message is written.
    old(&lock, "");
    let mut editor = hedgerow_testkit::git::command(scene.path());
    let mut waiting = editor.args(["cat-file", "--batch"]).stdin(std::process::Stdio::piped()).spawn().expect("git");
    let fixed = scene.world.engine.fix().await.expect("findings");
    let left = find(&fixed, "index.lock").expect("it is told");
    assert!(!left.fixed && left.hint.as_ref().is_some_and(|hint| hint.contains("a git is at work in it")), "{left:?}");
    assert!(lock.exists());
    drop(waiting.stdin.take());
    waiting.wait().expect("it ends");
    let fixed = scene.world.engine.fix().await.expect("findings");
    assert!(find(&fixed, "index.lock").is_some_and(|finding| finding.fixed), "{fixed:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn folders_that_no_row_names_are_told_and_kept() {
    each(&[
        (
            "notes is not an environment",
            |scene| write(&base(scene).join("shop/notes"), "a.txt", "mine\n"),
            Level::Warning,
            Person("does not touch it"),
        ),
        (
            "is a copy of `issue-42`",
            |scene| copy(scene.path(), &base(scene).join("shop/copied")),
            Level::Problem,
            Person("rm -r "),
        ),
        (
            "is an environment of another Hedgerow, of a repository that is not a codebase here",
            |scene| {
                let other = TestRepo::without_remote(&scene.world.folder().join("elsewhere"), "other");
                let place = base(scene).join("other/issue-1");
                other.git(&["worktree", "add", "--quiet", "--detach", &place.to_string_lossy()]);
                fs::write(admin(&place).join("hedgerow"), format!("{} 1\n", EnvironmentId::new())).expect("a marker");
            },
            Level::Warning,
            Person("WORKTREE_BASE"),
        ),
        (
            "is in the trash, and no row names it",
            |scene| write(&base(scene).join(".trash/unknown"), "a.txt", "somebody's\n"),
            Level::Warning,
            Person("nothing deletes it"),
        ),
        (
            "hold objects for an environment that is not in the trash",
            |scene| {
                let name = format!("refs/hedgerow/trash/{}/kept", EnvironmentId::new());
                scene.repo.git(&["update-ref", &name, "HEAD"]);
            },
            Level::Warning,
            Person("for-each-ref"),
        ),
        (
            "hold checkpoints of an environment that is gone",
            |scene| {
                let name = format!("refs/hedgerow/checkpoints/{}/1", EnvironmentId::new());
                scene.repo.git(&["update-ref", &name, "HEAD"]);
            },
            Level::Warning,
            Person("for-each-ref"),
        ),
        (
            "hold commits for a saved state that there is not",
            |scene| {
                // Beside an environment that is not ours, they may be needed.
                let entry = persons(scene);
                fs::write(entry.join("hedgerow"), format!("{} 1\n", EnvironmentId::new())).expect("a marker");
                pin(scene, SavedId::new());
            },
            Level::Warning,
            Person("another Hedgerow"),
        ),
    ])
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_leftover_of_the_trash_can_be_had_back_as_the_hint_says() {
    let scene = Scene::begin().await;
    write(scene.path(), "work.txt", "mine\n");
    scene.forces().await.expect("into the trash");
    let row = scene.row().await;
    let place = row.trash.clone().expect("its place").path;
    let gone = Environment { state: State::Destroyed, trash: None, ..row.clone() };
    let event = NewEvent::new(scene.world.clock.now(), &alice(), "environment-gone");
    scene.world.engine.store().save(&gone, (State::Trashed, row.generation), &event).await.expect("forgotten");
    let found = says(&scene).await;
    let finding = find(&found, "no row names it").expect("it is told");
    assert!(finding.hint.as_ref().is_some_and(|hint| hint.contains("switch -c <new branch>")), "{finding:?}");
    git(&place, &["switch", "--quiet", "-c", "found-again"]);
    git(&place, &["add", "work.txt"]);
    git(&place, &["commit", "--quiet", "-m", "Found"]);
    let by = alice();
    let sweep = hedgerow_engine::engine::Sweep::Orphans;
    scene.world.engine.cleanup(&scene.codebase, sweep, false, &by).await.expect("a report");
    assert_eq!(scene.row().await.state, State::Trashed);
    let back = scene.world.engine.restore(&scene.codebase, "found-again", &by).await.expect("it comes back");
    assert_eq!(fs::read_to_string(back.environment.path.join("work.txt")).expect("its work"), "mine\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn refs_of_saved_states_and_checkpoints_that_there_are_stay() {
    let scene = Scene::begin().await;
    scene.world.engine.checkpoint(&scene.environment, None, &alice()).await.expect("a checkpoint");
    let other = scene.world.environment(&scene.codebase, Work::Issue(7)).await;
    write(&other.path, "mine.txt", "mine\n");
    scene.world.engine.remove(&other, true, &alice()).await.expect("into the trash");
    let trashed = scene.world.row(&other).await;
    let purged = scene.world.engine.purge(&trashed, &alice()).await.expect("it is purged");
    pin(&scene, purged.saved.id);
    let refs = scene.repo.git(&["for-each-ref", "refs/hedgerow/"]);
    let found = scene.world.engine.fix().await.expect("findings");
    assert!(bad(&found).is_empty(), "{found:#?}");
    assert_eq!(scene.repo.git(&["for-each-ref", "refs/hedgerow/"]), refs);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_trashed_one_whose_folder_someone_deleted_is_told() {
    let scene = Scene::begin().await;
    scene.forces().await.expect("into the trash");
    let place = scene.row().await.trash.expect("its place").path;
    fs::rename(&place, scene.world.folder().join("taken")).expect("someone takes it");
    holds(&scene, "is not there any more", Level::Warning, &Person("someone deleted or moved it")).await;
    write(&place, "other.txt", "somebody's\n");
    holds(&scene, "is not this environment: it has no `.git`", Level::Problem, &Person("does not touch it")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_row_that_says_otherwise_is_turned() {
    for state in [State::Unreachable, State::Broken] {
        let scene = Scene::begin().await;
        let wrong = Environment { state, last_error: Some("it was so".to_owned()), ..scene.row().await };
        let event = NewEvent::new(scene.world.clock.now(), &alice(), "environment-lost");
        scene.world.engine.store().save(&wrong, (State::Active, wrong.generation), &event).await.expect("a row");
        let text = "and its folder is there and its own";
        holds(&scene, text, Level::Problem, &Fixed("nothing on disk")).await;
        assert_eq!(scene.row().await.state, State::Active);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_row_whose_maker_is_gone_is_settled() {
    let scene = Scene::begin().await;
    let row = scene.row().await;
    let trash = Trash {
        path: base(&scene).join(".trash").join(row.id.to_string()),
        at: row.created_at,
        because: TrashedBecause::Asked,
        head: scene.repo.rev("issue-42"),
        was_detached: false,
        branch_deleted: false,
    };
    let going = Environment { state: State::Removing, generation: 2, trash: Some(trash), ..row };
    let event = NewEvent::new(going.created_at, &alice(), "environment-removing");
    scene.world.engine.store().save(&going, (State::Active, 1), &event).await.expect("an intent");
    let found = says(&scene).await;
    assert!(find(&found, "it is removing, and whoever began that is gone").is_some(), "{found:#?}");
    let fixed = scene.world.engine.fix().await.expect("findings");
    assert!(find(&fixed, "whoever began that is gone").is_some_and(|finding| finding.fixed), "{fixed:#?}");
    assert_eq!(scene.row().await.state, State::Trashed);
    assert!(bad(&says(&scene).await).is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lease_of_a_dead_process_is_ended() {
    let scene = Scene::begin().await;
    let mut child = std::process::Command::new("true").spawn().expect("a process");
    child.wait().expect("it ends");
    let store = scene.world.engine.store();
    let now = scene.world.engine.store_now().await.expect("the store answers");
    let holder = format!("here:{}", child.id());
    store.take_lease(scene.environment.id, &holder, now, 120).await.expect("the store answers").expect("a lease");
    let text = format!("is leased by {holder}, which is gone");
    holds(&scene, &text, Level::Warning, &Fixed("nothing on disk")).await;
    // One of a process of another machine is not ours to judge.
    store.take_lease(scene.environment.id, "there:1", now, 120).await.expect("the store answers").expect("a lease");
    assert!(bad(&says(&scene).await).is_empty());
    scene.world.engine.fix().await.expect("findings");
    assert_eq!(store.lease_holder(scene.environment.id, now).await.expect("an answer").as_deref(), Some("there:1"));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_belongs_to_another_user_is_told() {
    let scene = Scene::begin().await;
    // Only root can give files away.
    if std::os::unix::fs::chown(scene.path(), Some(65_534), None).is_err() {
        return;
    }
    let found = says(&scene).await;
    let finding = find(&found, "belongs to another user (uid 65534)").expect("it is told");
    assert!(finding.hint.as_ref().is_some_and(|hint| hint.contains("chown -R")), "{finding:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_environments_of_another_machine_are_not_looked_at() {
    let world = World::new().await;
    let (_repo, codebase) = world.given_a_repo("shop").await;
    let environment = world.environment(&codebase, Work::Issue(42)).await;
    let mut there = world.settings().clone();
    there.node = "there".to_owned();
    let other = hedgerow_engine::Engine::open(there, world.clock.clone()).await.expect("it opens");
    fs::rename(&environment.path, world.folder().join("aside")).expect("moved away");
    let found = other.doctor().await.expect("findings");
    assert!(find(&found, "is gone").is_none(), "{found:#?}");
    assert_eq!(other.reconcile().await.expect("it reconciles").looked_at, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_trash_of_a_codebase_that_is_forgotten_is_nobodys_leftover() {
    let scene = Scene::begin().await;
    scene.world.engine.remove_codebase(&scene.codebase, &alice()).await.expect("it is forgotten");
    assert_eq!(scene.row().await.state, State::Trashed);
    assert!(bad(&says(&scene).await).is_empty(), "{:#?}", bad(&says(&scene).await));
}

#[tokio::test(flavor = "multi_thread")]
async fn fixing_where_all_is_well_changes_nothing() {
    let scene = Scene::begin().await;
    write(scene.path(), "work.txt", "mine\n");
    scene.world.environment(&scene.codebase, Work::Issue(1)).await;
    let before = picture(&scene);
    let findings = scene.world.engine.fix().await.expect("findings");
    assert!(bad(&findings).is_empty() && findings.iter().all(|finding| !finding.fixed), "{findings:#?}");
    assert_eq!(before.differences(&picture(&scene)), Vec::<String>::new());
    assert!(try_git(scene.repo.path(), &["worktree", "list"]).status.success());
}
