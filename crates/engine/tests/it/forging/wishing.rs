//! An agent that ends its answer with `/worktree pr`.

use std::sync::Arc;

use hedgerow_testkit::git::git;
use hedgerow_testkit::{Board, Office, TestRepo};

use super::SHOP;

async fn office() -> (Office, Arc<Board>, TestRepo) {
    let board = Board::new();
    let office = Office::with(|settings| settings.forges = board.forges()).await;
    let (repo, _) = office.given_a_repo("shop").await;
    board.hosts(SHOP, repo.origin().display().to_string());
    (office, board, repo)
}

fn answer(office: &Office, conversation: &str) -> String {
    office.forge.said_in(conversation).into_iter().rev().find(|(_, last)| *last).expect("an answer").0
}

#[tokio::test(flavor = "multi_thread")]
async fn its_commits_are_proposed_as_the_person_who_asked_and_the_line_is_not_said() {
    let (office, board, repo) = office().await;
    let ask = "write login.txt fixed\ncommit Fix the login\nsay It is fixed.\nsay /worktree pr";
    office.hears(office.forge.says("acme/shop#42", "alice", ask).about("issue-42").raw()).await;
    let told = answer(&office, "acme/shop#42");
    assert_eq!(told, "It is fixed.\n\nOpened pull request #101: https://forge.example/acme/shop/pull/101");
    let draft = board.drafts().remove(0);
    assert_eq!((draft.title.as_str(), draft.head.as_str()), ("Fix the login", "issue-42"));
    assert!(draft.body.contains("Fixes #42") && draft.body.contains("`github:alice`"), "{}", draft.body);
    assert!(git(repo.origin(), &["rev-parse", "refs/heads/issue-42"]).len() == 40);

    let ask = "write more.txt more\ncommit More\nsay /worktree pr";
    office.hears(office.forge.says("acme/shop#42", "alice", ask).about("issue-42").raw()).await;
    let told = answer(&office, "acme/shop#42");
    assert_eq!(told, "Pushed 1 commit to #101: https://forge.example/acme/shop/pull/101", "nothing else was said");
    assert_eq!(board.drafts().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wish_that_cannot_be_granted_is_told_and_the_answer_stays() {
    let (office, board, _repo) = office().await;
    let ask = "say I only looked.\nsay /worktree pr";
    office.hears(office.forge.says("acme/shop#42", "alice", ask).about("issue-42").raw()).await;
    let told = answer(&office, "acme/shop#42");
    assert!(told.starts_with("I only looked.\n\nThere is nothing to open: `issue-42`"), "{told}");
    // In the middle of the words it is only words.
    let ask = "write a.txt a\ncommit A\nsay /worktree pr\nsay would push it.";
    office.hears(office.forge.says("acme/shop#42", "alice", ask).about("issue-42").raw()).await;
    assert_eq!(answer(&office, "acme/shop#42"), "/worktree pr\nwould push it.");
    assert!(board.drafts().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_failed_has_no_wish() {
    let (office, board, repo) = office().await;
    let ask = "write a.txt a\ncommit A\nsay /worktree pr\nfail it broke";
    office.hears(office.forge.says("acme/shop#42", "alice", ask).about("issue-42").raw()).await;
    assert!(board.drafts().is_empty());
    assert_eq!(git(repo.origin(), &["for-each-ref", "--format=%(refname)"]), "refs/heads/main");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_forks_agent_wishes_in_vain_and_one_without_an_environment_says_only_words() {
    let (office, board, repo) = office().await;
    let sha = repo.pull_request_from_fork(7, "theirs.txt", "theirs\n");
    let said = office.forge.says("acme/shop#7", "alice", "write a.txt a\ncommit A\nsay Done.\nsay /worktree pr");
    office.hears(said.about("pr-7").pr_head(sha.as_str()).from_fork().raw()).await;
    let told = answer(&office, "acme/shop#7");
    assert!(told.starts_with("Done.\n\nA fork's pull request is only read here"), "{told}");
    let refs = git(repo.origin(), &["for-each-ref", "--format=%(refname)", "refs/heads"]);
    assert_eq!(refs, "refs/heads/main");
    assert!(board.drafts().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_agent_is_told_how_to_wish_and_a_forks_agent_is_not() {
    let (office, _board, repo) = office().await;
    office.hears(office.forge.says("acme/shop#42", "alice", "briefing").about("issue-42").raw()).await;
    assert!(answer(&office, "acme/shop#42").contains("a line that is exactly `/worktree pr`"));
    let sha = repo.pull_request_from_fork(7, "theirs.txt", "theirs\n");
    let said = office.forge.says("acme/shop#7", "alice", "briefing");
    office.hears(said.about("pr-7").pr_head(sha.as_str()).from_fork().raw()).await;
    let told = answer(&office, "acme/shop#7");
    assert!(told.contains("a stranger's pull request") && !told.contains("/worktree pr"), "{told}");
}
