//! Work that the base had, and whether it still has it.

use hedgerow_core::merged::Verdict;

use crate::story::{Story, lines};

#[tokio::test]
async fn a_squash_that_was_reverted_is_reverted_later() {
    let story = Story::new();
    story.set("work", "file", lines(&[(3, "mine")]));
    story.set("work", "file", lines(&[(3, "mine"), (15, "too")]));
    let squash = story.squash();
    story.set("main", "dir/other", "theirs\n");
    let revert = story.revert(&squash);
    story.set("main", "dir/other", "more\n");
    assert_eq!(story.verdict().await, Verdict::RevertedLater(revert));
}

#[tokio::test]
async fn a_revert_is_seen_when_its_surroundings_have_changed() {
    let story = Story::new();
    story.set("work", "file", lines(&[(5, "mine")]));
    story.squash();
    story.set("main", "file", lines(&[(5, "mine"), (3, "near")]));
    let revert = story.set("main", "file", lines(&[(3, "near")]));
    assert_eq!(story.verdict().await, Verdict::RevertedLater(revert));
}

#[tokio::test]
async fn a_revert_that_was_reverted_brings_the_work_back() {
    let story = Story::new();
    story.set("work", "file", lines(&[(3, "mine")]));
    let squash = story.squash();
    let revert = story.revert(&squash);
    let again = story.revert(&revert);
    story.set("main", "file", lines(&[(3, "better")]));
    assert_eq!(story.verdict().await, Verdict::SquashPatch(again));
}

#[tokio::test]
async fn a_reverted_merge_commit_is_reverted_later() {
    let story = Story::new();
    story.set("work", "file", lines(&[(3, "mine")]));
    story.set("main", "dir/other", lines(&[(3, "theirs")]));
    story.on("work");
    story.git(["merge", "--quiet", "-m", "sync", "main"]);
    story.set("work", "file", lines(&[(3, "mine"), (15, "too")]));
    story.set("main", "dir/other", lines(&[(3, "theirs"), (9, "more")]));
    story.merge();
    story.says("ancestor").await;
    story.git(["revert", "--no-edit", "-m", "1", "HEAD"]);
    let revert = story.sha("main");
    story.set("main", "third", "later\n");
    assert_eq!(story.verdict().await, Verdict::RevertedLater(revert.clone()));
    story.revert(&revert);
    story.says("ancestor").await;
}

#[tokio::test]
async fn commits_of_a_merge_or_a_fast_forward_that_were_reverted_one_by_one_are_reverted_later() {
    for flag in ["--no-ff", "--ff-only"] {
        let story = Story::new();
        let one = story.set("work", "file", lines(&[(3, "mine")]));
        let two = story.set("work", "dir/other", lines(&[(15, "too")]));
        story.on("main");
        story.git(["merge", "--quiet", flag, "work"]);
        story.revert(&two);
        let last = story.revert(&one);
        assert_eq!(story.verdict().await, Verdict::RevertedLater(last), "{flag}");
    }
}

#[tokio::test]
async fn picked_commits_that_were_reverted_are_reverted_later() {
    let story = Story::new();
    let one = story.set("work", "file", lines(&[(3, "mine")]));
    let two = story.set("work", "dir/other", lines(&[(15, "too")]));
    story.set("main", "third", "theirs\n");
    story.pick(&[&one, &two]);
    let (first, second) = (story.sha("main~1"), story.sha("main"));
    story.revert(&second);
    let last = story.revert(&first);
    assert_eq!(story.verdict().await, Verdict::RevertedLater(last));
}

#[tokio::test]
async fn a_part_that_was_reverted_is_told_too() {
    let story = Story::new();
    let one = story.set("work", "file", lines(&[(3, "mine")]));
    story.set("work", "dir/other", lines(&[(15, "too")]));
    story.merge();
    let revert = story.revert(&one);
    assert_eq!(story.verdict().await, Verdict::RevertedLater(revert));
}

#[tokio::test]
async fn the_branchs_own_revert_inside_is_not_a_revert_of_the_base() {
    let story = Story::new();
    let one = story.set("work", "file", lines(&[(3, "wrong")]));
    story.git(["revert", "--no-edit", "HEAD"]);
    let two = story.sha("work");
    let three = story.set("work", "dir/other", lines(&[(3, "right")]));
    let four = story.set("work", "file", lines(&[(9, "right")]));
    story.set("main", "third", "theirs\n");
    story.pick(&[&one, &two, &three, &four]);
    story.set("main", "dir/other", lines(&[(3, "better")]));
    story.says("commitwise-patch").await;
}

#[tokio::test]
async fn a_base_that_had_the_work_before_and_takes_it_in_again_has_it() {
    let story = Story::new();
    let one = story.set("work", "file", lines(&[(3, "mine")]));
    story.pick(&[&one]);
    let picked = story.sha("main");
    story.revert(&picked);
    story.merge();
    story.set("main", "third", "later\n");
    story.says("ancestor").await;
}

#[tokio::test]
async fn a_message_that_says_revert_is_no_evidence() {
    let story = Story::new();
    story.set("work", "file", lines(&[(3, "mine")]));
    let squash = story.squash();
    story.set("main", "file", lines(&[(3, "better")]));
    story.on("main");
    story.git([
        "commit",
        "--quiet",
        "--allow-empty",
        "-m",
        &format!("Revert \"squash\"\n\nThis reverts commit {squash}."),
    ]);
    assert_eq!(story.verdict().await, Verdict::SquashPatch(squash));
}

#[tokio::test]
async fn a_revert_known_only_to_the_remote_counts() {
    let story = Story::new();
    story.set("work", "file", lines(&[(3, "mine")]));
    let squash = story.squash();
    let revert = story.revert(&squash);
    story.git(["update-ref", "refs/remotes/origin/main", "main"]);
    story.git(["reset", "--quiet", "--hard", squash.as_str()]);
    assert_eq!(story.against(&["main", "origin/main"], None).await, Verdict::RevertedLater(revert));
}

/// The first half came by a merge and was taken out; only the second half is in the base.
#[tokio::test]
async fn a_landed_half_that_was_reverted_is_told_although_the_rest_is_in() {
    let story = Story::new();
    story.set("work", "file", lines(&[(3, "mine")]));
    story.set("main", "third", "theirs\n");
    let merge = story.merge();
    story.git(["revert", "--no-edit", "-m", "1", merge.as_str()]);
    let revert = story.sha("main");
    let two = story.set("work", "dir/other", lines(&[(15, "too")]));
    story.pick(&[&two]);
    assert_eq!(story.verdict().await, Verdict::RevertedLater(revert));
}

/// A side line that merely took the base in must not look like a second coming of the work.
#[tokio::test]
async fn a_sync_of_another_branch_does_not_bring_reverted_work_back() {
    let story = Story::new();
    story.set("work", "file", lines(&[(3, "mine")]));
    story.git(["checkout", "--quiet", "-b", "side", "main"]);
    story.set("side", "third", "side\n");
    let squash = story.squash();
    story.on("side");
    story.git(["merge", "--quiet", "--no-ff", "-m", "sync", squash.as_str()]);
    let revert = story.revert(&squash);
    story.git(["merge", "--quiet", "--no-ff", "-m", "side", "side"]);
    assert_eq!(story.verdict().await, Verdict::RevertedLater(revert));
}

/// A rebased branch stands on commits of the base; a revert of one of those is none of its business.
#[tokio::test]
async fn a_revert_of_somebody_elses_commit_below_a_rebased_branch_does_not_count() {
    let story = Story::new();
    story.set("work", "file", lines(&[(3, "mine")]));
    let others = story.set("main", "dir/other", lines(&[(3, "theirs")]));
    story.on("work");
    story.git(["rebase", "--quiet", "main"]);
    story.squash();
    story.revert(&others);
    story.says("merge-adds-nothing").await;
}
