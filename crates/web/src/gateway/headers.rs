//! Which headers are passed on, both ways. Those that are not named here stay on their side: keys, cookies, what belongs
//! to a connection, and what would put a call on another account's bill.

use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use hedgerow_core::assistant::Maker;

const UP: &[&str] = &[
    "accept",
    "anthropic-beta",
    "anthropic-dangerous-direct-browser-access",
    "anthropic-version",
    "content-type",
    "conversation_id",
    "openai-beta",
    "originator",
    "session-id",
    "session_id",
    "thread-id",
    "user-agent",
    "x-app",
    "x-claude-code-session-id",
    "x-client-request-id",
    "x-goog-api-client",
];
const UP_PREFIXES: &[&str] = &["x-codex-", "x-openai-internal-codex-", "x-stainless-"];

const DOWN: &[&str] = &[
    "cache-control",
    "content-encoding",
    "content-type",
    "openai-processing-ms",
    "request-id",
    "retry-after",
    "retry-after-ms",
    "x-request-id",
    "x-should-retry",
];
const DOWN_PREFIXES: &[&str] = &["anthropic-ratelimit-", "x-ratelimit-"];

/// For the maker, without the key.
pub(super) fn up(headers: &HeaderMap) -> HeaderMap {
    kept(headers, UP, UP_PREFIXES)
}

/// For the agent.
pub(super) fn down(headers: &HeaderMap) -> HeaderMap {
    kept(headers, DOWN, DOWN_PREFIXES)
}

fn kept(headers: &HeaderMap, names: &[&str], prefixes: &[&str]) -> HeaderMap {
    let is_kept = |name: &HeaderName| {
        names.contains(&name.as_str()) || prefixes.iter().any(|prefix| name.as_str().starts_with(prefix))
    };
    let kept = headers.iter().filter(|(name, _)| is_kept(name));
    kept.map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// The words in the headers where agents show their key.
pub(super) fn shown(headers: &HeaderMap) -> Vec<&[u8]> {
    let bearer = headers.get_all(header::AUTHORIZATION).iter().filter_map(|value| {
        let (scheme, token) = value.as_bytes().split_at_checked("Bearer ".len())?;
        scheme.eq_ignore_ascii_case(b"Bearer ").then(|| token.trim_ascii())
    });
    let plain = ["x-api-key", "x-goog-api-key"].into_iter().flat_map(|name| headers.get_all(name));
    bearer.chain(plain.map(|value| value.as_bytes().trim_ascii())).collect()
}

/// The header that a maker wants the key in. `None` when the key cannot stand in a header.
pub(super) fn key(maker: Maker, key: &str) -> Option<(HeaderName, HeaderValue)> {
    let (name, text) = match maker {
        Maker::Anthropic => (HeaderName::from_static("x-api-key"), key.to_owned()),
        Maker::Openai => (header::AUTHORIZATION, format!("Bearer {key}")),
        Maker::Gemini => (HeaderName::from_static("x-goog-api-key"), key.to_owned()),
    };
    let mut value = HeaderValue::from_str(&text).ok()?;
    // Whoever prints headers leaves it out.
    value.set_sensitive(true);
    Some((name, value))
}
