//! `POST /webhooks/github`: where deliveries come in.
//!
//! A delivery is read whole, its signature is checked, and only then is it looked into. What is for us is written down
//! before GitHub gets its answer; nobody is asked anything. Nothing that comes in can make this fail on our side.

mod body;

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::post;
use axum::{Json, Router};
use hedgerow_core::Timestamp;
use hedgerow_core::message::{Accepted, Inbox};
use hedgerow_core::platform::PlatformKind;
use serde_json::{Value, json};

use super::GitHub;
use super::payload::{self, Malformed, Meaning, Told};
use super::signature::{self, Shown};
use body::Reading;

pub use body::{LARGEST, PATIENCE};

/// Where GitHub sends to.
pub const PATH: &str = "/webhooks/github";

/// Longest name of an event or a delivery.
const LONGEST_NAME: usize = 200;

/// Seconds after which a delivery that found no room may come again.
const LATER: HeaderValue = HeaderValue::from_static("5");

/// The one route, to be served beside others.
pub fn routes(github: Arc<GitHub>, inbox: Arc<dyn Inbox>) -> Router {
    let door = Arc::new(Door { github, inbox, reading: Reading::default() });
    Router::new().route(PATH, post(delivered)).with_state(door)
}

struct Door {
    github: Arc<GitHub>,
    inbox: Arc<dyn Inbox>,
    reading: Reading,
}

/// Why a delivery is not taken.
#[derive(Debug)]
struct Refusal {
    status: StatusCode,
    kind: &'static str,
    why: String,
}

impl Refusal {
    fn new(status: StatusCode, kind: &'static str, why: impl Into<String>) -> Self {
        Self { status, kind, why: why.into() }
    }

    fn bad(why: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "usage", why)
    }

    fn unsigned(why: &str) -> Self {
        Self::new(StatusCode::UNAUTHORIZED, "unauthorized", why)
    }

    fn answer(self) -> Response {
        let said = json!({"error": {"kind": self.kind, "message": self.why, "hints": []}});
        (self.status, Json(said)).into_response()
    }
}

async fn delivered(State(door): State<Arc<Door>>, request: Request) -> Response {
    let (event, delivery) = (named(&request, "x-github-event"), named(&request, "x-github-delivery"));
    match door.take(request).await {
        Ok(answer) => answer,
        Err(refusal) => {
            let status = refusal.status.as_u16();
            tracing::warn!(event, delivery, status, why = refusal.why, "a delivery of GitHub was refused");
            refusal.answer()
        }
    }
}

/// For the log.
fn named(request: &Request, name: &str) -> String {
    request.headers().get(name).and_then(name_in).unwrap_or_default().to_owned()
}

impl Door {
    async fn take(&self, request: Request) -> Result<Response, Refusal> {
        let (head, body) = request.into_parts();
        let secrets = &self.github.config().webhook_secrets;
        if !secrets.iter().any(signature::is_secret) {
            return Err(Refusal::unsigned(
                "no webhook secret is set; set `GITHUB_WEBHOOK_SECRET` to the secret of the webhook",
            ));
        }
        let shown = head.headers.get("x-hub-signature-256").and_then(|shown| Shown::read(shown.as_bytes()));
        let shown = shown.ok_or_else(|| {
            Refusal::unsigned("there is no `X-Hub-Signature-256`; give the webhook the secret that is set here")
        })?;
        let raw = self.reading.read(body).await?;
        if !shown.fits(&raw, secrets) {
            return Err(Refusal::unsigned("the signature does not fit; the webhook has another secret"));
        }
        let event = required(&head.headers, "x-github-event")?;
        let delivery = required(&head.headers, "x-github-delivery")?;
        let body = if body::is_form(&head.headers) {
            body::of_form(&raw).ok_or_else(|| Refusal::bad("the form has no field `payload`"))?.into()
        } else {
            raw
        };
        match payload::event(event, delivery, &body, &self.github.bot()) {
            Ok(Meaning::Heard(told)) => Ok(self.hand_in(*told, delivery).await),
            Ok(Meaning::Ignored(why)) => {
                tracing::debug!(event, delivery, why, "a delivery of GitHub is for nobody here");
                Ok(said(StatusCode::OK, &json!({"ignored": why})))
            }
            Err(malformed @ Malformed::NotJson(_)) => Err(Refusal::bad(malformed.to_string())),
            Err(malformed @ Malformed::NotUnderstood(_)) => {
                Err(Refusal::new(StatusCode::UNPROCESSABLE_ENTITY, "usage", malformed.to_string()))
            }
        }
    }

    async fn hand_in(&self, told: Told, delivery: &str) -> Response {
        if is_known(self.inbox.as_ref(), &told).await {
            return said(StatusCode::OK, &json!({"duplicate": told.meaning}));
        }
        let conversation = told.heard.conversation();
        let raw = told.heard.raw(delivery.to_owned(), told.meaning, now());
        match self.inbox.accept(raw).await {
            Accepted::Queued(id) => {
                tracing::info!(delivery, conversation, id = %id, "a delivery of GitHub is taken");
                said(StatusCode::ACCEPTED, &json!({"message_id": id}))
            }
            Accepted::Duplicate(id) => said(StatusCode::OK, &json!({"duplicate": id})),
            Accepted::Busy => {
                tracing::warn!(
                    delivery,
                    conversation,
                    "there is no room for a delivery of GitHub; it is looked for later"
                );
                let why = "there is no room now; it is looked for again later";
                let mut answer = Refusal::new(StatusCode::TOO_MANY_REQUESTS, "limit", why).answer();
                answer.headers_mut().insert(header::RETRY_AFTER, LATER);
                answer
            }
        }
    }
}

/// Whether a later state of the same words was heard already. The very same delivery is left to the inbox, which knows
/// what became of it.
async fn is_known(inbox: &dyn Inbox, told: &Told) -> bool {
    let Some(about) = &told.unless_known else { return false };
    inbox.knows(PlatformKind::Github, about).await && !inbox.knows(PlatformKind::Github, &told.meaning).await
}

fn said(status: StatusCode, body: &Value) -> Response {
    (status, Json(body)).into_response()
}

fn required<'a>(headers: &'a HeaderMap, name: &'static str) -> Result<&'a str, Refusal> {
    headers
        .get(name)
        .and_then(name_in)
        .ok_or_else(|| Refusal::bad(format!("the header `{name}` is missing or no name")))
}

/// A short name that can stand in a key and in a log.
fn name_in(value: &HeaderValue) -> Option<&str> {
    let text = value.to_str().ok()?;
    let is_name = (1..=LONGEST_NAME).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic());
    is_name.then_some(text)
}

fn now() -> Timestamp {
    Timestamp::from_millis(jiff::Timestamp::now().as_millisecond())
}
