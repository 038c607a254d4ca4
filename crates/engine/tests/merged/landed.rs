//! Work that the base has.

use hedgerow_core::merged::Verdict;

use crate::story::{Story, lines};

#[tokio::test]
async fn a_merge_commit_makes_the_tip_an_ancestor() {
    let story = Story::new();
    story.set("work", "file", lines(&[(3, "mine")]));
    story.set("main", "dir/other", lines(&[(3, "theirs")]));
    story.merge();
    story.says("ancestor").await;
    story.set("main", "file", lines(&[(3, "mine"), (9, "later")]));
    story.says("ancestor").await;
}

#[tokio::test]
async fn a_fast_forward_is_the_same_commit_and_later_an_ancestor() {
    let story = Story::new();
    story.set("work", "file", lines(&[(3, "mine")]));
    story.on("main");
    story.git(["merge", "--quiet", "--ff-only", "work"]);
    story.says("same-commit").await;
    story.set("main", "dir/other", "theirs\n");
    story.says("ancestor").await;
}

#[tokio::test]
async fn a_squash_of_one_or_two_commits_is_an_equal_tree() {
    let story = Story::new();
    story.set("work", "file", lines(&[(3, "mine")]));
    story.squash();
    story.says("equal-tree").await;

    let story = Story::new();
    story.set("work", "file", lines(&[(3, "mine")]));
    story.set("work", "file", lines(&[(3, "mine"), (12, "too")]));
    story.squash();
    story.says("equal-tree").await;
}

#[tokio::test]
async fn a_squash_is_still_seen_when_main_moved_elsewhere() {
    let story = Story::new();
    story.set("work", "file", lines(&[(3, "mine")]));
    story.set("work", "file", lines(&[(3, "mine"), (12, "too")]));
    story.squash();
    story.set("main", "dir/other", lines(&[(1, "theirs")]));
    story.says("merge-adds-nothing").await;
}

#[tokio::test]
async fn a_squash_is_still_seen_when_its_lines_were_edited_later() {
    let story = Story::new();
    story.set("work", "file", lines(&[(3, "mine")]));
    story.set("work", "file", lines(&[(3, "mine"), (12, "too")]));
    let squash = story.squash();
    story.set("main", "file", lines(&[(3, "better"), (12, "too")]));
    assert_eq!(story.verdict().await, Verdict::SquashPatch(squash));
}

#[tokio::test]
async fn a_squash_is_still_seen_when_main_renamed_its_folder() {
    let story = Story::new();
    story.set("work", "dir/other", lines(&[(3, "mine")]));
    let squash = story.squash();
    story.git(["mv", "dir", "moved"]);
    story.commit("move");
    story.says("merge-adds-nothing").await;
    story.set("main", "moved/other", "nothing of it is left\n");
    assert_eq!(story.verdict().await, Verdict::SquashPatch(squash));
}

#[tokio::test]
async fn a_squash_after_the_branch_took_main_in_is_seen() {
    let story = Story::new();
    story.set("work", "file", lines(&[(3, "mine")]));
    story.set("main", "dir/other", lines(&[(1, "theirs")]));
    story.on("work");
    story.git(["merge", "--quiet", "-m", "sync", "main"]);
    let squash = story.squash();
    story.set("main", "file", lines(&[(3, "better")]));
    assert_eq!(story.verdict().await, Verdict::SquashPatch(squash));
}

#[tokio::test]
async fn a_rebase_merge_with_the_old_tip_kept_is_merged() {
    let story = Story::new();
    let one = story.set("work", "file", lines(&[(3, "mine")]));
    let two = story.set("work", "dir/other", lines(&[(9, "too")]));
    story.set("main", "third", "theirs\n");
    story.pick(&[&one, &two]);
    story.says("merge-adds-nothing").await;
    story.set("main", "file", lines(&[(3, "better")]));
    story.says("commitwise-patch").await;
}

#[tokio::test]
async fn a_rebase_merge_through_a_merge_commit_is_merged() {
    let story = Story::new();
    let one = story.set("work", "file", lines(&[(3, "mine")]));
    let two = story.set("work", "file", lines(&[(3, "mine"), (15, "too")]));
    story.set("main", "third", "theirs\n");
    story.git(["checkout", "--quiet", "-b", "rebased"]);
    story.git(["cherry-pick", one.as_str(), two.as_str()]);
    story.on("main");
    story.git(["merge", "--quiet", "--no-ff", "-m", "rebased", "rebased"]);
    let merge = story.sha("main");
    story.set("main", "file", lines(&[(3, "better"), (15, "too")]));
    assert_eq!(story.verdict().await, Verdict::SquashPatch(merge));
}

#[tokio::test]
async fn work_and_its_own_revert_are_no_net_change() {
    let story = Story::new();
    story.set("work", "file", lines(&[(3, "mine")]));
    story.git(["revert", "--no-edit", "HEAD"]);
    story.set("main", "file", lines(&[(3, "theirs")]));
    story.says("no-net-change").await;
}

#[tokio::test]
async fn an_empty_commit_is_no_net_change() {
    let story = Story::new();
    story.on("work");
    story.commit("nothing in it");
    story.set("main", "file", lines(&[(3, "theirs")]));
    story.on("main");
    story.commit("nothing here either");
    story.says("no-net-change").await;
}

#[tokio::test]
async fn a_squash_with_an_edit_counts_when_its_pull_request_was_merged_at_this_head() {
    let story = Story::new();
    story.set("work", "file", lines(&[(3, "mine")]));
    story.on("main");
    story.git(["merge", "--quiet", "--squash", "work"]);
    story.write("file", lines(&[(3, "mine, reviewed")]));
    story.commit("squash with an edit");
    story.says("unmerged").await;
    let head = story.sha("work");
    assert_eq!(story.against(&["main"], Some((99, head))).await, Verdict::PrMerged { number: 99 });
    let other = story.began.clone();
    assert_eq!(story.against(&["main"], Some((99, other))).await.word(), "unmerged");
}

#[tokio::test]
async fn merged_only_in_the_remote_base_counts() {
    let story = Story::new();
    story.set("work", "file", lines(&[(3, "mine")]));
    let squash = story.squash();
    story.set("main", "file", lines(&[(3, "better")]));
    story.git(["update-ref", "refs/remotes/origin/main", "main"]);
    story.git(["reset", "--quiet", "--hard", story.began.as_str()]);
    story.set("main", "local", "not pushed\n");
    assert_eq!(story.against(&["main"], None).await.word(), "unmerged");
    assert_eq!(story.against(&["main", "origin/main"], None).await, Verdict::SquashPatch(squash));
}

/// Each kind of change, squashed and then changed again so that only the patch can tell.
#[tokio::test]
async fn every_kind_of_change_is_found_again_by_its_patch() {
    type Make = fn(&Story);
    let kinds: [(&str, Make, Make); 8] = [
        ("mode", |s| chmod(s, "+x"), |s| chmod(s, "-x")),
        ("rename", |s| drop(s.git(["mv", "file", "renamed"])), |s| s.write("renamed", "y\n")),
        ("binary", |s| s.write("bin", b"\0\x01\x02"), |s| s.write("bin", b"\0\x01\x03")),
        ("deletion", |s| drop(s.git(["rm", "-q", "file"])), |s| s.write("file", "again\n")),
        ("empty file", |s| s.write("empty", ""), |s| s.write("empty", "filled\n")),
        ("crlf", |s| s.write("file", lines(&[]).replace('\n', "\r\n")), |s| s.write("file", lines(&[(9, "x")]))),
        ("no newline", |s| s.write("file", lines(&[]).trim_end()), |s| s.write("file", lines(&[(20, "x")]))),
        ("odd name", |s| s.write("#0\n\"é\t", "x\n"), |s| s.write("#0\n\"é\t", "y\n")),
    ];
    for (name, make, change) in kinds {
        let story = Story::new();
        story.on("work");
        make(&story);
        story.commit("the work");
        story.set("main", "unrelated", "first\n");
        let squash = story.squash();
        change(&story);
        story.commit("changed again");
        let verdict = story.verdict().await;
        // Taking a mode back is what a revert does.
        match name {
            "mode" => assert_eq!(verdict.word(), "reverted-later", "{name}"),
            "empty file" => assert_eq!(verdict.word(), "merge-adds-nothing", "{name}"),
            _ => assert_eq!(verdict, Verdict::SquashPatch(squash), "{name}"),
        }
    }
}

fn chmod(story: &Story, mode: &str) {
    story.git(["update-index", &format!("--chmod={mode}"), "file"]);
    story.git(["commit", "--quiet", "-m", "mode"]);
    story.git(["checkout", "--quiet", "--", "file"]);
}

#[tokio::test]
async fn a_moved_submodule_is_found_even_when_the_repository_hides_it() {
    let story = Story::new();
    let (one, two, three) = ("1".repeat(40), "2".repeat(40), "3".repeat(40));
    let point = |branch: &str, at: &str| {
        story.on(branch);
        story.git(["update-index", "--add", "--cacheinfo", &format!("160000,{at},sub")]);
        story.git(["commit", "--quiet", "-m", "point the submodule"]);
        story.sha("HEAD")
    };
    let settings = "[submodule \"sub\"]\n\tpath = sub\n\turl = ./sub\n\tignore = all\n";
    story.on("work");
    std::fs::write(story.path().join(".gitmodules"), settings).expect("writes");
    story.git(["add", ".gitmodules"]);
    point("work", &one);
    let squash = {
        story.on("main");
        story.git(["cherry-pick", "work"]);
        story.sha("main")
    };
    point("main", &two);
    assert_eq!(story.verdict().await, Verdict::SquashPatch(squash));
    point("work", &three);
    story.says("unmerged").await;
}

#[tokio::test]
async fn a_very_large_squash_is_found() {
    let story = Story::new();
    story.on("work");
    for nth in 0..1500 {
        story.write(format!("many/{nth}"), format!("{nth}\n").repeat(200));
    }
    story.commit("a lot");
    let squash = story.squash();
    story.set("main", "many/7", "changed\n");
    assert_eq!(story.verdict().await, Verdict::SquashPatch(squash));
}

#[tokio::test]
async fn after_criss_cross_merges_a_squash_is_found() {
    let story = Story::new();
    story.set("work", "file", lines(&[(3, "mine")]));
    story.set("main", "dir/other", lines(&[(3, "theirs")]));
    let (work, main) = (story.sha("work"), story.sha("main"));
    story.git(["merge", "--quiet", "-m", "one way", work.as_str()]);
    story.on("work");
    story.git(["merge", "--quiet", "-m", "the other", main.as_str()]);
    story.set("main", "third", "theirs\n");
    story.set("work", "file", lines(&[(3, "mine"), (15, "more")]));
    assert_eq!(story.git(["merge-base", "--all", "work", "main"]).lines().count(), 2);
    story.says("unmerged").await;
    story.squash();
    story.says("merge-adds-nothing").await;
}
