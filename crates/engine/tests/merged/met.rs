//! What people do to branches, and what is to be said about it then.

use hedgerow_core::merged::Verdict;

use crate::story::{Story, lines};

/// Strategy `ours` takes the commits and none of what they did. They are in the base's history, for good or ill.
#[tokio::test]
async fn a_merge_that_takes_only_the_history_is_still_a_merge() {
    let story = Story::new();
    story.set("work", "file", lines(&[(3, "mine")]));
    story.on("main");
    story.git(["merge", "--quiet", "--strategy=ours", "-m", "superseded", "work"]);
    story.says("ancestor").await;
}

#[tokio::test]
async fn an_octopus_is_a_merge_and_its_revert_takes_everything_out() {
    let story = Story::new();
    story.set("work", "file", lines(&[(3, "mine")]));
    story.git(["branch", "another", "main"]);
    let theirs = story.set("another", "dir/other", lines(&[(3, "theirs")]));
    story.set("main", "third", "moved on\n");
    story.git(["merge", "--quiet", "--no-ff", "-m", "both", "work", "another"]);
    let octopus = story.sha("main");
    story.says("ancestor").await;
    story.revert(&theirs);
    story.says("ancestor").await;
    story.git(["reset", "--quiet", "--hard", octopus.as_str()]);
    story.git(["revert", "--no-edit", "-m", "1", octopus.as_str()]);
    let revert = story.sha("main");
    assert_eq!(story.verdict().await, Verdict::RevertedLater(revert));
}

/// Taken in, taken out, and taken in again commit by commit.
#[tokio::test]
async fn a_merge_that_was_reverted_and_applied_again_has_the_work() {
    let story = Story::new();
    let one = story.set("work", "file", lines(&[(3, "mine")]));
    let two = story.set("work", "dir/other", lines(&[(9, "too")]));
    story.set("main", "third", "theirs\n");
    let merge = story.merge();
    story.git(["revert", "--no-edit", "-m", "1", merge.as_str()]);
    story.says("reverted-later").await;
    story.pick(&[&one, &two]);
    story.says("ancestor").await;
}

/// A squash is taken out, the branch repairs it, and all of it is squashed once more.
#[tokio::test]
async fn a_squash_that_was_reverted_and_landed_again_with_a_repair_is_merged() {
    let story = Story::new();
    story.set("work", "file", lines(&[(3, "mine")]));
    let first = story.squash();
    story.revert(&first);
    story.set("work", "dir/other", lines(&[(9, "the repair")]));
    let second = story.squash();
    story.says("equal-tree").await;
    story.set("main", "file", lines(&[(3, "better")]));
    assert_eq!(story.verdict().await, Verdict::SquashPatch(second));
}

/// The base was written anew, commit by commit, and its old commits are nowhere.
#[tokio::test]
async fn after_a_force_push_the_work_is_found_in_the_new_history() {
    let story = Story::new();
    let old = story.set("main", "dir/other", lines(&[(1, "before")]));
    story.git(["branch", "--force", "work", old.as_str()]);
    story.set("work", "file", lines(&[(3, "mine")]));
    story.on("main");
    story.git(["commit", "--quiet", "--amend", "-m", "the same under another name"]);
    story.says("unmerged").await;
    story.squash();
    story.says("equal-tree").await;
    story.set("main", "file", lines(&[(3, "better")]));
    story.says("commitwise-patch").await;
}

/// What the base had is gone from it, and so is every trace.
#[tokio::test]
async fn a_force_push_that_drops_the_work_makes_it_unmerged() {
    let story = Story::new();
    story.set("work", "file", lines(&[(3, "mine")]));
    for take in ["merge", "squash"] {
        if take == "merge" {
            story.merge()
        } else {
            story.squash()
        };
        assert!(story.verdict().await.is_merged(), "{take}");
        story.git(["reset", "--quiet", "--hard", story.began.as_str()]);
        story.set("main", "third", format!("instead of the {take}\n"));
        story.says("unmerged").await;
        story.git(["reset", "--quiet", "--hard", story.began.as_str()]);
    }
}

#[tokio::test]
async fn half_of_a_commit_is_not_all_of_it() {
    let story = Story::new();
    story.on("work");
    story.write("file", lines(&[(3, "mine")]));
    story.write("dir/other", lines(&[(9, "mine")]));
    story.commit("both files");
    story.on("main");
    story.git(["checkout", "--quiet", "work", "--", "file"]);
    story.commit("one of them");
    story.says("unmerged").await;
    story.set("main", "file", lines(&[(3, "better")]));
    story.says("unmerged").await;
}

/// Reviewers rewrite messages and authors; only the patch counts.
#[tokio::test]
async fn a_squash_under_another_name_and_message_is_found_after_its_blocks_were_moved() {
    let story = Story::new();
    story.set("work", "file", lines(&[(3, "mine"), (15, "too")]));
    story.on("main");
    story.git(["merge", "--quiet", "--squash", "work"]);
    story.git(["commit", "--quiet", "--author=B <b@example.org>", "-m", "Nothing like the original\n\nAt all."]);
    let squash = story.sha("main");
    let text = lines(&[(3, "mine"), (15, "too")]);
    let (top, bottom) = text.split_at(text.find("line 10\n").expect("a line"));
    story.set("main", "file", format!("{bottom}{top}"));
    assert_eq!(story.verdict().await, Verdict::SquashPatch(squash));
}

/// The base moved the file first; the squash changed it where it is now.
#[tokio::test]
async fn a_squash_onto_a_file_that_the_base_had_renamed_is_seen() {
    let story = Story::new();
    story.set("work", "file", lines(&[(3, "mine")]));
    story.on("main");
    story.git(["mv", "file", "renamed"]);
    story.commit("rename");
    story.squash();
    assert_eq!(story.git(["ls-tree", "--name-only", "main", "file"]), "", "it landed under the new name");
    story.says("merge-adds-nothing").await;
    story.set("main", "dir/other", lines(&[(1, "moved on")]));
    story.says("merge-adds-nothing").await;
}

#[tokio::test]
async fn empty_commits_between_picked_ones_do_not_count() {
    let story = Story::new();
    let one = story.set("work", "file", lines(&[(3, "mine")]));
    story.commit("try the pipeline again");
    let two = story.set("work", "dir/other", lines(&[(9, "too")]));
    story.commit("and again");
    story.set("main", "third", "theirs\n");
    story.pick(&[&one, &two]);
    story.set("main", "file", lines(&[(3, "better")]));
    story.says("commitwise-patch").await;
}

/// A branch on top of another, both squashed one after the other.
#[tokio::test]
async fn a_stacked_branch_is_merged_when_both_of_the_stack_are() {
    let story = Story::new();
    story.set("work", "file", lines(&[(3, "below")]));
    let below = story.set("work", "file", lines(&[(3, "below"), (5, "too")]));
    story.set("work", "dir/other", lines(&[(9, "above")]));
    story.set("work", "dir/other", lines(&[(9, "above"), (11, "too")]));
    story.on("main");
    story.git(["merge", "--quiet", "--squash", below.as_str()]);
    story.commit("the lower one");
    story.says("unmerged").await;
    story.squash();
    story.set("main", "third", "moved on\n");
    story.says("merge-adds-nothing").await;
}

#[tokio::test]
async fn work_that_is_only_in_a_release_branch_is_not_in_the_base() {
    let story = Story::new();
    let one = story.set("work", "file", lines(&[(3, "mine")]));
    story.git(["checkout", "--quiet", "-b", "release", "main"]);
    story.git(["cherry-pick", one.as_str()]);
    story.set("main", "third", "theirs\n");
    story.says("unmerged").await;
    assert!(story.against(&["release"], None).await.is_merged());
}

/// Where a file repeats itself, the same lines with the same lines around them can be two different changes.
#[tokio::test]
async fn the_same_lines_at_another_place_of_a_file_are_unmerged() {
    let block = "item:\n  a: 1\n  b: 2\n  c: 3\n";
    let twice = |first: &str, second: &str| format!("{block}{first}{block}{second}{block}");
    for commits in 1..=2 {
        let mut story = Story::new();
        story.began = story.set("main", "list", twice("", ""));
        story.git(["branch", "--force", "work", story.began.as_str()]);
        story.set("work", "list", twice("  new: 4\n", ""));
        if commits == 2 {
            story.set("work", "third", "too\n");
        }
        story.set("main", "list", twice("", "  new: 4\n"));
        if commits == 2 {
            story.set("main", "third", "too\n");
        }
        assert_eq!(story.verdict().await, Verdict::Unmerged { ahead: commits }, "{commits}");
    }
}
