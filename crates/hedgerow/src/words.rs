//! Every sentence the terminal says about the engine's answers, in one room: change the tone here.

mod measure;

use hedgerow_core::environment::Resolution;
use hedgerow_core::provider::{Condition, Facts, Note};
use hedgerow_core::{Codebase, CommitSha, Environment, Hints, Kind, Timestamp, Work};
use hedgerow_engine::Failure;
use hedgerow_engine::engine::{Removed, Resolved, Swept, SweptOutcome};
use hedgerow_engine::view::View;

pub(crate) use measure::{age, bytes, day, moment, quoted};

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
    let command = match removed {
        Removed::Trashed { environment, .. } => format!("hedgerow env restore {}", quoted(environment.name())),
        Removed::LetGo { environment } => {
            format!("hedgerow env adopt {}", quoted(&environment.path.to_string_lossy()))
        }
        Removed::WasGone { .. } => return None,
    };
    Some(match codebase {
        Some(name) => format!("{command} --codebase {}", quoted(name)),
        None => command,
    })
}

pub(crate) const fn swept(outcome: SweptOutcome) -> &'static str {
    match outcome {
        SweptOutcome::Removed => "removed",
        SweptOutcome::Forgotten => "forgotten",
        SweptOutcome::WouldRemove => "would remove",
        SweptOutcome::Kept => "kept",
        SweptOutcome::Listed => "not ours",
        SweptOutcome::Failed => "failed",
    }
}

/// `1 removed, 2 kept`, in the order of the outcomes.
pub(crate) fn sweep_summary(report: &[Swept]) -> String {
    use SweptOutcome::{Failed, Forgotten, Kept, Listed, Removed, WouldRemove};
    let count = |outcome| report.iter().filter(|swept| swept.outcome == outcome).count();
    let word = |outcome| if outcome == WouldRemove { "would be removed" } else { swept(outcome) };
    let parts: Vec<String> = [Removed, Forgotten, WouldRemove, Kept, Listed, Failed]
        .into_iter()
        .map(|outcome| (count(outcome), word(outcome)))
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!("{count} {word}"))
        .collect();
    if parts.is_empty() { "Nothing to clean up".to_owned() } else { parts.join(", ") }
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
