//! Reviews: asked for with GitHub's own button, or in words.

use super::looking::{head, last_word, place};
use super::town::{BOT, Town};

#[tokio::test(flavor = "multi_thread")]
async fn who_is_asked_as_reviewer_reviews_and_changes_go_to_the_branch_itself() {
    let (town, shop) = Town::opens().await;
    let pull = shop.pull_request(99).from_branch("feature/auth").by("alice").await;
    pull.requests_review_of("alice", "bob").await;
    town.is_quiet().await;
    assert_eq!((pull.comments().len(), town.codebases()), (0, 0), "{}", pull.transcript());

    let reviewed = pull.head();
    pull.requests_review_of("alice", BOT).await;
    town.is_quiet().await;
    let told = pull.transcript();
    let introduced = format!("Reviewing PR at commit `{}` (branch: `feature/auth`)", reviewed.short());
    assert!(told.contains(&introduced), "{told}");
    assert!(last_word(&pull).contains("Review this pull request."), "{told}");
    assert_eq!(town.works(), [place(&["review-99"], "pr-99-review")]);
    assert_eq!(town.head_of("review-99"), reviewed);

    pull.says("alice", "@hedgerow review it again\nsay It is fine.").await;
    town.is_quiet().await;
    assert!(last_word(&pull).contains("It is fine."), "{}", pull.transcript());
    assert_eq!(town.works(), [place(&["review-99"], "pr-99-review")], "one environment for both");
    assert_eq!(pull.transcript().matches(&introduced).count(), 1, "{}", pull.transcript());
    let path = town.path_of("review-99");
    pull.says("alice", "@hedgerow /worktree pr").await;
    town.is_quiet().await;
    assert!(last_word(&pull).contains("only read"), "{}", pull.transcript());

    // What was found is mended in the same conversation.
    pull.says("alice", "@hedgerow write fix.txt mended\ncommit Mend it\nsay Mended.\nsay /worktree pr").await;
    town.is_quiet().await;
    let told = pull.transcript();
    assert!(last_word(&pull).contains("Pushed 1 commit to #99"), "{told}");
    let works = [place(&["pr-99"], "feature/auth"), place(&["review-99"], "pr-99-review")];
    assert_eq!(town.sorted_works(), works, "{told}");
    assert_eq!(shop.file("feature/auth", "fix.txt").as_deref(), Some("mended\n"));
    assert_eq!(pull.head(), town.head_of("pr-99"));
    assert_eq!(head(&path), reviewed, "what was reviewed stays");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_review_of_a_fork_is_where_its_other_asks_are() {
    let (town, shop) = Town::opens().await;
    let pull = shop.pull_request(99).from_fork("mallory").from_branch("feature/auth").by("mallory").await;
    pull.requests_review_of("alice", BOT).await;
    pull.says("alice", "@hedgerow cat change-99.txt").await;
    town.is_quiet().await;
    assert!(last_word(&pull).contains("change-99.txt: changed"), "{}", pull.transcript());
    assert_eq!(town.runs().len(), 2);
    assert_eq!(town.works(), [place(&["review-99", "pr-99"], "pr-99-review")]);
}
