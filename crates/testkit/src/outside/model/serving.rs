//! The routes of the APIs, and answers on their way.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, State};
use axum::http::request::Parts;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep};

use super::asked::Asked;
use super::log::{Key, Request};
use super::play::{self, Beat};
use super::trouble::Trouble;
use super::voice::{Api, Event, Tokens, Voice};
use super::{Office, anthropic, chat, responses};

/// So often a silent stream says that it is alive.
const SIGN_OF_LIFE: Duration = Duration::from_millis(500);

pub(super) fn routes(office: Arc<Office>) -> Router {
    Router::new()
        .route("/v1/messages", post(|office, asker, body| answer(office, asker, Api::Messages, body)))
        .route("/v1/messages/count_tokens", post(count))
        .route("/v1/responses", post(|office, asker, body| answer(office, asker, Api::Responses, body)))
        .route("/v1/chat/completions", post(|office, asker, body| answer(office, asker, Api::Chat, body)))
        .route("/v1/models", get(models))
        .fallback(unknown)
        .layer(DefaultBodyLimit::disable())
        .with_state(office)
}

fn key(asker: &Parts, right: &str) -> Key {
    let text = |name: &str| asker.headers.get(name).and_then(|value| value.to_str().ok());
    let bearer = text("authorization").and_then(|value| value.strip_prefix("Bearer "));
    match text("x-api-key").or(bearer) {
        None => Key::Missing,
        Some(shown) if shown == right => Key::Right,
        Some(_) => Key::Wrong,
    }
}

fn request(asker: &Parts, office: &Office, status: StatusCode) -> Request {
    Request {
        api: None,
        method: asker.method.to_string(),
        path: asker.uri.path().to_owned(),
        headers: asker.headers.keys().map(ToString::to_string).collect(),
        model: None,
        tools: Vec::new(),
        key: key(asker, &office.key),
        status: status.as_u16(),
    }
}

type Shared = State<Arc<Office>>;

async fn unknown(State(office): Shared, asker: Parts) -> Response {
    office.log(|log| {
        log.requests.push(request(&asker, &office, StatusCode::NOT_FOUND));
        log.faults.push(format!("{} {}", asker.method, asker.uri.path()));
    });
    StatusCode::NOT_FOUND.into_response()
}

/// The list of models, in the form of each API at once.
async fn models(State(office): Shared, asker: Parts) -> Response {
    office.log(|log| log.requests.push(request(&asker, &office, StatusCode::OK)));
    let model = |id: &str| {
        json!({
            "id": id, "object": "model", "created": 1_767_225_600, "owned_by": "fake",
            "type": "model", "display_name": id, "created_at": "2026-01-01T00:00:00Z",
        })
    };
    let data = ["fake-model", "claude-sonnet-4-5", "gpt-5-codex"].map(model);
    axum::Json(json!({"object": "list", "data": data, "has_more": false, "models": []})).into_response()
}

async fn count(State(office): Shared, asker: Parts, body: Bytes) -> Response {
    office.log(|log| log.requests.push(request(&asker, &office, StatusCode::OK)));
    axum::Json(json!({"input_tokens": body.len() / 4 + 1})).into_response()
}

async fn answer(State(office): Shared, asker: Parts, api: Api, body: Bytes) -> Response {
    let read = serde_json::from_slice::<Value>(&body).ok().and_then(|body| match api {
        Api::Messages => anthropic::read(&body),
        Api::Responses => responses::read(&body),
        Api::Chat => chat::read(&body),
    });
    let asked = read.map(|asked| Asked { size: body.len(), ..asked });
    let played = match &asked {
        None => Err(format!("{} does not understand what it gets", asker.uri.path())),
        Some(_) if key(&asker, &office.key) != Key::Right => Ok(vec![Beat::Break(Trouble::Unauthorized)]),
        Some(asked) => {
            let mut failures = office.failures.lock().unwrap_or_else(PoisonError::into_inner);
            play::beats(asked, &mut failures)
        }
    };
    let (asked, played) = (
        asked.unwrap_or_default(),
        played.unwrap_or_else(|fault| {
            office.log(|log| log.faults.push(fault));
            vec![Beat::Break(Trouble::Invalid)]
        }),
    );
    let response = match played.first() {
        Some(Beat::Break(trouble)) if !is_told_in_the_stream(api, *trouble) => refuse(api, *trouble),
        _ => speak(api, &asked, played).await,
    };
    office.log(|log| {
        let request = request(&asker, &office, response.status());
        log.requests.push(Request { api: Some(api), model: Some(asked.model), tools: asked.tools, ..request });
    });
    response
}

/// The Responses API accepts a conversation before it finds that it is too long.
fn is_told_in_the_stream(api: Api, trouble: Trouble) -> bool {
    api == Api::Responses && trouble == Trouble::TooLong
}

fn refuse(api: Api, trouble: Trouble) -> Response {
    let (status, body) = api.refusal(trouble);
    (status, trouble.headers(), axum::Json(body)).into_response()
}

async fn speak(api: Api, asked: &Asked, beats: Vec<Beat>) -> Response {
    let mut voice: Box<dyn Voice> = match api {
        Api::Messages => Box::new(anthropic::Messages::new(&asked.model)),
        Api::Responses => Box::new(responses::Responses::new(asked)),
        Api::Chat => Box::new(chat::Chat::new(&asked.model)),
    };
    let tokens = Tokens::of(asked);
    let (pieces, mut events) = mpsc::channel(1);
    if !asked.streams {
        let telling = tokio::spawn(async move {
            tell(voice.as_mut(), tokens, beats, &pieces).await;
            voice
        });
        while events.recv().await.is_some() {}
        return axum::Json(telling.await.expect("it does not panic").whole()).into_response();
    }
    tokio::spawn(async move { tell(voice.as_mut(), tokens, beats, &pieces).await });
    let events = futures_util::stream::poll_fn(move |context| events.poll_recv(context));
    let kind = [(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"))];
    (kind, Body::from_stream(events)).into_response()
}

type Pieces = mpsc::Sender<Result<Event, std::io::Error>>;

/// Says everything, as fast as it is read; ends early when nobody reads any more.
async fn tell(voice: &mut dyn Voice, mut tokens: Tokens, beats: Vec<Beat>, pieces: &Pieces) {
    let mut events = voice.begins(tokens);
    for beat in beats {
        match beat {
            Beat::Think(text) => {
                tokens.says(&text);
                events.extend(voice.thinks(&text));
            }
            Beat::Say(text) => {
                tokens.says(&text);
                events.extend(voice.says(&text));
            }
            Beat::Call(tool, input) => {
                tokens.says(&input.to_string());
                events.extend(voice.calls(&tool, &input));
            }
            Beat::Wait(time) => {
                if !send(&mut events, pieces).await || !wait(voice, time, pieces).await {
                    return;
                }
            }
            Beat::Break(trouble) => {
                events.extend(voice.breaks(trouble));
                send(&mut events, pieces).await;
                return;
            }
            Beat::Drop => {
                if send(&mut events, pieces).await {
                    _ = pieces.send(Err(std::io::Error::other("hung up"))).await;
                }
                return;
            }
        }
    }
    events.extend(voice.ends(tokens));
    send(&mut events, pieces).await;
}

/// Whether somebody still reads.
async fn send(events: &mut Vec<Event>, pieces: &Pieces) -> bool {
    for event in events.drain(..) {
        if pieces.send(Ok(event)).await.is_err() {
            return false;
        }
    }
    true
}

async fn wait(voice: &dyn Voice, time: Duration, pieces: &Pieces) -> bool {
    let end = Instant::now() + time;
    while Instant::now() < end {
        sleep(SIGN_OF_LIFE.min(end - Instant::now())).await;
        if pieces.send(Ok(voice.waits())).await.is_err() {
            return false;
        }
    }
    true
}
