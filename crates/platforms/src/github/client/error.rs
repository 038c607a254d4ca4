//! Why a call has no answer, and what GitHub says about it.

use std::time::Duration;

use hedgerow_core::platform::PlatformError;
use serde_json::Value;

/// Most characters of GitHub's own words that are passed on.
const MOST_WORDS: usize = 600;

/// Why a call has no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum CallError {
    /// 404, 410, 451: there is none, or none for us.
    #[error("there is no such thing at {0}, or not for us")]
    NotFound(String),
    /// 301: it has another place now.
    #[error("it has moved")]
    Moved,
    /// GitHub does not want it, and would not later either.
    #[error("{status}: {message}")]
    Refused { status: u16, message: String },
    /// No answer, a failure on its side, or too many calls; after this time another try may go better.
    #[error("{why}")]
    Transient { why: String, after: Option<Duration> },
}

impl CallError {
    /// Something that is worth another try, nobody knows when.
    pub(crate) fn transient(why: impl Into<String>) -> Self {
        Self::Transient { why: why.into(), after: None }
    }

    pub(crate) fn is_transient(&self) -> bool {
        matches!(self, Self::Transient { .. })
    }
}

impl From<CallError> for PlatformError {
    fn from(error: CallError) -> Self {
        match error {
            CallError::Transient { why, .. } => Self::Transient(why),
            other => Self::Refused(other.to_string()),
        }
    }
}

/// GitHub's own words in the body of a refusal: the message, then each reason.
pub(super) fn words_of(body: &[u8]) -> String {
    let Ok(Value::Object(fields)) = serde_json::from_slice(body) else { return "without a word".to_owned() };
    let message = fields.get("message").and_then(Value::as_str).unwrap_or("without a word");
    let reasons: Vec<String> = match fields.get("errors") {
        Some(Value::Array(errors)) => errors.iter().filter_map(reason).collect(),
        Some(Value::String(error)) => vec![error.clone()],
        _ => Vec::new(),
    };
    let all = if reasons.is_empty() { message.to_owned() } else { format!("{message}: {}", reasons.join("; ")) };
    plain(&all)
}

fn reason(error: &Value) -> Option<String> {
    let field = |name| error.get(name).and_then(Value::as_str);
    match (error.as_str().or_else(|| field("message")), field("field"), field("code")) {
        (Some(text), _, _) => Some(text.to_owned()),
        (None, Some(name), Some(code)) => Some(format!("{name} is {code}")),
        (None, None, Some(code)) => Some(code.to_owned()),
        _ => None,
    }
}

/// An answer that is not what was asked for. Where, and not what: it may be a token.
pub(super) fn unreadable(status: u16, error: &serde_json::Error) -> CallError {
    let (line, column) = (error.line(), error.column());
    let message = format!("an answer that cannot be read, at line {line}, column {column}");
    CallError::Refused { status, message }
}

/// One line of bounded length: it goes into logs and replies.
pub(super) fn plain(text: &str) -> String {
    let line: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(MOST_WORDS).collect();
    line.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_of_a_refusal_is_passed_on() {
        let table: &[(&str, &str)] = &[
            (r#"{"message":"Not Found"}"#, "Not Found"),
            (
                r#"{"message":"Validation Failed","errors":[{"resource":"PullRequest","code":"custom","message":"No commits between main and x"},{"resource":"PullRequest","field":"base","code":"invalid"}]}"#,
                "Validation Failed: No commits between main and x; base is invalid",
            ),
            (r#"{"message":"Validation Failed","errors":["a","b"]}"#, "Validation Failed: a; b"),
            (r#"{"message":"Bad","errors":"why"}"#, "Bad: why"),
            (r#"{"message":"two\nlines"}"#, "two lines"),
            ("<html>", "without a word"),
            ("[]", "without a word"),
        ];
        for (body, expected) in table {
            assert_eq!(words_of(body.as_bytes()), *expected, "{body}");
        }
        assert_eq!(words_of(format!(r#"{{"message":"{}"}}"#, "x".repeat(5000)).as_bytes()).len(), MOST_WORDS);
    }
}
