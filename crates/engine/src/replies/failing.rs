//! A failure as a chat reads it: the sentence, and what can be done, one line each.

use hedgerow_core::{Kind, RunId};

use super::{LONGEST, capital, shortened, veiled};
use crate::failure::Failure;

/// Said beside sentences that are written for chats; a chat need not hear it.
pub(crate) const IN_A_TERMINAL: &str = "in a terminal `/worktree` is `hedgerow env`";

/// What a person in a chat reads of a failure. `run`: the run in which it happened.
pub fn failure(failure: &Failure, run: Option<RunId>) -> String {
    let error = match failure {
        Failure::User(error) => error,
        Failure::Internal(_) => return broke(run),
    };
    let message = match error.kind {
        Kind::Busy => without_holder(&error.message),
        _ => &error.message,
    };
    let mut lines = vec![capital(&in_chat(message))];
    let hints = error.hints.iter().filter(|hint| *hint != IN_A_TERMINAL);
    lines.extend(hints.map(|hint| format!("• {}", in_chat(hint))));
    shortened(&lines.join("\n"), LONGEST)
}

/// Who holds a lease is a process of some machine, and nobody's business in a chat.
fn without_holder(message: &str) -> &str {
    let now = "is in use right now";
    message.find(now).map_or(message, |at| &message[..at + now.len()])
}

fn broke(run: Option<RunId>) -> String {
    let run = run.map(|run| format!(" (run {})", run.short())).unwrap_or_default();
    format!(
        "Something broke on my side{run}. What was changed so far is kept.\n\
         • try again in a while\n\
         • if it happens again, show this to whoever runs me: the log says more"
    )
}

/// The text with commands of the terminal as commands of a chat, and nothing of the machine.
fn in_chat(text: &str) -> String {
    veiled(&translated(text))
}

/// Each `` `hedgerow …` `` as what it is in a chat, where it is anything.
fn translated(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for (position, piece) in text.split('`').enumerate() {
        if position > 0 {
            out.push('`');
        }
        // Between an opening and a closing backtick.
        match piece.strip_prefix("hedgerow ").filter(|_| position % 2 == 1) {
            Some(command) => out.push_str(&chat_command(command).unwrap_or_else(|| piece.to_owned())),
            None => out.push_str(piece),
        }
    }
    out
}

/// What `hedgerow <command>` is in a chat.
fn chat_command(command: &str) -> Option<String> {
    let mut words = command.splitn(3, ' ');
    let (group, verb, rest) = (words.next()?, words.next()?, words.next().unwrap_or_default());
    let options = rest.split(' ').filter(|word| word.starts_with("--"));
    if options.clone().any(|option| !["--force", "--dry-run"].contains(&option)) {
        return None;
    }
    let with = |command: &str| format!("{command} {rest}").trim_end().to_owned();
    match (group, verb) {
        ("env", "list" | "orphans" | "keep" | "unkeep" | "diff" | "sync" | "pr") => Some(format!("/worktree {verb}")),
        ("env", "remove" | "restore" | "cleanup") => Some(with(&format!("/worktree {verb}"))),
        ("env", "create") => {
            let branch = rest.strip_prefix("branch ").unwrap_or("<branch>");
            Some(format!("/worktree create {branch}"))
        }
        ("env", "undo") => Some("/undo".to_owned()),
        ("codebase", "list") => Some("/repos".to_owned()),
        ("codebase", "remove") => Some(with("/repo-remove")),
        ("codebase", "add") if rest == "<path or url>" => Some("/clone <url>".to_owned()),
        _ => None,
    }
}
