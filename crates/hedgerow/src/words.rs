//! Every sentence the terminal says about the engine's answers, in one room: change the tone here.

mod measure;
mod undoing;

use hedgerow_core::environment::Resolution;
use hedgerow_core::provider::{Condition, Facts, Note};
use hedgerow_core::saved::{Account, Skipped};
use hedgerow_core::{Codebase, CommitSha, Environment, Hints, Kind, Timestamp, Work};
use hedgerow_engine::Failure;
use hedgerow_engine::engine::{Removed, Resolved, Round, Swept, SweptOutcome};
use hedgerow_engine::view::View;

pub(crate) use measure::{age, bytes, day, moment, quoted};
pub(crate) use undoing::undone;

/// The kind of an error, as scripts read it.
pub(crate) const fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Failed => "failed",
        Kind::Usage => "usage",
        Kind::Protected => "protected",
        Kind::NotFound => "not_found",
        Kind::Limit => "limit",
        Kind::Busy => "busy",
    }
}

/// What a person reads of a failure, and what they can do.
pub(crate) fn failure(failure: &Failure) -> (String, Vec<String>) {
    match failure {
        Failure::User(error) => (error.message.clone(), error.hints.clone()),
        Failure::Internal(error) => {
            let mut lines = vec!["something broke inside Hedgerow:".to_owned()];
            lines.extend(error.chain().map(ToString::to_string));
            // Errors that only pass on their source say the same again.
            lines.dedup();
            let hint = "`hedgerow doctor` looks for what is wrong on this machine; `-v` shows more";
            (lines.join("\n"), vec![hint.to_owned()])
        }
    }
}

pub(crate) fn registered(codebase: &Codebase) -> String {
    format!("registered codebase `{}` ({})", codebase.name, codebase.path.display())
}

/// How a request got its environment. `head` is the commit that is checked out, where it is known.
pub(crate) fn resolved(resolved: &Resolved, hints: &Hints, head: Option<&CommitSha>, now: Timestamp) -> String {
    let environment = &resolved.environment;
    let branch = &environment.branch;
    match resolved.resolution {
        Resolution::Created => match (&hints.work, &hints.pr_head) {
            (Some(Work::PullRequest(_) | Work::Review(_)), Some(asked)) if head == Some(asked) => {
                let branch = hints.pr_branch.as_ref().unwrap_or(branch);
                format!("Reviewing PR at commit `{}` (branch: `{branch}`)", asked.short())
            }
            _ => format!("Working in isolated branch `{branch}`"),
        },
        Resolution::Kept | Resolution::Reused => format!("Reusing worktree `{}`", environment.name()),
        Resolution::Shared => format!("Reusing worktree from {}", other_work(environment, hints.work.as_ref())),
        Resolution::Adopted => format!("Adopted the existing worktree on `{branch}`"),
        Resolution::Restored => match resolved.as_of {
            Some(at) => format!("Restored `{}` as it was on {}", environment.name(), day(at, now)),
            None => format!("Restored `{}` as it was", environment.name()),
        },
    }
}

/// The work that had the environment first.
fn other_work(environment: &Environment, asked: Option<&Work>) -> String {
    let other = environment.works.iter().find(|named| asked != Some(&named.work));
    match other.map(|named| (&named.work, &named.name)) {
        Some((Work::Issue(number), _)) => format!("issue #{number}"),
        Some((Work::PullRequest(number) | Work::Review(number), _)) => format!("PR #{number}"),
        Some((_, name)) => format!("`{name}`"),
        None => format!("`{}`", environment.branch),
    }
}

pub(crate) fn note(note: &Note) -> String {
    match note {
        Note::Offline { remote, why } => {
            format!("`{remote}` could not be reached, so its last known state was used ({why})")
        }
        Note::HeadBranchTaken { head, instead } => format!(
            "the main checkout holds `{head}`, so `{instead}` was made at the same commit; `git push <remote> HEAD:{head}` from it updates the pull request"
        ),
        Note::KeptOwnCommits { branch } => {
            format!("`{branch}` has commits of its own here and was left as it is")
        }
        Note::FastForwarded { branch, from, to } => {
            format!("`{branch}` was fast-forwarded from {} to {}", from.short(), to.short())
        }
        Note::ExistingBranch { branch } => format!("`{branch}` was there already and is used as it is"),
        Note::MovedHead { to } => {
            format!("the pull request's head has moved, and the environment with it: now at {}", to.short())
        }
        Note::HeadMovedKept { to } => format!(
            "the pull request's head has moved to {}; the environment has work of its own and was left alone",
            to.short()
        ),
        Note::LinkedElsewhere { work, environment } => {
            format!("`{work}` has another environment, `{environment}`")
        }
        Note::Lost { environment, why } => format!("the earlier environment `{environment}` is no more: {why}"),
        Note::InTrash { name } => {
            format!("an earlier one is in the trash; `hedgerow env restore {}` brings it back", quoted(name))
        }
        Note::NotSaved { what } => not_saved(what),
        Note::NoSubmodules { why } => {
            format!("the submodules could not be filled; `git submodule update --init` there tries again ({why})")
        }
        Note::NotRun { what } => {
            format!("the repository's configuration would run programs; they were not run: {}", what.join(", "))
        }
        Note::RestoredOnBranch { branch, instead_of } => {
            format!("`{instead_of}` is taken, so it was restored on `{branch}`")
        }
        Note::RestoredElsewhere { path } => {
            format!("its old place is taken, so it was restored in {}", path.display())
        }
        Note::MadeRoom { names } => format!(
            "moved to the trash to make room, because they are merged: {}; `hedgerow env restore <name>` brings one back",
            names.join(", ")
        ),
    }
}

/// So many of what was skipped are named; `hedgerow vault verify` names all.
const NAMED: usize = 5;

fn not_saved(what: &[Skipped]) -> String {
    let named: Vec<String> = what.iter().take(NAMED).map(skipped).collect();
    let more = what.len().saturating_sub(NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("not in the saved state: {}{more}", named.join("; "))
}

/// `data/big.bin (60.0 MB; ignored, and larger than 50 MB)`
pub(crate) fn skipped(skipped: &Skipped) -> String {
    format!("{} ({}; {})", skipped.path, bytes(skipped.bytes), skipped.because.phrase())
}

/// `12 files, 3 objects of git`
pub(crate) fn account(account: &Account) -> String {
    format!("{} files, {} objects of git", account.files, account.objects)
}

/// What became of a removal.
pub(crate) fn removed(removed: &Removed) -> String {
    match removed {
        Removed::Trashed { environment, branch_deleted: true } => {
            format!("Moved `{}` to the trash and deleted its branch `{}`", environment.name(), environment.branch)
        }
        Removed::Trashed { environment, branch_deleted: false } => {
            format!("Moved `{}` to the trash; its branch `{}` stays", environment.name(), environment.branch)
        }
        Removed::WasGone { environment } => {
            format!("`{}` was gone from disk already; only the record of it was removed", environment.name())
        }
        Removed::LetGo { environment } => {
            format!("Let go of `{}`; its folder stays in {}", environment.name(), environment.path.display())
        }
    }
}

/// The command that undoes a removal. What was gone already cannot be brought back.
pub(crate) fn undo(removed: &Removed, codebase: Option<&str>) -> Option<String> {
    match removed {
        Removed::Trashed { environment, .. } => Some(restore_command(environment.name(), codebase)),
        Removed::LetGo { environment } => {
            let path = quoted(&environment.path.to_string_lossy());
            Some(in_codebase(format!("hedgerow env adopt {path}"), codebase))
        }
        Removed::WasGone { .. } => None,
    }
}

/// The command that brings an environment back.
pub(crate) fn restore_command(name: &str, codebase: Option<&str>) -> String {
    in_codebase(format!("hedgerow env restore {}", quoted(name)), codebase)
}

/// A command that is to be typed anywhere names its codebase.
fn in_codebase(command: String, codebase: Option<&str>) -> String {
    match codebase {
        Some(name) => format!("{command} --codebase {}", quoted(name)),
        None => command,
    }
}

pub(crate) const fn swept(outcome: SweptOutcome) -> &'static str {
    match outcome {
        SweptOutcome::Removed => "removed",
        SweptOutcome::Forgotten => "forgotten",
        SweptOutcome::TakenOver => "taken over",
        SweptOutcome::WouldRemove => "would remove",
        SweptOutcome::Purged => "purged",
        SweptOutcome::WouldPurge => "would purge",
        SweptOutcome::Expired => "expired",
        SweptOutcome::WouldExpire => "would expire",
        SweptOutcome::Kept => "kept",
        SweptOutcome::Listed => "not ours",
        SweptOutcome::Failed => "failed",
    }
}

/// `1 removed, 2 kept`, in the order of the outcomes.
pub(crate) fn sweep_summary<'a>(report: impl IntoIterator<Item = &'a Swept>) -> String {
    use SweptOutcome::{
        Expired, Failed, Forgotten, Kept, Listed, Purged, Removed, TakenOver, WouldExpire, WouldPurge, WouldRemove,
    };
    let outcomes: Vec<SweptOutcome> = report.into_iter().map(|swept| swept.outcome).collect();
    let count = |outcome| outcomes.iter().filter(|other| **other == outcome).count();
    let word = |outcome| match outcome {
        WouldRemove => "would be removed",
        WouldPurge => "would be purged",
        other => swept(other),
    };
    let order =
        [Removed, Forgotten, TakenOver, WouldRemove, Purged, WouldPurge, Expired, WouldExpire, Kept, Listed, Failed];
    let parts: Vec<String> = order
        .into_iter()
        .map(|outcome| (count(outcome), word(outcome)))
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!("{count} {word}"))
        .collect();
    if parts.is_empty() { "Nothing to clean up".to_owned() } else { parts.join(", ") }
}

pub(crate) fn round_began(round: &Round) -> String {
    format!("Round of {}", round.began_at)
}

/// What there is after a round: `3 environments, 1 in the trash; 12.0 GB of 100.0 GB free`.
pub(crate) fn round_summary(round: &Round) -> String {
    let noun = if round.live == 1 { "environment" } else { "environments" };
    let counts = format!("{} {noun}, {} in the trash", round.live, round.trashed);
    match round.disk {
        Some(disk) => format!("{counts}; {} of {} free", bytes(disk.free_bytes), bytes(disk.total_bytes)),
        None => counts,
    }
}

/// Why no round was done.
pub(crate) fn not_due(next_at: Option<Timestamp>, now: Timestamp) -> String {
    match next_at {
        None => "Scheduled cleanup is switched off (`cleanup.every_hours` is 0)".to_owned(),
        Some(at) if at <= now => "Another process is at it".to_owned(),
        Some(at) => format!("Not due until {at}"),
    }
}

/// What people call an environment.
pub(crate) fn name(view: &View) -> &str {
    view.works.first().map_or(view.branch.as_str(), String::as_str)
}

/// Uncommitted changes in a few words; what is wrong instead, when git could not say.
pub(crate) fn changes(condition: &Condition) -> String {
    match condition {
        Condition::Present(facts) => present(facts),
        Condition::Missing => "gone from disk".to_owned(),
        Condition::Unreachable(why) => format!("unreachable: {why}"),
        Condition::Foreign(why) => format!("not this environment: {why}"),
        Condition::Unknown(why) => format!("unknown: {why}"),
    }
}

fn present(facts: &Facts) -> String {
    let counts = [
        (facts.conflicted, "in conflict"),
        (facts.staged, "staged"),
        (facts.unstaged, "modified"),
        (facts.untracked, "untracked"),
    ];
    let mut parts: Vec<String> =
        counts.iter().filter(|(count, _)| *count > 0).map(|(count, word)| format!("{count} {word}")).collect();
    if let Some(operation) = facts.operation {
        parts.push(format!("{} in progress", operation.as_str()));
    }
    if parts.is_empty() { "clean".to_owned() } else { parts.join(", ") }
}

/// `↑2 ↓1`, empty when level or not known.
pub(crate) fn distance(ahead: Option<u64>, behind: Option<u64>) -> String {
    let part = |sign, count: Option<u64>| count.filter(|count| *count > 0).map(|count| format!("{sign}{count}"));
    [part('↑', ahead), part('↓', behind)].into_iter().flatten().collect::<Vec<_>>().join(" ")
}

/// The same where there is room for words: `2 ahead, 1 behind`.
pub(crate) fn distance_in_words(ahead: Option<u64>, behind: Option<u64>) -> String {
    let part = |word, count: Option<u64>| count.filter(|count| *count > 0).map(|count| format!("{count} {word}"));
    [part("ahead", ahead), part("behind", behind)].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests;
