//! Two servers on one store share the work.

use std::time::Duration;

use hedgerow_core::message::{Accepted, Inbox as _};
use hedgerow_testkit::Office;

use super::{at_rest, at_work, chat, finish, issue, long, reads, until};

#[tokio::test(flavor = "multi_thread")]
async fn two_servers_share_the_work_in_order_and_never_in_one_environment() {
    let (office, _repo, _) = Office::with_a_repo().await;
    let wren = office.neighbour("wren").await;
    for round in 0..4 {
        for conversation in 0..4 {
            let text = format!("say {conversation}-{round}\nappend list.txt {round}");
            // Two of them work on the same thing.
            let work = format!("issue-{}", 1 + conversation / 2);
            let said = office.chat.says(&format!("C1:{conversation}"), "alice", &text).about(&work).raw();
            let dispatcher = if round % 2 == 0 { office.dispatcher() } else { &wren };
            assert!(matches!(dispatcher.accept(said).await, Accepted::Queued(_)));
        }
    }
    office.is_idle().await;
    assert_eq!(office.overlaps(), [""; 0]);
    for conversation in 0..4 {
        let said = office.chat.said_in(&format!("C1:{conversation}"));
        let answers: Vec<_> = said.into_iter().filter(|(_, last)| *last).map(|(text, _)| text).collect();
        let expected: Vec<_> = (0..4).map(|round| format!("{conversation}-{round}")).collect();
        assert_eq!(answers, expected);
    }
    wren.shutdown(Duration::ZERO).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn stop_at_one_server_ends_the_run_of_the_other() {
    let (mut office, _repo, _) = Office::with_a_repo().await;
    // Only the neighbour is there when it begins.
    office.crashes().await;
    let wren = office.neighbour("wren").await;
    assert!(matches!(wren.accept(chat(&office, "C1:1", &long(&office, "run"))).await, Accepted::Queued(_)));
    at_work(&office, "run").await;
    office.starts_again().await;
    // Both may hear it; whichever does, the run is wren's.
    office.gets(chat(&office, "C1:1", "/stop")).await;
    office.is_idle().await;
    reads(
        &office,
        &office.chat,
        "C1:1",
        "
        alice: touch run-began
          wait-for run-may-end
        bot… Working in isolated branch `thread-1b863934`
        alice: /stop
        bot: Stopping `fake`; its changes are kept. `/undo` takes them back.
        bot: Stopped. Its changes are kept; `/undo` takes them back.
    ",
    );
    wren.shutdown(Duration::ZERO).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_dead_neighbour_was_at_is_reported_when_its_time_is_over_and_its_lane_goes_on() {
    let mut office = Office::with(|settings| settings.runs.lease = Duration::from_secs(3)).await;
    office.given_a_repo("shop").await;
    office.crashes().await;
    let wren = office.neighbour("wren").await;
    assert!(matches!(wren.accept(issue(&office, 42, &long(&office, "run"))).await, Accepted::Queued(_)));
    at_work(&office, "run").await;
    office.starts_again().await;
    office.gets(issue(&office, 42, "say next")).await;
    drop(wren);
    super::seconds_pass(&office, 5);
    office.is_idle().await;
    finish(&office, "run");
    assert_eq!(office.overlaps(), [""; 0]);
    assert_eq!(office.runs().len(), 2);
    reads(&office, &office.forge, "acme/shop#42", "
        alice: touch run-began
          wait-for run-may-end
        bot… Working in isolated branch `issue-42`
        alice: say next
        bot: Interrupted: the server stopped in the middle of this run. It is not run again; its changes are kept in `issue-42`. Say what to do next, or `/undo`.
        bot: next
    ");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_living_neighbours_run_is_not_touched_and_its_environment_is_waited_for() {
    let (mut office, _repo, _) = Office::with_a_repo().await;
    office.hears(issue(&office, 42, "say hello")).await;
    office.hears(chat(&office, "C1:1", "/worktree link issue-42")).await;
    at_rest(&office).await;
    office.crashes().await;
    let wren = office.neighbour("wren").await;
    assert!(matches!(
        wren.accept(issue(&office, 42, &format!("{}\nsay from wren", long(&office, "run")))).await,
        Accepted::Queued(_)
    ));
    at_work(&office, "run").await;
    office.starts_again().await;
    office.gets(chat(&office, "C1:1", "say mine")).await;
    until("the notice", || async { office.chat.said_in("C1:1").len() == 2 }).await;
    finish(&office, "run");
    office.is_idle().await;
    assert_eq!(office.overlaps(), [""; 0]);
    reads(
        &office,
        &office.forge,
        "acme/shop#42",
        "
        alice: say hello
        bot… Working in isolated branch `issue-42`
        bot: hello
        alice: touch run-began
          wait-for run-may-end
          say from wren
        bot: from wren
    ",
    );
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
    wren.shutdown(Duration::ZERO).await;
}
