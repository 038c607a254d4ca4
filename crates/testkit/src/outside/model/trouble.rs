//! What goes wrong with a model, in the words of each API.

use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use serde_json::{Value, json};

/// A kind of trouble.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Trouble {
    /// The key is wrong.
    Unauthorized,
    /// Too many requests for now.
    Limited,
    /// No money left.
    Spent,
    /// Too many requests of everybody.
    Overloaded,
    /// Theirs.
    Internal,
    /// The conversation is larger than the model can hold.
    TooLong,
    /// Ours: what was asked makes no sense.
    Invalid,
}

impl Trouble {
    /// By its word in a script.
    pub(super) fn named(word: &str) -> Option<Self> {
        Some(match word {
            "401" => Self::Unauthorized,
            "429" => Self::Limited,
            "quota" => Self::Spent,
            "529" => Self::Overloaded,
            "500" => Self::Internal,
            "too-long" => Self::TooLong,
            _ => return None,
        })
    }

    /// As Anthropic says it.
    pub(super) fn anthropic(self) -> (StatusCode, Value) {
        let (status, kind, message) = match self {
            Self::Unauthorized => (401, "authentication_error", "invalid x-api-key"),
            Self::Limited => (429, "rate_limit_error", "This request would exceed your account's rate limit."),
            Self::Spent => {
                (400, "invalid_request_error", "Your credit balance is too low to access the Anthropic API.")
            }
            Self::Overloaded => (529, "overloaded_error", "Overloaded"),
            Self::Internal => (500, "api_error", "Internal server error"),
            Self::TooLong => (400, "invalid_request_error", "prompt is too long: 213486 tokens > 200000 maximum"),
            Self::Invalid => (400, "invalid_request_error", "messages: not understood"),
        };
        (code(status), json!({"type": "error", "error": {"type": kind, "message": message}}))
    }

    /// As OpenAI says it.
    pub(super) fn openai(self) -> (StatusCode, Value) {
        let (status, kind, code_word, message) = match self {
            Self::Unauthorized => (401, "invalid_request_error", "invalid_api_key", "Incorrect API key provided."),
            Self::Limited => (429, "tokens", "rate_limit_exceeded", "Rate limit reached. Please try again in 1s."),
            Self::Spent => (429, "insufficient_quota", "insufficient_quota", "You exceeded your current quota."),
            Self::Overloaded => (503, "server_error", "server_is_overloaded", "The engine is currently overloaded."),
            Self::Internal => (500, "server_error", "server_error", "The server had an error."),
            Self::TooLong => {
                let message = "Your input exceeds the context window of this model.";
                (400, "invalid_request_error", "context_length_exceeded", message)
            }
            Self::Invalid => (400, "invalid_request_error", "invalid_value", "The input is not understood."),
        };
        let error = json!({"message": message, "type": kind, "param": null, "code": code_word});
        (code(status), json!({ "error": error }))
    }

    /// When to come back, where that is said.
    pub(super) fn headers(self) -> HeaderMap {
        let mut headers = HeaderMap::new();
        if matches!(self, Self::Limited) {
            headers.insert(HeaderName::from_static("retry-after"), HeaderValue::from_static("1"));
        }
        headers
    }
}

fn code(status: u16) -> StatusCode {
    StatusCode::from_u16(status).expect("it is written above")
}
