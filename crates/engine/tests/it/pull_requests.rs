//! Pull requests: on their own branch, beside the main checkout, from forks; and what happens when their head moves.

use hedgerow_core::environment::Resolution;
use hedgerow_core::provider::Note;
use hedgerow_core::{CommitSha, Kind, Work};
use hedgerow_testkit::World;
use hedgerow_testkit::git::{git, try_git};
use hedgerow_testkit::repo::{commit, write};
use hedgerow_testkit::world::branch;

use crate::witness::{Witness, push};

const UPSTREAM: [&str; 2] = ["branch.feature/auth.remote=origin", "branch.feature/auth.merge=refs/heads/feature/auth"];

#[tokio::test(flavor = "multi_thread")]
async fn a_push_from_a_pull_requests_environment_updates_the_pull_request() {
    let world = World::new().await;
    let (repo, codebase) = world.given_a_repo("shop").await;
    let head = repo.commit_on_origin("feature/auth", "auth.txt", "one");
    let sees = Witness::of(&repo);

    let made = world.gets(&world.asks_for_pr(&codebase, 99, "feature/auth")).await;

    sees.finds_with_upstream(&made.environment, &head, &UPSTREAM);
    assert_eq!(made.notes, []);
    assert_eq!(made.environment.base_sha, repo.rev("main"), "where it left the base");
    let fix = commit(&made.environment.path, "fix.txt", "fixed");
    assert!(push(&made.environment).status.success());
    assert_eq!(git(repo.origin(), &["rev-parse", "feature/auth"]), fix.as_str());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_local_branch_that_is_behind_is_fast_forwarded() {
    let world = World::new().await;
    let (repo, codebase) = world.given_a_repo("shop").await;
    let old = repo.commit_on_origin("feature/auth", "auth.txt", "one");
    repo.git(&["fetch", "--quiet", "origin"]);
    repo.git(&["branch", "--no-track", "feature/auth", "origin/feature/auth"]);
    let new = repo.commit_on_origin("feature/auth", "auth.txt", "two");
    let sees = Witness::of(&repo);

    let made = world.gets(&world.asks_for_pr(&codebase, 99, "feature/auth")).await;

    sees.finds_with_upstream(&made.environment, &new, &UPSTREAM);
    let moved = Note::FastForwarded { branch: branch("feature/auth"), from: old.clone(), to: new };
    assert_eq!(made.notes, [moved]);
    assert!(!made.environment.branch_made);
    assert_eq!(repo.rev("feature/auth@{1}"), Some(old), "the reflog knows where it was");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_local_branch_with_commits_of_its_own_is_kept() {
    let world = World::new().await;
    let (repo, codebase) = world.given_a_repo("shop").await;
    repo.commit_on_origin("feature/auth", "auth.txt", "one");
    repo.git(&["fetch", "--quiet", "origin"]);
    repo.git(&["switch", "--quiet", "--no-track", "-c", "feature/auth", "origin/feature/auth"]);
    let own = repo.commit("own.txt", "own");
    repo.git(&["switch", "--quiet", "main"]);
    let head = repo.commit_on_origin("feature/auth", "auth.txt", "two");
    let sees = Witness::of(&repo);

    let mut request = world.asks_for_pr(&codebase, 99, "feature/auth");
    request.hints.pr_head = Some(head.clone());
    let made = world.gets(&request).await;

    sees.finds_with_upstream(&made.environment, &own, &UPSTREAM);
    assert_eq!(made.notes, [Note::KeptOwnCommits { branch: branch("feature/auth") }]);

    // Nobody put it there but its owner, so it is not moved later either.
    let again = world.gets(&request).await;
    assert_eq!(again.notes, [Note::HeadMovedKept { to: head }]);
    assert_eq!(repo.rev("refs/heads/feature/auth").as_ref(), Some(&own));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_local_branch_that_holds_nothing_of_its_own_follows_a_head_that_was_rewritten() {
    let world = World::new().await;
    let (repo, codebase) = world.given_a_repo("shop").await;
    repo.commit_on_origin("feature/auth", "auth.txt", "one");
    repo.git(&["fetch", "--quiet", "origin"]);
    repo.git(&["branch", "--quiet", "--no-track", "feature/auth", "origin/feature/auth"]);
    let request = world.asks_for_pr(&codebase, 99, "feature/auth");
    let made = world.gets(&request).await;

    git(repo.origin(), &["update-ref", "refs/heads/feature/auth", "refs/heads/main"]);
    let head = repo.commit_on_origin("feature/auth", "auth.txt", "another one");
    let mut request = request;
    request.hints.pr_head = Some(head.clone());
    let again = world.gets(&request).await;
    assert_eq!((again.environment.id, again.notes), (made.environment.id, vec![Note::MovedHead { to: head.clone() }]));
    assert_eq!(repo.rev("refs/heads/feature/auth").as_ref(), Some(&head));
}

#[tokio::test(flavor = "multi_thread")]
async fn when_the_main_checkout_holds_the_head_branch_another_one_pushes_to_it() {
    let world = World::new().await;
    let (repo, codebase) = world.given_a_repo("shop").await;
    repo.git(&["switch", "--quiet", "-c", "feature/auth"]);
    repo.push("feature/auth");
    let head = repo.commit_on_origin("feature/auth", "auth.txt", "one");
    let sees = Witness::of(&repo);

    let made = world.gets(&world.asks_for_pr(&codebase, 99, "feature/auth")).await;

    let environment = &made.environment;
    let upstream = ["branch.pr-99.remote=origin", "branch.pr-99.merge=refs/heads/feature/auth"];
    sees.finds_with_upstream(environment, &head, &upstream);
    assert_eq!(environment.branch, branch("pr-99"));
    assert_eq!(made.notes, [Note::HeadBranchTaken { head: branch("feature/auth"), instead: branch("pr-99") }]);

    let fix = commit(&environment.path, "fix.txt", "fixed");
    // git's own rule for branches of different names: it refuses a plain push and says which one it wants.
    let refused = push(environment);
    let says = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success() && says.contains("git push origin HEAD:feature/auth"), "{says}");
    assert!(try_git(&environment.path, &["push", "origin", "HEAD:feature/auth"]).status.success());
    assert_eq!(git(repo.origin(), &["rev-parse", "feature/auth"]), fix.as_str());
    assert!(!try_git(repo.origin(), &["rev-parse", "--verify", "pr-99"]).status.success(), "nothing else was pushed");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_forks_commit_is_fetched_by_its_name_and_never_from_the_forks_branch() {
    let world = World::new().await;
    let (repo, codebase) = world.given_a_repo("shop").await;
    let asked = repo.pull_request_from_fork(7, "seven.txt", "one");
    let newer = repo.pull_request_from_fork(7, "seven.txt", "two");
    assert_ne!(asked, newer);
    let sees = Witness::of(&repo);

    let made = world.gets(&world.asks_for_fork(&codebase, 7, Some(&asked))).await;

    sees.finds(&made.environment, &asked);
    assert_eq!(made.notes, []);
    assert_eq!(made.environment.base, Some(branch("main")));
    assert_eq!(repo.branches(), ["main", "pr-7-review"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_gives_no_commits_by_name_is_asked_for_the_pull_ref() {
    let world = World::new().await;
    let (repo, codebase) = world.given_a_repo("shop").await;
    let sha = repo.pull_request_from_fork(7, "seven.txt", "one");
    git(repo.origin(), &["config", "uploadpack.allowAnySHA1InWant", "false"]);
    git(repo.origin(), &["config", "protocol.version", "0"]);
    repo.git(&["config", "protocol.version", "0"]);
    let sees = Witness::of(&repo);
    let made = world.gets(&world.asks_for_fork(&codebase, 7, Some(&sha))).await;
    sees.finds(&made.environment, &sha);
}

#[tokio::test(flavor = "multi_thread")]
async fn another_forges_pull_ref_can_be_configured() {
    let world = World::with(|settings| settings.pull_ref = "refs/merge-requests/{number}/head".to_owned()).await;
    let (repo, codebase) = world.given_a_repo("shop").await;
    let sha = repo.pull_request_from_fork(7, "seven.txt", "one");
    git(repo.origin(), &["update-ref", "refs/merge-requests/7/head", sha.as_str()]);
    git(repo.origin(), &["update-ref", "-d", "refs/pull/7/head"]);
    let sees = Witness::of(&repo);
    let made = world.gets(&world.asks_for_fork(&codebase, 7, None)).await;
    sees.finds(&made.environment, &sha);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_had_is_an_error_and_leaves_nothing() {
    let world = World::new().await;
    let (repo, codebase) = world.given_a_repo("shop").await;
    repo.pull_request_from_fork(7, "seven.txt", "one");
    let sees = Witness::of(&repo);
    let no_such = CommitSha::parse(&"1234567890".repeat(4)).expect("a sha");

    let mut review = world.asks(&codebase, Work::Review(7));
    review.hints.pr_head = Some(no_such.clone());
    for request in [world.asks_for_fork(&codebase, 7, Some(&no_such)), review] {
        let (kind, words) = world.fails(&request).await;
        assert_eq!(kind, Kind::NotFound);
        assert!(words.contains(&format!("The commit {no_such} cannot be had")), "{words}");
    }
    for request in [world.asks_for_fork(&codebase, 8, None), world.asks(&codebase, Work::PullRequest(8))] {
        let (kind, words) = world.fails(&request).await;
        assert_eq!(kind, Kind::NotFound);
        assert!(words.contains("Pull request 8 cannot be found on the remote"), "{words}");
    }
    let (kind, words) = world.fails(&world.asks_for_pr(&codebase, 9, "gone")).await;
    assert_eq!(kind, Kind::NotFound);
    assert!(words.contains("There is no branch `gone`"), "{words}");
    sees.sees_nothing_left(&world, &codebase).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_clean_environment_follows_a_head_that_moved() {
    let world = World::new().await;
    let (repo, codebase) = world.given_a_repo("shop").await;
    repo.commit_on_origin("feature/auth", "auth.txt", "one");
    let first = repo.pull_request_from_fork(7, "seven.txt", "one");
    let own = world.gets(&world.asks_for_pr(&codebase, 99, "feature/auth")).await.environment;
    let fork = world.gets(&world.asks_for_fork(&codebase, 7, Some(&first))).await.environment;

    // One head moves on, the other is rewritten.
    let ahead = repo.commit_on_origin("feature/auth", "auth.txt", "two");
    let rewritten = repo.pull_request_from_fork(7, "seven.txt", "another one");
    let sees = Witness::of(&repo);
    let mut moved = world.asks_for_pr(&codebase, 99, "feature/auth");
    moved.hints.pr_head = Some(ahead.clone());
    for (request, id, to) in
        [(moved, own.id, ahead), (world.asks_for_fork(&codebase, 7, Some(&rewritten)), fork.id, rewritten)]
    {
        let again = world.gets(&request).await;
        assert_eq!((again.resolution, again.environment.id), (Resolution::Reused, id));
        assert_eq!(again.notes, [Note::MovedHead { to: to.clone() }]);
        sees.finds(&again.environment, &to);
        assert_eq!(again.environment.base_sha, repo.rev("main"), "where it left the base");
        assert_eq!(world.gets(&request).await.notes, [], "it is said once");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conversations_own_environment_follows_its_pull_request_too() {
    let world = World::new().await;
    let (repo, codebase) = world.given_a_repo("shop").await;
    repo.commit_on_origin("feature/auth", "auth.txt", "one");
    let request = world.asks_for_pr(&codebase, 99, "feature/auth");
    let first = world.from_conversation("acme/shop#99", request.clone()).await;
    world.gets(&first).await;
    let ahead = repo.commit_on_origin("feature/auth", "auth.txt", "two");

    let mut second = world.from_conversation("acme/shop#99", request).await;
    second.hints.pr_head = Some(ahead.clone());
    let kept = world.gets(&second).await;

    assert_eq!(kept.resolution, Resolution::Kept);
    assert_eq!(kept.notes, [Note::MovedHead { to: ahead.clone() }]);
    assert_eq!(git(&kept.environment.path, &["rev-parse", "HEAD"]), ahead.as_str());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_environment_with_work_of_its_own_stays_when_the_head_moves() {
    let world = World::new().await;
    let (repo, codebase) = world.given_a_repo("shop").await;
    for (number, name) in [(1, "dirty"), (2, "staged"), (3, "committed"), (4, "rebasing")] {
        repo.commit_on_origin(name, "auth.txt", "one");
        let request = world.asks_for_pr(&codebase, number, name);
        let path = world.gets(&request).await.environment.path;
        match name {
            "dirty" => write(&path, "new.txt", "not added"),
            "staged" => {
                write(&path, "auth.txt", "changed");
                git(&path, &["add", "auth.txt"]);
            }
            "committed" => drop(commit(&path, "own.txt", "own")),
            _ => {
                let stop = ["-c", "sequence.editor=sed -i 1ibreak", "rebase", "--quiet", "-i", "HEAD~1"];
                git(&path, &stop);
            }
        }
        let before = (git(&path, &["rev-parse", "HEAD"]), git(&path, &["status", "--porcelain"]));
        let moved = repo.commit_on_origin(name, "auth.txt", "two");
        let mut request = request;
        request.hints.pr_head = Some(moved.clone());

        let again = world.gets(&request).await;

        assert_eq!(again.notes, [Note::HeadMovedKept { to: moved }], "{name}");
        assert_eq!(before, (git(&path, &["rev-parse", "HEAD"]), git(&path, &["status", "--porcelain"])), "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worktree_that_someone_else_made_is_not_moved_with_the_head() {
    let world = World::new().await;
    let (repo, codebase) = world.given_a_repo("shop").await;
    repo.commit_on_origin("feature/auth", "auth.txt", "one");
    repo.git(&["fetch", "--quiet", "origin"]);
    let theirs = world.folder().join("theirs");
    repo.git(&["worktree", "add", "--quiet", &theirs.to_string_lossy(), "feature/auth"]);
    let before = git(&theirs, &["rev-parse", "HEAD"]);
    let request = world.asks_for_pr(&codebase, 99, "feature/auth");
    assert_eq!(world.gets(&request).await.resolution, Resolution::Adopted);
    let ahead = repo.commit_on_origin("feature/auth", "auth.txt", "two");

    let mut request = request;
    request.hints.pr_head = Some(ahead.clone());
    let again = world.gets(&request).await;

    assert_eq!(again.notes, [Note::HeadMovedKept { to: ahead }]);
    assert_eq!(git(&theirs, &["rev-parse", "HEAD"]), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_moved_head_that_cannot_be_had_is_an_error_and_the_environment_stays() {
    let world = World::new().await;
    let (repo, codebase) = world.given_a_repo("shop").await;
    let head = repo.commit_on_origin("feature/auth", "auth.txt", "one");
    let mut request = world.asks_for_pr(&codebase, 99, "feature/auth");
    let made = world.gets(&request).await.environment;
    request.hints.pr_head = Some(CommitSha::parse(&"1234567890".repeat(4)).expect("a sha"));

    let (kind, words) = world.fails(&request).await;

    assert_eq!(kind, Kind::NotFound);
    assert!(words.contains("cannot be had"), "{words}");
    assert_eq!(git(&made.path, &["rev-parse", "HEAD"]), head.as_str());
}
