//! Every sentence for people that more than one door says: chats, the web, the terminal. Change the tone here.
//!
//! Pure functions of what the engine answered. What goes into a chat may be read by anyone in it, so nothing of the
//! machine's own paths or addresses is in a sentence of [`Voice::Chat`].

mod answers;
mod asking;
mod caging;
mod environment;
mod failing;
mod measure;
pub(crate) mod messages;
mod notes;
mod overstepping;
mod proposing;
mod standing;
mod sweeping;
mod troubles;
mod undoing;
mod veil;

pub(crate) use answers::{
    assistant_chosen, assistants, busy, chosen, cloned, cloned_before, clones, codebases, diff, forgotten,
    nothing_to_stop, removed_in_chat, reset, starts_in, stopping, template_set, templates, templates_loaded,
    undone_in_chat,
};
pub(crate) use asking::which_clone;
pub use asking::{absent, help, unknown, which_codebase, wrong};
pub use caging::sandbox_words;
pub(crate) use environment::synced_in_chat;
pub use environment::{
    changes, distance, distance_in_words, introduction, linked, name, pinned, removed, resolved, synced, undo_removal,
};
pub(crate) use failing::IN_A_TERMINAL;
pub use failing::failure;
pub use measure::{age, ago, bytes, day, figures, moment, quoted, span, used};
pub use notes::{note, skipped};
pub use overstepping::{all_overstepped, overstepped};
pub use proposing::{proposed, pull_request};
pub(crate) use standing::{Census, Standing, environments, status, worktrees};
pub(crate) use sweeping::cleaned_up;
pub use sweeping::{sweep_summary, swept};
pub use undoing::undone;
pub use veil::veiled;

/// How we speak.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Voice {
    /// To who sits at the machine: its paths, and commands for its shell.
    Terminal,
    /// To anyone: `/worktree restore x`, and no path of the machine.
    Chat,
}

impl Voice {
    /// The command that brings an environment back from the trash.
    pub fn restore(self, name: &str) -> String {
        match self {
            Self::Terminal => format!("hedgerow env restore {}", quoted(name)),
            Self::Chat => format!("/worktree restore {}", spoken(name)),
        }
    }
}

/// Most characters of an answer to a command. Every chat takes so many in one message, with room for what goes around.
pub(crate) const LONGEST: usize = 3_800;

/// A word as an argument of a command: in quotes where it would be cut.
pub(crate) fn spoken(word: &str) -> String {
    if word.is_empty() || word.contains(|c: char| c.is_whitespace() || c == '"') || word.starts_with('-') {
        format!("\"{}\"", word.replace('\\', "\\\\").replace('"', "\\\""))
    } else {
        word.to_owned()
    }
}

/// A list with a line for each, as much of it as fits below `head` and above `foot`; the rest is counted.
pub(crate) fn list(head: &str, lines: &[String], foot: &str) -> String {
    let joined = |lines: &[String], more: &str| {
        let parts = [head, &lines.join("\n"), more, foot];
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n")
    };
    for shown in (0..=lines.len()).rev() {
        let left = lines.len() - shown;
        let more = if left > 0 { format!("and {left} more") } else { String::new() };
        let text = joined(&lines[..shown], &more);
        if text.chars().count() <= LONGEST {
            return text;
        }
    }
    shortened(&joined(&[], ""), LONGEST)
}

/// The beginning of a text that is too long.
pub(crate) fn shortened(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let mut short: String = text.chars().take(most.saturating_sub(1)).collect();
    short.push('…');
    short
}

/// `1 path`, `2 paths`.
pub(crate) fn plural(count: u64, word: &str) -> String {
    if count == 1 { format!("1 {word}") } else { format!("{count} {word}s") }
}

/// A text that begins a sentence.
pub(crate) fn capital(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().map(|c| c.to_uppercase().collect::<String>()).unwrap_or_default();
    format!("{first}{}", chars.as_str())
}

#[cfg(test)]
mod tests;
