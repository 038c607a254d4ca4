//! Work that the base lacks, however much it looks as if it had it.

use hedgerow_core::merged::Verdict;

use crate::story::{Story, lines};

#[tokio::test]
async fn a_fresh_branch_is_new_wherever_main_is() {
    let story = Story::new();
    story.says("new").await;
    story.set("main", "file", lines(&[(3, "theirs")]));
    story.says("new").await;
}

#[tokio::test]
async fn plain_work_is_unmerged_with_its_count() {
    let story = Story::new();
    story.set("work", "file", lines(&[(3, "mine")]));
    story.set("work", "file", lines(&[(3, "mine"), (9, "too")]));
    assert_eq!(story.verdict().await, Verdict::Unmerged { ahead: 2 });
    story.set("main", "file", lines(&[(3, "theirs")]));
    assert_eq!(story.verdict().await, Verdict::Unmerged { ahead: 2 });
}

#[tokio::test]
async fn a_new_commit_after_the_squash_is_unmerged() {
    let story = Story::new();
    story.set("work", "file", lines(&[(3, "mine")]));
    story.squash();
    story.set("work", "file", lines(&[(3, "mine"), (9, "new")]));
    story.says("unmerged").await;
}

#[tokio::test]
async fn one_of_two_commits_picked_is_unmerged() {
    let story = Story::new();
    let one = story.set("work", "file", lines(&[(3, "mine")]));
    story.set("work", "dir/other", lines(&[(9, "too")]));
    story.pick(&[&one]);
    story.says("unmerged").await;
}

#[tokio::test]
async fn a_squash_that_a_bot_indented_again_is_unmerged() {
    let story = Story::new();
    story.set("work", "file", lines(&[(3, "if x { mine }")]));
    story.set("main", "file", lines(&[(3, "if x {  mine  }")]));
    story.says("unmerged").await;
}

#[tokio::test]
async fn a_squash_with_a_reviewers_edit_is_unmerged() {
    let story = Story::new();
    story.set("work", "file", lines(&[(3, "mine"), (9, "too")]));
    story.set("main", "file", lines(&[(3, "mine"), (9, "reviewed")]));
    story.says("unmerged").await;
}

#[tokio::test]
async fn another_binary_of_the_same_name_is_unmerged() {
    let story = Story::new();
    story.set("work", "bin", b"\0mine");
    story.set("main", "bin", b"\0theirs");
    story.says("unmerged").await;
}

#[tokio::test]
async fn the_same_lines_in_another_file_or_mode_are_unmerged() {
    let story = Story::new();
    story.set("work", "new", "same\n");
    story.set("main", "newer", "same\n");
    story.says("unmerged").await;

    let story = Story::new();
    story.set("work", "script", "same\n");
    story.git(["update-index", "--chmod=+x", "script"]);
    story.git(["commit", "--quiet", "--amend", "--no-edit"]);
    story.git(["checkout", "--quiet", "--", "script"]);
    story.set("main", "script", "same\n");
    story.says("unmerged").await;
}

#[tokio::test]
async fn a_mode_change_alone_is_work() {
    let story = Story::new();
    story.on("work");
    story.git(["update-index", "--chmod=+x", "file"]);
    story.git(["commit", "--quiet", "-m", "executable"]);
    story.git(["checkout", "--quiet", "--", "file"]);
    story.set("main", "file", lines(&[(3, "theirs")]));
    story.says("unmerged").await;
}

#[tokio::test]
async fn an_edit_hidden_in_a_merge_is_not_covered_by_the_single_commits() {
    let story = Story::new();
    let one = story.set("work", "file", lines(&[(3, "mine")]));
    story.set("main", "dir/other", lines(&[(3, "theirs")]));
    story.on("work");
    story.git(["merge", "--quiet", "--no-commit", "--no-ff", "main"]);
    story.write("hidden", "only in the merge\n");
    story.commit("sync, and more");
    story.pick(&[&one]);
    story.set("main", "file", lines(&[(3, "better")]));
    story.says("unmerged").await;
}

/// A driver that keeps our side makes a merge that adds nothing, whatever the branch did.
#[tokio::test]
async fn a_file_that_merges_by_keeping_one_side_is_not_taken_for_merged() {
    for attribute in ["ours", "union", "a=b"] {
        let story = Story::new();
        story.on("main");
        story.write(".gitattributes", format!("file merge={attribute}\n"));
        story.commit("attributes");
        story.git(["branch", "--force", "work", "main"]);
        story.on("work");
        story.write("file", lines(&[]).replace("line 3\n", ""));
        story.commit("take a line away");
        story.set("main", "file", lines(&[(3, "theirs")]));
        story.git(["config", "merge.ours.driver", "true"]);
        story.git(["config", "merge.a=b.driver", "true"]);
        assert_eq!(story.git(["merge-tree", "--write-tree", "main", "work"]), story.git(["rev-parse", "main^{tree}"]));
        story.says("unmerged").await;
    }
}

#[tokio::test]
async fn the_least_ahead_of_two_bases_is_told() {
    let story = Story::new();
    story.set("work", "file", lines(&[(3, "mine")]));
    story.git(["update-ref", "refs/remotes/origin/main", "work"]);
    story.set("work", "file", lines(&[(3, "mine"), (9, "too")]));
    assert_eq!(story.against(&["main", "origin/main"], None).await, Verdict::Unmerged { ahead: 1 });
}

#[tokio::test]
async fn a_merge_that_stops_is_foreseen() {
    let story = Story::new();
    story.set("work", "dir/other", lines(&[(3, "mine")]));
    story.on("main");
    story.git(["mv", "dir", "moved"]);
    story.commit("move");
    let repo = story.repo().await;
    let asked = |tip, base| hedgerow_engine::merged::would_conflict(&repo, tip, base);
    let (work, main) = (story.sha("work"), story.sha("main"));
    assert!(!asked(&work, &main).await.expect("answers"), "renames are followed");
    let other = story.set("main", "moved/other", lines(&[(3, "theirs")]));
    assert!(asked(&work, &other).await.expect("answers"));
    assert!(asked(&"f".repeat(40).parse_sha(), &other).await.is_err());
}

trait ParseSha {
    fn parse_sha(&self) -> hedgerow_core::CommitSha;
}

impl ParseSha for String {
    fn parse_sha(&self) -> hedgerow_core::CommitSha {
        hedgerow_core::CommitSha::parse(self).expect("a full name")
    }
}
