//! Removal: refused where work could be lost, complete where not, and never more than was asked for.

use std::fs;
use std::path::Path;

use hedgerow_core::platform::PlatformKind;
use hedgerow_core::{Codebase, Environment, Kind, State, Work};
use hedgerow_engine::engine::Removed;
use hedgerow_testkit::git::{git, try_git};
use hedgerow_testkit::repo::{commit, write};
use hedgerow_testkit::world::{alice, words};
use hedgerow_testkit::{TestRepo, Tree, World};

use crate::acts::{Acts as _, Scene, admin, git_that, is_there};

/// Removal is refused with exit code 3 and these words, and nothing changes; with `--force` it goes to the trash.
async fn is_protected(scene: &Scene, said: &str) {
    let before = (Tree::of(scene.path()), scene.repo.branches(), scene.repo.worktrees());
    let refusal = scene.removes().await.expect_err("it must be refused");
    assert_eq!(refusal.kind(), Kind::Protected);
    let text = words(&refusal);
    assert!(text.contains(said), "{text}");
    assert!(text.contains("use `--force`"), "{text}");
    assert_eq!((Tree::of(scene.path()), scene.repo.branches(), scene.repo.worktrees()), before);
    assert_eq!(scene.row().await, scene.environment, "the row is as it was");
    scene.forces().await.expect("with force it goes to the trash");
    assert!(!is_there(scene.path()));
    assert_eq!(scene.row().await.state, State::Trashed);
}

/// Commits on both sides of a conflict: the environment is on one, `theirs` names the other.
fn conflict(scene: &Scene) {
    scene.git(&["switch", "--quiet", "-c", "theirs"]);
    commit(scene.path(), "README.md", "theirs\n");
    scene.git(&["switch", "--quiet", "issue-42"]);
    commit(scene.path(), "README.md", "ours\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_changed_file_is_protected() {
    let scene = Scene::begin().await;
    write(scene.path(), "README.md", "changed\n");
    is_protected(&scene, "Cannot remove worktree - you have uncommitted changes.\nhint: commit them (1 modified)")
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_staged_file_is_protected() {
    let scene = Scene::begin().await;
    write(scene.path(), "new", "staged\n");
    scene.git(&["add", "new"]);
    is_protected(&scene, "1 staged").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_untracked_file_is_protected_whatever_the_repository_hides() {
    let scene = Scene::begin().await;
    scene.repo.git(&["config", "status.showUntrackedFiles", "no"]);
    write(scene.path(), "notes", "mine\n");
    is_protected(&scene, "1 untracked").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conflicted_merge_is_protected() {
    let scene = Scene::begin().await;
    conflict(&scene);
    assert!(!try_git(scene.path(), &["merge", "theirs"]).status.success());
    is_protected(&scene, "merge in progress").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn conflicts_without_an_operation_are_protected() {
    let scene = Scene::begin().await;
    write(scene.path(), "README.md", "stashed\n");
    scene.git(&["stash", "--quiet"]);
    commit(scene.path(), "README.md", "committed\n");
    assert!(!try_git(scene.path(), &["stash", "pop"]).status.success());
    is_protected(&scene, "unresolved conflicts").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_resolved_merge_that_is_not_committed_is_protected_although_status_is_empty() {
    let scene = Scene::begin().await;
    conflict(&scene);
    assert!(!try_git(scene.path(), &["merge", "theirs"]).status.success());
    write(scene.path(), "README.md", "ours\n");
    scene.git(&["add", "README.md"]);
    assert_eq!(scene.git(&["status", "--porcelain"]), "");
    is_protected(&scene, "merge in progress").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stopped_rebase_is_protected() {
    let scene = Scene::begin().await;
    conflict(&scene);
    assert!(!try_git(scene.path(), &["rebase", "theirs"]).status.success());
    is_protected(&scene, "rebase in progress").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stopped_rebase_of_the_old_kind_is_protected() {
    let scene = Scene::begin().await;
    conflict(&scene);
    assert!(!try_git(scene.path(), &["rebase", "--apply", "theirs"]).status.success());
    is_protected(&scene, "rebase in progress").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stopped_cherry_pick_is_protected() {
    let scene = Scene::begin().await;
    conflict(&scene);
    assert!(!try_git(scene.path(), &["cherry-pick", "theirs"]).status.success());
    is_protected(&scene, "cherry-pick in progress").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stopped_revert_is_protected() {
    let scene = Scene::begin().await;
    commit(scene.path(), "README.md", "two\n");
    commit(scene.path(), "README.md", "three\n");
    assert!(!try_git(scene.path(), &["revert", "HEAD~1"]).status.success());
    is_protected(&scene, "revert in progress").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bisect_is_protected() {
    let scene = Scene::begin().await;
    commit(scene.path(), "a", "1\n");
    commit(scene.path(), "a", "2\n");
    scene.git(&["bisect", "start", "HEAD", "HEAD~2"]);
    is_protected(&scene, "bisect in progress").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stopped_am_is_protected() {
    let scene = Scene::begin().await;
    conflict(&scene);
    let patch = scene.world.folder().join("patch");
    fs::write(&patch, scene.git(&["format-patch", "--stdout", "-1", "theirs"]) + "\n").expect("a patch");
    assert!(!try_git(scene.path(), &["am", patch.to_str().expect("a plain path")]).status.success());
    is_protected(&scene, "am in progress").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn commits_on_no_branch_are_protected() {
    let scene = Scene::begin().await;
    scene.git(&["switch", "--quiet", "--detach"]);
    commit(scene.path(), "a", "1\n");
    commit(scene.path(), "a", "2\n");
    is_protected(&scene, "2 commits would be on no branch").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_detached_head_whose_commits_a_branch_has_is_no_reason_to_refuse() {
    let scene = Scene::begin().await;
    commit(scene.path(), "a", "1\n");
    scene.git(&["switch", "--quiet", "--detach"]);
    scene.removes().await.expect("the branch keeps the commit");
    assert!(scene.repo.branches().contains(&"issue-42".to_owned()));
}

/// A repository with a submodule that has a submodule.
pub(crate) async fn with_submodules(world: &World) -> (TestRepo, Codebase, Environment) {
    let folder = world.folder().join("code");
    let inner = TestRepo::without_remote(&folder, "inner");
    let outer = TestRepo::without_remote(&folder, "outer");
    outer.git(&["submodule", "--quiet", "add", inner.path().to_str().expect("a plain path"), "deep"]);
    outer.git(&["commit", "--quiet", "-m", "Add deep"]);
    let repo = TestRepo::without_remote(&folder, "shop");
    repo.git(&["submodule", "--quiet", "add", outer.path().to_str().expect("a plain path"), "lib"]);
    repo.git(&["commit", "--quiet", "-m", "Add lib"]);
    let codebase = world.register(&repo).await;
    let environment = world.environment(&codebase, Work::Issue(42)).await;
    git(&environment.path, &["submodule", "--quiet", "update", "--init", "--recursive"]);
    (repo, codebase, environment)
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_inside_a_submodule_are_protected() {
    for file in ["lib/new", "lib/README.md", "lib/deep/README.md"] {
        let world = World::new().await;
        let (repo, codebase, environment) = with_submodules(&world).await;
        let scene = Scene { world, repo, codebase, environment };
        write(scene.path(), file, "changed in there\n");
        is_protected(&scene, "1 modified").await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_environment_in_use_by_conversations_names_them() {
    let scene = Scene::begin().await;
    scene.world.talks(PlatformKind::Github, "acme/shop#42", &scene.environment).await;
    scene.world.talks(PlatformKind::Slack, "C1/17.5", &scene.environment).await;
    is_protected(&scene, "it is still used by github:acme/shop#42, slack:C1/17.5").await;
    let left = scene.world.engine.store().conversations_of(scene.environment.id).await.expect("the store answers");
    assert_eq!(left, [], "nobody refers to what is in the trash");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_environment_that_somebody_holds_is_busy_even_with_force() {
    let scene = Scene::begin().await;
    let store = scene.world.engine.store();
    let now = scene.world.engine.store_now().await.expect("the store answers");
    store.take_lease(scene.environment.id, "wren:99", now, 60).await.expect("the store answers").expect("it is free");
    for force in [false, true] {
        let busy = scene.world.removes(&scene.environment, force).await.expect_err("somebody has it");
        assert_eq!(busy.kind().exit_code(), 6);
        assert!(words(&busy).contains("`issue-42` is in use right now by wren:99"), "{}", words(&busy));
    }
    assert!(is_there(scene.path()));
    // By the store's time, which a test cannot move on a server.
    let run_out = format!("UPDATE environments SET lease_until = {} WHERE lease_owner = 'wren:99'", now.as_millis());
    scene.world.database().meddle(&run_out).await.expect("the database takes it");
    scene.removes().await.expect("the lease has run out");
}

#[tokio::test(flavor = "multi_thread")]
async fn somebody_elses_lock_holds_even_against_force() {
    let scene = Scene::begin().await;
    for reason in ["copying to the backup", ""] {
        scene.repo.git(&["worktree", "unlock", scene.path().to_str().expect("a plain path")]);
        scene.repo.git(&["worktree", "lock", "--reason", reason, scene.path().to_str().expect("a plain path")]);
        for force in [false, true] {
            let refusal = scene.world.removes(&scene.environment, force).await.expect_err("it is locked");
            assert_eq!(refusal.kind(), Kind::Protected);
            assert!(words(&refusal).contains("locked by someone else"), "{}", words(&refusal));
            assert!(words(&refusal).contains(reason));
        }
    }
    assert!(is_there(scene.path()));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_base_that_is_away_changes_nothing_and_comes_back() {
    let scene = Scene::begin().await;
    let base = scene.world.settings().worktrees.clone();
    let away = scene.world.folder().join("away");
    fs::rename(&base, &away).expect("the disk goes");
    fs::create_dir(&base).expect("its mount point stays");
    let listed = scene.repo.worktrees();
    for force in [false, true] {
        let refusal = scene.world.removes(&scene.environment, force).await.expect_err("it cannot be reached");
        assert_eq!(refusal.kind(), Kind::Protected);
        assert!(words(&refusal).contains("it cannot be reached"), "{}", words(&refusal));
    }
    assert_eq!((scene.row().await, scene.repo.worktrees()), (scene.environment.clone(), listed));
    assert!(scene.repo.branches().contains(&"issue-42".to_owned()));
    fs::remove_dir(&base).expect("still empty");
    fs::rename(&away, &base).expect("the disk is back");
    scene.removes().await.expect("now it can be");
}

/// What someone puts in the place of an environment, and how.
type StandIn<'a> = (&'a str, &'a dyn Fn(&Path));

#[tokio::test(flavor = "multi_thread")]
async fn whatever_else_stands_in_its_place_is_not_touched() {
    let scene = Scene::begin().await;
    let aside = scene.world.folder().join("aside");
    fs::rename(scene.path(), &aside).expect("someone moves it");
    let stand_ins: [StandIn<'_>; 4] = [
        ("a folder", &|path| write(path, "precious", "data\n")),
        ("a file", &|path| fs::write(path, "data").expect("a file")),
        ("another repository", &|path| {
            fs::create_dir(path).expect("a folder");
            git(path, &["init", "--quiet"]);
        }),
        ("a copy of the environment whose links name another place", &|path| {
            fs::create_dir(path).expect("a folder");
            let other = fs::read_to_string(aside.join(".git")).expect("its link").replace("issue-42", "issue-43");
            fs::write(path.join(".git"), other).expect("a link");
        }),
    ];
    for (what, place) in stand_ins {
        place(scene.path());
        for force in [false, true] {
            let refusal = scene.world.removes(&scene.environment, force).await.expect_err(what);
            assert_eq!(refusal.kind(), Kind::Protected, "{what}");
            assert!(words(&refusal).contains("what is in its place is not this worktree"), "{what}");
        }
        assert!(is_there(scene.path()), "{what}");
        if scene.path().is_dir() {
            fs::remove_dir_all(scene.path()).expect("the test clears it");
        } else {
            fs::remove_file(scene.path()).expect("the test clears it");
        }
    }
    fs::rename(&aside, scene.path()).expect("someone moves it back");
    scene.removes().await.expect("it is itself again");
}

#[tokio::test(flavor = "multi_thread")]
async fn git_that_does_not_answer_means_no() {
    let mut scene = Scene::begin().await;
    let folder = scene.world.folder().join("bin");
    let first = "for word in \"$@\"; do [ \"$word\" = status ] && { echo 'fatal: disk on fire' >&2; exit 128; }; done";
    let wrapper = git_that(&folder, first);
    let mut settings = scene.world.settings().clone();
    settings.git = wrapper;
    let good = std::mem::replace(
        &mut scene.world.engine,
        hedgerow_engine::Engine::open(settings, scene.world.clock.clone()).await.expect("it opens"),
    );
    let refusal = scene.removes().await.expect_err("nobody knows what is in there");
    assert_eq!(refusal.kind(), Kind::Protected);
    assert!(words(&refusal).contains("git did not answer"), "{}", words(&refusal));
    assert!(words(&refusal).contains("disk on fire"), "{}", words(&refusal));
    assert!(is_there(scene.path()));
    scene.world.engine = good;
    scene.removes().await.expect("git is well again");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_move_that_fails_leaves_the_environment_usable() {
    let mut scene = Scene::begin().await;
    // Where the trash should be there is a file.
    let trash = scene.world.settings().worktrees.join(".trash");
    fs::write(&trash, "in the way").expect("a file");
    scene.removes().await.expect_err("there is no trash");
    assert_eq!(scene.row().await.state, State::Active);
    assert!(scene.events().await.contains(&"removal-failed".to_owned()));
    fs::remove_file(&trash).expect("the way is free");
    scene.environment = scene.row().await;
    scene.removes().await.expect("now it works");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_branch_that_we_made_and_that_adds_nothing_goes_with_it() {
    let scene = Scene::begin().await;
    let head = scene.repo.rev("issue-42");
    let removed = scene.removes().await.expect("it is clean");
    assert!(matches!(removed, Removed::Trashed { branch_deleted: true, .. }));
    assert!(!scene.repo.branches().contains(&"issue-42".to_owned()));
    assert!(!is_there(scene.path()));
    let trashed = scene.row().await;
    let trash = trashed.trash.expect("it is in the trash");
    assert_eq!((trashed.state, trash.head.clone()), (State::Trashed, head.clone()));
    assert!(trash.path.starts_with(scene.world.settings().worktrees.join(".trash")));
    let events = scene.world.engine.store().events_of(scene.environment.id).await.expect("the store answers");
    let told: Vec<_> = events.iter().map(|event| (event.what.as_str(), event.actor.to_string())).collect();
    assert_eq!(
        told[told.len() - 2..],
        [("environment-removing", "terminal:alice".to_owned()), ("environment-trashed", "terminal:alice".to_owned())]
    );
    assert!(events[events.len() - 2..].iter().all(|event| event.old_sha == head), "{events:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_branch_whose_commits_are_on_the_remote_goes_and_comes_back_at_the_same_commit() {
    let scene = Scene::begin().await;
    let tip = commit(scene.path(), "a", "1\n");
    scene.git(&["push", "--quiet", "origin", "issue-42"]);
    let removed = scene.removes().await.expect("it is clean");
    assert!(matches!(removed, Removed::Trashed { branch_deleted: true, .. }));
    assert!(scene.repo.rev("refs/heads/issue-42").is_none());
    assert_eq!(git(scene.repo.origin(), &["rev-parse", "issue-42"]), tip.as_str(), "a remote branch is never touched");
    scene.restores().await.expect("it comes back");
    assert_eq!(scene.repo.rev("refs/heads/issue-42"), Some(tip));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_branch_with_commits_that_are_nowhere_else_stays() {
    let scene = Scene::begin().await;
    let tip = commit(scene.path(), "a", "1\n");
    let removed = scene.removes().await.expect("a branch that stays keeps them");
    assert!(matches!(removed, Removed::Trashed { branch_deleted: false, .. }));
    assert_eq!(scene.repo.rev("refs/heads/issue-42"), Some(tip));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_branch_that_was_there_before_stays() {
    let world = World::new().await;
    let (repo, codebase) = world.given_a_repo("shop").await;
    repo.git(&["branch", "issue-42"]);
    let scene = Scene::of(world, repo, codebase).await;
    let removed = scene.forces().await.expect("it is clean");
    assert!(matches!(removed, Removed::Trashed { branch_deleted: false, .. }));
    assert!(scene.repo.branches().contains(&"issue-42".to_owned()));
}

#[tokio::test(flavor = "multi_thread")]
async fn another_branch_that_an_agent_went_to_stays() {
    let scene = Scene::begin().await;
    scene.git(&["switch", "--quiet", "-c", "experiment"]);
    scene.removes().await.expect("it is clean");
    assert_eq!(scene.repo.branches(), ["experiment", "issue-42", "main"]);
    let restored = scene.restores().await.expect("it comes back").environment;
    assert_eq!(git(&restored.path, &["branch", "--show-current"]), "experiment");
    scene.world.removes(&restored, false).await.expect("it is clean");
    assert_eq!(scene.repo.branches(), ["experiment", "issue-42", "main"], "it was never ours to delete");
}

/// A worktree of a person's own, adopted.
async fn adopted(scene: &mut Scene, at: &Path) {
    scene.repo.git(&["worktree", "add", "--quiet", "-b", "mine", at.to_str().expect("a plain path")]);
    scene.environment = scene.world.engine.adopt(&scene.codebase, at, &alice()).await.expect("adopted").environment;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_adopted_environment_is_let_go_of_and_its_folder_stays() {
    let mut scene = Scene::begin().await;
    let mine = scene.world.folder().join("mine");
    adopted(&mut scene, &mine).await;
    write(&mine, "notes", "not for Hedgerow\n");
    let before = (Tree::of(&mine), Tree::of(&admin(&mine)));
    let removed = scene.removes().await.expect("letting go loses nothing");
    assert!(matches!(removed, Removed::LetGo { .. }));
    assert_eq!((Tree::of(&mine), Tree::of(&admin(&mine))), before);
    assert_eq!(scene.row().await.state, State::Destroyed);
    assert!(scene.events().await.contains(&"environment-let-go".to_owned()));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_adopted_environment_goes_to_the_trash_only_with_force_and_keeps_its_branch() {
    let mut scene = Scene::begin().await;
    let mine = scene.world.folder().join("mine");
    adopted(&mut scene, &mine).await;
    write(&mine, "notes", "not for Hedgerow\n");
    let before = Tree::of(&mine);
    let removed = scene.forces().await.expect("a person asked for it");
    assert!(matches!(removed, Removed::Trashed { branch_deleted: false, .. }));
    assert!(!is_there(&mine));
    assert!(scene.repo.branches().contains(&"mine".to_owned()));
    scene.world.engine.restore(&scene.codebase, "mine", &alice()).await.expect("it comes back");
    assert_eq!(before.differences(&Tree::of(&mine)), Vec::<String>::new());
    assert!(!is_there(&admin(&mine).join("locked")), "it was not locked before");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_gone_from_disk_becomes_history_and_only_its_own_entry_is_tidied() {
    let scene = Scene::begin().await;
    let other = scene.world.environment(&scene.codebase, Work::Issue(43)).await;
    // A person's own worktree on a disk that is away: git calls it prunable, and it is none of our business.
    let theirs = scene.world.folder().join("usb-stick");
    scene.repo.git(&["worktree", "add", "--quiet", "-b", "theirs", theirs.to_str().expect("a plain path")]);
    let their_admin = admin(&theirs);
    fs::rename(&theirs, scene.world.folder().join("unplugged")).expect("unplugged");
    scene.world.talks(PlatformKind::Slack, "C1", &scene.environment).await;
    let our_admin = admin(scene.path());
    fs::remove_dir_all(scene.path()).expect("someone deletes it");
    let removed = scene.removes().await.expect("there is nothing to lose");
    assert!(matches!(removed, Removed::WasGone { .. }));
    assert_eq!(scene.row().await.state, State::Destroyed);
    assert!(!is_there(&our_admin));
    assert!(is_there(&their_admin) && is_there(&admin(&other.path)));
    assert!(scene.repo.branches().contains(&"issue-42".to_owned()), "a branch is never part of tidying");
    let left = scene.world.engine.store().conversations_of(scene.environment.id).await.expect("the store answers");
    assert_eq!(left, []);
    assert!(scene.events().await.contains(&"environment-gone".to_owned()));
}

#[tokio::test(flavor = "multi_thread")]
async fn commits_that_only_a_vanished_environment_had_get_a_ref() {
    let scene = Scene::begin().await;
    scene.git(&["switch", "--quiet", "--detach"]);
    let lost = commit(scene.path(), "a", "1\n");
    fs::remove_dir_all(scene.path()).expect("someone deletes it");
    scene.removes().await.expect("there is nothing more to lose");
    assert_eq!(scene.repo.rev(&format!("refs/hedgerow/lost/{}", scene.environment.id)), Some(lost));
}

#[tokio::test(flavor = "multi_thread")]
async fn removing_twice_with_an_old_row_does_not_harm_what_is_in_the_trash() {
    let scene = Scene::begin().await;
    write(scene.path(), "staged", "1\n");
    scene.git(&["add", "staged"]);
    scene.forces().await.expect("the first one");
    let trash = scene.row().await.trash.expect("in the trash").path;
    let before = Tree::of(&admin(&trash)).without_times();
    for force in [false, true] {
        let again = scene.world.removes(&scene.environment, force).await.expect_err("it is not there any more");
        assert_eq!(again.kind(), Kind::NotFound, "{again:?}");
    }
    assert_eq!(before.differences(&Tree::of(&admin(&trash)).without_times()), Vec::<String>::new());
    assert_eq!(scene.row().await.state, State::Trashed);
    scene.restores().await.expect("it comes back");
    assert_eq!(scene.git(&["status", "--porcelain"]), "A  staged");
}

#[tokio::test(flavor = "multi_thread")]
async fn ten_removals_at_once_make_one() {
    let scene = Scene::begin().await;
    write(scene.path(), "notes", "1\n");
    let before = Tree::of(scene.path());
    let tasks: Vec<_> = (0..10)
        .map(|_| {
            let (engine, environment) = (scene.world.engine.clone(), scene.environment.clone());
            tokio::spawn(async move { engine.remove(&environment, true, &alice()).await })
        })
        .collect();
    let mut removed = 0;
    for task in tasks {
        match task.await.expect("no panic") {
            Ok(_) => removed += 1,
            Err(error) => assert!(matches!(error.kind(), Kind::Busy | Kind::NotFound), "{error:?}"),
        }
    }
    assert_eq!(removed, 1);
    scene.restores().await.expect("it comes back");
    assert_eq!(before.differences(&Tree::of(scene.path())), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn git_is_never_asked_to_prune_or_to_delete_by_force() {
    let world = World::new().await;
    let log = world.folder().join("calls");
    let wrapper = git_that(&world.folder().join("bin"), &format!("echo \"$@\" >> '{}'", log.display()));
    let world = World::with(|settings| settings.git = wrapper).await;
    let (repo, codebase) = world.given_a_repo("shop").await;
    let scene = Scene::of(world, repo, codebase).await;
    scene.removes().await.expect("clean");
    scene.restores().await.expect("back");
    let row = scene.row().await;
    fs::remove_dir_all(scene.path()).expect("someone deletes it");
    scene.world.removes(&row, false).await.expect("gone");
    let calls = fs::read_to_string(&log).expect("calls");
    assert!(calls.contains("update-ref"), "the wrapper is in use");
    for bad in ["worktree prune", "worktree remove", "branch -D", "branch -d", "gc", "reset --hard", "clean"] {
        assert!(!calls.lines().any(|line| format!("{line} ").contains(&format!(" {bad} "))), "{bad}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_main_checkout_does_not_notice() {
    let scene = Scene::begin().await;
    scene.repo.write("README.md", "a person is typing\n");
    let before = scene.repo.fingerprint();
    commit(scene.path(), "a", "1\n");
    scene.forces().await.expect("into the trash");
    assert_eq!(scene.repo.fingerprint(), before);
    scene.restores().await.expect("and back");
    assert_eq!(scene.repo.fingerprint(), before);
}
