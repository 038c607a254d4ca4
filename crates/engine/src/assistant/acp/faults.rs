//! Why an agent did not do what it was asked. The protocol has codes for few reasons; for the rest there are only words.

use hedgerow_core::assistant::AssistantError;

use super::super::rpc::Fault;

/// Codes of the protocol, and of JSON-RPC.
const AUTH_REQUIRED: i64 = -32000;

const TOO_LONG: [&str; 4] = ["context window", "context length", "context_length", "prompt is too long"];
const TOO_MUCH: [&str; 7] =
    ["rate limit", "rate_limit", "usage limit", "quota", "overloaded", "too many requests", "429"];
const NO_LOGIN: [&str; 6] = ["authentication", "unauthorized", "not logged in", "log in", "api key", "401"];

/// Why a session cannot be resumed. Whatever it is, but for a login or a limit: a new one can be begun, and is told what
/// was concluded. Some agents, for one, cannot take up a session of a folder that is not there any more.
pub(super) fn of_resuming(fault: &Fault) -> AssistantError {
    match of_asking(fault) {
        AssistantError::Failed(_) => AssistantError::UnknownSession,
        other => other,
    }
}

/// Why the first prompt of a resumed session came to nothing. opencode, for one, says only then, and only so, that it
/// cannot work where the session was begun.
pub(super) fn of_going_on(fault: &Fault) -> AssistantError {
    if fault.told().contains("service failure") { of_resuming(fault) } else { of_asking(fault) }
}

pub(super) fn of_asking(fault: &Fault) -> AssistantError {
    let told = fault.told();
    let words = told.to_lowercase();
    let has = |any: &[&str]| any.iter().any(|word| words.contains(word));
    match () {
        () if fault.code == AUTH_REQUIRED => AssistantError::LoggedOut(told),
        () if has(&TOO_LONG) => AssistantError::OutOfContext(told),
        () if has(&TOO_MUCH) => AssistantError::Limited(told),
        () if has(&NO_LOGIN) => AssistantError::LoggedOut(told),
        () => AssistantError::Failed(told),
    }
}
