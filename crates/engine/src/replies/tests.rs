//! The sentences, each once.

use std::path::PathBuf;

use hedgerow_core::environment::{Actor, NamedWork, Trash, TrashedBecause};
use hedgerow_core::{BranchName, CodebaseId, EnvironmentId};

use hedgerow_core::command::{Command, parse};
use hedgerow_core::environment::Resolution;
use hedgerow_core::provider::{Condition, Facts, Note};
use hedgerow_core::{CommitSha, Environment, Hints, Kind, RunId, Timestamp, UserError, Work};

use super::*;
use crate::engine::{Removed, Resolved};
use crate::failure::Failure;

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
fn changes_are_counted_by_kind() {
    let facts = Facts { staged: 1, untracked: 3, ..Facts::default() };
    assert_eq!(changes(&Condition::Present(Box::new(facts))), "1 staged, 3 untracked");
    assert_eq!(changes(&Condition::Present(Box::default())), "clean");
    assert_eq!(distance(Some(2), Some(1)), "↑2 ↓1");
    assert_eq!(distance(Some(0), None), "");
    assert_eq!(distance_in_words(Some(2), Some(1)), "2 ahead, 1 behind");
    assert_eq!(distance_in_words(Some(0), None), "");
}

fn in_chat(message: &str, hints: &[&str]) -> String {
    let error = hints.iter().fold(UserError::new(Kind::Failed, message), |error, hint| error.hint(*hint));
    failure(&error.into(), None)
}

#[test]
fn a_chat_hears_of_no_path_and_of_its_own_commands() {
    let told = in_chat(
        "`shop` has no environment `x`",
        &["it is in the trash: `hedgerow env restore x`", "there are: issue-1", IN_A_TERMINAL],
    );
    assert_eq!(
        told,
        "`shop` has no environment `x`\n• it is in the trash: `/worktree restore x`\n• there are: issue-1"
    );
    assert_eq!(in_chat("cannot use /home/a/x: full", &[]), "Cannot use …: full");
}

#[test]
fn commands_of_the_terminal_become_those_of_a_chat_where_there_are_any() {
    let table = [
        ("`hedgerow env list` shows", "`/worktree list` shows"),
        ("`hedgerow env remove issue-42` says", "`/worktree remove issue-42` says"),
        ("`hedgerow env create` makes one", "`/worktree create <branch>` makes one"),
        ("`hedgerow env create branch <name>`", "`/worktree create <name>`"),
        ("`hedgerow codebase add <path or url>`", "`/clone <url>`"),
        ("`hedgerow codebase remove shop`", "`/repo-remove shop`"),
        ("`hedgerow env list --json` shows ids", "`hedgerow env list --json` shows ids"),
        ("`hedgerow env undo --to 3` takes back", "`hedgerow env undo --to 3` takes back"),
        ("`hedgerow doctor` says more", "`hedgerow doctor` says more"),
        ("say hedgerow env list", "say hedgerow env list"),
    ];
    for (terminal, chat) in table {
        assert_eq!(in_chat("x", &[terminal]), format!("X\n• {chat}"));
    }
}

#[test]
fn what_broke_inside_stays_inside() {
    let run = RunId::new();
    let inside = Failure::Internal(anyhow::anyhow!("no such table: secrets at /home/a/b"));
    let told = failure(&inside, Some(run));
    assert!(told.starts_with(&format!("Something broke on my side (run {}).", run.short())), "{told}");
    assert!(!told.contains("secrets") && !told.contains("/home"), "{told}");
    assert!(failure(&inside, None).starts_with("Something broke on my side. "));
}

#[test]
fn an_introduction_ends_with_what_else_is_to_know() {
    let answer = Resolved {
        environment: environment(&[Work::Issue(42)], "issue-42"),
        resolution: Resolution::Created,
        as_of: None,
        notes: vec![
            Note::InTrash { name: "issue-42".to_owned() },
            Note::Offline { remote: "origin".to_owned(), why: "cannot access 'https://h/a'".to_owned() },
            Note::RestoredElsewhere { path: PathBuf::from("/trees/y") },
        ],
    };
    assert_eq!(
        introduction(&answer, &Hints::default(), None, NOW),
        "Working in isolated branch `issue-42`\n\
         • an earlier one is in the trash; `/worktree restore issue-42` brings it back\n\
         • `origin` could not be reached, so its last known state was used (cannot access '…')\n\
         • its old place is taken, so it was restored in another folder"
    );
}

#[test]
fn a_removal_can_be_undone_from_the_chat() {
    let odd = environment(&[Work::Task("my task".to_owned())], "my-task");
    let trashed = Removed::Trashed { environment: odd.clone(), branch_deleted: false };
    assert_eq!(undo_removal(&trashed).as_deref(), Some("/worktree restore \"task-my task\""));
    let let_go = Removed::LetGo { environment: odd.clone() };
    assert_eq!(removed(&let_go, Voice::Chat), "Let go of `task-my task`; its folder stays where it is");
    assert_eq!(undo_removal(&let_go).as_deref(), Some("/worktree create my-task"));
    for undo in [undo_removal(&trashed), undo_removal(&let_go)].into_iter().flatten() {
        assert!(matches!(parse(&undo), hedgerow_core::command::Parsed::Command(Command::Worktree(_))), "{undo}");
    }
    assert_eq!(undo_removal(&Removed::WasGone { environment: odd }), None);
}

#[test]
fn who_asks_wrongly_is_told_what_is_right() {
    assert_eq!(
        unknown("stauts", Some("status")),
        "There is no `/stauts`. Did you mean `/status`? `/help` lists all commands."
    );
    assert_eq!(unknown("a`b\nc", None), "There is no `/a'b c`. `/help` lists all commands, `/commands` the templates.");
    assert_eq!(
        wrong("/repo <name>", "it needs the name of a codebase"),
        "That does not work: it needs the name of a codebase.\nIt is used like this: `/repo <name>`"
    );
    assert_eq!(which_codebase(&[]), "I have no codebase yet. Add one: `/clone <url>`");
    assert_eq!(
        which_codebase(&["shop".to_owned(), "web".to_owned()]),
        "Which codebase is this about? Choose one:\n• `/repo shop`\n• `/repo web`\nor add another: `/clone <url>`"
    );
}

#[test]
fn a_list_that_is_too_long_is_counted() {
    let lines: Vec<String> = (0..1000).map(|n| format!("• line {n}")).collect();
    let text = list("Head", &lines, "Foot");
    assert!(text.chars().count() <= LONGEST && text.starts_with("Head\n• line 0\n") && text.ends_with(" more\nFoot"));
    assert_eq!(list("Head", &[], ""), "Head");
    assert_eq!(list(&"x".repeat(LONGEST + 1), &[], "").chars().count(), LONGEST);
}
