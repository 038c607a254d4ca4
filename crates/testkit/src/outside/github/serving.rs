//! From the wire to the call and back, with the troubles on the way.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, State};
use axum::http::request::Parts;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use serde_json::{Value, json};
use tokio::time::sleep;

use super::access::Who;
use super::call::{Answer, Answered, Call, Refusal};
use super::log::Request;
use super::state::World;
use super::trouble::Trouble;
use super::{Office, git, graphql, people, rest};

/// Longer than any test waits.
const VERY_LONG: Duration = Duration::from_mins(10);
const CALLS_PER_HOUR: i64 = 5000;

pub(super) fn routes(office: Arc<Office>) -> Router {
    Router::new().fallback(answer).layer(DefaultBodyLimit::disable()).with_state(office)
}

async fn answer(State(office): State<Arc<Office>>, asker: Parts, body: Bytes) -> Response {
    let full = asker.uri.path();
    let (prefix, path) = match full.strip_prefix("/api/v3") {
        Some(rest) => ("/api/v3", rest),
        None => ("", full.strip_prefix("/api").unwrap_or(full)),
    };
    let text = |name: header::HeaderName| asker.headers.get(name).and_then(|value| value.to_str().ok());
    let caller = office.world(|world| world.caller(text(header::AUTHORIZATION)));
    let login = office.world(|world| match &caller {
        Ok(Who::Holder(token)) => Some(world.login(token.who).to_owned()),
        Ok(Who::App) => Some(world.app.slug.clone()),
        _ => None,
    });
    let query = asker.uri.query().unwrap_or_default().to_owned();
    let json = serde_json::from_slice(&body).unwrap_or_default();
    let trouble = office.world(|world| world.troubles.of(asker.method.as_str(), path));
    let request =
        Request { method: asker.method.to_string(), path: path.to_owned(), query, body: json, login, status: 0 };
    // Written down when it comes: what hangs was asked too.
    let index = office.world(|world| {
        world.log.requests.push(request.clone());
        world.log.requests.len() - 1
    });
    let acts = async {
        if let Some(wanted) = git::Wanted::read(path) {
            return git::serve(&office, &wanted, &asker, body, caller).await;
        }
        let base = office.world(|world| format!("{}{prefix}", world.url));
        let answered = caller.and_then(|who| {
            let Request { method, path, query, body, .. } = request.clone();
            let call = Call { method, path, query, body, who, base };
            office.world(|world| dispatch(world, &call))
        });
        office.world(|world| shown(world, &request, answered))
    };
    let response = match trouble {
        None => acts.await,
        Some(Trouble::Slow(time)) => {
            sleep(time).await;
            acts.await
        }
        Some(Trouble::Hangs) => {
            sleep(VERY_LONG).await;
            plain(504, &json!({"message": "it took too long"}))
        }
        Some(Trouble::Drops) => broken(),
        Some(Trouble::DoesAndDrops) => {
            acts.await;
            broken()
        }
        Some(Trouble::DoesAndHangs) => {
            acts.await;
            sleep(VERY_LONG).await;
            plain(504, &json!({"message": "it took too long"}))
        }
        Some(Trouble::DoesAndFails) => {
            acts.await;
            plain(502, &json!({"message": "Server Error"}))
        }
        Some(Trouble::Status(status)) => plain(status, &json!({"message": "Server Error"})),
        Some(Trouble::QueryFails) => plain(
            200,
            &json!({"data": null, "errors": [{"message": "Something went wrong while executing your query."}]}),
        ),
        Some(limit) => limited(&limit, office.world(|world| world.clock.now())),
    };
    office.world(|world| world.log.requests[index].status = response.status().as_u16());
    response
}

fn dispatch(world: &mut World, call: &Call) -> Answered {
    match call.path.as_str() {
        "/graphql" => graphql::answer(world, call),
        path if path.starts_with("/control/") => people::control(world, call),
        _ => rest::answer(world, call),
    }
}

fn shown(world: &mut World, request: &Request, answered: Answered) -> Response {
    let answer = match answered {
        Ok(answer) | Err(Refusal::Said(answer)) => answer,
        Err(Refusal::Unknown) => {
            let query = if request.query.is_empty() { String::new() } else { format!("?{}", request.query) };
            world.log.fault(format!("{} {}{query} {}", request.method, request.path, request.body));
            Answer::new(404, json!({"message": "Not Found", "status": "404"}))
        }
    };
    let mut response = plain(answer.status, &answer.body);
    let used = i64::try_from(world.log.requests.len()).unwrap_or(CALLS_PER_HOUR);
    let limits = [
        ("x-ratelimit-limit", CALLS_PER_HOUR),
        ("x-ratelimit-remaining", (CALLS_PER_HOUR - used).max(1)),
        ("x-ratelimit-reset", world.clock.now() + 3600),
    ];
    for (name, value) in limits {
        response.headers_mut().insert(name, HeaderValue::from(value));
    }
    for (name, value) in answer.headers {
        response.headers_mut().insert(name, HeaderValue::from_str(&value).expect("a header of the fake's own"));
    }
    response
}

pub(super) fn plain(status: u16, body: &Value) -> Response {
    let status = StatusCode::from_u16(status).expect("a status that there is");
    if status == StatusCode::NO_CONTENT || body.is_null() {
        return status.into_response();
    }
    let kind = HeaderValue::from_static("application/json; charset=utf-8");
    (status, [(header::CONTENT_TYPE, kind)], body.to_string()).into_response()
}

/// An answer that ends in its middle.
fn broken() -> Response {
    let pieces = [Ok(Bytes::from_static(b"{\"id\": 1")), Err(std::io::Error::other("the line is cut"))];
    let mut response = Response::new(Body::from_stream(futures_util::stream::iter(pieces)));
    response.headers_mut().insert(header::CONTENT_LENGTH, HeaderValue::from_static("1000"));
    response
}

/// Too many calls, in one of GitHub's ways of saying so.
fn limited(limit: &Trouble, now: i64) -> Response {
    let seconds = |time: &Duration| i64::try_from(time.as_secs()).unwrap_or(i64::MAX / 4);
    let secondary = "You have exceeded a secondary rate limit. Please wait a few minutes before you try again.";
    let (message, remaining, reset, wait) = match limit {
        Trouble::RateLimit(time) => ("API rate limit exceeded for user ID 1.", 0, now + seconds(time), None),
        Trouble::SecondaryLimit(time) => (secondary, 4000, now + 3600, Some(seconds(time))),
        Trouble::QueryLimit(time) => ("API rate limit already exceeded for user ID 1.", 0, now + seconds(time), None),
        _ => (secondary, 4000, now + 3600, None),
    };
    let mut response = match limit {
        Trouble::QueryLimit(_) => {
            let error = json!({"type": "RATE_LIMIT", "code": "graphql_rate_limit", "message": message});
            plain(200, &json!({"errors": [error]}))
        }
        _ => {
            let help = "https://docs.github.com/rest/overview/rate-limits";
            plain(403, &json!({"message": message, "documentation_url": help}))
        }
    };
    let headers =
        [("x-ratelimit-limit", CALLS_PER_HOUR), ("x-ratelimit-remaining", remaining), ("x-ratelimit-reset", reset)];
    for (name, value) in headers {
        response.headers_mut().insert(name, HeaderValue::from(value));
    }
    if let Some(wait) = wait {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(wait));
    }
    response
}
