//! Ends of issues and pull requests, and what is no end.

use hedgerow_testkit::outside::github::Role;

use super::town::Town;
use super::work::{Work, said_by_us, times_said};

#[tokio::test(flavor = "multi_thread")]
async fn a_branch_that_is_deleted_after_a_merge_nobody_heard_of_ends_the_work() {
    let (town, shop) = Town::opens().await;
    let pull = shop.pull_request(50).from_branch("feature").by("alice").await;
    pull.says("alice", "@hedgerow say Looked.").await;
    town.is_quiet().await;
    assert_eq!(town.works(), [(vec!["pr-50".to_owned()], "feature".to_owned())]);
    // That it is closed is the first thing that is told.
    town.github.drops_deliveries(1);
    pull.squash_merges("alice").await;
    town.is_quiet().await;
    assert_eq!(town.works().len(), 1);
    shop.deletes_branch("alice", "feature").await;
    town.is_quiet().await;
    assert_eq!(town.works(), []);
    assert_eq!(times_said(&pull, "Moved worktree `pr-50` to the trash"), 1, "{}", pull.transcript());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_issue_that_goes_elsewhere_lets_go_of_its_environment() {
    let (town, shop) = Town::opens().await;
    let other = town.github.repository("acme/other");
    let work = Work::on(&shop, 42).await;
    work.issue.says("alice", &format!("@hedgerow {}", work.orders())).await;
    town.is_quiet().await;
    let moved = work.issue.transferred_to("alice", &other).await;
    town.is_quiet().await;
    assert_eq!(town.works(), []);
    // What was said before is not asked again where it is now.
    assert_eq!(town.runs().len(), 1);
    assert_eq!(times_said(&moved, "Mended."), 1, "{}", moved.transcript());
    let back: serde_json::Value = town.json(&["env", "restore", "issue-42", "--codebase", "shop"]);
    assert_eq!(back["ahead"], 1, "{back:#}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_issue_that_is_opened_again_has_its_environment_back() {
    let (town, shop) = Town::opens().await;
    let work = Work::on(&shop, 42).await;
    work.issue.says("alice", &format!("@hedgerow {}", work.orders())).await;
    town.is_quiet().await;
    work.issue.closes("alice").await;
    town.is_quiet().await;
    assert_eq!(town.works(), [], "{}", work.issue.transcript());
    work.issue.reopens("alice").await;
    town.is_quiet().await;
    assert_eq!(town.works(), [(vec!["issue-42".to_owned()], "issue-42".to_owned())]);
    assert_eq!(times_said(&work.issue, "Restored `issue-42`"), 1, "{}", work.issue.transcript());

    // A closing that comes after the reopening it came before.
    let said = said_by_us(&work.issue);
    town.github.holds_back();
    work.issue.closes("alice").await;
    work.issue.reopens("alice").await;
    town.github.lets_go_backwards().await;
    town.is_quiet().await;
    assert_eq!(town.works().len(), 1);
    assert_eq!(said_by_us(&work.issue), said);
    work.issue.says("alice", "@hedgerow say Still here.").await;
    town.is_quiet().await;
    // The session ended with the issue: the next is told first what the last one concluded.
    let has_it = |said: &&String| said.lines().any(|line| line == "Still here.");
    assert_eq!(said_by_us(&work.issue).iter().filter(has_it).count(), 1);
    assert_eq!(town.environments()[0]["ahead"], 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_that_closes_an_issue_for_a_team_ends_its_work() {
    let (town, shop) = Town::opens().await;
    town.github.bot("merge-queue[bot]");
    shop.gives("merge-queue[bot]", Role::Write);
    let issue = shop.issue(42).titled("Login is broken").opened_by("alice").await;
    issue.says("alice", "@hedgerow say Looked.").await;
    town.is_quiet().await;
    assert_eq!(town.works().len(), 1);
    issue.closes("merge-queue[bot]").await;
    town.is_quiet().await;
    assert_eq!(town.works(), []);
}
