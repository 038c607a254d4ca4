//! The index, and what git has in progress.

use std::fs;

use hedgerow_core::Kind;
use hedgerow_engine::Engine;
use hedgerow_testkit::git::{command, git, try_git};
use hedgerow_testkit::repo::commit;

use super::kept;
use crate::acts::{Scene, admin, git_that, is_there};

/// A branch beside the environment's, with another `README.md` than its own.
fn side(scene: &Scene) {
    scene.git(&["switch", "--quiet", "-c", "side"]);
    commit(scene.path(), "README.md", "side\n");
    scene.git(&["switch", "--quiet", scene.environment.branch.as_str()]);
    commit(scene.path(), "first.txt", "first\n");
    commit(scene.path(), "README.md", "own\n");
}

fn stops(scene: &Scene, args: &[&str]) {
    assert!(!try_git(scene.path(), args).status.success(), "git {args:?} should stop");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_staged_is_staged_again() {
    let scene = Scene::begin().await;
    commit(scene.path(), "gone.txt", "1\n");
    scene.write("README.md", "staged\n");
    scene.git(&["add", "README.md"]);
    scene.write("README.md", "staged, then edited\n");
    scene.write("new.txt", "staged\n");
    scene.git(&["add", "new.txt"]);
    scene.git(&["rm", "--quiet", "--cached", "gone.txt"]);
    scene.write("later.txt", "intended\n");
    scene.git(&["add", "--intent-to-add", "later.txt"]);
    scene.checks().await;
    let before = (scene.files(), scene.everything());
    scene.git(&["add", "--all"]);
    scene.git(&["commit", "--quiet", "-m", "A turn"]);
    scene.checks().await;
    let undone = scene.undoes().await;
    assert_eq!(scene.everything(), before.1);
    assert_eq!((scene.files(), kept(&undone)), (before.0, Vec::new()));
    scene.git(&["gc", "--quiet", "--prune=now"]);
    assert_eq!(scene.git(&["show", ":README.md"]), "staged");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_person_staged_since_stays_staged() {
    let scene = Scene::begin().await;
    commit(scene.path(), "a.txt", "a\n");
    scene.checks().await;
    scene.write("README.md", "turn\n");
    scene.write("a.txt", "turn\n");
    scene.git(&["add", "a.txt"]);
    scene.checks().await;
    scene.write("mine.txt", "person\n");
    scene.git(&["add", "mine.txt", "README.md"]);
    scene.undoes().await;
    assert_eq!(scene.git(&["diff", "--cached", "--name-only"]), "README.md\nmine.txt");
    assert_eq!(scene.read("README.md"), "Hello\n", "the file itself is what the turn left, so it goes back");
    assert_eq!(scene.git(&["show", ":README.md"]), "turn");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conflicted_merge_comes_back_after_a_turn_resolved_it() {
    let scene = Scene::begin().await;
    side(&scene);
    stops(&scene, &["merge", "side"]);
    scene.checks().await;
    let before = (scene.files(), scene.everything());
    assert!(before.1.contains("UU"), "{}", before.1);
    scene.write("README.md", "resolved\n");
    scene.git(&["add", "README.md"]);
    scene.git(&["commit", "--quiet", "--no-edit"]);
    scene.repo.git(&["branch", "--quiet", "-D", "side"]);
    scene.checks().await;
    scene.undoes().await;
    assert_eq!(scene.everything(), before.1);
    assert_eq!(scene.files(), before.0);
    scene.write("README.md", "resolved by hand\n");
    scene.git(&["add", "README.md"]);
    scene.git(&["commit", "--quiet", "--no-edit"]);
    assert_eq!(scene.git(&["show", "--no-patch", "--format=%P"]).split(' ').count(), 2, "a merge");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rebase_that_a_turn_began_goes_and_can_come_back() {
    let scene = Scene::begin().await;
    side(&scene);
    scene.write("draft.txt", "draft\n");
    scene.checks().await;
    let before = (scene.files(), scene.everything());
    stops(&scene, &["rebase", "side"]);
    scene.write("README.md", "half resolved\n");
    scene.checks().await;
    let stopped = (scene.files(), scene.everything());
    let undone = scene.undoes().await;
    assert!(undone.rewound.operation);
    assert_eq!(scene.everything(), before.1);
    assert_eq!(scene.files(), before.0);
    assert!(!is_there(&admin(scene.path()).join("rebase-merge")));

    scene.git(&["reflog", "expire", "--expire=now", "--all"]);
    scene.git(&["gc", "--quiet", "--prune=now"]);
    scene.undoes_to(undone.before.number).await;
    assert_eq!(scene.everything(), stopped.1);
    assert_eq!(scene.files(), stopped.0);
    scene.git(&["add", "README.md"]);
    let mut carry_on = command(scene.path());
    let done = carry_on.env("GIT_EDITOR", "true").args(["rebase", "--continue"]).output().expect("git starts");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    assert_eq!(scene.git(&["symbolic-ref", "--short", "HEAD"]), scene.environment.branch.as_str());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_operation_that_went_on_since_is_left_alone() {
    let scene = Scene::begin().await;
    side(&scene);
    scene.checks().await;
    stops(&scene, &["merge", "side"]);
    scene.checks().await;
    fs::write(admin(scene.path()).join("MERGE_MSG"), "my own words\n").expect("the message");
    let before = (scene.files(), scene.everything());
    let (kind, said) = scene.refused(None).await;
    assert_eq!(kind, Kind::Protected);
    assert!(said.contains("has gone on in `issue-42` since"), "{said}");
    assert_eq!((scene.files(), scene.everything()), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bisect_goes_with_its_refs() {
    let scene = Scene::begin().await;
    side(&scene);
    scene.checks().await;
    let before = (scene.files(), scene.everything());
    scene.git(&["bisect", "start", "HEAD", "main"]);
    scene.checks().await;
    assert_ne!(scene.git(&["for-each-ref", "refs/bisect/"]), "");
    let undone = scene.undoes().await;
    assert_eq!((scene.files(), scene.everything()), before);
    assert_eq!(scene.git(&["for-each-ref", "refs/bisect/"]), "");
    scene.undoes_to(undone.before.number).await;
    assert!(scene.git(&["bisect", "log"]).contains("bad:"));
    assert_ne!(scene.git(&["for-each-ref", "refs/bisect/"]), "");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_branch_that_a_turn_changed_to_is_left_and_stays() {
    let scene = Scene::begin().await;
    scene.checks().await;
    commit(scene.path(), "a.txt", "a\n");
    scene.git(&["switch", "--quiet", "-c", "other"]);
    let tip = commit(scene.path(), "b.txt", "b\n");
    scene.checks().await;
    scene.undoes().await;
    assert_eq!(scene.git(&["symbolic-ref", "--short", "HEAD"]), scene.environment.branch.as_str());
    assert_eq!(scene.git(&["rev-parse", "HEAD"]), scene.git(&["rev-parse", "main"]), "its commit went back too");
    assert_eq!(scene.status(), "");
    assert_eq!(scene.repo.rev("other"), Some(tip));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_branch_that_moved_or_is_held_elsewhere_stops_an_undo() {
    let scene = Scene::begin().await;
    let own = scene.environment.branch.as_str().to_owned();
    scene.checks().await;
    scene.git(&["switch", "--quiet", "--detach"]);
    scene.write("README.md", "turn\n");
    scene.checks().await;
    let elsewhere = scene.world.folder().join("elsewhere");
    let at = elsewhere.to_string_lossy().into_owned();
    scene.repo.git(&["worktree", "add", "--quiet", &at, &own]);
    let (kind, said) = scene.refused(None).await;
    assert_eq!(kind, Kind::Protected);
    assert!(said.contains("is checked out in"), "{said}");
    commit(&elsewhere, "theirs.txt", "theirs\n");
    git(&elsewhere, &["switch", "--quiet", "--detach"]);
    let (kind, said) = scene.refused(None).await;
    assert_eq!(kind, Kind::Protected);
    assert!(said.contains("has moved since"), "{said}");
    assert_eq!(scene.read("README.md"), "turn\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn git_at_work_stops_an_undo() {
    let scene = Scene::begin().await;
    scene.checks().await;
    scene.write("README.md", "turn\n");
    scene.checks().await;
    for name in ["index.lock", "HEAD.lock"] {
        let lock = admin(scene.path()).join(name);
        fs::write(&lock, "").expect("a lock");
        assert_eq!(scene.refused(None).await.0, Kind::Busy, "{name}");
        assert_eq!(scene.read("README.md"), "turn\n");
        assert_eq!(scene.numbers().await, [1, 2], "it is no undo to carry on");
        fs::remove_file(lock).expect("it was there");
    }
    scene.undoes().await;
    assert_eq!(scene.read("README.md"), "Hello\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_undo_that_fails_after_the_branch_has_moved_is_carried_on() {
    let mut scene = Scene::begin().await;
    let own = scene.environment.branch.as_str().to_owned();
    scene.checks().await;
    let start = scene.repo.rev(&own);
    commit(scene.path(), "a.txt", "a\n");
    scene.git(&["switch", "--quiet", "-c", "other"]);
    scene.checks().await;

    let failing = "for word in \"$@\"; do [ \"$word\" = symbolic-ref ] && exit 128; done";
    let mut settings = scene.world.settings().clone();
    settings.git = git_that(&scene.world.folder().join("bin"), failing);
    let failing = Engine::open(settings, scene.world.clock.clone()).await.expect("it opens");
    let good = std::mem::replace(&mut scene.world.engine, failing);
    let (_, said) = scene.refused(None).await;
    assert!(!said.contains("nothing was changed"), "{said}");
    assert_eq!(scene.repo.rev(&own), start, "the branch has moved");
    assert_eq!(scene.numbers().await, [1, 2, 3], "the state before stays");

    scene.world.engine = good;
    let undone = scene.undoes().await;
    assert_eq!(undone.to.number, 1);
    assert_eq!(scene.git(&["symbolic-ref", "--short", "HEAD"]), own);
    assert_eq!((scene.status(), scene.read("a.txt")), (String::new(), "(not there)".to_owned()));
}
