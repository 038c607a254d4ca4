//! At the door: written down before it is acknowledged, recognised when it comes again.

use std::time::Duration;

use hedgerow_core::message::{Accepted, DeliveryKey, Inbox as _, RawEvent};
use hedgerow_core::platform::PlatformKind;
use hedgerow_engine::Clock as _;
use hedgerow_testkit::Office;

use super::{at_work, chat, finish, issue, long, reads, seconds_pass};

#[tokio::test(flavor = "multi_thread")]
async fn an_acknowledged_message_is_answered_although_the_server_dies_at_once() {
    let (mut office, _repo, _) = Office::with_a_repo().await;
    // It dies before it can do anything about it.
    office.forge.cannot_prepare(u32::MAX);
    office.gets(issue(&office, 42, "say hello")).await;
    office.crashes().await;
    office.forge.cannot_prepare(0);
    seconds_pass(&office, 5);
    office.starts_again().await;
    office.is_idle().await;
    reads(
        &office,
        &office.forge,
        "acme/shop#42",
        "
        alice: say hello
        bot… Working in isolated branch `issue-42`
        bot: hello
    ",
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_delivery_that_comes_again_is_recognised_before_and_after_its_answer() {
    let (mut office, _repo, _) = Office::with_a_repo().await;
    let text = format!("{}\nsay once", long(&office, "run"));
    let said = || office.chat.says("C1:1", "alice", &text).delivery("d-1").raw();
    let id = office.gets(said()).await;
    at_work(&office, "run").await;
    assert_eq!(office.dispatcher().accept(said()).await, Accepted::Duplicate(id));
    finish(&office, "run");
    office.is_idle().await;
    assert_eq!(office.dispatcher().accept(said()).await, Accepted::Duplicate(id));
    office.restarts().await;
    let said = office.chat.says("C1:1", "alice", &text).delivery("d-1").raw();
    assert_eq!(office.dispatcher().accept(said).await, Accepted::Duplicate(id));
    office.is_idle().await;
    assert_eq!(office.runs().len(), 1);
    reads(
        &office,
        &office.chat,
        "C1:1",
        "
        alice: touch run-began
          wait-for run-may-end
          say once
        bot… Working in isolated branch `thread-1b863934`
        bot: once
    ",
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn one_thing_that_is_delivered_under_two_ids_is_answered_once() {
    let (office, _repo, _) = Office::with_a_repo().await;
    let said = |delivery| office.chat.says("C1:1", "alice", "say once").delivery(delivery).meaning("C1:1/17").raw();
    let (first, second) = (said("d-1"), said("d-2"));
    let id = office.gets(first).await;
    assert_eq!(office.dispatcher().accept(second).await, Accepted::Duplicate(id));
    office.is_idle().await;
    assert_eq!(office.chat.said_in("C1:1").iter().filter(|(_, last)| *last).count(), 1);
    assert_eq!(office.runs(), ["say once"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_for_us_or_makes_no_sense_gets_no_reply_and_holds_nobody_up() {
    let (office, _repo, _) = Office::with_a_repo().await;
    let nonsense = RawEvent {
        platform: PlatformKind::Slack,
        delivery: DeliveryKey { id: "d-0".to_owned(), meaning: None },
        lane: "C1:1".to_owned(),
        urgent: false,
        body: "{".to_owned(),
        received_at: office.clock.now(),
    };
    office.gets(nonsense).await;
    office.gets(office.chat.overhears("C1:1", "bob", "lunch?").raw()).await;
    office.hears(chat(&office, "C1:1", "say hello")).await;
    reads(
        &office,
        &office.chat,
        "C1:1",
        "
        bob: lunch?
        alice: say hello
        bot… Working in isolated branch `thread-1b863934`
        bot: hello
    ",
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_platform_cannot_prepare_yet_is_tried_again_and_keeps_its_place() {
    let (office, _repo, _) = Office::with_a_repo().await;
    office.chat.cannot_prepare(2);
    office.gets(chat(&office, "C1:1", "say first")).await;
    office.gets(chat(&office, "C1:1", "say second")).await;
    let time_passes = async {
        loop {
            seconds_pass(&office, 1);
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::select! {
        () = office.is_idle() => {}
        () = time_passes => {}
    }
    assert_eq!(office.runs(), ["say first", "say second"]);
    reads(
        &office,
        &office.chat,
        "C1:1",
        "
        alice: say first
        alice: say second
        bot… Working in isolated branch `thread-1b863934`
        bot: first
        bot: second
    ",
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_queue_is_busy_recognises_what_it_has_and_takes_the_rest_later() {
    let office = Office::with(|settings| settings.runs.queue = 2).await;
    office.given_a_repo("shop").await;
    let say = |delivery: &str, text: &str| office.chat.says("C1:1", "alice", text).delivery(delivery).raw();
    office.gets(say("d-1", &long(&office, "first"))).await;
    at_work(&office, "first").await;
    let second = office.gets(say("d-2", "say second")).await;
    office.gets(say("d-3", "say third")).await;
    assert_eq!(office.dispatcher().accept(say("d-4", "say fourth")).await, Accepted::Busy);
    assert_eq!(office.dispatcher().accept(say("d-2", "say second")).await, Accepted::Duplicate(second));
    finish(&office, "first");
    office.is_idle().await;
    office.hears(say("d-4", "say fourth")).await;
    reads(
        &office,
        &office.chat,
        "C1:1",
        "
        alice: touch first-began
          wait-for first-may-end
        bot… Working in isolated branch `thread-1b863934`
        alice: say second
        alice: say third
        alice: say fourth
        bot: done
        bot: second
        bot: third
        bot: fourth
    ",
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn one_that_the_store_will_not_have_does_not_keep_its_neighbours_out() {
    let office = Office::opens().await;
    let mut knocking = tokio::task::JoinSet::new();
    for number in 0..50 {
        // One without an id is no delivery, and the store refuses it.
        let id = if number == 25 { String::new() } else { format!("d-{number}") };
        let raw = office.chat.says(&format!("C1:{number}"), "alice", "/getcwd").delivery(&id).raw();
        let dispatcher = office.dispatcher().clone();
        knocking.spawn(async move { (number, dispatcher.accept(raw).await) });
    }
    for (number, answer) in knocking.join_all().await {
        assert_eq!(matches!(answer, Accepted::Queued(_)), number != 25, "{number}: {answer:?}");
    }
    office.is_idle().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn messages_of_a_thread_need_nothing_but_to_be_there() {
    let (office, _repo, _) = Office::with_a_repo().await;
    office.hears(office.chat.says("C1:7", "alice", "say hello").parent("C1").raw()).await;
    office.hears(office.chat.says("C1:7", "bob", "say hello to you too").parent("C1").raw()).await;
    reads(
        &office,
        &office.chat,
        "C1:7",
        "
        alice: say hello
        bot… Working in isolated branch `thread-d1ab32fa`
        bot: hello
        bob: say hello to you too
        bot: hello to you too
    ",
    );
}
