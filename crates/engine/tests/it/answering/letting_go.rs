//! Closing, merging, reopening, and what automation removes: in order with the runs, and told to whom it concerns.

use hedgerow_core::environment::Actor;
use hedgerow_testkit::Office;

use super::{at_work, chat, environment, finish, issue, long, pull_request, reads, until};

fn closing(office: &Office, number: u64) -> hedgerow_core::message::RawEvent {
    let conversation = format!("acme/shop#{number}");
    office.forge.closes(&conversation, "carol").about(&format!("issue-{number}")).raw()
}

#[tokio::test(flavor = "multi_thread")]
async fn closing_while_a_run_is_on_waits_for_it() {
    let (office, _repo, _) = Office::with_a_repo().await;
    office.gets(issue(&office, 42, &format!("{}\nsay done", long(&office, "run")))).await;
    at_work(&office, "run").await;
    office.gets(closing(&office, 42)).await;
    // A closing that comes another way, so that the conversation's order does not hold it back.
    let again = office.forge.closes("acme/shop#42", "carol").about("issue-42").lane("elsewhere").raw();
    office.gets(again).await;
    until("its beginning", || async { office.engine.store().waiting().await.is_ok_and(|waiting| waiting == 1) }).await;
    assert_eq!(environment(&office, "issue-42").await.state.to_string(), "active");
    finish(&office, "run");
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
        carol: (closes it)
        carol: (closes it)
        bot: done
        bot: Moved worktree `issue-42` to the trash: closed. `/worktree restore issue-42` brings it back.
    ",
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn closing_the_issue_keeps_what_the_pull_request_uses_and_merging_that_removes_it() {
    let (office, _repo, _) = Office::with_a_repo().await;
    office.hears(issue(&office, 42, "write fix.txt fix\ncommit fix\nsay fixed")).await;
    office.hears(pull_request(&office, 99, 42, "say reviewed")).await;
    office.hears(closing(&office, 42)).await;
    environment(&office, "issue-42").await;
    office.hears(office.forge.merges("acme/shop#99", "carol").about("pr-99").raw()).await;
    // Told late, and told again.
    office.hears(closing(&office, 42)).await;
    office.hears(office.forge.merges("acme/shop#99", "carol").about("pr-99").raw()).await;
    reads(
        &office,
        &office.forge,
        "acme/shop#42",
        "
        alice: write fix.txt fix
          commit fix
          say fixed
        bot… Working in isolated branch `issue-42`
        bot: fixed
        carol: (closes it)
        bot: Kept worktree `issue-42`: still used by github:acme/shop#99.
        carol: (closes it)
    ",
    );
    reads(
        &office,
        &office.forge,
        "acme/shop#99",
        "
        bob: say reviewed
        bot… Reusing worktree from issue #42
        bot: reviewed
        carol: (merges it)
        bot: Moved worktree `issue-42` to the trash: closed. `/worktree restore issue-42` brings it back.
        carol: (merges it)
    ",
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_closed_environment_with_changes_is_kept_and_a_reopened_one_comes_back() {
    let (office, _repo, _) = Office::with_a_repo().await;
    office.hears(issue(&office, 42, "write draft.txt draft\nsay drafted")).await;
    office.hears(closing(&office, 42)).await;
    office.hears(issue(&office, 43, "write done.txt done\ncommit done\nremember blue\nsay done")).await;
    office.hears(closing(&office, 43)).await;
    let reopened = office.forge.reopens("acme/shop#43", "carol").about("issue-43").raw();
    office.hears(reopened).await;
    assert!(environment(&office, "issue-43").await.path.join("done.txt").exists());
    office.hears(issue(&office, 43, "recall")).await;
    reads(
        &office,
        &office.forge,
        "acme/shop#42",
        "
        alice: write draft.txt draft
          say drafted
        bot… Working in isolated branch `issue-42`
        bot: drafted
        carol: (closes it)
        bot: Kept worktree `issue-42`: uncommitted changes.
    ",
    );
    reads(
        &office,
        &office.forge,
        "acme/shop#43",
        "
        alice: write done.txt done
          commit done
          remember blue
          say done
        bot… Working in isolated branch `issue-43`
        bot: done
        carol: (closes it)
        bot: Moved worktree `issue-43` to the trash: closed. `/worktree restore issue-43` brings it back.
        carol: (reopens it)
        bot: Restored `issue-43` as it was on 3 May
        alice: recall
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
async fn closing_what_nobody_worked_on_says_nothing() {
    let (office, _repo, _) = Office::with_a_repo().await;
    office.hears(closing(&office, 1)).await;
    office.hears(office.forge.reopens("acme/shop#1", "carol").about("issue-1").raw()).await;
    office.hears(office.forge.reopens("acme/shop#1", "carol").raw()).await;
    reads(
        &office,
        &office.forge,
        "acme/shop#1",
        "
        carol: (closes it)
        carol: (reopens it)
        carol: (reopens it)
    ",
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reopening_that_cannot_bring_it_back_says_why() {
    let (office, repo, _) = Office::with_a_repo().await;
    office.hears(issue(&office, 42, "write done.txt done\ncommit done\nsay done")).await;
    office.hears(closing(&office, 42)).await;
    let away = repo.path().with_extension("away");
    std::fs::rename(repo.path(), &away).expect("somebody moves it");
    office.hears(office.forge.reopens("acme/shop#42", "carol").about("issue-42").raw()).await;
    reads(
        &office,
        &office.forge,
        "acme/shop#42",
        "
        alice: write done.txt done
          commit done
          say done
        bot… Working in isolated branch `issue-42`
        bot: done
        carol: (closes it)
        bot: Moved worktree `issue-42` to the trash: closed. `/worktree restore issue-42` brings it back.
        carol: (reopens it)
        bot: … is not inside a git repository
          • run this inside a git checkout, or name one with `--codebase` or `hedgerow codebase add <path>`
    ",
    );
    std::fs::rename(&away, repo.path()).expect("and moves it back");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_automation_removes_is_told_to_who_used_it_with_the_command_that_undoes_it() {
    let (office, _repo, _) = Office::with_a_repo().await;
    office.hears(issue(&office, 42, "write done.txt done\ncommit done\nsay done")).await;
    office.hears(chat(&office, "C1:1", "/worktree link issue-42")).await;
    office.clock.days_pass(30);
    office.engine.tick(false, &Actor::automation()).await.expect("the round is done");
    office.is_idle().await;
    // The next message brings it back by itself.
    office.hears(issue(&office, 42, "say back again")).await;
    office.hears(issue(&office, 42, "say still here")).await;
    office.hears(chat(&office, "C1:1", "/worktree link issue-42")).await;
    reads(&office, &office.forge, "acme/shop#42", "
        alice: write done.txt done
          commit done
          say done
        bot… Working in isolated branch `issue-42`
        bot: done
        bot… Moved worktree `issue-42` to the trash: nothing happened there for long. `/worktree restore issue-42` brings it back.
        alice: say back again
        bot… Restored `issue-42` as it was on 2 June
        bot: back again
        alice: say still here
        bot: still here
    ");
    reads(&office, &office.chat, "C1:1", "
        alice: /worktree link issue-42
        bot: Linked to worktree `issue-42`
        bot… Moved worktree `issue-42` to the trash: nothing happened there for long. `/worktree restore issue-42` brings it back.
        alice: /worktree link issue-42
        bot: Linked to worktree `issue-42`
    ");
}
