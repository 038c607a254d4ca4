//! Errors of the gateway, each in the form of the API that was called: agents show their people what they understand.

use axum::Json;
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use hedgerow_core::assistant::Maker;
use serde_json::json;

/// Why a call is not answered by a model.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) maker: Maker,
    pub(super) why: Why,
    pub(super) message: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Why {
    /// Not the token of a run that is on.
    Stranger,
    /// Nothing that is passed on.
    Unknown,
    TooLarge,
    /// Too many calls at once: later, perhaps.
    Crowded,
    /// No money left: not later either.
    Spent,
    /// The request broke off, or took too long to arrive.
    Broken,
    /// The true key is refused.
    KeyRefused,
    /// The maker cannot be reached, or says what it should not.
    Unreachable,
    /// The maker takes too long.
    Slow,
    /// Something of ours.
    Internal,
}

impl Refusal {
    pub(super) fn new(maker: Maker, why: Why, message: impl Into<String>) -> Self {
        Self { maker, why, message: message.into() }
    }
}

impl Why {
    const fn status(self) -> StatusCode {
        match self {
            Self::Stranger | Self::KeyRefused => StatusCode::UNAUTHORIZED,
            Self::Unknown => StatusCode::NOT_FOUND,
            Self::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Crowded | Self::Spent => StatusCode::TOO_MANY_REQUESTS,
            Self::Broken => StatusCode::BAD_REQUEST,
            Self::Unreachable => StatusCode::BAD_GATEWAY,
            Self::Slow => StatusCode::GATEWAY_TIMEOUT,
            Self::Internal => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    /// What each maker calls it.
    const fn names(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Stranger | Self::KeyRefused => ("authentication_error", "invalid_api_key", "UNAUTHENTICATED"),
            Self::Unknown => ("not_found_error", "not_found", "NOT_FOUND"),
            Self::TooLarge => ("request_too_large", "request_too_large", "INVALID_ARGUMENT"),
            Self::Crowded => ("rate_limit_error", "rate_limit_exceeded", "RESOURCE_EXHAUSTED"),
            Self::Spent => ("rate_limit_error", "insufficient_quota", "RESOURCE_EXHAUSTED"),
            Self::Broken => ("invalid_request_error", "invalid_request", "INVALID_ARGUMENT"),
            Self::Unreachable | Self::Internal => ("api_error", "server_error", "UNAVAILABLE"),
            Self::Slow => ("timeout_error", "timeout", "DEADLINE_EXCEEDED"),
        }
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let Self { maker, why, message } = self;
        let (status, (anthropic, openai, gemini)) = (why.status(), why.names());
        let body = match maker {
            Maker::Anthropic => json!({"type": "error", "error": {"type": anthropic, "message": message}}),
            Maker::Openai => {
                json!({"error": {"message": message, "type": openai, "code": openai, "param": null}})
            }
            Maker::Gemini => json!({"error": {"code": status.as_u16(), "message": message, "status": gemini}}),
        };
        let mut response = (status, Json(body)).into_response();
        if why == Why::Crowded {
            response.headers_mut().insert("retry-after", HeaderValue::from_static("1"));
        }
        if matches!(why, Why::Spent | Why::KeyRefused) {
            // Their clients would try again for minutes, and nothing would have changed.
            let header = HeaderName::from_static("x-should-retry");
            response.headers_mut().insert(header, HeaderValue::from_static("false"));
        }
        response
    }
}
