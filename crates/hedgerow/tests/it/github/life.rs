//! The whole life of a piece of work: an issue, a mention, a branch, a pull request, a merge, and nothing left. However its
//! deliveries come.

use std::time::Duration;

use hedgerow_testkit::git::git;

use super::town::Town;
use super::work::{Work, times_said};

#[tokio::test(flavor = "multi_thread")]
async fn an_issue_becomes_a_branch_a_pull_request_and_a_merge() {
    let (town, shop) = Town::opens().await;
    let work = Work::on(&shop, 42).await;
    let pull = work.is_done(&town).await;
    assert_eq!(town.works(), [(vec!["issue-42".to_owned(), "pr-43".to_owned()], "issue-42".to_owned())]);
    assert_eq!(shop.file("issue-42", "login-42.txt").as_deref(), Some("mended\n"));
    let body = pull.json()["body"].as_str().unwrap_or_default().to_owned();
    assert!(body.contains("Fixes #42"), "{body}");
    assert_eq!(times_said(&work.issue, "Mended.\n\nOpened pull request #43"), 1, "{}", work.issue.transcript());

    work.ends(&town, &pull).await;
    let kept = "Kept worktree `issue-42`: its pull request #43 is still open.";
    assert_eq!(times_said(&work.issue, kept), 1, "{}", work.issue.transcript());
    assert_eq!(times_said(&pull, "Moved worktree `issue-42` to the trash"), 1, "{}", pull.transcript());
    assert_eq!(town.runs(), ["write login-42.txt mended"]);
    work.is_over(&town, &pull).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_pull_request_that_a_person_opens_shares_the_environment() {
    let (town, shop) = Town::opens().await;
    let work = Work::on(&shop, 42).await;
    work.issue.says("alice", &format!("@hedgerow {}", work.orders())).await;
    town.is_quiet().await;
    let here = town.environments()[0]["path"].as_str().expect("a path").to_owned();
    let token = town.github.token_of("alice");
    let url = shop.clone_url().replace("http://", &format!("http://alice:{token}@"));
    git(here.as_ref(), &["push", "--quiet", &url, "issue-42"]);
    let pull = shop.pull_request(50).from_branch("issue-42").fixes(42).by("alice").await;
    assert_eq!(town.works(), [(vec!["issue-42".to_owned()], "issue-42".to_owned())]);

    pull.says("alice", "@hedgerow say Looked.").await;
    town.is_quiet().await;
    assert_eq!(town.works(), [(vec!["issue-42".to_owned(), "pr-50".to_owned()], "issue-42".to_owned())]);
    assert_eq!(times_said(&pull, "Reusing worktree from issue #42"), 1, "{}", pull.transcript());
    assert_eq!(times_said(&pull, "Looked."), 1, "{}", pull.transcript());

    work.ends(&town, &pull).await;
    let kept = "Kept worktree `issue-42`: still used by";
    assert_eq!(times_said(&work.issue, kept), 1, "{}", work.issue.transcript());
    assert_eq!(town.runs(), ["write login-42.txt mended", "say Looked."]);
    work.is_over(&town, &pull).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn deliveries_that_come_twice_and_late_are_one() {
    for is_one_name in [false, true] {
        let (town, shop) = Town::opens().await;
        if is_one_name {
            town.github.delivers_twice_under_one_name();
        } else {
            town.github.delivers_twice();
        }
        town.github.delays_deliveries(Duration::from_millis(20));
        let work = Work::on(&shop, 42).await;
        let pull = work.is_done(&town).await;
        work.ends(&town, &pull).await;
        assert_eq!(town.runs(), ["write login-42.txt mended"]);
        work.is_over(&town, &pull).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn endings_in_any_order_come_to_the_same() {
    let (town, shop) = Town::opens().await;
    for (round, seed) in [None, Some(1), Some(2), Some(3)].into_iter().enumerate() {
        let first = 1000 * (u64::try_from(round).expect("a small number") + 1);
        let works = [Work::on(&shop, first).await, Work::on(&shop, first + 1).await];
        for work in &works {
            work.is_asked_for().await;
        }
        town.is_quiet().await;
        let pulls = works.each_ref().map(Work::pull);
        town.github.holds_back();
        for (work, pull) in works.iter().zip(&pulls) {
            work.issue.closes("alice").await;
            work.issue.reopens("alice").await;
            // It fixes the issue, which closes it once more.
            pull.squash_merges("alice").await;
        }
        match seed {
            None => town.github.lets_go_backwards().await,
            Some(seed) => town.github.lets_go_shuffled(seed).await,
        }
        town.is_quiet().await;
        assert_eq!(town.works(), [], "{seed:?}");
        assert_eq!(town.runs().len(), 2 * (round + 1));
        for (work, pull) in works.iter().zip(&pulls) {
            work.is_over(&town, pull).await;
        }
        for work in &works {
            let _: serde_json::Value = town.json(&["env", "remove", &work.branch(), "--codebase", "shop"]);
        }
    }
}
