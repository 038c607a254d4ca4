//! What is delivered, and how.

use hedgerow_testkit::outside::github::{GitHub, Role};
use serde_json::json;

use crate::caller::caller;
use crate::hook::Hook;

const SECRET: &str = "It's a Secret to Everybody";

#[tokio::test]
async fn a_signature_is_the_one_of_the_documentation() {
    let expected = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";
    assert_eq!(GitHub::signature(SECRET, b"Hello, World!"), expected);
}

#[tokio::test]
async fn what_happens_is_told_at_once_and_signed() {
    let (github, hook) = (GitHub::start().await, Hook::start().await);
    github.delivers_to(&hook.url, SECRET);
    let repo = github.repository("acme/shop").with("hedgerow", Role::Write);
    let issue = repo.issue(42).opened_by("alice").await;
    let id = issue.says("alice", "@hedgerow fix it").await;
    issue.edits("alice", id, "@hedgerow please fix it").await;
    issue.closes("bob").await;
    assert_eq!(hook.whats(), ["issues opened", "issue_comment created", "issue_comment edited", "issues closed"]);
    let got = &hook.got()[2];
    assert_eq!(got.header("x-hub-signature-256"), GitHub::signature(SECRET, &got.body));
    assert_eq!(got.json()["changes"]["body"]["from"], "@hedgerow fix it");
    assert_eq!(got.json()["comment"]["id"], id.0);
    assert_eq!(got.json()["repository"]["full_name"], "acme/shop");
    assert_eq!(got.json()["sender"]["login"], "alice");
    assert_eq!(got.header("x-github-hook-installation-target-type"), "repository");
    // What our own bot says is told as well.
    let bot = caller(&github, &github.token_of("hedgerow"));
    bot.calls("POST", "/repos/acme/shop/issues/42/comments", json!({"body": "on it"})).await;
    github.settled().await;
    assert_eq!(hook.got()[4].json()["sender"]["login"], "hedgerow");
}

#[tokio::test]
async fn they_are_held_back_reordered_doubled_lost_and_sent_again() {
    let (github, hook) = (GitHub::start().await, Hook::start().await);
    github.delivers_to(&hook.url, SECRET);
    let repo = github.repository("acme/shop");
    github.holds_back();
    let issue = repo.issue(1).opened_by("alice").await;
    issue.says("alice", "one").await;
    issue.closes("alice").await;
    assert!(hook.got().is_empty());
    github.lets_go_backwards().await;
    assert_eq!(hook.whats(), ["issues closed", "issue_comment created", "issues opened"]);
    github.delivers_twice();
    issue.reopens("alice").await;
    let both = hook.got().split_off(3);
    assert_eq!(both.len(), 2);
    assert_ne!(both[0].header("x-github-delivery"), both[1].header("x-github-delivery"));
    assert_eq!(both[0].json()["issue"], both[1].json()["issue"]);
    assert_eq!(both[1].header("x-github-hook-installation-target-type"), "integration");
    assert!(both[1].json()["installation"]["id"].is_u64());
    github.drops_deliveries(2);
    issue.says("alice", "lost").await;
    assert_eq!(hook.got().len(), 5);
    let lost = github.last_delivery("issue_comment", "created");
    assert_eq!((lost.status, lost.json()["comment"]["body"].as_str()), (None, Some("lost")));
    github.redelivers(&lost).await;
    let again = hook.got().pop().expect("it came");
    assert_eq!(again.header("x-github-delivery"), lost.guid);
    github.holds_back();
    for text in ["a", "b", "c", "d", "e"] {
        issue.says("alice", text).await;
    }
    github.lets_go_shuffled(7).await;
    let mut told: Vec<_> =
        hook.got().split_off(6).iter().map(|got| got.json()["comment"]["body"].to_string()).collect();
    assert_eq!(told.len(), 10);
    assert!(!told.is_sorted(), "{told:?}");
    told.sort();
    told.dedup();
    assert_eq!(told.len(), 5);
}

#[tokio::test]
async fn reviews_are_told_as_github_tells_them() {
    let github = GitHub::start().await;
    let repo = github.repository("acme/shop");
    let pull = repo.pull_request(9).as_draft().by("bob").await;
    pull.requests_changes("alice", "@hedgerow look").await;
    let told = github.last_delivery("pull_request_review", "submitted").json();
    assert_eq!(
        (told["review"]["state"].as_str(), told["pull_request"]["number"].as_u64()),
        (Some("changes_requested"), Some(9))
    );
    pull.review_comment("alice", "change-9.txt", 1, "here").await;
    let told = github.last_delivery("pull_request_review_comment", "created").json();
    assert_eq!((told["comment"]["path"].as_str(), told["comment"]["line"].as_u64()), (Some("change-9.txt"), Some(1)));
    pull.requests_review_of("bob", "hedgerow").await;
    let told = github.last_delivery("pull_request", "review_requested").json();
    assert_eq!(told["requested_reviewer"]["login"], "hedgerow");
    assert_eq!(told["pull_request"]["draft"], true);
    pull.becomes_ready("bob").await;
    assert_eq!(github.last_delivery("pull_request", "ready_for_review").json()["pull_request"]["draft"], false);
}

#[tokio::test]
async fn both_hooks_may_use_one_name() {
    let github = GitHub::start().await;
    github.delivers_twice_under_one_name();
    github.repository("acme/shop").issue(1).opened_by("alice").await;
    let told = github.deliveries();
    assert_eq!((told.len(), &told[0].guid), (2, &told[1].guid));
    assert_ne!(told[0].id, told[1].id);
}
