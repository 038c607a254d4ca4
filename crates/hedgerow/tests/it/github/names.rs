//! One repository under many names: the codebase is found, and not cloned a second time.

use hedgerow_testkit::git::git;

use super::looking::{last_word, place};
use super::town::Town;

#[tokio::test(flavor = "multi_thread")]
async fn a_remote_in_other_letters_is_the_same_repository() {
    let (town, shop) = Town::opens().await;
    let checkout = town.has_checkout(&town.github.clone_url("Acme/SHOP"), "main");
    town.registers(&checkout);
    let issue = shop.issue(42).opened_by("alice").await;
    issue.says("alice", "@hedgerow write a.txt a\ncommit Add a\nsay Done.\nsay /worktree pr").await;
    town.is_quiet().await;
    assert!(last_word(&issue).contains("Opened pull request #43"), "{}", issue.transcript());
    assert_eq!((town.codebases(), town.works()), (1, vec![place(&["issue-42", "pr-43"], "issue-42")]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_remote_over_ssh_is_found_and_said_to_be_out_of_reach() {
    let (town, shop) = Town::opens().await;
    let checkout = town.has_checkout(&shop.clone_url(), "main");
    git(&checkout, &["remote", "set-url", "origin", "git@127.0.0.1:Acme/Shop.git"]);
    town.registers(&checkout);
    let issue = shop.issue(42).opened_by("alice").await;
    issue.says("alice", "@hedgerow write a.txt a\ncommit Add a\nsay Done.\nsay /worktree pr").await;
    town.is_quiet().await;
    let told = issue.transcript();
    assert!(told.contains("`origin` could not be reached, so its last known state was used"), "{told}");
    assert!(last_word(&issue).contains("Done.") && !told.contains("Opened pull request"), "{told}");
    assert_eq!((town.codebases(), town.works()), (1, vec![place(&["issue-42"], "issue-42")]));
    assert_eq!(shop.branches(), ["main"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repository_that_was_renamed_keeps_its_codebase_and_its_environments() {
    let (mut town, shop) = Town::opens().await;
    let issue = shop.issue(42).opened_by("alice").await;
    issue.says("alice", "@hedgerow write a.txt a\ncommit Add a").await;
    town.is_quiet().await;
    assert_eq!(town.works(), [place(&["issue-42"], "issue-42")], "{}", issue.transcript());

    shop.renamed_to("alice", "Umbrella/store").await;
    issue.says("alice", "@hedgerow cat a.txt\nsay /worktree pr").await;
    town.is_quiet().await;
    let told = last_word(&issue);
    assert!(told.contains("a.txt: a") && told.contains("Opened pull request #43"), "{}", issue.transcript());
    assert_eq!((town.codebases(), town.works()), (1, vec![place(&["issue-42", "pr-43"], "issue-42")]));

    // The next server learns it anew.
    town.is_killed_and_starts_again().await;
    issue.says("alice", "@hedgerow cat a.txt").await;
    town.is_quiet().await;
    assert!(last_word(&issue).contains("a.txt: a"), "{}", issue.transcript());
    assert_eq!(town.codebases(), 1);

    // It ends with its last name: nobody waits for what was said under the first.
    shop.newest_pull().expect("a pull request").closes("alice").await;
    issue.closes("alice").await;
    town.is_quiet().await;
    assert_eq!(town.works(), [], "{}", issue.transcript());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_missed_is_found_in_a_repository_that_was_renamed_meanwhile() {
    let (mut town, shop) = Town::opens().await;
    let issue = shop.issue(42).opened_by("alice").await;
    issue.says("alice", "@hedgerow write a.txt a\ncommit Add a").await;
    town.is_quiet().await;

    town.is_killed().await;
    shop.renamed_to("alice", "Umbrella/store").await;
    issue.says("alice", "@hedgerow cat a.txt\nsay /worktree pr").await;
    town.starts_again().await;
    town.until("it is answered", |_| last_word(&issue).contains("Opened pull request #43")).await;
    town.is_quiet().await;
    assert!(issue.transcript().contains("a.txt: a"), "{}", issue.transcript());
    assert_eq!((town.codebases(), town.works()), (1, vec![place(&["issue-42", "pr-43"], "issue-42")]));
}
