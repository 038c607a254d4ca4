//! `/api/v1/events`: what happens, as it happens.

use std::convert::Infallible;
use std::time::Duration;

use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse as _, Response};
use futures_util::stream;
use hedgerow_core::EventId;
use hedgerow_core::platform::{ConversationKey, PlatformKind};
use serde::Deserialize;
use tokio::time::timeout;

use crate::error::{Answer, Problem};
use crate::feed::{Follower, Wanted, key_text};
use crate::reading::Asked;
use crate::web::Web;

/// A comment now and then tells both sides, and all in between, that the other is there.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// Longest wait for the log to be read.
const PATIENCE: Duration = Duration::from_secs(5);
/// So long a browser waits before it comes back.
const RETRY: Duration = Duration::from_secs(1);

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Query {
    /// Only of this conversation of the API.
    conversation: Option<String>,
}

pub(crate) async fn follow(State(web): State<Web>, headers: HeaderMap, Asked(query): Asked<Query>) -> Answer<Response> {
    let conversation = query.conversation.map(|id| key_text(&ConversationKey { platform: PlatformKind::Http, id }));
    let wanted = Wanted { after: last_seen(&headers)?, conversation };
    if timeout(PATIENCE, web.feed().begun()).await.is_err() {
        return Err(Problem::not_ready("the log of events cannot be read"));
    }
    let follower = Follower::new(web.feed(), web.engine().store(), wanted, web.limits().followers)
        .ok_or_else(|| Problem::no_room("too many follow the events already"))?;
    let hello = stream::iter([Ok::<_, Infallible>(Event::default().retry(RETRY))]);
    let events = stream::unfold(follower, |mut follower| async {
        let event = follower.next().await?;
        Some((Ok(event), follower))
    });
    let keep_alive = KeepAlive::new().interval(KEEP_ALIVE);
    let stream = stream::StreamExt::chain(hello, events);
    let mut response = Sse::new(stream).keep_alive(keep_alive).into_response();
    // Some proxies collect what they pass on.
    response.headers_mut().insert("x-accel-buffering", HeaderValue::from_static("no"));
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache, no-store"));
    Ok(response)
}

fn last_seen(headers: &HeaderMap) -> Answer<Option<EventId>> {
    let Some(given) = headers.get("last-event-id") else { return Ok(None) };
    let id = given.to_str().ok().map(str::trim);
    match id {
        // What a browser sends that has not seen any.
        Some("") => Ok(None),
        Some(id) => id.parse().map(Some).map_err(|_| Problem::usage("`Last-Event-ID` is not the id of an event")),
        None => Err(Problem::usage("`Last-Event-ID` is not the id of an event")),
    }
}
