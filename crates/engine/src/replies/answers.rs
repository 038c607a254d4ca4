//! What a command answers when it is done, and the next step.

use std::path::Path;

use hedgerow_core::{Environment, Kind, RepositoryName, UserError};

use super::{LONGEST, Voice, list, note, plural, quoted, removed, shortened, undo_removal, undone, veiled};
use crate::checkpoints::Undone;
use crate::engine::{Registered, Removed};
use crate::store::Run;
use crate::templates::Template;

/// So many names are read at a glance.
const MOST_NAMES: usize = 20;

pub(crate) fn cloned(registered: &Registered) -> String {
    let name = &registered.codebase.name;
    let lines: Vec<String> = registered.notes.iter().map(|about| format!("• {}", note(about, Voice::Chat))).collect();
    let head = format!("`{name}` is here, and this conversation is about it now.");
    list(&head, &lines, "Say what is to be done, or `/worktree create <branch>`.")
}

pub(crate) fn cloned_before(name: &str) -> String {
    format!("`{name}` was cloned from there already; this conversation is about it now.")
}

pub(crate) fn chosen(name: &str) -> String {
    format!("This conversation is about `{name}` now. Say what is to be done, or `/worktree list`.")
}

/// The codebases with how many environments each has, the present one marked.
pub(crate) fn codebases(codebases: &[(String, u64)], present: Option<&str>) -> String {
    if codebases.is_empty() {
        return super::which_codebase(&[]);
    }
    list("Codebases:", &lines_of(codebases, present), "`/repo <name>` chooses one, `/clone <url>` adds one.")
}

/// The same in a conversation of a forge, which knows only the clones of its own repository.
pub(crate) fn clones(repository: &RepositoryName, clones: &[(String, u64)], present: Option<&str>) -> String {
    if clones.is_empty() {
        return format!("I have no clone of `{repository}`.");
    }
    let head = format!("Clones of `{repository}`:");
    list(&head, &lines_of(clones, present), "`/repo <name>` chooses one.")
}

fn lines_of(codebases: &[(String, u64)], present: Option<&str>) -> Vec<String> {
    let line = |(name, live): &(String, u64)| {
        let mark = if present == Some(name) { " ← active" } else { "" };
        format!("• `{name}`: {}{mark}", plural(*live, "environment"))
    };
    codebases.iter().map(line).collect()
}

pub(crate) fn forgotten(name: &str, gone: &[Removed]) -> String {
    let lines: Vec<String> = gone.iter().map(|gone| format!("• {}", removed(gone, Voice::Chat))).collect();
    let back = "To have it back, with its trash: `hedgerow codebase add` in its folder, in a terminal.";
    list(&format!("Forgot the codebase `{name}`; its repository stays as it is."), &lines, back)
}

/// Where the agent starts.
pub(crate) fn starts_in(subfolder: Option<&Path>) -> String {
    match subfolder {
        Some(subfolder) => {
            format!("The agent starts in `{}`. `/setcwd .` goes back to the top.", subfolder.display())
        }
        None => "The agent starts at the top of the environment. `/setcwd <subfolder>` changes that.".to_owned(),
    }
}

/// The assistants there are, the one that works here marked.
pub(crate) fn assistants(names: &[String], present: Option<&str>) -> String {
    if names.is_empty() {
        return "There is no assistant yet; whoever runs me installs one, or names it in hedgerow.toml.".to_owned();
    }
    let line = |name: &String| format!("• `{name}`{}", if present == Some(name) { " ← active" } else { "" });
    let lines: Vec<String> = names.iter().map(line).collect();
    list("Assistants:", &lines, "`/assistant <name>` chooses one.")
}

pub(crate) fn assistant_chosen(name: &str, is_session_over: bool) -> String {
    let over = if is_session_over { " Its session begins with your next message." } else { "" };
    format!("This conversation works with `{name}` now.{over}")
}

pub(crate) fn reset(had_one: bool, environment: Option<&str>) -> String {
    let stays = environment.map(|name| format!(" `{name}` stays as it is.")).unwrap_or_default();
    if had_one {
        format!("The session is over; your next message begins a new one.{stays}")
    } else {
        format!("There is no session to end; your next message begins one.{stays}")
    }
}

pub(crate) fn stopping(run: &Run) -> String {
    if run.stop_asked_at.is_some() {
        return format!("`{}` is being stopped already; its changes are kept.", run.assistant);
    }
    format!("Stopping `{}`; its changes are kept. `/undo` takes them back.", run.assistant)
}

pub(crate) fn nothing_to_stop() -> String {
    "Nothing is running here.".to_owned()
}

/// Somebody is at work in an environment that was to be changed.
pub(crate) fn busy(name: &str, run: Option<&Run>, otherwise: UserError) -> UserError {
    let Some(run) = run else { return otherwise };
    let message = format!("`{name}` is busy: `{}` is at work in it for {}", run.assistant, run.author);
    UserError::new(Kind::Busy, message).hint("wait until that is done, or stop it: `/stop`")
}

pub(crate) fn undone_in_chat(environment: &Environment, done: &Undone) -> String {
    let lines = undone(environment, done);
    let (head, rest) = lines.split_first().map_or(("", &[][..]), |(head, rest)| (head.as_str(), rest));
    let rest: Vec<String> = rest.iter().map(|line| format!("• {}", line.trim_start())).collect();
    let back = format!("hedgerow env undo {} --to {}", quoted(environment.name()), done.before.number);
    list(head, &rest, &format!("The state before is kept: `{back}` in a terminal goes back to it."))
}

pub(crate) fn removed_in_chat(gone: &Removed) -> String {
    match undo_removal(gone) {
        Some(undo) => format!("{}\nUndo: `{undo}`", removed(gone, Voice::Chat)),
        None => removed(gone, Voice::Chat),
    }
}

pub(crate) fn templates(codebase: &str, templates: &[(String, Option<String>)]) -> String {
    let more = "`/command-set <name> <path>` adds one from the base branch, `/load-commands <folder>` a whole folder.";
    if templates.is_empty() {
        return format!("`{codebase}` has no prompt templates yet. {more}");
    }
    let line = |(name, described): &(String, Option<String>)| match described {
        Some(described) => format!("• `/{name}` - {}", shortened(&one_line(described), 160)),
        None => format!("• `/{name}`"),
    };
    let lines: Vec<String> = templates.iter().map(line).collect();
    veiled(&list(&format!("Prompt templates of `{codebase}`:"), &lines, more))
}

pub(crate) fn template_set(name: &str, template: &Template) -> String {
    let usage = match &template.arguments {
        Some(arguments) => format!("/{name} {}", one_line(arguments)),
        None => format!("/{name}"),
    };
    let about = template.description.as_deref().map(|about| format!(": {}", one_line(about))).unwrap_or_default();
    shortened(&format!("`{usage}` is there now{about}"), LONGEST)
}

pub(crate) fn templates_loaded(loaded: &[String], passed: &[String]) -> String {
    let names: Vec<String> = loaded.iter().take(MOST_NAMES).map(|name| format!("`/{name}`")).collect();
    let more = loaded.len().saturating_sub(MOST_NAMES);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let head = match loaded {
        [] => "Loaded nothing.".to_owned(),
        _ => format!("Loaded {}: {}{more}", plural(loaded.len() as u64, "template"), names.join(", ")),
    };
    let lines: Vec<String> = passed.iter().map(|why| format!("• left out: {why}")).collect();
    list(&head, &lines, "")
}

/// What the environments changed, with the patch itself where it is short.
pub(crate) fn diff(name: &str, stat: &str, patch: &str) -> String {
    if stat.trim().is_empty() {
        return format!("`{name}` has changed nothing since its base.");
    }
    let head = format!("What `{name}` changed since its base:");
    let whole = format!("{head}\n{}\n{}", fenced("", stat.trim_end()), fenced("diff", patch.trim_end()));
    if whole.chars().count() <= LONGEST {
        return whole;
    }
    let foot = format!("`hedgerow env diff {}` in a terminal shows the patch.", quoted(name));
    let room = LONGEST.saturating_sub(head.chars().count() + foot.chars().count() + 100);
    let mut lines: Vec<&str> = stat.trim_end().lines().collect();
    // The last line sums up, so it stays.
    let sum = lines.pop().unwrap_or_default();
    while lines.iter().map(|line| line.chars().count() + 1).sum::<usize>() + sum.chars().count() > room {
        lines.pop();
    }
    lines.push(sum);
    shortened(&format!("{head}\n{}\n{foot}", fenced("", &lines.join("\n"))), LONGEST)
}

/// The text in a fence that nothing in it can close.
fn fenced(language: &str, text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}{language}\n{text}\n{fence}")
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
