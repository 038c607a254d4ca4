//! What happens to an environment in every condition: for automation, for a person who asks, and at the limit.

use hedgerow_core::cleanup::{
    Because, Breakdown, Changes, Item, Policy, Reason, Refusal, Removal, Usage, Verdict, Want, breakdown, judge,
    limit_message, may_remove,
};
use hedgerow_core::error::Kind;
use hedgerow_core::merged;
use hedgerow_core::provider::{Condition, Facts, Operation};
use hedgerow_core::{CommitSha, Timestamp};

const NOW: Timestamp = Timestamp::from_millis(1_777_802_400_000);
const WANTS: [Want; 4] = [Want::Merged, Want::Stale, Want::Scheduled, Want::Closed];

fn days_ago(days: i64) -> Timestamp {
    NOW.plus_seconds(-days * 86_400)
}

/// Merged, stale and used by nobody: every round of cleanup wants it and nothing protects it.
fn idle() -> Usage {
    Usage {
        conversations: Vec::new(),
        telegram: false,
        running: false,
        pinned: false,
        adopted: false,
        last_activity: days_ago(30),
        verdict: Some(merged::Verdict::Ancestor),
    }
}

/// In use until two days ago, with work that is not in the base.
fn busy() -> Usage {
    Usage { last_activity: days_ago(2), verdict: Some(merged::Verdict::Unmerged { ahead: 2 }), ..idle() }
}

fn present(facts: Facts) -> Condition {
    Condition::Present(Box::new(facts))
}

fn clean() -> Condition {
    present(Facts::default())
}

fn judged(condition: &Condition, usage: &Usage, want: Want) -> Verdict {
    judge(condition, usage, &Policy::default(), want, NOW)
}

/// Facts that put work at risk, with the refusal and its phrase.
fn risks() -> Vec<(Facts, Refusal, &'static str)> {
    let changes = Changes { staged: 0, unstaged: 0, untracked: 0, conflicted: 0 };
    let mut rows = vec![
        (
            Facts { staged: 1, ..Facts::default() },
            Refusal::Dirty(Changes { staged: 1, ..changes }),
            "uncommitted changes",
        ),
        (
            Facts { unstaged: 2, ..Facts::default() },
            Refusal::Dirty(Changes { unstaged: 2, ..changes }),
            "uncommitted changes",
        ),
        (
            Facts { untracked: 3, ..Facts::default() },
            Refusal::Dirty(Changes { untracked: 3, ..changes }),
            "uncommitted changes",
        ),
        (
            Facts { conflicted: 1, ..Facts::default() },
            Refusal::Dirty(Changes { conflicted: 1, ..changes }),
            "unresolved conflicts",
        ),
        (Facts { stranded_commits: 1, ..Facts::default() }, Refusal::Stranded(1), "1 commit on no branch"),
        (Facts { stranded_commits: 2, ..Facts::default() }, Refusal::Stranded(2), "2 commits on no branch"),
    ];
    let operations = [
        (Operation::Rebase, "rebase in progress"),
        (Operation::Merge, "merge in progress"),
        (Operation::CherryPick, "cherry-pick in progress"),
        (Operation::Revert, "revert in progress"),
        (Operation::Bisect, "bisect in progress"),
        (Operation::Am, "am in progress"),
    ];
    for (operation, phrase) in operations {
        // The operation explains the conflicts that come with it.
        let facts = Facts { operation: Some(operation), conflicted: 1, ..Facts::default() };
        rows.push((facts, Refusal::Operation(operation), phrase));
    }
    rows
}

#[test]
fn each_round_removes_what_it_looks_for() {
    let merged = || Verdict::Remove(Because::Merged(merged::Verdict::Ancestor));
    let stale = || Verdict::Remove(Because::Stale { days: 30 });
    let active = || Verdict::Keep(Reason::Active { days: 2 });
    let unmerged = || Verdict::Keep(Reason::NotMerged(merged::Verdict::Unmerged { ahead: 2 }));
    let closed = || Verdict::Remove(Because::Closed);

    let only_merged = Usage { verdict: idle().verdict, ..busy() };
    let only_stale = Usage { last_activity: days_ago(30), ..busy() };
    let table = [
        ("merged and stale", idle(), [merged(), stale(), merged(), closed()]),
        ("merged", only_merged, [merged(), active(), merged(), closed()]),
        ("stale", only_stale, [unmerged(), stale(), stale(), closed()]),
        ("neither", busy(), [unmerged(), active(), active(), closed()]),
    ];
    for (what, usage, expected) in table {
        for (want, expected) in WANTS.into_iter().zip(expected) {
            assert_eq!(judged(&clean(), &usage, want), expected, "{what}, {want:?}");
        }
    }
}

#[test]
fn only_merged_verdicts_are_merged() {
    let sha = CommitSha::parse(&"a".repeat(40)).expect("a sha");
    let not = [
        merged::Verdict::New,
        merged::Verdict::RevertedLater(sha),
        merged::Verdict::Unmerged { ahead: 1 },
        merged::Verdict::Unknown("git did not answer".into()),
    ];
    for verdict in not {
        let usage = Usage { verdict: Some(verdict.clone()), ..busy() };
        assert_eq!(judged(&clean(), &usage, Want::Merged), Verdict::Keep(Reason::NotMerged(verdict)));
        assert_eq!(judged(&clean(), &usage, Want::Scheduled), Verdict::Keep(Reason::Active { days: 2 }));
    }
    let unasked = Usage { verdict: None, ..idle() };
    assert!(matches!(judged(&clean(), &unasked, Want::Merged), Verdict::Keep(Reason::NotMerged(_))));
}

#[test]
fn an_unclear_condition_is_never_a_reason_to_remove() {
    let why = || "disk".to_owned();
    for want in WANTS {
        for usage in [idle(), Usage { adopted: true, pinned: true, telegram: true, ..idle() }] {
            assert_eq!(judged(&Condition::Missing, &usage, want), Verdict::Forget);
            assert_eq!(judged(&Condition::Unreachable(why()), &usage, want), Verdict::Unreachable(why()));
            assert_eq!(judged(&Condition::Foreign(why()), &usage, want), Verdict::Broken(why()));
            let unknown = Verdict::Keep(Reason::Refused(Refusal::Unknown(why())));
            assert_eq!(judged(&Condition::Unknown(why()), &usage, want), unknown);
        }
    }
}

#[test]
fn what_protects_an_environment_keeps_it_in_every_round() {
    let people = [
        (Usage { adopted: true, ..idle() }, Reason::Adopted, "adopted"),
        (Usage { pinned: true, ..idle() }, Reason::Pinned, "pinned"),
        (Usage { telegram: true, ..idle() }, Reason::Telegram, "used by a Telegram conversation"),
        (Usage { running: true, ..idle() }, Reason::Refused(Refusal::Running), "a run is active"),
    ];
    let locked = Facts { foreign_lock: Some("on a stick".into()), ..Facts::default() };
    let lock = (locked, Refusal::ForeignLock("on a stick".into()), "locked by someone else: on a stick");
    for want in WANTS {
        for (usage, reason, phrase) in &people {
            assert_eq!(judged(&clean(), usage, want), Verdict::Keep(reason.clone()));
            assert_eq!(reason.phrase(), *phrase);
        }
        for (facts, refusal, phrase) in risks().into_iter().chain([lock.clone()]) {
            let reason = Reason::Refused(refusal);
            assert_eq!(judged(&present(facts), &idle(), want), Verdict::Keep(reason.clone()));
            assert_eq!(reason.phrase(), phrase);
        }
    }
    let running = Usage { running: true, ..idle() };
    let gone = judged(&Condition::Missing, &running, Want::Scheduled);
    assert_eq!(gone, Verdict::Keep(Reason::Refused(Refusal::Running)), "a run may be making it this moment");
}

#[test]
fn other_conversations_keep_a_closed_environment_and_no_other() {
    let shared = Usage { conversations: vec!["github:acme/shop#42".into(), "slack:C1:17.2".into()], ..idle() };
    let kept = judged(&clean(), &shared, Want::Closed);
    assert_eq!(kept, Verdict::Keep(Reason::Refused(Refusal::UsedBy(shared.conversations.clone()))));
    let Verdict::Keep(reason) = kept else { unreachable!() };
    assert_eq!(reason.phrase(), "still used by github:acme/shop#42, slack:C1:17.2");
    for want in [Want::Merged, Want::Stale, Want::Scheduled] {
        assert!(matches!(judged(&clean(), &shared, want), Verdict::Remove(_)), "{want:?}");
    }
}

#[test]
fn any_sign_of_life_keeps_an_environment_from_being_stale() {
    let quiet = Usage { verdict: None, ..idle() };
    let stale = |facts: Facts, usage: &Usage, now| {
        judge(&present(facts), usage, &Policy { stale_after_days: 14 }, Want::Stale, now)
    };
    let at = |days| Some(days_ago(days));
    let table = [
        (Facts::default(), Ok(30)),
        (Facts { last_commit_at: at(400), last_change_at: at(400), ..Facts::default() }, Ok(30)),
        (Facts { last_commit_at: at(14), ..Facts::default() }, Ok(14)),
        (Facts { last_commit_at: at(13), ..Facts::default() }, Err(13)),
        (Facts { last_change_at: at(1), ..Facts::default() }, Err(1)),
        (Facts { last_change_at: at(0), ..Facts::default() }, Err(0)),
        // A commit of tomorrow: some clock is wrong, and nothing follows from that.
        (Facts { last_commit_at: at(-1), ..Facts::default() }, Err(0)),
    ];
    for (facts, expected) in table {
        let expected = match expected {
            Ok(days) => Verdict::Remove(Because::Stale { days }),
            Err(days) => Verdict::Keep(Reason::Active { days }),
        };
        assert_eq!(stale(facts.clone(), &quiet, NOW), expected, "{facts:?}");
    }
    let clock_went_back = stale(Facts::default(), &quiet, days_ago(20_000));
    assert_eq!(clock_went_back, Verdict::Keep(Reason::Active { days: 0 }));

    let never = judge(&clean(), &quiet, &Policy { stale_after_days: 0 }, Want::Stale, NOW);
    assert_eq!(never, Verdict::Keep(Reason::Active { days: 30 }));
    let phrases = [(0, "active today"), (1, "active 1 day ago"), (2, "active 2 days ago")];
    for (days, phrase) in phrases {
        assert_eq!(Reason::Active { days }.phrase(), phrase);
    }
}

#[test]
fn a_person_may_remove_what_loses_no_work() {
    let pinned = Usage { pinned: true, telegram: true, ..busy() };
    for (usage, expected) in [(busy(), Removal::Trash), (pinned, Removal::Trash)] {
        assert_eq!(may_remove(&clean(), &usage, false), Ok(expected));
        assert_eq!(may_remove(&Condition::Missing, &usage, false), Ok(Removal::Forget));
    }
    let unpushed = present(Facts { ahead: Some(7), ..Facts::default() });
    assert_eq!(may_remove(&unpushed, &busy(), false), Ok(Removal::Trash), "its branch stays");
}

#[test]
fn force_overrides_exactly_what_the_trash_makes_good() {
    let shared = Usage { conversations: vec!["slack:C1:17.2".into()], ..busy() };
    let running = Usage { running: true, ..busy() };
    let locked = present(Facts { foreign_lock: Some(String::new()), ..Facts::default() });
    let why = || "why".to_owned();
    let mut table = vec![
        (clean(), shared.clone(), Refusal::UsedBy(shared.conversations), Ok(Removal::Trash)),
        (clean(), running.clone(), Refusal::Running, Err(())),
        (Condition::Missing, running, Refusal::Running, Err(())),
        (Condition::Unreachable(why()), busy(), Refusal::Unreachable(why()), Err(())),
        (Condition::Foreign(why()), busy(), Refusal::Foreign(why()), Err(())),
        (Condition::Unknown(why()), busy(), Refusal::Unknown(why()), Err(())),
        (locked, busy(), Refusal::ForeignLock(String::new()), Err(())),
    ];
    for (facts, refusal, _) in risks() {
        table.push((present(facts), busy(), refusal, Ok(Removal::Trash)));
    }
    for (condition, usage, refusal, forced) in table {
        assert_eq!(may_remove(&condition, &usage, false), Err(refusal.clone()));
        assert_eq!(may_remove(&condition, &usage, true), forced.map_err(|()| refusal.clone()));
        assert_eq!(refusal.yields_to_force(), forced.is_ok(), "{refusal:?}");
        let error = refusal.explain();
        assert_eq!(error.kind, if refusal == Refusal::Running { Kind::Busy } else { Kind::Protected });
        assert!(!error.hints.is_empty(), "{refusal:?} has a way out");
        assert_eq!(error.hints.iter().any(|hint| hint.contains("--force")), forced.is_ok(), "{refusal:?}");
    }
}

#[test]
fn a_lock_is_honoured_even_when_changes_are_forced() {
    let both = present(Facts { staged: 1, foreign_lock: Some("mine".into()), ..Facts::default() });
    assert!(matches!(may_remove(&both, &busy(), false), Err(Refusal::Dirty(_))));
    assert_eq!(may_remove(&both, &busy(), true), Err(Refusal::ForeignLock("mine".into())));
}

#[test]
fn an_adopted_environment_is_let_go_unless_forced() {
    let adopted = Usage { adopted: true, ..busy() };
    let dirty = present(Facts { untracked: 4, foreign_lock: Some("mine".into()), ..Facts::default() });
    assert_eq!(may_remove(&clean(), &adopted, false), Ok(Removal::LetGo));
    assert_eq!(may_remove(&dirty, &adopted, false), Ok(Removal::LetGo), "nothing on disk is touched");
    assert_eq!(may_remove(&clean(), &adopted, true), Ok(Removal::Trash));
    let shared = Usage { conversations: vec!["web:1".into()], ..adopted };
    assert!(matches!(may_remove(&clean(), &shared, false), Err(Refusal::UsedBy(_))));
}

#[test]
fn a_refusal_says_what_is_there_and_the_ways_out() {
    let refusal = Refusal::Dirty(Changes { staged: 2, unstaged: 0, untracked: 1, conflicted: 0 });
    let error = refusal.explain();
    assert_eq!(error.message, "Cannot remove worktree - you have uncommitted changes.");
    let hints = [
        "commit them (2 staged, 1 untracked)",
        "discard them",
        "use `--force`: it moves the worktree to the trash and can be undone",
    ];
    assert_eq!(error.hints, hints);
}

#[test]
fn the_limit_message_is_the_agreed_one() {
    let dirty = present(Facts { untracked: 1, ..Facts::default() });
    let (clean, idle, busy) = (clean(), idle(), busy());
    let stale = Usage { last_activity: days_ago(14), ..busy.clone() };
    let item = |condition, usage| Item { name: "issue-42", condition, usage };
    let mut items = vec![item(&dirty, &idle), item(&clean, &stale), item(&dirty, &stale)];
    items.extend(std::iter::repeat_n(item(&clean, &busy), 22));

    let found = breakdown(items, &Policy::default(), NOW);
    let expected = Breakdown {
        merged_kept: vec![("issue-42".into(), "uncommitted changes".into())],
        stale: 2,
        active: 22,
        stale_after_days: 14,
    };
    assert_eq!(found, expected);
    let message = "\
You have 25 active worktrees for **myproject** (limit reached).

Worktree status:
• 1 merged but kept: uncommitted changes
• 2 stale (no activity for 14+ days)
• 22 active

Options:
• `/worktree cleanup merged` - remove merged worktrees (1)
• `/worktree cleanup stale` - remove stale worktrees (2)
• `/worktree list` - see all
• `/worktree remove <name>` - remove one";
    assert_eq!(limit_message("myproject", 25, &found), message);
}

#[test]
fn the_limit_message_leaves_out_what_there_is_none_of() {
    let one = Breakdown { active: 1, stale_after_days: 14, ..Breakdown::default() };
    let message = "\
You have 1 active worktree for **shop** (limit reached).

Worktree status:
• 1 active

Options:
• `/worktree list` - see all
• `/worktree remove <name>` - remove one";
    assert_eq!(limit_message("shop", 1, &one), message);

    let kept = |name: &str, why: &str| (name.to_owned(), why.to_owned());
    let lowered = Breakdown {
        merged_kept: vec![kept("a", "pinned"), kept("b", "adopted"), kept("c", "pinned")],
        stale: 1,
        active: 0,
        stale_after_days: 1,
    };
    let message = limit_message("shop", 2, &lowered);
    assert!(message.starts_with("You have 4 active worktrees for **shop** (the limit is 2).\n"), "{message}");
    assert!(
        message.contains("• 3 merged but kept: pinned, adopted\n• 1 stale (no activity for 1+ day)\n\n"),
        "{message}"
    );
}

#[test]
fn every_environment_counts_once_at_the_limit() {
    let (idle, running) = (idle(), Usage { running: true, verdict: None, ..idle() });
    let away = Condition::Unreachable("away".into());
    let unmerged_away = Usage { verdict: None, ..idle.clone() };
    let clean = clean();
    let items = [
        Item { name: "a", condition: &clean, usage: &idle },
        Item { name: "b", condition: &away, usage: &idle },
        Item { name: "c", condition: &Condition::Foreign("x".into()), usage: &idle },
        Item { name: "d", condition: &away, usage: &unmerged_away },
        Item { name: "e", condition: &clean, usage: &running },
    ];
    let found = breakdown(items, &Policy::default(), NOW);
    let whys: Vec<_> = found.merged_kept.iter().map(|(_, why)| why.as_str()).collect();
    assert_eq!((whys, found.stale, found.active), (vec!["not removed yet", "unreachable", "broken"], 0, 2));
    assert_eq!(found.total(), 5);
}
