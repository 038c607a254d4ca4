//! The limit of a codebase, as a chat meets it.

use hedgerow_testkit::Office;

use super::{chat, environment, issue, reads};

#[tokio::test(flavor = "multi_thread")]
async fn at_the_limit_nothing_runs_and_the_ways_out_are_told() {
    let office = Office::with(|settings| settings.limit = 2).await;
    office.given_a_repo("shop").await;
    office.hears(issue(&office, 1, "write a.txt a\nsay one")).await;
    office.hears(issue(&office, 2, "write b.txt b\nsay two")).await;
    office.hears(issue(&office, 3, "say three")).await;
    assert_eq!(office.runs().len(), 2);
    reads(
        &office,
        &office.forge,
        "acme/shop#3",
        "
        alice: say three
        bot: You have 2 active worktrees for **shop** (limit reached).

          Worktree status:
          • 2 active

          Options:
          • `/worktree list` - see all
          • `/worktree remove <name>` - remove one
    ",
    );
    // What the answer says works.
    office.hears(chat(&office, "C1:1", "/worktree list")).await;
    office.hears(issue(&office, 1, "/worktree remove --force")).await;
    office.hears(issue(&office, 3, "say three")).await;
    environment(&office, "issue-3").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn merged_ones_make_room_without_a_question() {
    let office = Office::with(|settings| settings.limit = 1).await;
    let (repo, _) = office.given_a_repo("shop").await;
    office.hears(issue(&office, 1, "write a.txt a\ncommit a\nsay one")).await;
    repo.git(&["merge", "--quiet", "--no-edit", "issue-1"]);
    repo.push("main");
    office.hears(issue(&office, 2, "say two")).await;
    reads(
        &office,
        &office.forge,
        "acme/shop#1",
        "
        alice: write a.txt a
          commit a
          say one
        bot… Working in isolated branch `issue-1`
        bot: one
        bot… Moved worktree `issue-1` to the trash: its work is merged. `/worktree restore issue-1` brings it back.
    ",
    );
    reads(
        &office,
        &office.forge,
        "acme/shop#2",
        "
        alice: say two
        bot… Working in isolated branch `issue-2`
        bot: two
    ",
    );
}
