//! How things stand: a conversation, the environments of a codebase, the worktrees of its repository.

use hedgerow_core::assistant::Usage;
use hedgerow_core::{EnvironmentId, State, Timestamp};

use super::{ago, changes, distance, distance_in_words, figures, list, name, plural, pull_request, shortened, veiled};
use crate::engine::Known;
use crate::store::{Conversation, Run, Session};
use crate::view::View;

/// Most characters of what a run did last.
const LONGEST_TOOL: usize = 200;

/// What `/status` tells of.
pub(crate) struct Standing<'a> {
    pub(crate) conversation: &'a Conversation,
    pub(crate) codebase: Option<&'a str>,
    pub(crate) environment: Option<&'a View>,
    pub(crate) session: Option<&'a Session>,
    pub(crate) run: Option<&'a Run>,
    /// What that run did last.
    pub(crate) tool: Option<&'a str>,
    /// Messages of the same lane that wait for their turn.
    pub(crate) waiting: u64,
    pub(crate) census: Option<&'a Census>,
    /// What is to know of the sandbox.
    pub(crate) sandbox: Option<&'a str>,
    pub(crate) now: Timestamp,
}

/// The environments of a codebase, by state.
pub(crate) struct Census {
    pub(crate) states: Vec<State>,
    pub(crate) trashed: usize,
}

pub(crate) fn status(standing: &Standing<'_>) -> String {
    let now = standing.now;
    let conversation = standing.conversation;
    let codebase = match standing.codebase {
        Some(name) => format!("`{name}`"),
        None => "none; `/repos` lists them, `/clone <url>` adds one".to_owned(),
    };
    let environment = match standing.environment {
        Some(view) => in_words(view),
        None => "none; your next message gets one".to_owned(),
    };
    let session = match standing.session {
        Some(session) => format!("with `{}`, begun {}", session.assistant, ago(session.started_at, now)),
        None => "none; your next message begins one".to_owned(),
    };
    let run = match standing.run {
        Some(run) => {
            let began = ago(run.started_at, now);
            format!("`{}` is at work for {}, begun {began}; `/stop` stops it", run.assistant, run.author)
                + &so_far(run, standing.tool, now)
        }
        None => "none".to_owned(),
    };
    let queue = match standing.waiting {
        0 => "empty".to_owned(),
        1 => "1 message waits".to_owned(),
        count => format!("{count} messages wait"),
    };
    let mut lines = vec![
        format!("Platform: {}", conversation.key.platform),
        format!("Codebase: {codebase}"),
        format!("Environment: {environment}"),
    ];
    lines.extend(conversation.subfolder.as_ref().map(|folder| format!("Starts in: `{}`", folder.display())));
    lines.extend(conversation.assistant.as_ref().map(|assistant| format!("Assistant: `{assistant}`")));
    lines.extend([format!("Session: {session}"), format!("Run: {run}"), format!("Queue: {queue}")]);
    if let (Some(census), Some(name)) = (standing.census, standing.codebase) {
        lines.push(format!("Environments of `{name}`: {}", counted(census)));
    }
    lines.extend(standing.sandbox.map(str::to_owned));
    veiled(&lines.join("\n"))
}

/// What a run did last, and what it has taken by now.
fn so_far(run: &Run, tool: Option<&str>, now: Timestamp) -> String {
    let tool = tool.map(|tool| format!("\n• last: {}", shortened(tool, LONGEST_TOOL))).unwrap_or_default();
    if run.usage == Usage::default() {
        return tool;
    }
    format!("{tool}\n• so far: {}", figures(&run.usage, run.took(now)))
}

fn counted(census: &Census) -> String {
    let mut parts: Vec<String> = census.counted().iter().map(|(state, count)| format!("{count} {state}")).collect();
    if census.trashed > 0 {
        parts.push(format!("{} in the trash", census.trashed));
    }
    if parts.is_empty() { "none".to_owned() } else { parts.join(", ") }
}

/// One environment where there is room: `` `issue-42` on branch `issue-42`: clean, 2 ahead ``.
fn in_words(view: &View) -> String {
    let mut facts = Vec::new();
    if view.state != State::Active {
        facts.push(view.state.to_string());
    }
    facts.extend(view.condition.as_ref().map(changes));
    let distance = distance_in_words(view.ahead, view.behind);
    facts.extend(Some(distance).filter(|distance| !distance.is_empty()));
    facts.extend(view.pr.as_ref().map(pull_request));
    format!("`{}` on branch `{}`: {}", name(view), view.branch, facts.join(", "))
}

/// `/worktree list`.
pub(crate) fn environments(codebase: &str, views: &[View], present: Option<EnvironmentId>, now: Timestamp) -> String {
    if views.is_empty() {
        return format!("`{codebase}` has no environments yet. `/worktree create <branch>` makes one.");
    }
    let lines: Vec<String> = views.iter().map(|view| in_a_line(view, present == Some(view.id), now)).collect();
    veiled(&list(&format!("{} of `{codebase}`:", plural(views.len() as u64, "environment")), &lines, ""))
}

fn in_a_line(view: &View, is_present: bool, now: Timestamp) -> String {
    let name = if view.works.is_empty() { view.branch.to_string() } else { view.works.join(", ") };
    let on = if name == view.branch.as_str() { String::new() } else { format!(" on `{}`", view.branch) };
    let marks = [(view.pinned, "kept"), (view.adopted, "adopted")];
    let mut facts = vec![view.state.to_string()];
    facts.extend(marks.iter().filter(|(is, _)| *is).map(|(_, word)| (*word).to_owned()));
    facts.extend(view.condition.as_ref().map(changes));
    facts.extend(Some(distance(view.ahead, view.behind)).filter(|distance| !distance.is_empty()));
    facts.extend(view.pr.as_ref().map(pull_request));
    facts.push(ago(view.last_activity_at, now));
    let mark = if is_present { " ← active" } else { "" };
    format!("• `{name}`{on}: {}{mark}", facts.join(", "))
}

/// `/worktree orphans`: every worktree that git knows, by branch; the folder's own name where nothing else tells it apart.
pub(crate) fn worktrees(codebase: &str, worktrees: &[Known]) -> String {
    let lines: Vec<String> = worktrees.iter().map(worktree).collect();
    let is_orphan = |known: &Known| known.environment.is_none() && known.found.marker.is_some();
    let foot = if worktrees.iter().any(is_orphan) {
        "`/worktree cleanup orphans` takes orphans over, or moves them to the trash."
    } else {
        ""
    };
    veiled(&list(&format!("git worktrees of `{codebase}`:"), &lines, foot))
}

fn worktree(known: &Known) -> String {
    let found = &known.found;
    let on = match (&found.branch, &found.head) {
        (Some(branch), _) => format!("`{branch}`"),
        (None, Some(head)) => format!("detached at {}", head.short()),
        (None, None) => "on no commit".to_owned(),
    };
    let folder = || found.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let whose = match &known.environment {
        Some(environment) => format!("environment `{}`", environment.name()),
        None if found.is_main => "main checkout".to_owned(),
        None if found.marker.is_some() => format!("orphan in `{}`: ours, but without a record", folder()),
        None => format!("unknown to Hedgerow, in `{}`", folder()),
    };
    let missing = if found.missing { ", gone from disk" } else { "" };
    format!("• {on}: {whose}{missing}")
}
