//! The sentences, each once.

use std::path::PathBuf;

use hedgerow_core::environment::{Actor, NamedWork, Trash, TrashedBecause};
use hedgerow_core::{BranchName, CodebaseId, EnvironmentId};

use super::*;

/// 2026-05-03T10:00:00Z
const NOW: Timestamp = Timestamp::from_millis(1_777_802_400_000);
const SHA: &str = "0123456789abcdef0123456789abcdef01234567";

fn environment(works: &[Work], branch: &str) -> Environment {
    let branch = BranchName::parse(branch).expect("a branch");
    let path = PathBuf::from("/trees/x");
    Environment {
        works: works.iter().map(|work| NamedWork { work: work.clone(), name: work.to_string() }).collect(),
        ..Environment::new(EnvironmentId::new(), CodebaseId::new(), branch, path, Actor::automation(), NOW)
    }
}

fn sentence(environment: &Environment, resolution: Resolution, hints: &Hints) -> String {
    let head = CommitSha::parse(SHA).expect("a sha");
    let as_of = environment.trash.as_ref().map(|trash| trash.at);
    let answer = Resolved { environment: environment.clone(), resolution, as_of, notes: Vec::new() };
    resolved(&answer, hints, Some(&head), NOW)
}

#[test]
fn each_way_to_an_environment_has_its_sentence() {
    let issue = environment(&[Work::Issue(42)], "issue-42");
    let none = Hints::default();
    assert_eq!(sentence(&issue, Resolution::Created, &none), "Working in isolated branch `issue-42`");
    assert_eq!(sentence(&issue, Resolution::Reused, &none), "Reusing worktree `issue-42`");
    assert_eq!(sentence(&issue, Resolution::Adopted, &none), "Adopted the existing worktree on `issue-42`");

    let both = environment(&[Work::Issue(42), Work::PullRequest(99)], "issue-42");
    let pr = Hints { work: Some(Work::PullRequest(99)), ..Hints::default() };
    assert_eq!(sentence(&both, Resolution::Shared, &pr), "Reusing worktree from issue #42");
    let by_issue = Hints { work: Some(Work::Issue(42)), ..Hints::default() };
    assert_eq!(sentence(&both, Resolution::Shared, &by_issue), "Reusing worktree from PR #99");

    let mut back = issue;
    assert_eq!(sentence(&back, Resolution::Restored, &none), "Restored `issue-42` as it was");
    back.trash = Some(Trash {
        path: PathBuf::from("/trees/.trash/x"),
        at: NOW,
        because: TrashedBecause::Stale,
        head: None,
        was_detached: false,
        branch_deleted: false,
    });
    assert_eq!(sentence(&back, Resolution::Restored, &none), "Restored `issue-42` as it was on 3 May");
}

#[test]
fn a_review_names_the_commit_only_when_it_is_checked_out() {
    let review = environment(&[Work::Review(99)], "pr-99-review");
    let hints = |sha: &str| Hints {
        work: Some(Work::Review(99)),
        pr_branch: BranchName::parse("feature/auth").ok(),
        pr_head: CommitSha::parse(sha).ok(),
        ..Hints::default()
    };
    let same = sentence(&review, Resolution::Created, &hints(SHA));
    assert_eq!(same, "Reviewing PR at commit `0123456` (branch: `feature/auth`)");
    let other = sentence(&review, Resolution::Created, &hints(&SHA.replace('0', "f")));
    assert_eq!(other, "Working in isolated branch `pr-99-review`");
}

#[test]
fn a_removal_says_how_to_undo_it() {
    let odd = environment(&[Work::Task("x$(id)".to_owned())], "x$(id)");
    let trashed = Removed::Trashed { environment: odd.clone(), branch_deleted: false };
    assert_eq!(undo(&trashed, None).as_deref(), Some("hedgerow env restore 'task-x$(id)'"));
    assert_eq!(undo(&trashed, Some("shop")).as_deref(), Some("hedgerow env restore 'task-x$(id)' --codebase shop"));
    let let_go = Removed::LetGo { environment: odd.clone() };
    assert_eq!(undo(&let_go, None).as_deref(), Some("hedgerow env adopt /trees/x"));
    assert_eq!(undo(&Removed::WasGone { environment: odd }, None), None);
}

#[test]
fn changes_are_counted_by_kind() {
    let facts = Facts { staged: 1, untracked: 3, ..Facts::default() };
    assert_eq!(changes(&Condition::Present(Box::new(facts))), "1 staged, 3 untracked");
    assert_eq!(changes(&Condition::Present(Box::default())), "clean");
    assert_eq!(distance(Some(2), Some(1)), "↑2 ↓1");
    assert_eq!(distance(Some(0), None), "");
    assert_eq!(distance_in_words(Some(2), Some(1)), "2 ahead, 1 behind");
    assert_eq!(distance_in_words(Some(0), None), "");
}
