//! The sentences that only a terminal says, and those of the engine in a terminal's voice.

pub(crate) mod github;

use std::net::SocketAddr;
use std::path::Path;

use hedgerow_core::provider::Note;
use hedgerow_core::saved::Account;
use hedgerow_core::{Codebase, Timestamp};
use hedgerow_engine::Failure;
use hedgerow_engine::engine::{Removed, Round};
use hedgerow_engine::replies::{self, Voice};

pub(crate) use replies::{
    age, ago, bytes, changes, distance, distance_in_words, moment, name, pinned, proposed, pull_request, quoted,
    resolved, skipped, span, sweep_summary, swept, synced, undone, used,
};

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

/// Where the server is, and what its callers need. The token itself is never said.
pub(crate) fn listening(address: SocketAddr, token_file: Option<&Path>) -> String {
    let token = match token_file {
        Some(file) => format!("the token for callers is in {}", file.display()),
        None => "the token for callers is the one that was set".to_owned(),
    };
    format!("listening on http://{address}\n{token}")
}

pub(crate) fn note(note: &Note) -> String {
    replies::note(note, Voice::Terminal)
}

/// What became of a removal.
pub(crate) fn removed(removed: &Removed) -> String {
    replies::removed(removed, Voice::Terminal)
}

/// `12 files, 3 objects of git`
pub(crate) fn account(account: &Account) -> String {
    format!("{} files, {} objects of git", account.files, account.objects)
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
    in_codebase(Voice::Terminal.restore(name), codebase)
}

/// A command that is to be typed anywhere names its codebase.
fn in_codebase(command: String, codebase: Option<&str>) -> String {
    match codebase {
        Some(name) => format!("{command} --codebase {}", quoted(name)),
        None => command,
    }
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

#[cfg(test)]
mod tests;
