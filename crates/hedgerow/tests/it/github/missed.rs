//! What GitHub delivered while nobody listened is found again, and is one with what it delivers later.

use hedgerow_testkit::outside::github::Delivery;

use super::town::Town;
use super::work::{Work, is_said_once, times_said};

#[tokio::test(flavor = "multi_thread")]
async fn what_nobody_heard_is_found_once() {
    let (mut town, shop) = Town::opens().await;
    let work = Work::on(&shop, 42).await;
    let pull = work.is_done(&town).await;

    town.is_killed().await;
    work.issue.says("alice", "@hedgerow say Missed.").await;
    town.starts_again().await;
    town.until("it is answered", |_| times_said(&work.issue, "Missed.") == 1).await;
    comes_again(&town, &missed(&town)).await;
    assert_eq!(town.runs(), ["write login-42.txt mended", "say Missed."]);

    town.is_killed().await;
    let before = missed(&town).len();
    work.issue.closes("alice").await;
    pull.squash_merges("alice").await;
    town.starts_again().await;
    town.until("it is over", |town| town.works().is_empty()).await;
    let missed = missed(&town);
    assert!(missed.len() > before);
    comes_again(&town, &missed).await;
    assert_eq!(town.runs().len(), 2);
    work.is_over(&town, &pull).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_its_author_mended_is_found_as_it_is_now_and_what_another_changed_is_not() {
    let (mut town, shop) = Town::opens().await;
    let work = Work::on(&shop, 42).await;
    work.is_done(&town).await;

    town.is_killed().await;
    let mended = work.issue.says("alice", "@hedgerow say Mispelt.").await;
    work.issue.edits("alice", mended, "@hedgerow say Spelled.").await;
    let changed = work.issue.says("alice", "@hedgerow say Mine.").await;
    work.issue.edits("bob", changed, "@hedgerow say Theirs.").await;
    town.starts_again().await;
    town.until("it is answered", |_| times_said(&work.issue, "Spelled.") == 1).await;
    comes_again(&town, &missed(&town)).await;
    assert_eq!(town.runs(), ["write login-42.txt mended", "say Spelled.", "say Mine."]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_app_has_what_failed_delivered_again() {
    let (mut town, shop) = Town::as_app().await;
    let work = Work::on(&shop, 42).await;
    work.issue.says("alice", &format!("@hedgerow {}", work.orders())).await;
    town.is_quiet().await;
    work.issue.closes("alice").await;
    town.is_quiet().await;
    assert_eq!(town.works(), []);

    // Nothing but the delivery itself tells of it.
    town.is_killed().await;
    work.issue.reopens("alice").await;
    work.issue.says("alice", "@hedgerow say Missed.").await;
    town.starts_again().await;
    town.until("it is back and answered", |town| {
        town.works().len() == 1 && !work.issue.transcript().is_empty() && town.runs().len() == 2
    })
    .await;
    town.is_quiet().await;
    let again = town.github.deliveries().into_iter().filter(|delivery| delivery.is_redelivery).count();
    assert!(again >= 2, "{again}");
    assert_eq!(town.runs(), ["write login-42.txt mended", "say Missed."]);
    is_said_once(&town, &work.issue).await;
}

/// What did not arrive.
fn missed(town: &Town) -> Vec<Delivery> {
    town.github.deliveries().into_iter().filter(|delivery| delivery.status.is_none()).collect()
}

async fn comes_again(town: &Town, missed: &[Delivery]) {
    assert!(!missed.is_empty());
    town.is_quiet().await;
    for delivery in missed {
        town.github.redelivers(delivery).await;
    }
    town.is_quiet().await;
}
