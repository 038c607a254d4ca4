//! A server that dies: nothing is lost, nothing is done twice, and everybody hears of it.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use hedgerow_testkit::{Office, repo};

use super::{at_work, chat, environment, finish, issue, long, reads, until};

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_died_with_its_server_is_reported_and_not_run_again() {
    let (mut office, _repo, _) = Office::with_a_repo().await;
    let text = format!("write half.txt half\n{}\nsay done", long(&office, "run"));
    office.gets(issue(&office, 42, &text)).await;
    at_work(&office, "run").await;
    office.gets(issue(&office, 42, "say next")).await;
    office.crashes().await;
    office.starts_again().await;
    office.is_idle().await;
    assert_eq!(office.runs().len(), 2, "{:?}", office.runs());
    assert_eq!(office.overlaps(), [""; 0]);
    let environment = environment(&office, "issue-42").await;
    assert!(environment.path.join("half.txt").exists(), "its changes are kept");
    assert_eq!(office.engine.store().running().await.expect("the store answers"), []);
    reads(&office, &office.forge, "acme/shop#42", "
        alice: write half.txt half
          touch run-began
          wait-for run-may-end
          say done
        bot… Working in isolated branch `issue-42`
        alice: say next
        bot: Interrupted: the server stopped in the middle of this run. It is not run again; its changes are kept in `issue-42`. Say what to do next, or `/undo`.
        bot: next
    ");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_that_was_taken_and_not_begun_is_done_after_all() {
    let (mut office, _repo, _) = Office::with_a_repo().await;
    office.hears(issue(&office, 42, "say hello")).await;
    office.hears(chat(&office, "C1:1", "/worktree link issue-42")).await;
    office.gets(issue(&office, 42, &long(&office, "run"))).await;
    at_work(&office, "run").await;
    office.gets(chat(&office, "C1:1", "say mine")).await;
    until("the notice", || async { office.chat.said_in("C1:1").len() == 2 }).await;
    office.crashes().await;
    office.starts_again().await;
    office.is_idle().await;
    let last: Vec<_> =
        office.chat.said_in("C1:1").into_iter().filter(|(_, last)| *last).map(|(text, _)| text).collect();
    assert_eq!(last, ["Linked to worktree `issue-42`", "mine"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_that_was_begun_is_reported_and_not_done_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let (began, go) = (folder.path().join("began"), folder.path().join("go"));
    let git = folder.path().join("git");
    let script = format!(
        "#!/bin/sh\ncase \"$*\" in *'worktree add'*) touch {}; while [ ! -e {} ]; do sleep 0.01; done;; esac\nexec git \"$@\"\n",
        began.display(),
        go.display()
    );
    repo::write(folder.path(), "git", &script);
    fs::set_permissions(&git, fs::Permissions::from_mode(0o755)).expect("it can be run");
    let mut office = Office::with(|settings| settings.git = git).await;
    office.given_a_repo("shop").await;
    office.gets(chat(&office, "C1:1", "/worktree create fix")).await;
    office.sees(&began).await;
    office.gets(chat(&office, "C1:1", "say next")).await;
    office.crashes().await;
    fs::write(&go, "").expect("the signal");
    office.starts_again().await;
    office.is_idle().await;
    reads(&office, &office.chat, "C1:1", "
        alice: /worktree create fix
        alice: say next
        bot: Interrupted: the server stopped in the middle of `/worktree`. It is not done again. `/status` shows how things stand.
        bot… Working in isolated branch `thread-1b863934`
        bot: next
    ");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_lane_of_a_dead_run_goes_on_in_order() {
    let (mut office, _repo, _) = Office::with_a_repo().await;
    office.gets(chat(&office, "C1:1", &long(&office, "run"))).await;
    at_work(&office, "run").await;
    for number in 2..=4 {
        office.gets(chat(&office, "C1:1", &format!("say {number}"))).await;
    }
    office.crashes().await;
    finish(&office, "run");
    office.starts_again().await;
    office.is_idle().await;
    let runs = office.runs();
    assert_eq!(runs[1..], ["say 2", "say 3", "say 4"]);
    reads(&office, &office.chat, "C1:1", "
        alice: touch run-began
          wait-for run-may-end
        bot… Working in isolated branch `thread-1b863934`
        alice: say 2
        alice: say 3
        alice: say 4
        bot: Interrupted: the server stopped in the middle of this run. It is not run again; its changes are kept in `thread-1b863934`. Say what to do next, or `/undo`.
        bot: 2
        bot: 3
        bot: 4
    ");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_died_where_nobody_looks_is_over_when_the_next_one_begins() {
    let (mut office, _repo, _) = Office::with_a_repo().await;
    office.gets(issue(&office, 42, &long(&office, "run"))).await;
    at_work(&office, "run").await;
    office.crashes().await;
    // As that of a window which is not opened again.
    let elsewhere = "UPDATE inbox SET platform = 'terminal' WHERE state = 'taken'";
    office.database().meddle(elsewhere).await.expect("the store is there");
    office.starts_again().await;
    office.hears(issue(&office, 42, "say next")).await;
    assert_eq!(office.forge.said_in("acme/shop#42").last(), Some(&("next".to_owned(), true)));
    assert_eq!(office.engine.store().running().await.expect("the store answers"), []);
    assert_eq!(office.overlaps(), [""; 0]);
}
