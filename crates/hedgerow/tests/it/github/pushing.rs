//! Commits go to the branch of a pull request, and nobody's are lost on the way.

use std::fs;

use hedgerow_testkit::git::git;

use super::looking::{head, last_word, place, until};
use super::town::Town;

const WISH: &str = "say Done.\nsay /worktree pr";

#[tokio::test(flavor = "multi_thread")]
async fn commits_go_into_the_pull_request_unless_somebody_pushed_meanwhile() {
    let (town, shop) = Town::opens().await;
    let pull = shop.pull_request(99).from_branch("feature/auth").by("alice").await;
    pull.says("alice", &format!("@hedgerow write a.txt a\ncommit Add a\n{WISH}")).await;
    town.is_quiet().await;
    assert!(last_word(&pull).contains("Pushed 1 commit to #99"), "{}", pull.transcript());
    assert_eq!(town.works(), [place(&["pr-99"], "feature/auth")]);
    assert_eq!(pull.head(), town.head_of("pr-99"));

    let gate = town.desk.folder().join("gate");
    let ask = format!("@hedgerow write b.txt b\ncommit Add b\nwait-for {}\n{WISH}", gate.display());
    pull.says("alice", &ask).await;
    until("it works", || town.path_of("pr-99").join("b.txt").exists()).await;
    let theirs = pull.pushes("bob", "bob.txt", "bob's\n").await;
    fs::write(&gate, "").expect("a gate");
    town.is_quiet().await;
    let told = last_word(&pull);
    assert!(told.contains("`pr-99` was not pushed: `feature/auth` has commits there that are not in it"), "{told}");
    assert_eq!((pull.head(), shop.rev("refs/heads/feature/auth")), (theirs.clone(), Some(theirs.clone())));
    assert_eq!(fs::read_to_string(town.path_of("pr-99").join("b.txt")).expect("it is kept"), "b\n");

    // What others may have built on is not rewritten, whatever was done here.
    let path = town.path_of("pr-99");
    git(&path, &["commit", "--quiet", "--amend", "-m", "Add b, again"]);
    pull.says("alice", "@hedgerow /worktree pr").await;
    town.is_quiet().await;
    assert!(last_word(&pull).contains("was not pushed"), "{}", pull.transcript());
    assert_eq!(shop.rev("refs/heads/feature/auth"), Some(theirs));
    git(&path, &["fetch", "--quiet", "origin", "feature/auth"]);
    git(&path, &["merge", "--quiet", "--no-edit", "FETCH_HEAD"]);
    pull.says("alice", "@hedgerow /worktree pr").await;
    town.is_quiet().await;
    assert!(last_word(&pull).contains("Pushed 2 commits to #99"), "{}", pull.transcript());
    assert_eq!(pull.head(), head(&path));
}

#[tokio::test(flavor = "multi_thread")]
async fn only_a_branch_of_our_own_is_rewritten_and_only_from_what_we_pushed() {
    let (town, shop) = Town::opens().await;
    let issue = shop.issue(42).opened_by("alice").await;
    issue.says("alice", &format!("@hedgerow write a.txt a\ncommit Add a\n{WISH}")).await;
    town.is_quiet().await;
    let pull = shop.newest_pull().expect("a pull request");
    let path = town.path_of("issue-42");
    git(&path, &["commit", "--quiet", "--amend", "-m", "Add a, better"]);
    issue.says("alice", "@hedgerow /worktree pr").await;
    town.is_quiet().await;
    assert!(last_word(&issue).contains(&format!("to #{}", pull.number())), "{}", issue.transcript());
    assert_eq!(pull.head(), head(&path), "it is our own branch, and nobody else was there");

    let theirs = pull.pushes("bob", "bob.txt", "bob's\n").await;
    git(&path, &["commit", "--quiet", "--amend", "-m", "Add a, best"]);
    issue.says("alice", "@hedgerow /worktree pr").await;
    town.is_quiet().await;
    assert!(last_word(&issue).contains("`issue-42` was not pushed"), "{}", issue.transcript());
    assert_eq!(pull.head(), theirs);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_repository_protects_is_refused_in_its_own_words() {
    let (town, shop) = Town::opens().await;
    let pull = shop.pull_request(99).from_branch("feature/auth").by("alice").await;
    let before = pull.head();
    shop.protects("feature/auth");
    pull.says("alice", &format!("@hedgerow write a.txt a\ncommit Add a\n{WISH}")).await;
    town.is_quiet().await;
    let told = last_word(&pull);
    assert!(told.contains("Done.") && told.contains("the remote does not take it: "), "{told}");
    assert!(told.to_lowercase().contains("protected branch"), "{told}");
    assert_eq!(pull.head(), before);
    assert!(town.path_of("pr-99").join("a.txt").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn who_waited_for_another_run_works_on_the_head_that_was_asked_about() {
    let (town, shop) = Town::opens().await;
    let issue = shop.issue(42).opened_by("alice").await;
    issue.says("alice", &format!("@hedgerow write a.txt a\ncommit Add a\n{WISH}")).await;
    town.is_quiet().await;
    let gate = town.desk.folder().join("gate");
    issue.says("alice", &format!("@hedgerow wait-for {}", gate.display())).await;
    until("the second run is on", || town.runs().len() == 2).await;

    let pull = shop.newest_pull().expect("a pull request");
    let theirs = pull.pushes("bob", "bob.txt", "of bob\n").await;
    pull.says("alice", "@hedgerow cat bob.txt").await;
    until("it is told what is ahead", || pull.transcript().contains("acme/shop#42")).await;
    fs::write(&gate, "").expect("a gate");
    town.is_quiet().await;
    let told = pull.transcript();
    let moved = format!("head has moved, and the environment with it: now at {}", theirs.short());
    assert!(told.contains(&moved) && last_word(&pull).contains("bob.txt: of bob"), "{told}");
    assert_eq!(town.head_of("issue-42"), theirs);
}
