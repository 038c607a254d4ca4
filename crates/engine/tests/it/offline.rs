//! The remote is gone: the last known state is used, and said.

use hedgerow_core::provider::Note;
use hedgerow_core::{Kind, Work};
use hedgerow_testkit::World;

use crate::witness::Witness;

fn is_offline(notes: &[Note]) -> bool {
    matches!(notes, [Note::Offline { remote, .. }] if remote == "origin")
}

#[tokio::test(flavor = "multi_thread")]
async fn the_last_known_base_is_used_and_the_person_told() {
    let world = World::new().await;
    let (repo, codebase) = world.given_a_repo("shop").await;
    let news = repo.commit_on_origin("main", "news.txt", "n");
    repo.git(&["fetch", "--quiet", "origin"]);
    repo.goes_offline();
    let sees = Witness::of(&repo);

    let made = world.gets(&world.asks(&codebase, Work::Issue(1))).await;

    sees.finds(&made.environment, &news);
    assert!(is_offline(&made.notes), "{:?}", made.notes);
    repo.comes_online();
    assert_eq!(world.gets(&world.asks(&codebase, Work::Issue(2))).await.notes, []);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pull_requests_branch_is_used_as_last_known() {
    let world = World::new().await;
    let (repo, codebase) = world.given_a_repo("shop").await;
    let known = repo.commit_on_origin("feature/auth", "auth.txt", "one");
    repo.git(&["fetch", "--quiet", "origin"]);
    repo.goes_offline();
    let sees = Witness::of(&repo);

    let made = world.gets(&world.asks_for_pr(&codebase, 99, "feature/auth")).await;

    let upstream = ["branch.feature/auth.remote=origin", "branch.feature/auth.merge=refs/heads/feature/auth"];
    sees.finds_with_upstream(&made.environment, &known, &upstream);
    assert!(is_offline(&made.notes), "{:?}", made.notes);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_commit_that_is_here_needs_no_remote_and_one_that_is_not_is_an_error() {
    let world = World::new().await;
    let (repo, codebase) = world.given_a_repo("shop").await;
    let here = repo.pull_request_from_fork(7, "seven.txt", "one");
    repo.git(&["fetch", "--quiet", "origin", "refs/pull/7/head:refs/somewhere"]);
    let away = repo.pull_request_from_fork(8, "eight.txt", "one");
    repo.goes_offline();
    let sees = Witness::of(&repo);
    let (kind, _) = world.fails(&world.asks_for_fork(&codebase, 8, Some(&away))).await;
    assert_eq!(kind, Kind::NotFound);
    let (kind, _) = world.fails(&world.asks_for_fork(&codebase, 8, None)).await;
    assert_eq!(kind, Kind::Failed);
    sees.sees_nothing_left(&world, &codebase).await;

    let made = world.gets(&world.asks_for_fork(&codebase, 7, Some(&here))).await;
    sees.finds(&made.environment, &here);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pull_request_without_any_remote_says_so() {
    let world = World::new().await;
    let (repo, codebase) = world.given_a_repo_without_remote("shop").await;
    let sees = Witness::of(&repo);
    let (kind, words) = world.fails(&world.asks(&codebase, Work::PullRequest(7))).await;
    assert_eq!(kind, Kind::Failed);
    assert!(words.contains("the repository has no remote"), "{words}");
    sees.sees_nothing_left(&world, &codebase).await;
}
