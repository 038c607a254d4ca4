//! What git cannot answer is unknown, never merged.

use hedgerow_core::CommitSha;
use hedgerow_core::merged::Verdict;
use hedgerow_engine::git::Git;
use hedgerow_engine::merged::{Question, facts, verdict};

use crate::story::{Story, lines};

fn why(verdict: Verdict) -> String {
    match verdict {
        Verdict::Unknown(why) => why,
        other => panic!("expected unknown, got {other:?}"),
    }
}

#[tokio::test]
async fn without_a_record_a_branch_without_own_commits_is_unknown() {
    let story = Story::new();
    story.set("main", "file", lines(&[(3, "theirs")]));
    let (tip, main) = (story.sha("work"), story.sha("main"));
    let question = Question { tip: &tip, targets: &[main], recorded_base: None, pr: None };
    why(verdict(&story.repo().await, &question).await);
}

#[tokio::test]
async fn an_orphan_is_unknown_even_with_the_same_files() {
    let story = Story::new();
    story.set("main", "file", lines(&[(3, "theirs")]));
    story.git(["checkout", "--quiet", "--orphan", "fresh"]);
    story.commit("no parent");
    story.git(["branch", "--force", "work", "fresh"]);
    assert_eq!(why(story.verdict().await), "it shares no commit with the base");
}

#[tokio::test]
async fn a_shallow_clone_without_the_fork_is_unknown() {
    let story = Story::new();
    story.set("work", "file", lines(&[(3, "mine")]));
    story.squash();
    story.set("main", "file", lines(&[(3, "better")]));
    let url = format!("file://{}", story.path().display());
    let clone = story.beside("clone");
    let target = clone.display().to_string();
    story.git(["clone", "--quiet", "--depth=1", "--no-single-branch", &url, &target]);
    let repo = Git::new("git", Vec::new()).open_untrusted(&clone).await.expect("opens");
    let (tip, main) = (story.sha("work"), story.sha("main"));
    let question = Question { tip: &tip, targets: &[main], recorded_base: Some(&story.began), pr: None };
    assert!(why(verdict(&repo, &question).await).contains("shallow"));
}

#[tokio::test]
async fn a_commit_that_is_not_there_is_unknown() {
    let story = Story::new();
    let missing = CommitSha::parse(&"f".repeat(40)).expect("a full name");
    let main = story.sha("main");
    let repo = story.repo().await;
    let question =
        Question { tip: &missing, targets: std::slice::from_ref(&main), recorded_base: Some(&main), pr: None };
    let told = why(verdict(&repo, &question).await);
    assert!(told.contains(missing.as_str()), "{told}");
    assert_eq!(facts(&repo, &question, &main).await.tip_is_ancestor_of_target, None);
    let nowhere = Question { targets: &[], ..question };
    assert_eq!(why(verdict(&repo, &nowhere).await), "there is no base to compare it with");
}

/// Each object of the repository is lost in turn: the verdict may be the true one or unknown, nothing else.
#[tokio::test]
async fn a_corrupt_repository_is_never_merged_by_mistake() {
    let story = Story::new();
    story.set("work", "file", lines(&[(3, "mine")]));
    story.set("work", "dir/other", lines(&[(9, "too")]));
    story.set("main", "file", lines(&[(3, "theirs")]));
    let repo = story.repo().await;
    let (tip, main) = (story.sha("work"), story.sha("main"));
    let question = Question { tip: &tip, targets: &[main], recorded_base: Some(&story.began), pr: None };
    let mut unknown = 0;
    for object in story.git(["rev-list", "--objects", "--all", "--no-object-names"]).lines() {
        let path = story.path().join(".git/objects").join(&object[..2]).join(&object[2..]);
        let content = std::fs::read(&path).expect("a loose object");
        std::fs::remove_file(&path).expect("removes");
        let verdict = verdict(&repo, &question).await;
        std::fs::write(&path, content).expect("puts it back");
        assert!(matches!(verdict, Verdict::Unknown(_) | Verdict::Unmerged { ahead: 2 }), "{object}: {verdict:?}");
        unknown += u32::from(matches!(verdict, Verdict::Unknown(_)));
    }
    assert!(unknown > 3, "losing objects shows");
    assert_eq!(verdict(&repo, &question).await, Verdict::Unmerged { ahead: 2 });
}

#[tokio::test]
async fn an_ancestor_whose_later_history_cannot_be_read_is_unknown() {
    let story = Story::new();
    story.set("work", "file", lines(&[(3, "mine")]));
    story.merge();
    let later = story.set("main", "third", "later\n");
    story.says("ancestor").await;
    let tree = story.git(["rev-parse", &format!("{later}^{{tree}}")]);
    std::fs::remove_file(story.path().join(".git/objects").join(&tree[..2]).join(&tree[2..])).expect("removes");
    assert!(why(story.verdict().await).contains("took it out again"));
}

#[tokio::test]
async fn asking_leaves_no_object_behind_and_works_through_alternates() {
    let story = Story::new();
    story.set("work", "file", lines(&[(3, "mine")]));
    story.set("main", "file", lines(&[(15, "theirs")]));
    let count = || story.git(["count-objects"]);
    let before = count();
    story.says("unmerged").await;
    assert_eq!(count(), before);

    let borrowing = story.beside("borrow: \"ing\\");
    let (source, target) = (story.path().display().to_string(), borrowing.display().to_string());
    story.git(["clone", "--quiet", "--shared", &source, &target]);
    let again = story.beside("again");
    story.git(["clone", "--quiet", "--shared", &target, &again.display().to_string()]);
    let repo = Git::new("git", Vec::new()).open_untrusted(&again).await.expect("opens");
    let (tip, main) = (story.sha("work"), story.sha("main"));
    let question = Question { tip: &tip, targets: &[main], recorded_base: Some(&story.began), pr: None };
    assert_eq!(verdict(&repo, &question).await, Verdict::Unmerged { ahead: 1 });
}

/// So much history is not read commit by commit, and what was not read is not guessed.
#[tokio::test]
async fn too_much_history_is_unknown() {
    let story = Story::new();
    story.set("work", "file", lines(&[(3, "mine")]));
    story.set("main", "file", lines(&[(3, "theirs")]));
    story.git(["branch", "merged"]);
    story.git(["checkout", "--quiet", "merged"]);
    story.git(["merge", "--quiet", "--strategy=ours", "-m", "merge", "work"]);
    for branch in ["main", "merged"] {
        let commit = |nth| {
            let from = if nth == 0 { format!("from {}\n", story.sha(branch)) } else { String::new() };
            format!("commit refs/heads/{branch}\ncommitter A <a@example.org> {nth} +0000\ndata 0\n{from}\n")
        };
        let stream: String = (0..10_000).map(commit).collect();
        story.import(&stream);
    }
    assert_eq!(why(story.verdict().await), "it and the base are more than 10000 commits apart");
    assert!(why(story.against(&["merged"], None).await).contains("took it out again"));
}
