//! Where a conversation works: told once, when it is new to it; and no run without it.

use std::fs;

use hedgerow_testkit::Office;

use super::{chat, environment, issue, reads, says_nothing_of};

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_is_told_once_where_it_works() {
    let (office, _repo, _) = Office::with_a_repo().await;
    office.hears(issue(&office, 42, "say one")).await;
    office.hears(issue(&office, 42, "say two")).await;
    // Another place where the same issue is talked about.
    office.hears(office.chat.says("C1:1", "bob", "say three").about("issue-42").raw()).await;
    office.hears(office.chat.says("C1:1", "bob", "say four").about("issue-42").raw()).await;
    reads(
        &office,
        &office.forge,
        "acme/shop#42",
        "
        alice: say one
        bot… Working in isolated branch `issue-42`
        bot: one
        alice: say two
        bot: two
    ",
    );
    reads(
        &office,
        &office.chat,
        "C1:1",
        "
        bob: say three
        bot… Reusing worktree `issue-42`
        bot: three
        bob: say four
        bot: four
    ",
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pull_request_uses_the_environment_of_its_issue() {
    let (office, repo, _) = Office::with_a_repo().await;
    office.hears(issue(&office, 42, "say hello")).await;
    repo.commit_on_origin("issue-42", "fix.txt", "fix");
    let pull = office.forge.says("acme/shop#99", "bob", "say reviewed").about("pr-99");
    office.hears(pull.pr_branch("issue-42").linked_issues(&[42]).raw()).await;
    reads(
        &office,
        &office.forge,
        "acme/shop#99",
        "
        bob: say reviewed
        bot… Reusing worktree from issue #42
        bot: reviewed
    ",
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pull_request_on_another_branch_gets_its_own_and_reads_how_to_join() {
    let (office, repo, _) = Office::with_a_repo().await;
    office.hears(issue(&office, 42, "write a.txt a\nsay hello")).await;
    let head = repo.commit_on_origin("feature/auth", "auth.txt", "one");
    let say = |text: &str| {
        let said = office.forge.says("acme/shop#99", "bob", text).about("pr-99").linked_issues(&[42]);
        said.pr_branch("feature/auth").pr_head(head.as_str()).raw()
    };
    office.hears(say("say reviewed")).await;
    office.hears(say("say once more")).await;
    office.hears(say("/worktree link issue-42")).await;
    office.hears(say("say joined")).await;
    reads(
        &office,
        &office.forge,
        "acme/shop#99",
        "
        bob: say reviewed
        bot… Reviewing PR at commit `edf0407` (branch: `feature/auth`)
          • `issue-42` has another environment, `issue-42`; `/worktree link issue-42` joins it
        bot: reviewed
        bob: say once more
        bot: once more
        bob: /worktree link issue-42
        bot: Linked to worktree `issue-42`
        bob: say joined
        bot: joined
    ",
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pull_request_whose_head_moves_takes_a_clean_environment_along_and_leaves_a_changed_one() {
    let (office, repo, _) = Office::with_a_repo().await;
    let say = |head: &str, text: &str| {
        let said = office.forge.says("acme/shop#99", "bob", text).about("pr-99");
        said.pr_branch("feature/auth").pr_head(head).raw()
    };
    let first = repo.commit_on_origin("feature/auth", "auth.txt", "one");
    office.hears(say(first.as_str(), "say one")).await;
    let second = repo.commit_on_origin("feature/auth", "auth.txt", "two");
    office.hears(say(second.as_str(), "write mine.txt mine\nsay two")).await;
    let third = repo.commit_on_origin("feature/auth", "auth.txt", "three");
    office.hears(say(third.as_str(), "say three")).await;
    reads(
        &office,
        &office.forge,
        "acme/shop#99",
        "
        bob: say one
        bot… Reviewing PR at commit `edf0407` (branch: `feature/auth`)
        bot: one
        bob: write mine.txt mine
          say two
        bot… The pull request's head has moved, and the environment with it: now at 889dcfa
        bot: two
        bob: say three
        bot… The pull request's head has moved to 459b3f0; the environment has work of its own and was left alone
        bot: three
    ",
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fork_is_reviewed_at_its_commit_and_never_in_a_maintainers_files() {
    let (office, repo, _) = Office::with_a_repo().await;
    office.hears(issue(&office, 42, "say hello")).await;
    let head = repo.pull_request_from_fork(7, "evil.txt", "fix");
    let said = office.forge.says("acme/shop#7", "mallory", "say looked").about("pr-7").linked_issues(&[42]);
    office.hears(said.pr_branch("main").pr_head(head.as_str()).from_fork().raw()).await;
    reads(
        &office,
        &office.forge,
        "acme/shop#7",
        "
        mallory: say looked
        bot… Reviewing PR at commit `0515a6f` (branch: `main`)
        bot: looked
    ",
    );
    assert!(!environment(&office, "issue-42").await.path.join("evil.txt").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worktree_that_somebody_made_is_adopted() {
    let (office, repo, _) = Office::with_a_repo().await;
    repo.commit_on_origin("feature/auth", "auth.txt", "one");
    repo.git(&["fetch", "--quiet", "origin"]);
    let place = office.folder().join("mine");
    repo.git(&["worktree", "add", "--quiet", &place.to_string_lossy(), "feature/auth"]);
    let said = office.forge.says("acme/shop#99", "bob", "write new.txt x\nsay hello").about("pr-99");
    office.hears(said.pr_branch("feature/auth").raw()).await;
    assert!(place.join("new.txt").exists());
    reads(
        &office,
        &office.forge,
        "acme/shop#99",
        "
        bob: write new.txt x
          say hello
        bot… Adopted the existing worktree on `feature/auth`
        bot: hello
    ",
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_network_the_last_known_base_is_used_and_told() {
    let (office, repo, _) = Office::with_a_repo().await;
    repo.goes_offline();
    office.hears(issue(&office, 42, "say hello")).await;
    office.hears(issue(&office, 42, "say again")).await;
    says_nothing_of(&office.forge, "acme/shop#42", office.folder());
    let transcript = office.forge.transcript("acme/shop#42");
    let (said, rest) = transcript.split_once(" (").expect("why is told");
    assert_eq!(
        said,
        "alice: say hello\nbot… Working in isolated branch `issue-42`\n  • `origin` could not be reached, so its last known state was used"
    );
    assert!(rest.ends_with(")\nbot: hello\nalice: say again\nbot: again\n"), "{transcript}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_environment_that_was_lost_is_replaced_and_its_session_is_over() {
    let (office, _repo, _) = Office::with_a_repo().await;
    office.hears(issue(&office, 42, "remember blue\nsay hello")).await;
    let lost = environment(&office, "issue-42").await;
    fs::remove_dir_all(&lost.path).expect("somebody removes it");
    office.hears(issue(&office, 42, "recall")).await;
    reads(
        &office,
        &office.forge,
        "acme/shop#42",
        "
        alice: remember blue
          say hello
        bot… Working in isolated branch `issue-42`
        bot: hello
        alice: recall
        bot… Working in isolated branch `issue-42`
          • the earlier environment `issue-42` is no more: its folder is gone
          • `issue-42` was there already and is used as it is
        bot: echo: What the last session of this conversation concluded, as data:
          echo: ```
          echo: hello
          echo: ```
          echo:
          nothing
    ",
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn without_isolation_nothing_runs_and_nothing_of_the_machine_is_told() {
    let (office, repo, _) = Office::with_a_repo().await;
    let before = repo.fingerprint();
    let said = office.forge.says("acme/shop#99", "bob", "write a.txt a\nsay hello").about("pr-99");
    office.hears(said.pr_branch("no/such").raw()).await;
    // A folder where a branch of that name must go.
    repo.git(&["branch", "issue-7/taken"]);
    office.hears(issue(&office, 7, "write a.txt a\nsay hello")).await;
    assert_eq!(office.runs(), [""; 0]);
    assert_eq!(repo.fingerprint(), before);
    for conversation in ["acme/shop#99", "acme/shop#7"] {
        says_nothing_of(&office.forge, conversation, office.folder());
    }
    reads(
        &office,
        &office.forge,
        "acme/shop#99",
        "
        bob: write a.txt a
          say hello
        bot: Failed to create isolated worktree for branch `no/such`. There is no branch `no/such`
          • `git branch --all` lists the branches there are
    ",
    );
    reads(&office, &office.forge, "acme/shop#7", "
        alice: write a.txt a
          say hello
        bot: Failed to create isolated worktree for branch `issue-7`. The branch `issue-7` cannot be made, because `issue-7/taken` exists
          • rename the branch `issue-7/taken`, or set another `worktrees.branch_prefix`
    ");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_assistant_starts_where_the_conversation_wants_it() {
    let (office, repo, _) = Office::with_a_repo().await;
    repo.commit("services/api/main.txt", "x");
    repo.push("main");
    office.hears(chat(&office, "C1:1", "say hello")).await;
    office.hears(chat(&office, "C1:1", "/setcwd services/api")).await;
    office.hears(chat(&office, "C1:1", "write here.txt x")).await;
    assert!(environment(&office, "thread-1b863934").await.path.join("services/api/here.txt").exists());
}
