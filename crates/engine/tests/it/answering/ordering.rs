//! One after the other: in a conversation, in an environment, on a machine.

use std::collections::HashSet;

use hedgerow_testkit::Office;

use super::{at_work, chat, environment, finish, is_at_work, issue, long, pull_request, reads, until};

#[tokio::test(flavor = "multi_thread")]
async fn messages_of_a_conversation_run_in_order_one_after_the_other() {
    let (office, _repo, _) = Office::with_a_repo().await;
    for number in 1..=5 {
        office.gets(chat(&office, "C1:1", &format!("say {number}\nappend list.txt {number}"))).await;
    }
    office.is_idle().await;
    let environment = environment(&office, "thread-1b863934").await;
    let list = std::fs::read_to_string(environment.path.join("list.txt")).expect("the list");
    assert_eq!(list, "1\n2\n3\n4\n5\n");
    assert_eq!(office.overlaps(), [""; 0]);
    reads(
        &office,
        &office.chat,
        "C1:1",
        "
        alice: say 1
          append list.txt 1
        alice: say 2
          append list.txt 2
        alice: say 3
          append list.txt 3
        alice: say 4
          append list.txt 4
        alice: say 5
          append list.txt 5
        bot… Working in isolated branch `thread-1b863934`
        bot: 1
        bot: 2
        bot: 3
        bot: 4
        bot: 5
    ",
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_issue_and_its_pull_request_share_an_environment_and_never_run_at_once() {
    let (office, _repo, _) = Office::with_a_repo().await;
    office.gets(issue(&office, 42, &format!("{}\nsay fixed", long(&office, "fix")))).await;
    at_work(&office, "fix").await;
    office.gets(pull_request(&office, 99, 42, "append review.txt fine\nsay reviewed")).await;
    until("the notice", || async { office.forge.said_in("acme/shop#99").len() == 2 }).await;
    assert_eq!(office.runs().len(), 1, "the second waits");
    finish(&office, "fix");
    office.is_idle().await;
    assert_eq!(office.overlaps(), [""; 0]);
    assert!(environment(&office, "issue-42").await.path.join("review.txt").exists());
    reads(
        &office,
        &office.forge,
        "acme/shop#42",
        "
        alice: touch fix-began
          wait-for fix-may-end
          say fixed
        bot… Working in isolated branch `issue-42`
        bot: fixed
    ",
    );
    reads(
        &office,
        &office.forge,
        "acme/shop#99",
        "
        bob: append review.txt fine
          say reviewed
        bot… Reusing worktree from issue #42
        bot… `issue-42` is at work for `acme/shop#42` since 0 s. Yours comes after it; `/stop` there ends it.
        bot: reviewed
    ",
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_waits_is_told_what_is_ahead_once_each() {
    let (office, _repo, _) = Office::with_a_repo().await;
    office.hears(issue(&office, 42, "say hello")).await;
    for conversation in ["C1:1", "C1:2", "C1:3"] {
        office.hears(chat(&office, conversation, "/worktree link issue-42")).await;
    }
    office.gets(issue(&office, 42, &long(&office, "first"))).await;
    at_work(&office, "first").await;
    office.gets(chat(&office, "C1:1", &long(&office, "second"))).await;
    until("the notice", || async { office.chat.said_in("C1:1").len() == 2 }).await;
    office.gets(chat(&office, "C1:2", &long(&office, "third"))).await;
    until("the notice", || async { office.chat.said_in("C1:2").len() == 2 }).await;
    finish(&office, "first");
    at_work(&office, "second").await;
    assert!(!is_at_work(&office, "third"));
    office.gets(chat(&office, "C1:3", "say fourth")).await;
    until("the notice", || async { office.chat.said_in("C1:3").len() == 2 }).await;
    finish(&office, "second");
    finish(&office, "third");
    office.is_idle().await;
    assert_eq!(office.overlaps(), [""; 0]);
    reads(
        &office,
        &office.chat,
        "C1:1",
        "
        alice: /worktree link issue-42
        bot: Linked to worktree `issue-42`
        alice: touch second-began
          wait-for second-may-end
        bot… `issue-42` is at work for `acme/shop#42` since 0 s. Yours comes after it; `/stop` there ends it.
        bot: done
    ",
    );
    reads(
        &office,
        &office.chat,
        "C1:2",
        "
        alice: /worktree link issue-42
        bot: Linked to worktree `issue-42`
        alice: touch third-began
          wait-for third-may-end
        bot… `issue-42` is at work for `acme/shop#42` since 0 s. Yours comes after it; `/stop` there ends it.
        bot: done
    ",
    );
    reads(
        &office,
        &office.chat,
        "C1:3",
        "
        alice: /worktree link issue-42
        bot: Linked to worktree `issue-42`
        alice: say fourth
        bot… `issue-42` is at work for `C1:1` since 0 s. Yours comes after it; `/stop` there ends it.
        bot: fourth
    ",
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn stop_passes_the_queue_and_keeps_what_was_said_and_changed() {
    let (office, _repo, _) = Office::with_a_repo().await;
    let begin = format!("write half.txt half\nsay I have begun\n{}", long(&office, "run"));
    office.gets(chat(&office, "C1:1", &begin)).await;
    at_work(&office, "run").await;
    office.gets(chat(&office, "C1:1", "say next")).await;
    office.gets(chat(&office, "C1:1", "/stop")).await;
    office.is_idle().await;
    let environment = environment(&office, "thread-1b863934").await;
    assert!(environment.path.join("half.txt").exists(), "its changes are kept");
    office.hears(chat(&office, "C1:1", "/stop")).await;
    reads(
        &office,
        &office.chat,
        "C1:1",
        "
        alice: write half.txt half
          say I have begun
          touch run-began
          wait-for run-may-end
        bot… Working in isolated branch `thread-1b863934`
        alice: say next
        alice: /stop
        bot: Stopping `fake`; its changes are kept. `/undo` takes them back.
        bot: I have begun

          Stopped. Its changes are kept; `/undo` takes them back.
        bot: next
        alice: /stop
        bot: Nothing is running here.
    ",
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn stop_in_a_conversation_that_shares_the_environment_stops_its_run() {
    let (office, _repo, _) = Office::with_a_repo().await;
    office.hears(issue(&office, 42, "say hello")).await;
    office.hears(chat(&office, "C1:1", "/worktree link issue-42")).await;
    office.gets(issue(&office, 42, &long(&office, "run"))).await;
    at_work(&office, "run").await;
    office.gets(chat(&office, "C1:1", "/stop")).await;
    office.is_idle().await;
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
        bot: Stopped. Its changes are kept; `/undo` takes them back.
    ",
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn status_passes_the_queue_and_shows_the_run_and_how_many_wait() {
    let (office, _repo, _) = Office::with_a_repo().await;
    office.gets(chat(&office, "C1:1", &long(&office, "run"))).await;
    at_work(&office, "run").await;
    office.gets(chat(&office, "C1:1", "say second")).await;
    office.gets(chat(&office, "C1:1", "say third")).await;
    office.gets(chat(&office, "C1:1", "/status")).await;
    office.chat.answers("C1:1", 1).await;
    finish(&office, "run");
    office.is_idle().await;
    reads(
        &office,
        &office.chat,
        "C1:1",
        "
        alice: touch run-began
          wait-for run-may-end
        bot… Working in isolated branch `thread-1b863934`
        alice: say second
        alice: say third
        alice: /status
        bot: Platform: slack
          Codebase: `shop`
          Environment: `thread-1b863934` on branch `thread-1b863934`: clean
          Session: with `fake`, begun just now
          Run: `fake` is at work for slack:alice, begun just now; `/stop` stops it
          Queue: 2 messages wait
          Environments of `shop`: 1 active
        bot: done
        bot: second
        bot: third
    ",
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn never_more_assistants_work_at_once_than_are_allowed() {
    let office = Office::with(|settings| settings.runs.at_once = 2).await;
    office.given_a_repo("shop").await;
    let names: Vec<String> = (1..=6).map(|number| format!("run-{number}")).collect();
    for (number, name) in names.iter().enumerate() {
        office.gets(chat(&office, &format!("C1:{number}"), &long(&office, name))).await;
    }
    let mut done: HashSet<&String> = HashSet::new();
    while done.len() < names.len() {
        let expected = 2.min(names.len() - done.len());
        let working = || names.iter().filter(|name| !done.contains(name) && is_at_work(&office, name));
        until("the next run", || async { working().count() >= expected }).await;
        assert!(working().count() <= 2);
        assert!(office.engine.store().running().await.expect("the store answers").len() <= 2);
        let one = working().next().expect("somebody works");
        finish(&office, one);
        done.insert(one);
    }
    office.is_idle().await;
    assert_eq!(office.runs().len(), 6);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_busy_codebase_does_not_keep_a_quiet_one_waiting_for_all_of_its_runs() {
    let office = Office::with(|settings| settings.runs.at_once = 1).await;
    office.given_a_repo("busy").await;
    office.given_a_repo("quiet").await;
    let says = |conversation: &str, codebase: &str, text: &str| {
        office.chat.says(conversation, "alice", text).codebase(codebase).raw()
    };
    office.gets(says("C1:0", "busy", &long(&office, "first"))).await;
    at_work(&office, "first").await;
    for number in 1..=5 {
        let conversation = format!("C1:{number}");
        office.gets(says(&conversation, "busy", &format!("say busy {number}"))).await;
        until("its place in the line", || async { office.chat.said_in(&conversation).len() == 1 }).await;
    }
    office.gets(says("C2:1", "quiet", "say quiet")).await;
    until("its place in the line", || async { office.chat.said_in("C2:1").len() == 1 }).await;
    finish(&office, "first");
    office.is_idle().await;
    let runs = office.runs();
    let place = runs.iter().position(|run| run == "say quiet").expect("it ran");
    assert!(place < 4, "{runs:?}");
}
