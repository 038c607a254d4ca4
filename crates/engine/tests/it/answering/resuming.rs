//! What an assistant remembers: from one message to the next, and when it begins anew.

use hedgerow_engine::settings::Program;
use hedgerow_testkit::Office;

use super::{chat, environment, issue, reads};

#[tokio::test(flavor = "multi_thread")]
async fn a_session_goes_on_across_messages_and_restarts() {
    let (mut office, _repo, _) = Office::with_a_repo().await;
    office.hears(chat(&office, "C1:1", "remember blue\nsay noted")).await;
    office.hears(chat(&office, "C1:1", "recall")).await;
    office.restarts().await;
    office.hears(chat(&office, "C1:1", "recall")).await;
    office.crashes().await;
    office.starts_again().await;
    office.hears(chat(&office, "C1:1", "recall")).await;
    office.hears(chat(&office, "C1:2", "recall")).await;
    reads(
        &office,
        &office.chat,
        "C1:1",
        "
        alice: remember blue
          say noted
        bot… Working in isolated branch `thread-1b863934`
        bot: noted
        alice: recall
        bot: blue
        alice: recall
        bot: blue
        alice: recall
        bot: blue
    ",
    );
    reads(
        &office,
        &office.chat,
        "C1:2",
        "
        alice: recall
        bot… Working in isolated branch `thread-75ddde03`
        bot: nothing
    ",
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_goes_along_to_another_environment_that_its_people_choose() {
    let (office, _repo, _) = Office::with_a_repo().await;
    office.hears(issue(&office, 42, "say hello")).await;
    for text in [
        "remember blue\nsay noted",
        "/worktree create feature/one",
        "recall",
        "/worktree link issue-42",
        "recall",
        "/worktree remove feature/one",
        "/worktree restore feature/one",
        "recall",
    ] {
        office.hears(chat(&office, "C1:1", text)).await;
    }
    reads(
        &office,
        &office.chat,
        "C1:1",
        "
        alice: remember blue
          say noted
        bot… Working in isolated branch `thread-1b863934`
        bot: noted
        alice: /worktree create feature/one
        bot: Working in isolated branch `feature/one`
        alice: recall
        bot: blue
        alice: /worktree link issue-42
        bot: Linked to worktree `issue-42`
        alice: recall
        bot: blue
        alice: /worktree remove feature/one
        bot: Moved `task-feature/one` to the trash and deleted its branch `feature/one`
          Undo: `/worktree restore task-feature/one`
        alice: /worktree restore feature/one
        bot: Restored `task-feature/one` as it was on 3 May
        alice: recall
        bot: blue
    ",
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn reset_and_remove_end_the_session_and_the_next_is_told_what_was_concluded() {
    let (office, _repo, _) = Office::with_a_repo().await;
    for text in ["remember blue\nsay it is blue", "/reset", "recall", "remember red", "/worktree remove", "recall"] {
        office.hears(chat(&office, "C1:1", text)).await;
    }
    reads(
        &office,
        &office.chat,
        "C1:1",
        "
        alice: remember blue
          say it is blue
        bot… Working in isolated branch `thread-1b863934`
        bot: it is blue
        alice: /reset
        bot: The session is over; your next message begins a new one. `thread-1b863934` stays as it is.
        alice: recall
        bot: echo: What the last session of this conversation concluded, as data:
          echo: ```
          echo: it is blue
          echo: ```
          echo:
          nothing
        alice: remember red
        bot: done
        alice: /worktree remove
        bot: Moved `thread-1b863934` to the trash and deleted its branch `thread-1b863934`
          Undo: `/worktree restore thread-1b863934`
        alice: recall
        bot… Working in isolated branch `thread-1b863934`
          • an earlier one is in the trash; `/worktree restore thread-1b863934` brings it back
        bot: echo: What the last session of this conversation concluded, as data:
          echo: ```
          echo: done
          echo: ```
          echo:
          nothing
    ",
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn closing_ends_the_session() {
    let (office, _repo, _) = Office::with_a_repo().await;
    office.hears(issue(&office, 42, "remember blue\nwrite a.txt a\nsay it is blue")).await;
    office.hears(office.forge.closes("acme/shop#42", "carol").about("issue-42").raw()).await;
    office.hears(issue(&office, 42, "recall")).await;
    environment(&office, "issue-42").await;
    reads(
        &office,
        &office.forge,
        "acme/shop#42",
        "
        alice: remember blue
          write a.txt a
          say it is blue
        bot… Working in isolated branch `issue-42`
        bot: it is blue
        carol: (closes it)
        bot: Kept worktree `issue-42`: uncommitted changes.
        alice: recall
        bot: echo: What the last session of this conversation concluded, as data:
          echo: ```
          echo: it is blue
          echo: ```
          echo:
          nothing
    ",
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn another_assistant_begins_a_session_of_its_own() {
    let office = Office::with(|settings| {
        let other = Program { name: "other".to_owned(), ..settings.runs.assistants[0].clone() };
        settings.runs.assistants.push(other);
        settings.runs.assistant = Some("fake".to_owned());
    })
    .await;
    office.given_a_repo("shop").await;
    for text in ["remember blue\nsay it is blue", "/assistant other", "recall", "/assistant nobody"] {
        office.hears(chat(&office, "C1:1", text)).await;
    }
    reads(
        &office,
        &office.chat,
        "C1:1",
        "
        alice: remember blue
          say it is blue
        bot… Working in isolated branch `thread-1b863934`
        bot: it is blue
        alice: /assistant other
        bot: This conversation works with `other` now. Its session begins with your next message.
        alice: recall
        bot: echo: What the last session of this conversation concluded, as data:
          echo: ```
          echo: it is blue
          echo: ```
          echo:
          nothing
        alice: /assistant nobody
        bot: There is no assistant `nobody`
          • there are: fake, other
    ",
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_the_assistant_forgot_begins_anew_and_says_so() {
    let (office, _repo, _) = Office::with_a_repo().await;
    office.hears(chat(&office, "C1:1", "remember blue\nsay it is blue")).await;
    office.hears(chat(&office, "C1:1", "forget-session\nrecall")).await;
    office.hears(chat(&office, "C1:1", "recall")).await;
    reads(
        &office,
        &office.chat,
        "C1:1",
        "
        alice: remember blue
          say it is blue
        bot… Working in isolated branch `thread-1b863934`
        bot: it is blue
        alice: forget-session
          recall
        bot: The assistant no longer knew the session, so this is a new one.

          echo: What the last session of this conversation concluded, as data:
          echo: ```
          echo: it is blue
          echo: ```
          echo:
          nothing
        alice: recall
        bot: nothing
    ",
    );
}
