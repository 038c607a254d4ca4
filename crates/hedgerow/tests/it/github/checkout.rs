//! The codebase is a checkout that its owner works in, on the very branch of a pull request.

use hedgerow_testkit::git::git;

use super::looking::{head, last_word, place};
use super::town::Town;

#[tokio::test(flavor = "multi_thread")]
async fn the_main_checkout_holds_the_branch_and_is_left_alone_while_pushes_update_the_pull_request() {
    let (town, shop) = Town::opens().await;
    let pull = shop.pull_request(99).from_branch("feature/auth").by("alice").await;
    let checkout = town.has_checkout(&shop.clone_url(), "feature/auth");
    town.registers(&checkout);
    std::fs::write(checkout.join("half.txt"), "half done\n").expect("a file");
    let (before, opened) = (looks(&checkout), pull.head());

    pull.says("alice", "@hedgerow cat change-99.txt").await;
    town.is_quiet().await;
    let told = pull.transcript();
    assert!(told.contains("the main checkout holds `feature/auth`, so `pr-99` was made at the same commit"), "{told}");
    assert!(told.contains("`/worktree pr` pushes to `feature/auth`"), "{told}");
    assert_eq!(town.works(), [place(&["pr-99"], "pr-99")]);
    assert_eq!(town.head_of("pr-99"), opened);

    pull.says("alice", "@hedgerow write fix.txt mended\ncommit Mend it\nsay Mended.\nsay /worktree pr").await;
    town.is_quiet().await;
    assert!(last_word(&pull).contains("Pushed 1 commit to #99"), "{}", pull.transcript());
    let pushed = pull.head();
    assert_eq!(pushed, town.head_of("pr-99"));
    assert_eq!(shop.rev("refs/heads/feature/auth"), Some(pushed.clone()));

    git(&town.path_of("pr-99"), &["commit", "--quiet", "--allow-empty", "-m", "By hand"]);
    pull.says("alice", "@hedgerow /worktree pr").await;
    town.is_quiet().await;
    assert!(last_word(&pull).contains("Pushed 1 commit to #99"), "{}", pull.transcript());
    assert_eq!(pull.head(), town.head_of("pr-99"));
    assert_eq!(shop.branches(), ["feature/auth", "main"], "no branch of another name went there");
    assert_eq!(looks(&checkout), before);
}

/// What its owner sees of it.
fn looks(checkout: &std::path::Path) -> (String, String, String) {
    let branch = git(checkout, &["symbolic-ref", "HEAD"]);
    (branch, head(checkout).to_string(), git(checkout, &["status", "--porcelain"]))
}
