//! What the last line of a turn comes to. It says so itself: neither how the program ended nor the line's own `subtype` is
//! enough, since a refused login is a `success` there.

use hedgerow_core::Timestamp;
use hedgerow_core::assistant::{AssistantError, Outcome};
use serde_json::Value;

use crate::assistant::words::keepable;

/// What was heard of a trouble before the last line.
#[derive(Debug, Default)]
pub(super) struct Omens {
    /// What kind of error the model's API gave last, in Claude's words.
    pub(super) error: Option<String>,
    /// When a limit ends, in seconds since 1970.
    pub(super) resets_at: Option<i64>,
}

/// What the line of type `result` says about the turn. `session` is the one that was announced.
pub(super) fn of(
    result: &Value,
    session: Option<String>,
    resumes: bool,
    omens: &Omens,
) -> Result<Outcome, AssistantError> {
    let text = |key: &str| result.get(key).and_then(Value::as_str).unwrap_or_default();
    let is_bad = |subtype: &str| subtype.starts_with("error");
    let is_error = result.get("is_error").and_then(Value::as_bool).unwrap_or_else(|| is_bad(text("subtype")));
    if !is_error && !is_out_of_context(text("terminal_reason")) {
        return Ok(Outcome { session, answer: keepable(text("result").to_owned()) });
    }
    let trouble = Trouble {
        why: why(result),
        reason: text("terminal_reason"),
        subtype: text("subtype"),
        status: result.get("api_error_status").and_then(Value::as_u64),
        error: omens.error.as_deref().unwrap_or_default(),
    };
    Err(trouble.named(resumes, omens.resets_at))
}

struct Trouble<'a> {
    why: String,
    reason: &'a str,
    subtype: &'a str,
    /// Of HTTP.
    status: Option<u64>,
    error: &'a str,
}

impl Trouble<'_> {
    fn named(self, resumes: bool, resets_at: Option<i64>) -> AssistantError {
        match () {
            () if resumes && self.says(&["no conversation found", "requires a valid session"]) => {
                AssistantError::UnknownSession
            }
            () if is_out_of_context(self.reason) || self.is_too_long() => AssistantError::OutOfContext(self.why),
            () if self.is_out_of_bounds() => AssistantError::OutOfBounds(self.why),
            () if self.is_logged_out() => AssistantError::LoggedOut(self.why),
            () if self.is_limited() => AssistantError::Limited(with_time(&self.why, resets_at)),
            () if self.reason.starts_with("aborted") => AssistantError::Crashed(self.why),
            () => AssistantError::Failed(self.why),
        }
    }

    fn is_too_long(&self) -> bool {
        self.says(&[
            "prompt is too long",
            "input is too long for",
            "exceeds the model's context",
            "context window limit",
        ])
    }

    fn is_out_of_bounds(&self) -> bool {
        ["max_turns", "budget_exhausted"].contains(&self.reason)
            || ["error_max_turns", "error_max_budget_usd"].contains(&self.subtype)
    }

    fn is_logged_out(&self) -> bool {
        const ERRORS: [&str; 5] = [
            "authentication_failed",
            "oauth_org_not_allowed",
            "account_on_hold",
            "verification_required",
            "cloud_credential_error",
        ];
        [Some(401), Some(403)].contains(&self.status)
            || ERRORS.contains(&self.error)
            || self.says(&["run /login", "not logged in", "invalid api key"])
    }

    fn is_limited(&self) -> bool {
        [Some(402), Some(429), Some(529)].contains(&self.status)
            || ["rate_limit", "overloaded", "billing_error"].contains(&self.error)
            || self.says(&["usage limit reached", "you've hit your", "credit balance is too low"])
    }

    fn says(&self, words: &[&str]) -> bool {
        let why = self.why.to_lowercase();
        words.iter().any(|words| why.contains(words))
    }
}

/// The conversation does not fit any more, and it could not be made shorter.
fn is_out_of_context(reason: &str) -> bool {
    ["prompt_too_long", "blocking_limit", "rapid_refill_breaker"].contains(&reason)
}

/// Its own words, for a person.
fn why(result: &Value) -> String {
    let said = result.get("result").and_then(Value::as_str).map(str::trim).filter(|said| !said.is_empty());
    let errors = result.get("errors").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let errors = errors.collect::<Vec<_>>().join("; ");
    let named = |key: &str| result.get(key).and_then(Value::as_str).map(|name| name.replace('_', " "));
    let why = match said {
        Some(said) => said.to_owned(),
        None if !errors.trim().is_empty() => errors,
        None => {
            named("terminal_reason").or_else(|| named("subtype")).unwrap_or_else(|| "it does not say why".to_owned())
        }
    };
    keepable(why)
}

/// With the end of the limit, unless it is in the words: as a time of day, or in seconds after a bar.
fn with_time(why: &str, resets_at: Option<i64>) -> String {
    let (words, after_bar) = match why.rsplit_once('|') {
        Some((words, seconds)) if seconds.trim().parse::<i64>().is_ok() => (words, seconds.trim().parse().ok()),
        _ => (why, None),
    };
    match after_bar.or(resets_at) {
        Some(seconds) if !words.contains("reset") => {
            let until = Timestamp::from_millis(seconds.saturating_mul(1000));
            format!("{} (until {until})", words.trim_end().trim_end_matches('.'))
        }
        _ => words.to_owned(),
    }
}
