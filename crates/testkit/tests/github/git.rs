//! git over HTTP, with the git of this machine.

use std::path::Path;
use std::process::Output;

use hedgerow_testkit::git::{command, git};
use hedgerow_testkit::outside::github::{GitHub, Role};
use hedgerow_testkit::repo::commit;
use tempfile::tempdir;

/// A URL with a token in it, which only a test may write.
fn with_token(url: &str, token: &str) -> String {
    url.replacen("http://", &format!("http://x-access-token:{token}@"), 1)
}

fn runs(at: &Path, args: &[&str]) -> Output {
    command(at).env("GIT_TERMINAL_PROMPT", "0").args(args).output().expect("git can be started")
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[tokio::test]
async fn what_is_public_is_cloned_by_anybody_and_pushed_to_by_nobody() {
    let github = GitHub::start().await;
    let repo = github.repository("acme/shop");
    let folder = tempdir().expect("a folder");
    git(folder.path(), &["clone", "--quiet", &repo.clone_url(), "shop"]);
    let shop = folder.path().join("shop");
    assert_eq!(std::fs::read_to_string(shop.join("README.md")).expect("a file"), "# shop\n");
    commit(&shop, "a.txt", "a\n");
    let output = runs(&shop, &["push", "origin", "main"]);
    assert!(!output.status.success());
    assert!(said(&output).contains("could not read Username"), "{}", said(&output));
}

#[tokio::test]
async fn a_private_one_opens_to_who_may_and_while_the_token_is_good() {
    let github = GitHub::start().await;
    let repo = github.repository("acme/secret").private().with("bob", Role::Read).with("alice", Role::Write);
    let folder = tempdir().expect("a folder");
    let clone = |url: &str, to: &str| runs(folder.path(), &["clone", "--quiet", url, to]);
    assert!(!clone(&repo.clone_url(), "nobody").status.success());
    assert!(!clone(&with_token(&repo.clone_url(), "ghp_made_up"), "made-up").status.success());
    let stranger = clone(&with_token(&repo.clone_url(), &github.token_of("mallory")), "stranger");
    assert!(said(&stranger).contains("not found"), "{}", said(&stranger));
    let bob = github.token_of("bob");
    assert!(clone(&with_token(&repo.clone_url(), &bob), "bob").status.success());
    let at_bob = folder.path().join("bob");
    commit(&at_bob, "b.txt", "b\n");
    let pushed = runs(&at_bob, &["push", "origin", "main"]);
    assert!(said(&pushed).contains("403"), "{}", said(&pushed));
    let alice = github.token_of("alice");
    runs(&at_bob, &["remote", "set-url", "origin", &with_token(&repo.clone_url(), &alice)]);
    assert!(runs(&at_bob, &["push", "origin", "main"]).status.success());
    assert_eq!(repo.file("main", "b.txt").as_deref(), Some("b\n"));
    github.tokens_expire();
    assert!(!runs(&at_bob, &["fetch", "origin"]).status.success());
}

#[tokio::test]
async fn a_push_moves_the_pull_request_and_its_ref() {
    let github = GitHub::start().await;
    let repo = github.repository("acme/shop").with("alice", Role::Write);
    let pull = repo.pull_request(99).from_branch("feature/auth").by("bob").await;
    assert_eq!(repo.rev("refs/pull/99/head"), Some(pull.head()));
    let folder = tempdir().expect("a folder");
    let url = with_token(&repo.clone_url(), &github.token_of("alice"));
    git(folder.path(), &["clone", "--quiet", "--branch", "feature/auth", &url, "shop"]);
    let shop = folder.path().join("shop");
    let sha = commit(&shop, "auth.txt", "more\n");
    git(&shop, &["push", "--quiet", "origin", "feature/auth"]);
    assert_eq!(pull.head(), sha);
    assert_eq!(repo.rev("refs/pull/99/head"), Some(sha.clone()));
    let told = github.last_delivery("pull_request", "synchronize").json();
    assert_eq!(told["after"], sha.as_str());
    assert_eq!(told["sender"]["login"], "alice");
    let push = github.last_delivery("push", "").json();
    assert_eq!((push["ref"].as_str(), push["forced"].as_bool()), (Some("refs/heads/feature/auth"), Some(false)));
    // Nobody writes there.
    let output = runs(&shop, &["push", "origin", "HEAD:refs/pull/99/head"]);
    assert!(said(&output).contains("hidden ref"), "{}", said(&output));
}

#[tokio::test]
async fn a_fork_is_fetched_by_its_number_and_by_its_commit() {
    let github = GitHub::start().await;
    let repo = github.repository("acme/shop");
    let pull = repo.pull_request(7).from_fork("mallory").from_branch("main-ish").by("mallory").await;
    let first = pull.head();
    let second = pull.pushes("mallory", "evil.txt", "boo\n").await;
    assert_ne!(first, second);
    // What happens in the fork itself is not told; what happens to the pull request is.
    let told: Vec<_> = github.deliveries().iter().map(|told| format!("{} {}", told.event, told.action)).collect();
    assert_eq!(told, ["pull_request opened", "pull_request synchronize"]);
    let folder = tempdir().expect("a folder");
    git(folder.path(), &["init", "--quiet"]);
    git(folder.path(), &["fetch", "--quiet", &repo.clone_url(), "refs/pull/7/head:pull"]);
    assert_eq!(git(folder.path(), &["rev-parse", "pull"]), second.as_str());
    // Any commit that it ever had is given out by name.
    let elsewhere = tempdir().expect("a folder");
    git(elsewhere.path(), &["init", "--quiet"]);
    git(elsewhere.path(), &["fetch", "--quiet", "--depth=1", &repo.clone_url(), first.as_str()]);
    assert!(pull.pull_json()["head"]["repo"]["fork"] == true);
    assert_eq!(pull.pull_json()["head"]["label"], "mallory:main-ish");
}

#[tokio::test]
async fn a_protected_branch_takes_no_push() {
    let github = GitHub::start().await;
    let repo = github.repository("acme/shop").with("alice", Role::Admin);
    repo.protects("main");
    let folder = tempdir().expect("a folder");
    git(folder.path(), &["clone", "--quiet", &with_token(&repo.clone_url(), &github.token_of("alice")), "shop"]);
    let shop = folder.path().join("shop");
    commit(&shop, "a.txt", "a\n");
    let output = runs(&shop, &["push", "origin", "main"]);
    assert!(said(&output).contains("GH006"), "{}", said(&output));
    assert!(runs(&shop, &["push", "origin", "HEAD:other"]).status.success());
}

#[tokio::test]
async fn a_branch_that_goes_takes_its_pull_request_along() {
    let github = GitHub::start().await;
    let repo = github.repository("acme/shop");
    let pull = repo.pull_request(5).from_branch("gone").by("bob").await;
    repo.deletes_branch("bob", "gone").await;
    assert!(!pull.is_open() && !pull.is_merged());
    let told = github.last_delivery("delete", "").json();
    assert_eq!((told["ref"].as_str(), told["ref_type"].as_str()), (Some("gone"), Some("branch")));
    assert!(repo.rev("refs/pull/5/head").is_some());
}
