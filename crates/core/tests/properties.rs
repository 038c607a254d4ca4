//! What holds for every input: ten thousand of them each time, a million with `HEDGEROW_LONG=1`.

use std::process::Command as Process;

use hedgerow_core::cleanup::{Policy, Usage, Verdict, Want, judge, may_remove};
use hedgerow_core::command::{CleanupWhat, Command, MergeStyle, Parsed, Worktree, nearest, parse, template_words};
use hedgerow_core::hints::Hints;
use hedgerow_core::merged::{self, MergeFacts};
use hedgerow_core::provider::{Condition, Facts, Operation};
use hedgerow_core::work::branch_plan;
use hedgerow_core::{BranchName, CommitSha, FolderName, Timestamp, Work};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::TestCaseResult;

fn many() -> ProptestConfig {
    let long = std::env::var_os("HEDGEROW_LONG").is_some();
    ProptestConfig {
        cases: if long { 1_000_000 } else { 10_000 },
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// Pieces that the rules are about.
#[rustfmt::skip]
const PIECES: &[&str] = &[
    "/", "\\", ":", "*", "?", "\"", "<", ">", "|", "#", ".", "..", "-", "--", "_", " ", "\t", "\n", "\0", "\u{7f}",
    "\u{85}", "\u{a0}", "\u{2028}", "~", "^", "[", "@", "@{", "{", "HEAD", ".lock", "CON", "con", "nUl", "AUX", "prn",
    "COM", "lpt", "1", "9", "0", "¹", "é", "日", "😀", "a", "B", "\u{201c}", "\u{2014}", "=", "--base", "--force",
    "issue-",
];

/// Such pieces in any order, mixed with other characters and long runs. Made from plain numbers, which is quick.
fn rough() -> impl Strategy<Value = String> {
    prop::collection::vec(any::<u32>(), 0..8).prop_map(|numbers| {
        let mut text = String::new();
        for number in numbers {
            let (kind, value) = (number % 8, number / 8);
            match kind {
                0..5 => text.push_str(PIECES[value as usize % PIECES.len()]),
                5 => text.push(char::from_u32(value % 0x250).unwrap_or('x')),
                6 => text.push(char::from_u32(value % 0x11_0000).unwrap_or('y')),
                _ => text.push_str(&["z", "é", "Q"][value as usize % 3].repeat(value as usize / 3 % 120)),
            }
        }
        text
    })
}

fn check_folder(folder: &FolderName) -> TestCaseResult {
    let name = folder.as_str();
    prop_assert!(!name.is_empty() && name.len() <= 200, "length of {name:?}");
    let forbidden = |c: char| c.is_control() || c.is_whitespace() || "/\\:*?\"<>|#".contains(c);
    prop_assert!(!name.contains(forbidden), "{name:?}");
    prop_assert!(!name.starts_with(['.', '-']) && !name.ends_with(['.', '-']), "{name:?}");
    prop_assert!(!name.contains("--"), "{name:?}");
    let stem = name.split('.').next().unwrap_or_default().to_uppercase();
    let devices = (1..=9).flat_map(|n| [format!("COM{n}"), format!("LPT{n}")]);
    let mut devices = devices.chain(["CON", "PRN", "AUX", "NUL"].map(str::to_owned));
    prop_assert!(devices.all(|device| device != stem), "{name:?}");
    Ok(())
}

fn branch() -> impl Strategy<Value = BranchName> {
    // Of what is no branch name by itself only the letters and digits are kept.
    rough().prop_map(|name| {
        BranchName::parse(&name).unwrap_or_else(|_| {
            let plain: String = FolderName::of(&name).as_str().chars().filter(|c| c.is_alphanumeric()).collect();
            BranchName::parse(&format!("b/{plain}x")).expect("letters and digits")
        })
    })
}

fn argument() -> impl Strategy<Value = String> {
    rough().prop_map(|text| if text.is_empty() { "a".to_owned() } else { text })
}

fn worktree() -> impl Strategy<Value = Worktree> {
    let name = || prop::option::of(argument());
    let work = prop_oneof![
        (select(vec!["issue", "pr", "review"]), 1..=u64::MAX).prop_map(|(kind, n)| format!("{kind}-{n}")),
        (select(vec!["thread", "task"]), argument()).prop_map(|(kind, id)| format!("{kind}-{id}")),
    ];
    let plain = [
        Worktree::List,
        Worktree::Orphans,
        Worktree::Keep,
        Worktree::Unkeep,
        Worktree::Setup,
        Worktree::Diff,
        Worktree::Sync,
        Worktree::Abort,
        Worktree::Pr,
    ];
    prop_oneof![
        (branch(), prop::option::of(branch())).prop_map(|(branch, base)| Worktree::Create { branch, base }),
        (name(), any::<bool>()).prop_map(|(name, force)| Worktree::Remove { name, force }),
        name().prop_map(|name| Worktree::Restore { name }),
        work.prop_map(|work| Worktree::Link { work }),
        (select(CleanupWhat::ALL), any::<bool>()).prop_map(|(what, dry_run)| Worktree::Cleanup { what, dry_run }),
        select(MergeStyle::ALL).prop_map(Worktree::Merge),
        select(plain.to_vec()),
    ]
}

fn command() -> impl Strategy<Value = Command> {
    let plain = [
        Command::Help,
        Command::Status,
        Command::Repos,
        Command::GetCwd,
        Command::Reset,
        Command::Stop,
        Command::Undo,
        Command::Commands,
    ];
    prop_oneof![
        4 => worktree().prop_map(Command::Worktree),
        1 => select(plain.to_vec()),
        1 => (argument(), prop::option::of(argument())).prop_map(|(url, name)| Command::Clone { url, name }),
        1 => argument().prop_map(|name| Command::Repo { name }),
        1 => argument().prop_map(|name| Command::RepoRemove { name }),
        1 => argument().prop_map(|subfolder| Command::SetCwd { subfolder }),
        1 => prop::option::of(argument()).prop_map(|name| Command::Assistant { name }),
        1 => argument().prop_map(|path| Command::CommandSet { name: "x-9_.:é".to_owned(), path }),
        1 => argument().prop_map(|folder| Command::LoadCommands { folder }),
    ]
}

fn sha() -> impl Strategy<Value = CommitSha> {
    // Few, so that equal ones are common.
    select(vec!["a", "b"]).prop_map(|digit| CommitSha::parse(&digit.repeat(40)).expect("40 digits"))
}

fn merge_facts() -> impl Strategy<Value = MergeFacts> {
    let shas = (prop::option::of(sha()), prop::option::of(sha()), prop::option::of(sha()), prop::option::of(sha()));
    let answers: [_; 5] = std::array::from_fn(|_| any::<Option<bool>>());
    let rest = (
        prop::option::weighted(0.2, sha()),
        prop::option::weighted(0.2, (1..9u64, sha())),
        prop::option::weighted(0.2, sha()),
        prop::option::of(0..3u64),
    );
    (shas, answers, rest).prop_map(|(shas, answers, rest)| {
        let (tip, target, recorded_base, merge_base) = shas;
        let [ancestor, no_net_change, same_tree_as_target, merge_adds_nothing, every_patch_in_target] = answers;
        let (squash_commit, pr_merged_at, reverted_by, ahead) = rest;
        MergeFacts {
            tip,
            target,
            recorded_base,
            merge_base,
            tip_is_ancestor_of_target: ancestor,
            no_net_change,
            same_tree_as_target,
            merge_adds_nothing,
            squash_commit,
            every_patch_in_target,
            pr_merged_at,
            reverted_by,
            ahead,
        }
    })
}

fn moment() -> impl Strategy<Value = Timestamp> {
    prop_oneof![0..4_000_000_000_000i64, any::<i64>()].prop_map(Timestamp::from_millis)
}

fn facts() -> impl Strategy<Value = Facts> {
    let changes = prop::array::uniform5(prop_oneof![6 => Just(0), 1 => 1..5u64]);
    let operations = [
        Operation::Rebase,
        Operation::Merge,
        Operation::CherryPick,
        Operation::Revert,
        Operation::Bisect,
        Operation::Am,
    ];
    let operation = prop::option::weighted(0.2, select(operations.to_vec()));
    let times = (prop::option::of(moment()), prop::option::of(moment()));
    let lock = prop::option::weighted(0.2, Just("mine".to_owned()));
    (changes, operation, times, lock).prop_map(|(changes, operation, (commit, change), foreign_lock)| {
        let [staged, unstaged, untracked, conflicted, stranded_commits] = changes;
        Facts {
            staged,
            unstaged,
            untracked,
            conflicted,
            stranded_commits,
            operation,
            last_commit_at: commit,
            last_change_at: change,
            foreign_lock,
            ..Facts::default()
        }
    })
}

fn condition() -> impl Strategy<Value = Condition> {
    let why = || Just("why".to_owned());
    prop_oneof![
        8 => facts().prop_map(|facts| Condition::Present(Box::new(facts))),
        1 => Just(Condition::Missing),
        1 => why().prop_map(Condition::Unreachable),
        1 => why().prop_map(Condition::Foreign),
        1 => why().prop_map(Condition::Unknown),
    ]
}

fn usage() -> impl Strategy<Value = Usage> {
    let rarely = || prop::bool::weighted(0.15);
    let flags = (rarely(), rarely(), rarely(), rarely());
    let conversations = prop::collection::vec(Just("web:1".to_owned()), 0..2);
    let verdict = prop::option::of(merge_facts().prop_map(|facts| merged::verdict(&facts)));
    (flags, conversations, moment(), verdict).prop_map(|(flags, conversations, last_activity, verdict)| {
        let (telegram, running, pinned, adopted) = flags;
        Usage { conversations, telegram, running, pinned, adopted, last_activity, verdict }
    })
}

fn want() -> impl Strategy<Value = Want> {
    select(vec![Want::Merged, Want::Stale, Want::Scheduled, Want::Closed])
}

proptest! {
    #![proptest_config(many())]

    #[test]
    fn a_folder_name_is_safe_everywhere_and_stays_itself(name in rough()) {
        let folder = FolderName::of(&name);
        check_folder(&folder)?;
        prop_assert_eq!(&FolderName::of(folder.as_str()), &folder);
    }

    #[test]
    fn a_hashed_folder_name_is_as_safe_and_tells_names_apart(one in rough(), other in rough()) {
        let hashed = FolderName::of(&one).with_hash(&one);
        check_folder(&hashed)?;
        prop_assert_eq!(&FolderName::of(hashed.as_str()), &hashed);
        prop_assert!(!hashed.same_place_as(FolderName::of(&one).as_str()));
        if one != other {
            prop_assert!(!hashed.same_place_as(FolderName::of(&other).with_hash(&other).as_str()));
        }
    }

    #[test]
    fn a_branch_name_never_looks_like_an_option_or_breaks_a_line(name in rough()) {
        if let Ok(branch) = BranchName::parse(&name) {
            prop_assert_eq!(branch.as_str(), &name);
            prop_assert!(!name.starts_with('-') && !name.contains(char::is_control) && name.len() <= 1024);
            check_folder(&branch.folder())?;
        }
    }

    #[test]
    fn any_text_can_be_read_as_a_message(text in rough(), slash in any::<bool>(), sub in any::<bool>()) {
        let text = format!("{}{}{text}", if slash { "/" } else { "" }, if sub { "worktree " } else { "" });
        let parsed = parse(&text);
        prop_assert_eq!(parsed == Parsed::NotACommand, !text.trim().starts_with('/'));
        if let Parsed::Command(command) = parsed {
            prop_assert_eq!(parse(&command.to_string()), Parsed::Command(command));
        }
        template_words(&text);
        nearest(&text);
    }

    #[test]
    fn a_command_that_is_written_down_reads_back_as_itself(command in command()) {
        prop_assert_eq!(parse(&command.to_string()), Parsed::Command(command));
    }

    #[test]
    fn a_work_survives_being_stored_and_always_gets_a_branch(text in rough(), number in 1..=u64::MAX) {
        let mut works = vec![Work::Issue(number), Work::PullRequest(number), Work::Review(number), Work::task(&text)];
        if !text.is_empty() {
            works.extend([Work::Thread(text.clone()), Work::Task(text)]);
        }
        for work in works {
            let plan = branch_plan(&work, &work.to_string(), &Hints::default(), "agents/");
            prop_assert!(plan.branch.as_str().starts_with("agents/"));
            prop_assert_eq!(Work::from_parts(work.kind(), &work.id()), Ok(work));
        }
    }

    #[test]
    fn a_slug_is_short_plain_and_stays_itself(text in rough()) {
        let slug = Work::task(&text).id();
        prop_assert!((1..=50).contains(&slug.len()), "{slug}");
        prop_assert!(slug.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-'), "{slug}");
        prop_assert!(!slug.starts_with('-') && !slug.ends_with('-') && !slug.contains("--"), "{slug}");
        prop_assert_eq!(Work::task(&slug).id(), slug);
    }

    #[test]
    fn merged_needs_a_sign_of_it_and_nothing_against_it(facts in merge_facts()) {
        let verdict = merged::verdict(&facts);
        let answers = [
            facts.tip_is_ancestor_of_target,
            facts.no_net_change,
            facts.same_tree_as_target,
            facts.merge_adds_nothing,
            facts.every_patch_in_target,
        ];
        if verdict.is_merged() {
            let same = facts.tip == facts.target;
            let pr = facts.pr_merged_at.as_ref().is_some_and(|(_, head)| Some(head) == facts.tip.as_ref());
            prop_assert!(same || pr || facts.squash_commit.is_some() || answers.contains(&Some(true)));
            prop_assert!(facts.tip.is_some() && facts.reverted_by.is_none());
            prop_assert_ne!(&facts.tip, &facts.recorded_base);
        }
        if matches!(verdict, merged::Verdict::Unmerged { .. }) {
            prop_assert!(answers.iter().all(|answer| *answer == Some(false)));
        }
    }

    #[test]
    fn less_knowledge_never_makes_a_branch_merged(facts in merge_facts()) {
        // Forgetting that the work is not new, or not reverted, is the one thing the engine must not do.
        let blind = MergeFacts { tip: None, ..facts.clone() };
        prop_assert!(matches!(merged::verdict(&blind), merged::Verdict::Unknown(_)));
        let no_answers = MergeFacts {
            tip: facts.tip,
            recorded_base: facts.recorded_base,
            reverted_by: facts.reverted_by,
            ..MergeFacts::default()
        };
        prop_assert!(!merged::verdict(&no_answers).is_merged());
    }

    #[test]
    fn automation_never_removes_what_is_protected(
        condition in condition(), usage in usage(), want in want(), days in 0..40u32, now in moment(),
    ) {
        let verdict = judge(&condition, &usage, &Policy { stale_after_days: days }, want, now);
        if let Verdict::Remove(_) = verdict {
            prop_assert!(!usage.adopted && !usage.pinned && !usage.running && !usage.telegram);
            let Condition::Present(facts) = &condition else { return Err(TestCaseError::fail("it is not there")) };
            prop_assert!(!facts.is_dirty() && facts.operation.is_none() && facts.stranded_commits == 0);
            prop_assert!(facts.foreign_lock.is_none());
            let mut signs = [Some(usage.last_activity), facts.last_commit_at, facts.last_change_at].into_iter().flatten();
            let merged = usage.verdict.as_ref().is_some_and(merged::Verdict::is_merged);
            let quiet = days > 0 && signs.all(|sign| now.seconds_since(sign) >= i64::from(days) * 86_400);
            prop_assert!(merged || quiet || (want == Want::Closed && usage.conversations.is_empty()));
            prop_assert!(usage.conversations.is_empty() || want != Want::Closed);
        }
    }

    #[test]
    fn what_automation_removes_a_person_may_remove_too(
        condition in condition(), usage in usage(), want in want(), now in moment(),
    ) {
        let verdict = judge(&condition, &usage, &Policy::default(), want, now);
        if let Verdict::Remove(_) = verdict {
            let alone = Usage { conversations: Vec::new(), ..usage.clone() };
            prop_assert!(may_remove(&condition, &alone, false).is_ok());
        }
        match (may_remove(&condition, &usage, false), may_remove(&condition, &usage, true)) {
            (Err(refusal), Ok(_)) => prop_assert!(refusal.yields_to_force()),
            (_, Err(refusal)) => prop_assert!(!refusal.yields_to_force()),
            (Ok(_), Ok(_)) => {}
        }
    }
}

/// What git itself says about a name.
fn git_accepts(name: &str) -> bool {
    let mut git = Process::new("git");
    git.args(["check-ref-format", "--branch", name])
        .env_clear()
        .envs(std::env::var_os("PATH").map(|path| ("PATH", path)));
    git.current_dir("/").output().expect("git starts").status.success()
}

/// Names that git takes and Hedgerow does not, on purpose.
fn stricter_than_git(name: &str) -> bool {
    // Every other command of git's reads `@` as HEAD. Control characters beyond ASCII, and names too long for a file.
    name == "@" || name.contains(char::is_control) || name.split('/').any(|part| part.len() > 250) || name.len() > 1024
}

fn check_against_git(name: &str) -> TestCaseResult {
    let (ours, gits) = (BranchName::parse(name).is_ok(), git_accepts(name));
    prop_assert!(gits || !ours, "git refuses {name:?}");
    prop_assert!(ours || !gits || stricter_than_git(name), "git accepts {name:?}");
    Ok(())
}

#[test]
fn git_agrees_about_known_names() {
    #[rustfmt::skip]
    let names = [
        "a", "a/b", "a.b", "a@b", "a/@", "@a", "@", "@@", "HEAD", "head", "a/HEAD", "HEAD/a", "FETCH_HEAD",
        "-", "-a", "a-", "a/-b", "--all", ".", "..", "a.", ".a", "a/.b", "a./b", "a..b", "a.lock", "a.LOCK",
        "a.lock/b", "lock", ".lock", "/", "/a", "a/", "a//b", "a b", " a", "a\t", "a\n", "a\u{1}", "a\u{7f}",
        "a~", "a^", "a:b", "a?", "a*", "a[", "a]", "a\\b", "a@{b", "@{-1}", "@{u}", "a{", "a}", "x$(id)",
        "a|b", "a;b", "a'b", "a\"b", "a`b", "é", "日本", "😀", "\u{202e}a", "\u{200b}", "\u{a0}", "refs/heads/a",
        "refs/heads/HEAD", "heads/a", "#", "%", "!", "+a", "=", "a,b",
    ];
    for name in names {
        check_against_git(name).unwrap_or_else(|error| panic!("{error}"));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn git_agrees_about_any_name(name in rough()) {
        // No argument of a program can hold a zero.
        check_against_git(&name.replace('\0', "\u{1}"))?;
    }
}
