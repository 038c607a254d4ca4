//! What to do about an answer: take it, ask again, wait, or give up. No network here.

use std::time::Duration;

use axum::http::HeaderMap;
use reqwest::StatusCode;

use super::error::{CallError, words_of};
use super::graphql;
use super::wire::{Answer, Ask, Resource, Silence};

/// Most requests for one call.
const MOST_ATTEMPTS: u32 = 3;
/// What GitHub asks for when it tells no time.
const AFTER_ABUSE: Duration = Duration::from_mins(1);
/// It counts by the hour; whatever a clock says, nothing is further away.
const LONGEST_LIMIT: Duration = Duration::from_hours(1);

/// How patient a call is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Patience {
    /// Before the second attempt; before each further one it is three times as long.
    pub(super) pause: Duration,
    /// A limit that ends within this time is waited out.
    pub(super) wait: Duration,
    /// The whole call, with all its attempts and pauses.
    pub(super) call: Duration,
    /// All pages of a list.
    pub(super) list: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            pause: Duration::from_millis(500),
            wait: Duration::from_secs(20),
            call: Duration::from_secs(30),
            list: Duration::from_secs(50),
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Take,
    /// Ask again after this pause.
    Again(Duration),
    /// Nothing until this has passed; `everywhere` when it is not one kind of call alone.
    Limited {
        rest: Duration,
        everywhere: bool,
        last: bool,
    },
    GiveUp(CallError),
}

/// `attempt` counts from one.
pub(super) fn verdict(ask: &Ask, outcome: &Result<Answer, Silence>, attempt: u32, patience: &Patience) -> Verdict {
    let is_last = attempt >= MOST_ATTEMPTS;
    let again = || Verdict::Again(patience.pause.saturating_mul(3_u32.saturating_pow(attempt.saturating_sub(1))));
    match outcome {
        Err(Silence::NotConnected(_)) if !is_last => again(),
        Err(Silence::Broken(_)) if !is_last && ask.repeatable => again(),
        Err(Silence::NotConnected(why) | Silence::Broken(why)) => Verdict::GiveUp(CallError::transient(why)),
        Err(Silence::TooLong) => {
            Verdict::GiveUp(CallError::Refused { status: 200, message: "the answer is too long to read".to_owned() })
        }
        Ok(answer) if answer.status.is_success() => match trouble(ask, answer) {
            Some(graphql::Trouble::Limited { secondary }) => {
                let (rest, everywhere) = limit_of_queries(&answer.headers, secondary);
                Verdict::Limited { rest, everywhere, last: is_last }
            }
            Some(graphql::Trouble::Failed) if !is_last && ask.repeatable => again(),
            _ => Verdict::Take,
        },
        Ok(answer) if answer.status.is_redirection() => Verdict::Take,
        Ok(answer) => {
            if let Some((rest, everywhere)) = limit(answer) {
                Verdict::Limited { rest, everywhere, last: is_last }
            } else if is_its_failure(answer.status) && !is_last && ask.repeatable {
                again()
            } else {
                Verdict::GiveUp(refusal(ask, answer))
            }
        }
    }
}

/// Queries are refused with a good status too.
fn trouble(ask: &Ask, answer: &Answer) -> Option<graphql::Trouble> {
    if ask.resource == Resource::Graphql { graphql::trouble(answer) } else { None }
}

fn is_its_failure(status: StatusCode) -> bool {
    status.is_server_error() || status == StatusCode::REQUEST_TIMEOUT
}

fn refusal(ask: &Ask, answer: &Answer) -> CallError {
    let status = answer.status;
    match status.as_u16() {
        404 | 410 | 451 => CallError::NotFound(ask.url.path().to_owned()),
        number if is_its_failure(status) => CallError::transient(format!("GitHub failed with {number}")),
        number => CallError::Refused { status: number, message: words_of(&answer.body) },
    }
}

/// For how long nothing more should be asked, and whether of no kind.
fn limit(answer: &Answer) -> Option<(Duration, bool)> {
    if !matches!(answer.status, StatusCode::FORBIDDEN | StatusCode::TOO_MANY_REQUESTS) {
        return None;
    }
    if let Some(seconds) = number(&answer.headers, "retry-after") {
        return Some((bounded(seconds), true));
    }
    if number(&answer.headers, "x-ratelimit-remaining") == Some(0) {
        return Some((until_reset(&answer.headers), false));
    }
    let words = words_of(&answer.body).to_lowercase();
    let is_abuse = ["secondary rate limit", "abuse"].iter().any(|sign| words.contains(sign));
    let is_limit = is_abuse || answer.status == StatusCode::TOO_MANY_REQUESTS;
    is_limit.then_some((AFTER_ABUSE, true))
}

/// The same, of an answer that says it with a good status.
fn limit_of_queries(headers: &HeaderMap, secondary: bool) -> (Duration, bool) {
    match number(headers, "retry-after") {
        Some(seconds) => (bounded(seconds), true),
        // The hour's calls are not used up; what they are counted by ends too late.
        None if secondary && number(headers, "x-ratelimit-remaining") != Some(0) => (AFTER_ABUSE, true),
        None => (until_reset(headers), false),
    }
}

/// By GitHub's own clock where it tells it: ours may be wrong.
pub(super) fn until_reset(headers: &HeaderMap) -> Duration {
    let Some(reset) = number(headers, "x-ratelimit-reset") else { return AFTER_ABUSE };
    let now = its_clock(headers).as_second();
    // One more, because the second that it names has to be over.
    bounded(reset.saturating_sub(now).saturating_add(1))
}

/// What time it is for GitHub.
pub(in crate::github) fn its_clock(headers: &HeaderMap) -> jiff::Timestamp {
    let told = headers.get("date").and_then(|date| date.to_str().ok());
    let parsed = told.and_then(|date| jiff::fmt::rfc2822::DateTimeParser::new().parse_timestamp(date).ok());
    parsed.unwrap_or_else(jiff::Timestamp::now)
}

pub(super) fn number(headers: &HeaderMap, name: &str) -> Option<i64> {
    headers.get(name)?.to_str().ok()?.trim().parse().ok()
}

fn bounded(seconds: i64) -> Duration {
    Duration::from_secs(u64::try_from(seconds).unwrap_or(0)).clamp(Duration::from_secs(1), LONGEST_LIMIT)
}
