//! What is said about a message on its way, and at its end when the assistant did not say it.

use std::time::Duration;

use hedgerow_core::platform::ConversationKey;
use hedgerow_core::provider::Note;
use hedgerow_core::{Environment, RepositoryName, Timestamp};

use super::troubles::trouble;
use super::{Voice, capital, note};
use crate::engine::{Swept, SweptOutcome};
use crate::run::{End, Ran};
use crate::store::Run;

/// What is ahead of somebody who waits for an environment.
pub(crate) fn ahead(
    environment: &Environment,
    run: Option<&Run>,
    conversation: Option<&ConversationKey>,
    now: Timestamp,
) -> String {
    let name = environment.name();
    match (run, conversation) {
        (Some(run), Some(conversation)) => {
            let since = duration(Duration::from_secs(now.seconds_since(run.started_at).max(0).unsigned_abs()));
            format!(
                "`{name}` is at work for `{}` since {since}. Yours comes after it; `/stop` there ends it.",
                conversation.id
            )
        }
        _ => format!("`{name}` is in use right now. Yours comes after."),
    }
}

/// What people should know about an environment that they were told of before.
pub(crate) fn notes(notes: &[Note]) -> String {
    notes.iter().map(|told| capital(&note(told, Voice::Chat))).collect::<Vec<_>>().join("\n")
}

/// For a conversation whose issue or pull request was closed, if anything became of its environment.
pub(crate) fn closed(swept: &Swept) -> Option<String> {
    match swept.outcome {
        SweptOutcome::Removed => Some(gone(&swept.name, &swept.because)),
        SweptOutcome::Kept | SweptOutcome::Failed => {
            Some(format!("Kept worktree `{}`: {}.", swept.name, super::veiled(&swept.because)))
        }
        _ => None,
    }
}

/// Why an environment is kept when its issue is closed.
pub(crate) fn pull_request_open(number: u64) -> String {
    format!("its pull request #{number} is still open")
}

pub(crate) fn pull_request_unknown(number: u64) -> String {
    format!("nobody could say whether its pull request #{number} is still open")
}

/// For a conversation whose environment automation has put into the trash.
pub(crate) fn gone(name: &str, because: &str) -> String {
    format!("Moved worktree `{name}` to the trash: {because}. `{}` brings it back.", Voice::Chat.restore(name))
}

pub(crate) fn being_changed() -> String {
    "The environment is being made, moved or removed by somebody else right now. Yours comes after.".to_owned()
}

pub(crate) fn no_codebase() -> String {
    "No codebase here yet, so I can only talk. `/clone <url>` adds one.".to_owned()
}

pub(crate) fn cloning(repository: &RepositoryName) -> String {
    format!("Cloning `{repository}`…")
}

pub(crate) fn session_unknown() -> String {
    "The assistant no longer knew the session, so this is a new one.".to_owned()
}

pub(crate) fn nothing_said() -> String {
    "Done. The assistant said nothing.".to_owned()
}

/// For somebody whose message was being dealt with when the server died.
pub(crate) fn interrupted(was_run: bool, environment: Option<&Environment>, said: Option<&str>) -> String {
    match (was_run, environment) {
        (true, Some(environment)) => format!(
            "Interrupted: the server stopped in the middle of this run. It is not run again; its changes are kept in `{}`. \
             Say what to do next, or `/undo`.",
            environment.name()
        ),
        (true, None) => {
            "Interrupted: the server stopped in the middle of this run. It is not run again; ask again.".to_owned()
        }
        (false, _) => {
            let command = said.and_then(|said| said.split_whitespace().next()).unwrap_or("this");
            format!(
                "Interrupted: the server stopped in the middle of `{command}`. It is not done again. `/status` shows how \
                 things stand."
            )
        }
    }
}

/// Somebody else may be at work in the environment by now, so taking things back is no advice.
pub(crate) fn lease_lost() -> String {
    "Interrupted: the environment could not be kept for this run. It is not run again; its changes are kept.".to_owned()
}

/// What is said about a turn, in paragraphs.
pub(crate) fn ended(ran: &Ran, environment: Option<&Environment>, assistant: &str) -> Vec<String> {
    let kept = match environment {
        Some(_) => " Its changes are kept; `/undo` takes them back.",
        None => "",
    };
    let said = ran.text.trim();
    let with_text = |words: String| {
        let said = (!said.is_empty()).then(|| said.to_owned());
        said.into_iter().chain([words]).collect()
    };
    match &ran.end {
        End::Answered(answer) if answer.answer.trim().is_empty() => {
            vec!["Done. The assistant said nothing.".to_owned()]
        }
        End::Answered(answer) => vec![answer.answer.trim_end().to_owned()],
        End::Failed(error) => with_text(trouble(error, assistant, kept)),
        End::Stopped => with_text(format!("Stopped.{kept}")),
        End::TooLong(limit) => {
            let limit = duration(*limit);
            with_text(format!(
                "Stopped after {limit}, the longest a run may take.{kept} Tell it to go on, in smaller steps."
            ))
        }
        End::Silent(limit) => {
            let limit = duration(*limit);
            with_text(format!(
                "Stopped: nothing was heard for {limit}.{kept} Ask again, after `/reset` if it hangs again."
            ))
        }
        End::Shutdown => with_text(format!("Interrupted: I am going down. It is not run again.{kept}")),
        End::LeaseLost => with_text(lease_lost()),
    }
}

/// `40 s`, `12 min`, `3 h`.
fn duration(duration: Duration) -> String {
    match duration.as_secs() {
        seconds @ 0..120 => format!("{seconds} s"),
        seconds @ 120..7200 => format!("{} min", seconds / 60),
        seconds => format!("{} h", seconds / 3600),
    }
}
