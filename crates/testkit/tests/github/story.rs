//! A whole small story: an issue, a branch, a pull request, a merge.

use hedgerow_testkit::outside::github::{GitHub, Role};

async fn merged(way: &str) -> Vec<String> {
    let github = GitHub::start().await;
    let repo = github.repository("acme/shop").with("alice", Role::Write);
    let issue = repo.issue(42).titled("The login fails").opened_by("alice").await;
    let before = repo.rev("main").expect("main");
    let pull = repo.pull_request(99).from_branch("feature/auth").fixes(42).titled("Fix it").by("bob").await;
    pull.pushes("bob", "more.txt", "more\n").await;
    // Somebody else's work comes in between.
    repo.commits("alice", "main", "other.txt", "other\n").await;
    let head = pull.head();
    let sha = match way {
        "squash" => pull.squash_merges("alice").await,
        "rebase" => pull.rebases("alice").await,
        _ => pull.merges("alice").await,
    };
    assert_eq!(repo.rev("main"), Some(sha.clone()));
    for file in ["change-99.txt", "more.txt", "other.txt"] {
        assert!(repo.file("main", file).is_some(), "{file} after {way}");
    }
    assert!(pull.is_merged() && !pull.is_open() && !issue.is_open());
    let told = github.last_delivery("pull_request", "closed").json();
    assert_eq!(told["pull_request"]["merged"], true);
    assert_eq!(told["pull_request"]["merge_commit_sha"], sha.as_str());
    assert_eq!(told["pull_request"]["head"]["sha"], head.as_str());
    assert_eq!(github.last_delivery("issues", "closed").json()["issue"]["number"], 42);
    repo.deletes_branch("bob", "feature/auth").await;
    assert_eq!(repo.rev("refs/pull/99/head"), Some(head));
    let log =
        hedgerow_testkit::git::git(&repo.path(), &["log", "--first-parent", "--format=%s", &format!("{before}..main")]);
    log.lines().map(str::to_owned).collect()
}

#[tokio::test]
async fn a_squash_is_one_commit() {
    assert_eq!(merged("squash").await, ["Fix it (#99)", "Change other.txt"]);
}

#[tokio::test]
async fn a_merge_joins_both() {
    assert_eq!(merged("merge").await, ["Merge pull request #99 from acme/feature/auth", "Change other.txt"]);
}

#[tokio::test]
async fn a_rebase_writes_each_anew() {
    assert_eq!(merged("rebase").await, ["Change more.txt", "Change change-99.txt", "Change other.txt"]);
}
