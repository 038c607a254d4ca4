//! What happened while it was in the trash: its branch, its path, its work may be somebody else's by now. Nothing
//! that exists is ever overwritten.

use std::fs;

use hedgerow_core::provider::Note;
use hedgerow_core::{Kind, State, Work};
use hedgerow_testkit::git::{git, try_git};
use hedgerow_testkit::repo::{commit, write};
use hedgerow_testkit::world::{alice, words};
use hedgerow_testkit::{Tree, World};

use super::states::{self, Room};
use super::{Picture, furnished};
use crate::acts::{Acts as _, Scene, admin, is_there};

fn beside(scene: &Scene) -> String {
    format!("issue-42-restored-{}", scene.environment.id.short())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_environment_of_the_same_work_takes_its_place_and_keeps_it() {
    let scene = furnished().await;
    let tip = commit(scene.path(), "a", "first try\n");
    write(scene.path(), "notes", "first try\n");
    scene.forces().await.expect("into the trash");
    let second = scene.world.environment(&scene.codebase, Work::Issue(42)).await;
    assert_ne!(second.id, scene.environment.id);
    assert_eq!((&second.path, second.branch.as_str()), (&scene.environment.path, "issue-42"));
    let second_tip = commit(&second.path, "a", "second try\n");
    let before = Tree::of(&second.path);
    let restored = scene.restores().await.expect("it comes back");
    let first = restored.environment;
    assert_eq!(first.branch.as_str(), beside(&scene));
    assert!(restored.notes.contains(&Note::RestoredOnBranch {
        branch: first.branch.clone(),
        instead_of: scene.environment.branch.clone()
    }));
    assert!(restored.notes.contains(&Note::RestoredElsewhere { path: first.path.clone() }));
    assert_eq!(before.differences(&Tree::of(&second.path)), Vec::<String>::new());
    assert_eq!(scene.repo.rev("refs/heads/issue-42"), Some(second_tip));
    assert_eq!(scene.repo.rev(&format!("refs/heads/{}", beside(&scene))), Some(tip));
    assert_eq!(git(&first.path, &["status", "--porcelain"]), "?? notes");
    assert_eq!(scene.world.environment(&scene.codebase, Work::Issue(42)).await.id, second.id, "the work stays there");
    assert_ne!(first.port, second.port);
    let found = scene.world.engine.require_environment(&scene.codebase, first.branch.as_str()).await;
    assert_eq!(found.expect("it has a name").id, first.id);
}

#[tokio::test(flavor = "multi_thread")]
async fn while_it_is_in_the_trash_its_branch_can_be_checked_out() {
    for prepare in [
        states::a_branch_of_its_own as fn(&Room),
        states::a_stopped_interactive_rebase_with_an_autostash,
        states::a_bisect,
    ] {
        let scene = furnished().await;
        prepare(&Room { path: scene.path().to_owned() });
        scene.forces().await.expect("into the trash");
        scene.repo.git(&["switch", "--quiet", "issue-42"]);
        scene.repo.git(&["switch", "--quiet", "main"]);
        scene.restores().await.expect("it comes back");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stopped_rebase_whose_branch_is_in_use_ends_on_a_branch_beside_it() {
    let scene = furnished().await;
    states::a_stopped_interactive_rebase_with_an_autostash(&Room { path: scene.path().to_owned() });
    scene.forces().await.expect("into the trash");
    let tip = scene.repo.rev("issue-42");
    scene.repo.git(&["switch", "--quiet", "issue-42"]);
    let restored = scene.restores().await.expect("it comes back");
    assert_eq!(restored.environment.branch.as_str(), beside(&scene));
    assert!(matches!(&restored.notes[..], [Note::RestoredOnBranch { .. }]), "{:?}", restored.notes);
    scene.git(&["-c", "core.editor=true", "rebase", "--continue"]);
    assert_eq!(scene.git(&["branch", "--show-current"]), beside(&scene));
    assert_eq!(scene.git(&["log", "--format=%s", "-2"]), "two\namended");
    assert_eq!(scene.repo.rev("issue-42"), tip, "the other one's branch is where it was");
    assert_eq!(scene.repo.git(&["status", "--porcelain"]), "");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bisect_whose_branch_is_in_use_ends_on_a_branch_beside_it() {
    let scene = furnished().await;
    states::a_bisect(&Room { path: scene.path().to_owned() });
    let tip = scene.repo.rev("issue-42");
    scene.forces().await.expect("into the trash");
    scene.repo.git(&["switch", "--quiet", "issue-42"]);
    scene.restores().await.expect("it comes back");
    scene.git(&["bisect", "reset"]);
    assert_eq!(scene.git(&["branch", "--show-current"]), beside(&scene));
    assert_eq!(scene.repo.rev("HEAD"), tip);
    assert_eq!(scene.repo.rev(&beside(&scene)), tip);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_detached_head_does_not_need_its_branch() {
    let scene = furnished().await;
    states::commits_on_a_detached_head(&Room { path: scene.path().to_owned() });
    let before = Picture::of(scene.path());
    let head = scene.git(&["rev-parse", "HEAD"]);
    scene.forces().await.expect("into the trash");
    let other = scene.world.environment(&scene.codebase, Work::Issue(42)).await;
    assert_eq!(other.branch.as_str(), "issue-42");
    let restored = scene.restores().await.expect("it comes back").environment;
    assert_eq!(git(&restored.path, &["rev-parse", "HEAD"]), head);
    assert_eq!(git(&restored.path, &["branch", "--show-current"]), "");
    assert_eq!(before.folder.differences(&Tree::of(&restored.path)), Vec::<String>::new());
    assert_eq!(git(&scene.repo.path().join("."), &["rev-parse", restored.branch.as_str()]), head, "its branch is real");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_branch_that_has_moved_on_is_left_where_it_is() {
    let scene = furnished().await;
    let tip = commit(scene.path(), "a", "1\n");
    scene.forces().await.expect("into the trash");
    scene.repo.git(&["switch", "--quiet", "issue-42"]);
    let moved = scene.repo.commit("b", "someone went on\n");
    scene.repo.git(&["switch", "--quiet", "main"]);
    let restored = scene.restores().await.expect("it comes back").environment;
    assert_eq!(restored.branch.as_str(), beside(&scene));
    assert_eq!((scene.repo.rev("issue-42"), scene.repo.rev(&beside(&scene))), (Some(moved), Some(tip)));
    assert_eq!(git(&restored.path, &["status", "--porcelain"]), "");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_branch_beside_it_that_is_taken_as_well_is_not_touched() {
    let scene = furnished().await;
    let tip = commit(scene.path(), "a", "1\n");
    scene.forces().await.expect("into the trash");
    scene.repo.git(&["branch", "--force", "issue-42", "main"]);
    scene.repo.git(&["branch", &beside(&scene), "main"]);
    let main = scene.repo.rev("main");
    let restored = scene.restores().await.expect("it comes back").environment;
    assert_eq!((scene.repo.rev("issue-42"), scene.repo.rev(&beside(&scene))), (main.clone(), main));
    assert_eq!(scene.repo.rev(restored.branch.as_str()), Some(tip));
    assert_eq!(git(&restored.path, &["status", "--porcelain"]), "");
}

#[tokio::test(flavor = "multi_thread")]
async fn whatever_is_at_its_path_by_now_stays_there() {
    let scene = furnished().await;
    write(scene.path(), "notes", "1\n");
    let before = Tree::of(scene.path());
    scene.forces().await.expect("into the trash");
    fs::write(scene.path(), "a file").expect("someone puts a file there");
    let restored = scene.restores().await.expect("it comes back");
    assert_eq!(fs::read_to_string(scene.path()).expect("the file"), "a file");
    assert_eq!(restored.notes, [Note::RestoredElsewhere { path: restored.environment.path.clone() }]);
    assert_eq!(before.differences(&Tree::of(&restored.environment.path)), Vec::<String>::new());
    assert_eq!(restored.environment.branch.as_str(), "issue-42");
    // And out of there once more.
    scene.world.removes(&restored.environment, true).await.expect("into the trash again");
    fs::remove_file(scene.path()).expect("the way is free");
    scene.restores().await.expect("it comes back again");
}

#[tokio::test(flavor = "multi_thread")]
async fn submodules_follow_to_another_place() {
    let world = World::new().await;
    let (repo, codebase, _) = crate::removing::with_submodules(&world).await;
    let mine = world.folder().join("mine");
    repo.git(&["worktree", "add", "--quiet", "-b", "mine", mine.to_str().expect("a plain path")]);
    git(&mine, &["submodule", "--quiet", "update", "--init", "--recursive"]);
    write(&mine, "lib/deep/notes", "1\n");
    let environment = world.engine.adopt(&codebase, &mine, &alice()).await.expect("adopted").environment;
    world.removes(&environment, true).await.expect("into the trash");
    let trash = world.row(&environment).await.trash.expect("in the trash").path;
    assert_eq!(git(&trash.join("lib/deep"), &["status", "--porcelain"]), "?? notes");
    fs::write(&mine, "in the way").expect("a file");
    let restored = world.engine.restore(&codebase, "mine", &alice()).await.expect("it comes back").environment;
    assert_ne!(restored.path, mine);
    assert_eq!(git(&restored.path.join("lib/deep"), &["status", "--porcelain"]), "?? notes");
    assert_eq!(
        git(&restored.path.join("lib"), &["rev-parse", "--show-toplevel"]),
        restored.path.join("lib").to_string_lossy()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn restoring_twice_is_told_plainly() {
    let scene = furnished().await;
    scene.forces().await.expect("into the trash");
    scene.restores().await.expect("it comes back");
    let again = scene.restores().await.expect_err("it is not in the trash any more");
    assert_eq!(again.kind(), Kind::NotFound);
    assert!(words(&again).contains("there is no `issue-42` in the trash of `shop`"), "{}", words(&again));
}

#[tokio::test(flavor = "multi_thread")]
async fn ten_restores_at_once_make_one_and_keep_its_works() {
    let scene = furnished().await;
    scene.forces().await.expect("into the trash");
    let tasks: Vec<_> = (0..10)
        .map(|_| {
            let (engine, codebase) = (scene.world.engine.clone(), scene.codebase.clone());
            tokio::spawn(async move { engine.restore(&codebase, "issue-42", &alice()).await })
        })
        .collect();
    let mut restored = 0;
    for task in tasks {
        match task.await.expect("no panic") {
            Ok(_) => restored += 1,
            Err(error) => assert!(matches!(error.kind(), Kind::Busy | Kind::NotFound), "{error:?}"),
        }
    }
    assert_eq!(restored, 1);
    let row = scene.row().await;
    assert_eq!((row.state, row.name(), row.path.clone()), (State::Active, "issue-42", scene.environment.path.clone()));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_somebody_took_out_of_the_trash_by_hand_is_told_plainly() {
    let scene = furnished().await;
    scene.forces().await.expect("into the trash");
    let trash = scene.row().await.trash.expect("in the trash").path;
    fs::rename(&trash, scene.world.folder().join("taken")).expect("someone takes it");
    let lost = scene.restores().await.expect_err("it is not there");
    assert_eq!(lost.kind(), Kind::NotFound);
    assert!(words(&lost).contains("`issue-42` is not in the trash any more"), "{}", words(&lost));
    assert_eq!(scene.row().await.state, State::Trashed, "should it come back, it can be restored");
    fs::rename(scene.world.folder().join("taken"), &trash).expect("someone brings it back");
    scene.restores().await.expect("and so it is");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restore_that_fails_half_way_leaves_it_in_the_trash() {
    let mut scene = furnished().await;
    write(scene.path(), "notes", "1\n");
    scene.forces().await.expect("into the trash");
    let trash = scene.row().await.trash.expect("in the trash").path;
    let before = Tree::of(&trash);
    let failing = "for word in \"$@\"; do [ \"$word\" = symbolic-ref ] && [ ! -e \"$HEDGEROW_TEST_FLAG\" ] && { : > \"$HEDGEROW_TEST_FLAG\"; exit 128; }; done";
    let mut settings = scene.world.settings().clone();
    settings.git = crate::acts::git_that(&scene.world.folder().join("bin"), failing);
    let flag = scene.world.folder().join("failed-once");
    settings.git_env.push(("HEDGEROW_TEST_FLAG".into(), flag.into()));
    let good = std::mem::replace(
        &mut scene.world.engine,
        hedgerow_engine::Engine::open(settings, scene.world.clock.clone()).await.expect("it opens"),
    );
    scene.restores().await.expect_err("git fails after the move");
    assert!(!is_there(scene.path()));
    assert_eq!(before.differences(&Tree::of(&trash)), Vec::<String>::new());
    assert_eq!(scene.row().await.state, State::Trashed);
    scene.world.engine = good;
    scene.restores().await.expect("git is well again");
    assert_eq!(scene.git(&["status", "--porcelain"]), "?? notes");
}

#[tokio::test(flavor = "multi_thread")]
async fn both_works_of_a_shared_environment_come_back() {
    let scene = furnished().await;
    let mut request = scene.world.asks(&scene.codebase, Work::PullRequest(99));
    request.hints.linked_issues = vec![42];
    let shared = scene.world.resolve(&request).await.expect("shared").environment;
    assert_eq!(shared.id, scene.environment.id);
    scene.world.removes(&shared, true).await.expect("into the trash");
    let restored = scene.world.engine.restore(&scene.codebase, "pr-99", &alice()).await.expect("by either").environment;
    let names: Vec<_> = restored.works.iter().map(|work| work.name.as_str()).collect();
    assert_eq!(names, ["issue-42", "pr-99"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn its_ports_come_back_unless_another_has_them() {
    let scene = furnished().await;
    let port = scene.environment.port;
    scene.forces().await.expect("into the trash");
    assert_eq!(scene.restores().await.expect("it comes back").environment.port, port);
    let row = scene.row().await;
    scene.world.removes(&row, true).await.expect("into the trash");
    let other = scene.world.environment(&scene.codebase, Work::Issue(43)).await;
    assert_eq!(other.port, port, "free blocks are given out");
    let restored = scene.restores().await.expect("it comes back").environment;
    assert!(restored.port.is_some() && restored.port != port);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worktree_on_another_disk_has_a_trash_there() {
    let disk = tempfile::Builder::new().prefix("hedgerow-disk-").tempdir_in("/dev/shm").expect("another file system");
    let scene = furnished().await;
    let mine = fs::canonicalize(disk.path()).expect("it is there").join("mine");
    scene.repo.git(&["worktree", "add", "--quiet", "-b", "mine", mine.to_str().expect("a plain path")]);
    write(&mine, "ign/data", "kept\n");
    let environment = scene.world.engine.adopt(&scene.codebase, &mine, &alice()).await.expect("adopted").environment;
    let before = Picture::of(&mine);
    scene.world.removes(&environment, true).await.expect("into the trash");
    let trash = scene.world.row(&environment).await.trash.expect("in the trash").path;
    assert!(trash.starts_with(mine.parent().expect("a folder")), "{trash:?}");
    assert!(!is_there(&mine));
    scene.world.engine.restore(&scene.codebase, "mine", &alice()).await.expect("it comes back");
    before.assert_same(&Picture::of(&mine), "on another disk");

    // No trash can be made there: it stays where it is.
    let environment = scene.world.row(&environment).await;
    fs::remove_dir_all(disk.path().join(".hedgerow-trash")).expect("it is empty");
    fs::write(disk.path().join(".hedgerow-trash"), "in the way").expect("a file");
    scene.world.removes(&environment, true).await.expect_err("there is nowhere to move it to");
    before.assert_same(&Picture::of(&mine), "refused");
    assert_eq!(scene.world.row(&environment).await.state, State::Active);
}

#[tokio::test(flavor = "multi_thread")]
async fn in_the_trash_it_is_locked_and_out_of_sight() {
    let scene = furnished().await;
    scene.forces().await.expect("into the trash");
    let trash = scene.row().await.trash.expect("in the trash").path;
    let list = scene.repo.git(&["worktree", "list", "--porcelain"]);
    assert!(list.contains(&format!("worktree {}\n", trash.display())), "{list}");
    assert!(is_there(&admin(&trash).join("locked")));
    let removing =
        try_git(scene.repo.path(), &["worktree", "remove", "--force", trash.to_str().expect("a plain path")]);
    assert!(!removing.status.success(), "a stray --force is refused");
    scene.repo.git(&["worktree", "prune", "--expire=now"]);
    scene.restores().await.expect("it comes back");
}
