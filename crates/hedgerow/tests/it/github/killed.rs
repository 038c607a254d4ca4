//! The server dies in the middle of the life of a piece of work, and another one goes on.

use hedgerow_testkit::outside::github::Trouble;

use super::town::Town;
use super::work::{Work, said_by_us, times_said};

#[tokio::test(flavor = "multi_thread")]
async fn killed_before_it_knows_who_asks_and_before_it_knows_how_things_stand() {
    let (mut town, shop) = Town::opens().await;
    let work = Work::on(&shop, 42).await;
    dies_at(&mut town, "GET", "/repos/acme/shop/collaborators/alice", Trouble::Hangs, async || {
        work.is_asked_for().await;
    })
    .await;
    let pull = work.pull();

    dies_at(&mut town, "GET", "/repos/acme/shop/issues/42", Trouble::Hangs, async || {
        work.issue.closes("alice").await;
    })
    .await;
    assert_eq!(town.works().len(), 1);
    dies_at(&mut town, "GET", "/repos/acme/shop/pulls/43", Trouble::Hangs, async || {
        pull.squash_merges("alice").await;
    })
    .await;
    assert_eq!(town.runs(), ["write login-42.txt mended"]);
    work.is_over(&town, &pull).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_between_the_answer_and_the_pull_request() {
    let (mut town, shop) = Town::opens().await;
    let work = Work::on(&shop, 42).await;
    // Nothing is pushed, and the run is not done again.
    dies_at(&mut town, "POST", "/acme/shop.git/git-receive-pack", Trouble::Hangs, async || {
        work.is_asked_for().await;
    })
    .await;
    assert_eq!(times_said(&work.issue, "Interrupted: the server stopped"), 1, "{}", work.issue.transcript());
    assert!(shop.pulls().is_empty());

    // It is open, but nobody heard of it.
    dies_at(&mut town, "POST", "/repos/acme/shop/pulls", Trouble::DoesAndHangs, async || {
        work.issue.says("alice", "@hedgerow say Now.\nsay /worktree pr").await;
    })
    .await;
    assert_eq!(times_said(&work.issue, "Interrupted: the server stopped"), 2, "{}", work.issue.transcript());
    work.issue.says("alice", "@hedgerow /worktree pr").await;
    town.is_quiet().await;
    assert_eq!(times_said(&work.issue, "#43 has every commit already"), 1, "{}", work.issue.transcript());
    let pull = work.pull();

    work.ends(&town, &pull).await;
    assert_eq!(town.runs(), ["write login-42.txt mended", "say Now."]);
    work.is_over(&town, &pull).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_after_it_has_spoken_and_before_it_knows() {
    let (mut town, shop) = Town::opens().await;
    let work = Work::on(&shop, 42).await;
    let pull = work.is_done(&town).await;
    dies_at(&mut town, "POST", "/repos/acme/shop/issues/42/comments", Trouble::DoesAndHangs, async || {
        work.issue.says("alice", "@hedgerow say Said once.").await;
    })
    .await;
    assert_eq!(times_said(&work.issue, "Said once."), 1, "{}", work.issue.transcript());
    work.ends(&town, &pull).await;
    assert_eq!(town.runs(), ["write login-42.txt mended", "say Said once."]);
    work.is_over(&town, &pull).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_in_a_run_while_the_end_waits_for_it() {
    let (mut town, shop) = Town::opens().await;
    let work = Work::on(&shop, 42).await;
    let pull = work.is_done(&town).await;
    let (begun, never) = (town.desk.folder().join("begun"), town.desk.folder().join("never"));
    let asks = format!("@hedgerow say More.\ntouch {}\nwait-for {}", begun.display(), never.display());
    work.issue.says("alice", &asks).await;
    town.until("the run begins", |_| begun.exists()).await;
    town.github.holds_back();
    pull.squash_merges("alice").await;
    town.github.lets_go_backwards().await;
    assert_eq!(town.works().len(), 1, "both ends wait for the run");

    town.is_killed_and_starts_again().await;
    town.is_quiet().await;
    assert_eq!(times_said(&work.issue, "Interrupted: the server stopped"), 1, "{}", work.issue.transcript());
    assert_eq!(town.runs(), ["write login-42.txt mended", "say More."]);
    work.is_over(&town, &pull).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_in_the_first_run_it_keeps_what_was_done() {
    let (mut town, shop) = Town::opens().await;
    let work = Work::on(&shop, 42).await;
    let (begun, never) = (town.desk.folder().join("begun"), town.desk.folder().join("never"));
    let asks = format!("@hedgerow {}\ntouch {}\nwait-for {}", work.orders(), begun.display(), never.display());
    work.issue.says("alice", &asks).await;
    town.until("the run begins", |_| begun.exists()).await;
    town.is_killed_and_starts_again().await;
    town.is_quiet().await;
    assert_eq!(said_by_us(&work.issue).last().map(|said| said.starts_with("Interrupted:")), Some(true));

    work.issue.says("alice", "@hedgerow say Go on.\nsay /worktree pr").await;
    town.is_quiet().await;
    let pull = work.pull();
    work.ends(&town, &pull).await;
    assert_eq!(town.runs(), ["write login-42.txt mended", "say Go on."]);
    work.is_over(&town, &pull).await;
}

/// Something happens on GitHub; the server dies while it waits for this answer, and another one goes on until all is quiet.
async fn dies_at(town: &mut Town, method: &str, path: &str, trouble: Trouble, happens: impl AsyncFnOnce()) {
    let asked = town.github.asked(method, path);
    town.github.troubles(&format!("{method} {path}"), 1, trouble);
    happens().await;
    town.until(path, |town| town.github.asked(method, path) > asked).await;
    town.is_killed().await;
    town.github.recovers();
    town.starts_again().await;
    town.is_quiet().await;
}
