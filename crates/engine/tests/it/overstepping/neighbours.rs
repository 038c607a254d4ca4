//! People and other runs at work at the same time: nothing of theirs is undone.

use std::fs;

use hedgerow_core::Work;
use hedgerow_engine::tripwire::{Done, What};
use hedgerow_testkit::git::git;
use hedgerow_testkit::repo::commit;
use hedgerow_testkit::world::alice;

use super::Scene;

#[tokio::test(flavor = "multi_thread")]
async fn a_branch_that_its_own_worktree_moved_stays() {
    let scene = Scene::set().await;
    let other = scene.world.environment(&scene.codebase, Work::Issue(2)).await;
    let tripwire = scene.arms(false).await;
    let (theirs, mains) = (commit(&other.path, "theirs.txt", "theirs"), scene.repo.commit("b.txt", "main"));
    // A branch that somebody worked on meanwhile, and left.
    git(&other.path, &["switch", "--quiet", "old"]);
    let old = commit(&other.path, "old.txt", "old");
    git(&other.path, &["switch", "--quiet", "issue-2"]);
    assert_eq!(scene.springs(tripwire).await, []);
    let now = |name| scene.repo.rev(name);
    assert_eq!((now("issue-2"), now("main"), now("old")), (Some(theirs), Some(mains), Some(old)));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_branch_that_its_worktree_did_not_move_is_put_back_to_its_owners_last_word() {
    let scene = Scene::set().await;
    let other = scene.world.environment(&scene.codebase, Work::Issue(2)).await;
    let theirs = commit(&other.path, "theirs.txt", "theirs");
    let tripwire = scene.arms(false).await;
    scene.git(&["update-ref", "refs/heads/issue-2", "HEAD"]);
    let found = scene.springs(tripwire).await;
    assert_eq!(super::put_back(&found), [&What::Moved("refs/heads/issue-2".into())]);
    assert_eq!(scene.repo.rev("issue-2"), Some(theirs));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_hedgerow_itself_makes_and_removes_meanwhile_stays_so() {
    let scene = Scene::set().await;
    let gone = scene.world.environment(&scene.codebase, Work::Issue(2)).await;
    let tripwire = scene.arms(false).await;
    scene.world.engine.remove(&gone, false, &alice()).await.expect("it goes");
    scene.repo.commit_on_origin("feature", "f.txt", "f");
    scene.world.gets(&scene.world.asks_for_pr(&scene.codebase, 3, "feature")).await;
    assert_eq!(scene.repo.rev("issue-2"), None, "its branch went with it");
    assert!(scene.repo.upstreams().iter().any(|line| line.contains("feature")), "{:?}", scene.repo.upstreams());
    assert_eq!(scene.springs(tripwire).await, []);
    assert_eq!(scene.repo.rev("issue-2"), None);
    assert!(scene.repo.upstreams().iter().any(|line| line.contains("feature")));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_main_checkout_is_its_persons() {
    let scene = Scene::set().await;
    let tripwire = scene.arms(false).await;
    scene.repo.git(&["checkout", "--quiet", "old"]);
    assert_eq!(scene.springs(tripwire).await, []);
    assert_eq!(scene.repo.git(&["symbolic-ref", "HEAD"]), "refs/heads/old");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stash_that_its_own_worktree_popped_is_not_put_back() {
    let scene = Scene::set().await;
    scene.repo.write("a.txt", "changed");
    scene.repo.git(&["stash", "--quiet"]);
    let tripwire = scene.arms(false).await;
    scene.repo.git(&["stash", "pop", "--quiet"]);
    assert_eq!(scene.springs(tripwire).await, []);
    assert_eq!(scene.repo.git(&["stash", "list"]), "");
}

#[tokio::test(flavor = "multi_thread")]
async fn in_a_view_settings_that_changed_are_not_the_runs() {
    let scene = Scene::set().await;
    let config = scene.repo.git_dir().join("config");
    let tripwire = scene.arms(true).await;
    // With an editor that writes in place, which no guard is lost by.
    let text = fs::read_to_string(&config).expect("settings") + "[core]\n\teditor = ed\n";
    fs::write(&config, &text).expect("writes");
    fs::write(scene.repo.git_dir().join("hooks/post-merge"), "#!/bin/sh\n").expect("writes");
    assert_eq!(scene.springs(tripwire).await, []);
    let tripwire = scene.arms(true).await;
    // As git does it; from then on the guard is gone, and the run could have written it as well.
    scene.repo.git(&["config", "color.ui", "never"]);
    let found = scene.springs(tripwire).await;
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((&found[0].what, &found[0].done), (&What::Settings(vec!["color.ui".into()]), &Done::Left));
    assert_eq!(scene.repo.git(&["config", "color.ui"]), "never");
}
