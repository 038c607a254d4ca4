//! A server that goes down as it should, and the next one that carries on.

use std::time::Duration;

use hedgerow_core::message::{Accepted, Inbox as _};
use hedgerow_testkit::Office;
use hedgerow_testkit::talk::Trouble;

use super::{at_work, chat, environment, finish, issue, long, reads, until};

#[tokio::test(flavor = "multi_thread")]
async fn going_down_waits_for_runs_accepts_nothing_and_leaves_the_rest_for_the_next_server() {
    let (mut office, _repo, _) = Office::with_a_repo().await;
    office.gets(chat(&office, "C1:1", &format!("{}\nsay finished", long(&office, "run")))).await;
    at_work(&office, "run").await;
    office.gets(chat(&office, "C1:1", "say next")).await;
    let dispatcher = office.dispatcher().clone();
    let going = tokio::spawn(async move { dispatcher.shutdown(Duration::from_mins(1)).await });
    let refused = || async {
        let said = office.chat.says("C1:2", "alice", "say hello").delivery("d-refused").raw();
        office.dispatcher().accept(said).await == Accepted::Busy
    };
    until("its refusal", refused).await;
    assert!(!going.is_finished(), "it waits for the run");
    finish(&office, "run");
    going.await.expect("it goes");
    let before = office.chat.said_in("C1:1");
    assert_eq!(before.last().map(|(text, last)| (text.as_str(), *last)), Some(("finished", true)));
    office.starts_again().await;
    office.is_idle().await;
    reads(
        &office,
        &office.chat,
        "C1:1",
        "
        alice: touch run-began
          wait-for run-may-end
          say finished
        bot… Working in isolated branch `thread-1b863934`
        alice: say next
        bot: finished
        bot: next
    ",
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn runs_that_take_longer_than_the_grace_are_stopped_and_told_so() {
    let (mut office, _repo, _) = Office::with_a_repo().await;
    office.gets(issue(&office, 42, &format!("write half.txt half\nsay begun\n{}", long(&office, "run")))).await;
    at_work(&office, "run").await;
    office.restarts().await;
    reads(
        &office,
        &office.forge,
        "acme/shop#42",
        "
        alice: write half.txt half
          say begun
          touch run-began
          wait-for run-may-end
        bot… Working in isolated branch `issue-42`
        bot: begun

          Interrupted: I am going down. It is not run again. Its changes are kept; `/undo` takes them back.
    ",
    );
    assert!(environment(&office, "issue-42").await.path.join("half.txt").exists());
    office.hears(issue(&office, 42, "say again")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_waits_for_an_environment_waits_on_with_the_next_server() {
    let (mut office, _repo, _) = Office::with_a_repo().await;
    office.hears(issue(&office, 42, "say hello")).await;
    office.hears(chat(&office, "C1:1", "/worktree link issue-42")).await;
    office.gets(issue(&office, 42, &long(&office, "run"))).await;
    at_work(&office, "run").await;
    office.gets(chat(&office, "C1:1", "say mine")).await;
    until("the notice", || async { office.chat.said_in("C1:1").len() == 2 }).await;
    // However often that happens: waiting is no attempt that failed.
    for _ in 0..12 {
        office.restarts().await;
    }
    office.is_idle().await;
    reads(
        &office,
        &office.chat,
        "C1:1",
        "
        alice: /worktree link issue-42
        bot: Linked to worktree `issue-42`
        alice: say mine
        bot… `issue-42` is at work for `acme/shop#42` since 0 s. Yours comes after it; `/stop` there ends it.
        bot: mine
    ",
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reply_that_was_written_and_not_sent_is_sent_by_the_next_server() {
    let (mut office, _repo, _) = Office::with_a_repo().await;
    office.chat.always_meets(Trouble::Hang);
    office.gets(chat(&office, "C1:1", "say hello")).await;
    until("the run", || async { !office.runs().is_empty() }).await;
    until("its end", || async { office.engine.store().running().await.is_ok_and(|running| running.is_empty()) }).await;
    office.crashes().await;
    office.chat.recovers();
    super::seconds_pass(&office, 120);
    office.starts_again().await;
    office.is_idle().await;
    assert_eq!(office.runs(), ["say hello"]);
    reads(
        &office,
        &office.chat,
        "C1:1",
        "
        alice: say hello
        bot… Working in isolated branch `thread-1b863934`
        bot: hello
    ",
    );
}
