//! What every request passes: a name for the log, where it comes from, and whether its caller has the token.

use std::net::IpAddr;
use std::panic::AssertUnwindSafe;
use std::time::Instant;

use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use futures_util::FutureExt as _;
use hedgerow_core::MessageId;
use tracing::Instrument as _;

use crate::error::Problem;
use crate::web::Web;

/// Names the request, logs how it ended, and keeps a panic in it to itself. The log has the route, never the query.
pub(crate) async fn trace(State(web): State<Web>, request: Request, next: Next) -> Response {
    let id = MessageId::new().short();
    let route = request.extensions().get::<MatchedPath>().map_or("unknown", MatchedPath::as_str).to_owned();
    let is_probe = ["/healthz", "/readyz", "/metrics"].contains(&route.as_str());
    let span = tracing::info_span!("request", id, method = %request.method(), route);
    let began = Instant::now();
    let answer = async {
        let answered = match AssertUnwindSafe(next.run(request)).catch_unwind().await {
            Ok(answered) => answered,
            Err(_) => {
                tracing::error!("a request panicked");
                Problem::internal().into_response()
            }
        };
        let millis = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        let status = answered.status().as_u16();
        // Probes come every few seconds, and say nothing new while all is well.
        if is_probe && answered.status().is_success() {
            tracing::debug!(status, millis, "answered");
        } else {
            tracing::info!(status, millis, "answered");
        }
        answered
    };
    let mut answer = answer.instrument(span).await;
    web.metrics().answered(answer.status());
    if let Ok(id) = HeaderValue::from_str(&id) {
        answer.headers_mut().insert("x-request-id", id);
    }
    answer
}

/// Refuses web pages of others. A page that reaches us through a name of its own (DNS rebinding) has an origin that
/// looks like ours, so a name counts as ours only when nobody else can have it: `localhost`, an address, or one listed.
pub(crate) async fn check_origin(State(web): State<Web>, request: Request, next: Next) -> Response {
    if is_foreign(request.headers(), web.origins()) {
        return Problem::foreign_origin().into_response();
    }
    next.run(request).await
}

fn is_foreign(headers: &HeaderMap, listed: &[String]) -> bool {
    let mut origins = headers.get_all(header::ORIGIN).iter();
    let (Some(origin), None) = (origins.next(), origins.next()) else {
        // None is no browser's; more than one is nobody's.
        return headers.contains_key(header::ORIGIN);
    };
    let Ok(origin) = origin.to_str() else { return true };
    if listed.iter().any(|ours| ours.eq_ignore_ascii_case(origin)) {
        return false;
    }
    let authority = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    match (authority, host) {
        (Some(authority), Some(host)) => !(authority.eq_ignore_ascii_case(host) && is_nobody_elses(host)),
        _ => true,
    }
}

fn is_nobody_elses(host: &str) -> bool {
    let (name, port) = match host.rsplit_once(':') {
        // The colons inside of `[::1]` are no border.
        Some((name, port)) if !port.ends_with(']') => (name, port),
        _ => (host, ""),
    };
    let bare = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
    let is_port = port.bytes().all(|byte| byte.is_ascii_digit());
    is_port && (name.eq_ignore_ascii_case("localhost") || bare.parse::<IpAddr>().is_ok())
}

/// Lets the bearer of the token pass.
pub(crate) async fn require_token(State(web): State<Web>, request: Request, next: Next) -> Response {
    let shown = request.headers().get(header::AUTHORIZATION).and_then(|value| {
        let (scheme, token) = value.as_bytes().split_at_checked("Bearer ".len())?;
        scheme.eq_ignore_ascii_case(b"Bearer ").then(|| token.trim_ascii())
    });
    match shown {
        Some(shown) if web.token().is(shown) => next.run(request).await,
        _ => Problem::unauthorized().into_response(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(origin: Option<&str>, host: Option<&str>) -> HeaderMap {
        let mut headers = HeaderMap::new();
        let given = [(header::ORIGIN, origin), (header::HOST, host)];
        for (name, value) in given {
            if let Some(value) = value {
                headers.append(name, value.parse().expect("a header"));
            }
        }
        headers
    }

    #[test]
    fn pages_of_others_are_refused_whatever_name_they_come_by() {
        let listed = ["https://hedgerow.example".to_owned()];
        for (origin, host, foreign) in [
            (None, Some("127.0.0.1:4747"), false),
            (None, Some("hedgerow.example"), false),
            (Some("http://127.0.0.1:4747"), Some("127.0.0.1:4747"), false),
            (Some("http://localhost:4747"), Some("localhost:4747"), false),
            (Some("http://LOCALHOST:4747"), Some("localhost:4747"), false),
            (Some("http://[::1]:4747"), Some("[::1]:4747"), false),
            (Some("http://[::1]"), Some("[::1]"), false),
            (Some("https://10.0.0.7"), Some("10.0.0.7"), false),
            (Some("https://hedgerow.example"), Some("10.0.0.7"), false),
            (Some("http://hedgerow.example"), Some("hedgerow.example"), true),
            (Some("http://evil.example:4747"), Some("127.0.0.1:4747"), true),
            (Some("http://evil.example:4747"), Some("evil.example:4747"), true),
            (Some("http://127.0.0.1.evil.example"), Some("127.0.0.1.evil.example"), true),
            (Some("http://localhost.evil.example"), Some("localhost.evil.example"), true),
            (Some("http://localhost:8080"), Some("localhost:4747"), true),
            (Some("http://localhost:x"), Some("localhost:x"), true),
            (Some("null"), Some("127.0.0.1:4747"), true),
            (Some(""), Some(""), true),
            (Some("file://"), Some("127.0.0.1:4747"), true),
            (Some("http://127.0.0.1:4747"), None, true),
        ] {
            assert_eq!(is_foreign(&headers(origin, host), &listed), foreign, "{origin:?} at {host:?}");
        }
        let mut two = headers(Some("http://127.0.0.1:4747"), Some("127.0.0.1:4747"));
        two.append(header::ORIGIN, HeaderValue::from_static("http://127.0.0.1:4747"));
        assert!(is_foreign(&two, &listed), "two origins");
    }
}
