//! A pull request and the issue it closes: one environment where that is right, two where it is not.

use hedgerow_core::environment::Resolution;
use hedgerow_core::provider::Note;
use hedgerow_core::{Codebase, Work};
use hedgerow_engine::engine::Request;
use hedgerow_testkit::World;
use hedgerow_testkit::git::git;
use hedgerow_testkit::repo::{commit, write};
use hedgerow_testkit::world::branch;

fn fixing(world: &World, codebase: &Codebase, number: u64, head: Option<&str>, issue: u64) -> Request {
    let mut request = match head {
        Some(head) => world.asks_for_pr(codebase, number, head),
        None => world.asks(codebase, Work::PullRequest(number)),
    };
    request.hints.linked_issues = vec![issue];
    request
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pull_request_made_from_an_issues_branch_shares_its_environment() {
    let world = World::new().await;
    let (_repo, codebase) = world.given_a_repo("shop").await;
    let issue = world.environment(&codebase, Work::Issue(42)).await;
    let work = commit(&issue.path, "work.txt", "work");
    git(&issue.path, &["push", "--quiet", "origin", "issue-42"]);

    // Its branch being the head branch is enough; the link is not even needed.
    let linked = world.gets(&fixing(&world, &codebase, 99, Some("issue-42"), 42)).await;

    assert_eq!(linked.environment.id, issue.id);
    assert_eq!(git(&issue.path, &["rev-parse", "HEAD"]), work.as_str());
    for name in ["pr-99", "issue-42"] {
        let found = world.engine.require_environment(&codebase, name).await.expect("it is found");
        assert_eq!(found.id, issue.id, "{name}");
    }
    assert_eq!((linked.environment.related_issues(), linked.environment.related_prs()), (vec![42], vec![99]));
}

#[tokio::test(flavor = "multi_thread")]
async fn who_shares_works_on_the_head_that_was_asked_about() {
    let world = World::new().await;
    let (repo, codebase) = world.given_a_repo("shop").await;
    let issue = world.environment(&codebase, Work::Issue(42)).await;
    commit(&issue.path, "work.txt", "work");
    git(&issue.path, &["push", "--quiet", "origin", "issue-42"]);
    let head = repo.commit_on_origin("issue-42", "review.txt", "by a person");

    let mut request = fixing(&world, &codebase, 99, Some("issue-42"), 42);
    request.hints.pr_head = Some(head.clone());
    let shared = world.gets(&request).await;
    assert_eq!((shared.resolution, shared.environment.id), (Resolution::Shared, issue.id));
    assert_eq!(shared.notes, [Note::MovedHead { to: head.clone() }]);
    assert_eq!(git(&issue.path, &["rev-parse", "HEAD"]), head.as_str());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pull_request_whose_head_is_unknown_shares() {
    let world = World::new().await;
    let (_repo, codebase) = world.given_a_repo("shop").await;
    let issue = world.environment(&codebase, Work::Issue(42)).await;
    commit(&issue.path, "work.txt", "work");

    let shared = world.gets(&fixing(&world, &codebase, 99, None, 42)).await;

    assert_eq!((shared.resolution, shared.environment.id), (Resolution::Shared, issue.id));
    assert_eq!(shared.environment.branch, branch("issue-42"));
    let again = world.gets(&world.asks(&codebase, Work::PullRequest(99))).await;
    assert_eq!((again.resolution, again.environment.id), (Resolution::Reused, issue.id));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fresh_environment_moves_onto_the_pull_requests_branch() {
    let world = World::new().await;
    let (repo, codebase) = world.given_a_repo("shop").await;
    let issue = world.environment(&codebase, Work::Issue(42)).await;
    let head = repo.commit_on_origin("feature/auth", "auth.txt", "one");

    let shared = world.gets(&fixing(&world, &codebase, 99, Some("feature/auth"), 42)).await;

    assert_eq!((shared.resolution, shared.environment.id), (Resolution::Shared, issue.id));
    assert_eq!(shared.environment.branch, branch("feature/auth"));
    assert_eq!(shared.environment.path, issue.path);
    assert_eq!(git(&issue.path, &["rev-parse", "HEAD"]), head.as_str());
    assert_eq!(git(&issue.path, &["status", "--porcelain"]), "");
    assert_eq!(repo.branches(), ["feature/auth", "main"], "the branch it was made with is gone");
    let fix = commit(&issue.path, "fix.txt", "fixed");
    assert!(crate::witness::push(&shared.environment).status.success());
    assert_eq!(git(repo.origin(), &["rev-parse", "feature/auth"]), fix.as_str());
    for work in [Work::Issue(42), Work::PullRequest(99)] {
        assert_eq!(world.environment(&codebase, work).await.id, issue.id);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn notes_about_the_pull_requests_branch_are_not_lost_when_it_shares() {
    let world = World::new().await;
    let (repo, codebase) = world.given_a_repo("shop").await;
    let issue = world.environment(&codebase, Work::Issue(42)).await;
    repo.git(&["switch", "--quiet", "-c", "feature/auth"]);
    repo.push("feature/auth");

    let shared = world.gets(&fixing(&world, &codebase, 99, Some("feature/auth"), 42)).await;

    assert_eq!((shared.resolution, shared.environment.id), (Resolution::Shared, issue.id));
    assert_eq!(shared.environment.branch, branch("pr-99"));
    assert_eq!(shared.notes, [Note::HeadBranchTaken { head: branch("feature/auth"), instead: branch("pr-99") }]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_environment_with_work_in_it_is_not_moved_and_the_pull_request_gets_its_own() {
    let world = World::new().await;
    let (repo, codebase) = world.given_a_repo("shop").await;
    repo.commit_on_origin("feature/auth", "auth.txt", "one");
    for (number, has) in [(1, "a commit"), (2, "a change")] {
        let issue = world.environment(&codebase, Work::Issue(number)).await;
        if has == "a commit" {
            commit(&issue.path, "work.txt", "work");
        } else {
            write(&issue.path, "work.txt", "work");
        }
        let head = format!("feature/{number}");
        repo.commit_on_origin(&head, "auth.txt", "one");

        let own = world.gets(&fixing(&world, &codebase, 90 + number, Some(&head), number)).await;

        assert_eq!(own.resolution, Resolution::Created, "{has}");
        let name = format!("issue-{number}");
        assert_eq!(own.notes, [Note::LinkedElsewhere { work: name.clone(), environment: name.clone() }], "{has}");
        assert_eq!(git(&issue.path, &["symbolic-ref", "--short", "HEAD"]), name);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn when_someone_else_has_the_pull_requests_branch_that_worktree_is_adopted() {
    let world = World::new().await;
    let (repo, codebase) = world.given_a_repo("shop").await;
    let issue = world.environment(&codebase, Work::Issue(42)).await;
    repo.commit_on_origin("feature/auth", "auth.txt", "one");
    repo.git(&["fetch", "--quiet", "origin"]);
    let theirs = world.folder().join("theirs");
    repo.git(&["worktree", "add", "--quiet", &theirs.to_string_lossy(), "feature/auth"]);

    let got = world.gets(&fixing(&world, &codebase, 99, Some("feature/auth"), 42)).await;

    assert_eq!(got.resolution, Resolution::Adopted);
    assert_eq!(got.environment.path, std::fs::canonicalize(theirs).expect("it is there"));
    assert_eq!(got.notes, [Note::LinkedElsewhere { work: "issue-42".into(), environment: "issue-42".into() }]);
    assert_eq!(git(&issue.path, &["symbolic-ref", "--short", "HEAD"]), "issue-42");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_forks_pull_request_never_shares() {
    let world = World::new().await;
    let (repo, codebase) = world.given_a_repo("shop").await;
    let issue = world.environment(&codebase, Work::Issue(42)).await;
    let sha = repo.pull_request_from_fork(7, "seven.txt", "seven");
    let mut request = world.asks_for_fork(&codebase, 7, Some(&sha));
    request.hints.linked_issues = vec![42];

    let own = world.gets(&request).await;

    assert_eq!(own.resolution, Resolution::Created);
    assert_ne!(own.environment.id, issue.id);
    // Nor does the issue enter the fork's files afterwards.
    let mut reverse = world.asks(&codebase, Work::Issue(43));
    reverse.hints.linked_prs = vec![7];
    let apart = world.gets(&reverse).await;
    assert_eq!(apart.resolution, Resolution::Created);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_issue_shares_the_environment_of_the_pull_request_that_closes_it() {
    let world = World::new().await;
    let (repo, codebase) = world.given_a_repo("shop").await;
    repo.commit_on_origin("feature/auth", "auth.txt", "one");
    let pr = world.gets(&world.asks_for_pr(&codebase, 99, "feature/auth")).await.environment;
    commit(&pr.path, "work.txt", "work");
    let mut request = world.asks(&codebase, Work::Issue(42));
    request.hints.linked_prs = vec![98, 99];

    let shared = world.gets(&request).await;

    assert_eq!((shared.resolution, shared.environment.id), (Resolution::Shared, pr.id));
    for name in ["pr-99", "issue-42", "feature/auth"] {
        assert_eq!(world.engine.require_environment(&codebase, name).await.expect("it is found").id, pr.id, "{name}");
    }
}
