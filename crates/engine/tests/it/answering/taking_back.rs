//! `/undo`: the last turn, and only that.

use std::fs;

use hedgerow_testkit::Office;

use super::{at_rest, chat, environment, reads};

#[tokio::test(flavor = "multi_thread")]
async fn undo_takes_back_the_last_turn_and_keeps_what_a_person_did_in_between() {
    let (office, _repo, _) = Office::with_a_repo().await;
    office.hears(chat(&office, "C1:1", "write one.txt one\nwrite both.txt first\nsay one")).await;
    let place = environment(&office, "thread-1b863934").await.path;
    at_rest(&office).await;
    fs::write(place.join("mine.txt"), "a person's\n").expect("a person writes");
    office.hears(chat(&office, "C1:1", "write two.txt two\nwrite both.txt second\ncommit two\nsay two")).await;
    at_rest(&office).await;
    fs::write(place.join("later.txt"), "a person's\n").expect("a person writes");
    office.hears(chat(&office, "C1:1", "/undo")).await;
    let there = |name: &str| fs::read_to_string(place.join(name)).ok();
    assert_eq!(there("one.txt").as_deref(), Some("one\n"));
    assert_eq!(there("both.txt").as_deref(), Some("first\n"));
    assert_eq!(there("mine.txt").as_deref(), Some("a person's\n"));
    assert_eq!(there("later.txt").as_deref(), Some("a person's\n"));
    assert_eq!(there("two.txt"), None);
    // The next takes back the turn before, and still nothing of what a person did.
    office.hears(chat(&office, "C1:1", "/undo")).await;
    assert_eq!(there("one.txt"), None);
    assert_eq!(there("mine.txt").as_deref(), Some("a person's\n"));
    assert_eq!(there("later.txt").as_deref(), Some("a person's\n"));
    office.hears(chat(&office, "C1:1", "/undo")).await;
    reads(
        &office,
        &office.chat,
        "C1:1",
        "
        alice: write one.txt one
          write both.txt first
          say one
        bot… Working in isolated branch `thread-1b863934`
        bot: one
        alice: write two.txt two
          write both.txt second
          commit two
          say two
        bot: two
        alice: /undo
        bot: Took `thread-1b863934` back to checkpoint 3
          • `thread-1b863934` from d4db72b to b87ef20
          • restored both.txt
          • deleted two.txt
          • 4 paths in the index
          The state before is kept: `hedgerow env undo thread-1b863934 --to 5` in a terminal goes back to it.
        alice: /undo
        bot: Took `thread-1b863934` back to checkpoint 1
          • deleted both.txt
          • deleted one.txt
          The state before is kept: `hedgerow env undo thread-1b863934 --to 7` in a terminal goes back to it.
        alice: /undo
        bot: `thread-1b863934` has no earlier checkpoint to go back to
          • `hedgerow env undo --to 8` takes back what has changed since
    ",
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_stopped_or_interrupted_run_changed_can_be_taken_back() {
    let (mut office, _repo, _) = Office::with_a_repo().await;
    office.hears(chat(&office, "C1:1", "write kept.txt kept\nsay one")).await;
    let place = environment(&office, "thread-1b863934").await.path;
    office.gets(chat(&office, "C1:1", &format!("write half.txt half\n{}", super::long(&office, "run")))).await;
    super::at_work(&office, "run").await;
    office.crashes().await;
    office.starts_again().await;
    office.is_idle().await;
    assert!(place.join("half.txt").exists());
    office.hears(chat(&office, "C1:1", "/undo")).await;
    assert!(!place.join("half.txt").exists() && place.join("kept.txt").exists());
    reads(&office, &office.chat, "C1:1", "
        alice: write kept.txt kept
          say one
        bot… Working in isolated branch `thread-1b863934`
        bot: one
        alice: write half.txt half
          touch run-began
          wait-for run-may-end
        bot: Interrupted: the server stopped in the middle of this run. It is not run again; its changes are kept in `thread-1b863934`. Say what to do next, or `/undo`.
        alice: /undo
        bot: Took `thread-1b863934` back to checkpoint 2
          • deleted half.txt
          The state before is kept: `hedgerow env undo thread-1b863934 --to 4` in a terminal goes back to it.
    ");
}
