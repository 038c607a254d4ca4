//! Environments in words: how one was found, what became of it, how it stands.

use hedgerow_core::environment::Resolution;
use hedgerow_core::provider::{Condition, Facts, News};
use hedgerow_core::{CommitSha, Environment, Hints, Timestamp, Work};

use super::{Voice, day, note};
use crate::engine::{Removed, Resolved};
use crate::sync::Synced;
use crate::view::View;

/// What a chat is told of the environment it works in from now on, with what else is to know about it.
pub fn introduction(answer: &Resolved, hints: &Hints, head: Option<&CommitSha>, now: Timestamp) -> String {
    let mut lines = vec![resolved(answer, hints, head, now)];
    lines.extend(answer.notes.iter().map(|about| format!("• {}", note(about, Voice::Chat))));
    lines.join("\n")
}

/// How a request got its environment. `head` is the commit that is checked out, where it is known.
pub fn resolved(resolved: &Resolved, hints: &Hints, head: Option<&CommitSha>, now: Timestamp) -> String {
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

/// What became of a removal.
pub fn removed(removed: &Removed, voice: Voice) -> String {
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
        Removed::LetGo { environment } => match voice {
            Voice::Terminal => {
                format!("Let go of `{}`; its folder stays in {}", environment.name(), environment.path.display())
            }
            Voice::Chat => format!("Let go of `{}`; its folder stays where it is", environment.name()),
        },
    }
}

/// The command that undoes a removal, in a chat. What was gone cannot be brought back; what was let go of is taken in
/// again when somebody works on its branch.
pub fn undo_removal(removed: &Removed) -> Option<String> {
    match removed {
        Removed::Trashed { environment, .. } => Some(Voice::Chat.restore(environment.name())),
        Removed::LetGo { environment } => Some(format!("/worktree create {}", environment.branch)),
        Removed::WasGone { .. } => None,
    }
}

/// What a sync did.
pub fn synced(synced: &Synced) -> String {
    let name = synced.environment.name();
    let base = synced.environment.base.as_ref().map_or("its base", |base| base.as_str());
    match &synced.news {
        News::UpToDate | News::Conflicts(_) => format!("`{name}` has everything that is on `{base}`"),
        News::Forwarded { from, to } => {
            format!("Brought `{name}` to `{base}`: from {} to {}", from.short(), to.short())
        }
        News::Merged { from, to } => {
            format!("Merged `{base}` into `{name}`: from {} to {}", from.short(), to.short())
        }
    }
}

pub(crate) fn synced_in_chat(done: &Synced) -> String {
    let mut lines = vec![synced(done)];
    lines.extend(done.notes.iter().map(|about| format!("• {}", note(about, Voice::Chat))));
    lines.join("\n")
}

/// The conversation uses the environment of another work.
pub fn linked(name: &str) -> String {
    format!("Linked to worktree `{name}`")
}

pub fn pinned(name: &str, is_pinned: bool) -> String {
    if is_pinned {
        format!("Keeping `{name}`: automation leaves it alone")
    } else {
        format!("No longer keeping `{name}`: cleanup may remove it when it is merged or stale")
    }
}

/// What people call an environment.
pub fn name(view: &View) -> &str {
    view.works.first().map_or(view.branch.as_str(), String::as_str)
}

/// Uncommitted changes in a few words; what is wrong instead, when git could not say.
pub fn changes(condition: &Condition) -> String {
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
pub fn distance(ahead: Option<u64>, behind: Option<u64>) -> String {
    let part = |sign, count: Option<u64>| count.filter(|count| *count > 0).map(|count| format!("{sign}{count}"));
    [part('↑', ahead), part('↓', behind)].into_iter().flatten().collect::<Vec<_>>().join(" ")
}

/// The same where there is room for words: `2 ahead, 1 behind`.
pub fn distance_in_words(ahead: Option<u64>, behind: Option<u64>) -> String {
    let part = |word, count: Option<u64>| count.filter(|count| *count > 0).map(|count| format!("{count} {word}"));
    [part("ahead", ahead), part("behind", behind)].into_iter().flatten().collect::<Vec<_>>().join(", ")
}
