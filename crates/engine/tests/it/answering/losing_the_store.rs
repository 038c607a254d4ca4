//! A store that is away for a while: what was done is told when it is back, and nobody waits for ever.

use std::time::Duration;

use hedgerow_core::platform::Glimpse;
use hedgerow_testkit::Office;

use super::{at_work, chat, finish, issue, long, reads, until};

async fn with_a_short_lease() -> Office {
    let office = Office::with(|settings| settings.runs.lease = Duration::from_secs(2)).await;
    office.given_a_repo("shop").await;
    office
}

async fn loses_the_inbox(office: &Office) {
    office.database().meddle("ALTER TABLE inbox RENAME TO away").await.expect("the store is there");
}

async fn finds_the_inbox(office: &Office) {
    office.database().meddle("ALTER TABLE away RENAME TO inbox").await.expect("the store is there");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_waits_for_a_store_that_is_away() {
    let (office, _repo, _) = Office::with_a_repo().await;
    office.gets(issue(&office, 42, &format!("{}\nsay done", long(&office, "run")))).await;
    at_work(&office, "run").await;
    loses_the_inbox(&office).await;
    finish(&office, "run");
    until("the end of the run", || async { office.forge.shown_in("acme/shop#42").contains(&Glimpse::Ended) }).await;
    // The first try to write the last word down comes right after.
    tokio::time::sleep(Duration::from_millis(50)).await;
    finds_the_inbox(&office).await;
    office.gets(issue(&office, 42, "say next")).await;
    office.is_idle().await;
    reads(
        &office,
        &office.forge,
        "acme/shop#42",
        "
        alice: touch run-began
          wait-for run-may-end
          say done
        bot… Working in isolated branch `issue-42`
        alice: say next
        bot: done
        bot: next
    ",
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn messages_that_were_taken_and_reached_nobody_are_answered_all_the_same() {
    let mut office = with_a_short_lease().await;
    office.crashes().await;
    let batch = [issue(&office, 42, "say of the issue"), chat(&office, "C1:1", "say of the chat")];
    office.engine.store().deliver(&batch, 10).await.expect("the store answers");
    // One of them cannot be read, so that taking it fails after it is taken.
    let spoil = "UPDATE inbox SET author = 'nobody' WHERE platform = 'slack'";
    office.database().meddle(spoil).await.expect("the store is there");
    office.starts_again().await;
    until("the answer in the issue", || async { office.forge.said_in("acme/shop#42").iter().any(|(_, last)| *last) })
        .await;
    office
        .database()
        .meddle("UPDATE inbox SET author = NULL WHERE platform = 'slack'")
        .await
        .expect("the store is there");
    until("the answer in the chat", || async { office.chat.said_in("C1:1").iter().any(|(_, last)| *last) }).await;
    assert_eq!(office.runs().len(), 2, "{:?}", office.runs());
}
