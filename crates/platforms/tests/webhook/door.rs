//! The route, and an inbox in memory behind it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, Request, StatusCode};
use hedgerow_core::message::{Accepted, RawEvent};
use hedgerow_core::platform::PlatformKind;
use hedgerow_core::{MessageId, Secret};
use hedgerow_platforms::Inbox;
use hedgerow_platforms::github::{Allow, Config, GitHub, Identity, signature, webhook};
use serde_json::Value;
use tower::ServiceExt as _;

pub(crate) const SECRET: &str = "it is dark in the hedge";

pub(crate) struct Door {
    pub(crate) router: Router,
    pub(crate) inbox: Arc<Memory>,
}

/// Keeps what it is given, once for each key.
#[derive(Default)]
pub(crate) struct Memory {
    kept: Mutex<Vec<(MessageId, RawEvent)>>,
    pub(crate) is_full: AtomicBool,
}

impl Memory {
    pub(crate) fn kept(&self) -> Vec<RawEvent> {
        self.kept.lock().expect("nobody panics with it").iter().map(|(_, raw)| raw.clone()).collect()
    }
}

#[async_trait]
impl Inbox for Memory {
    async fn accept(&self, raw: RawEvent) -> Accepted {
        if self.is_full.load(Ordering::SeqCst) {
            return Accepted::Busy;
        }
        let mut kept = self.kept.lock().expect("nobody panics with it");
        let is_same =
            |other: &RawEvent| other.delivery.id == raw.delivery.id || other.delivery.meaning == raw.delivery.meaning;
        if let Some((id, _)) = kept.iter().find(|(_, other)| is_same(other)) {
            return Accepted::Duplicate(*id);
        }
        let id = MessageId::new();
        kept.push((id, raw));
        Accepted::Queued(id)
    }

    async fn knows(&self, _: PlatformKind, meaning: &str) -> bool {
        let kept = self.kept.lock().expect("nobody panics with it");
        kept.iter().any(|(_, raw)| raw.delivery.meaning.as_deref().is_some_and(|known| known.starts_with(meaning)))
    }
}

pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Value,
}

impl Door {
    pub(crate) fn with_secrets(secrets: &[&str]) -> Self {
        let config = Config {
            api_url: "http://127.0.0.1:9".to_owned(),
            web_url: "http://127.0.0.1:9".to_owned(),
            identity: Identity::Token(Secret::new("a token that opens nothing")),
            webhook_secrets: secrets.iter().map(|secret| Secret::new(*secret)).collect(),
            bot_name: "hedgerow".to_owned(),
            allow: Allow::Writers,
            clones: false,
            look_every: None,
        };
        let github = Arc::new(GitHub::new(config).expect("the settings are good"));
        let inbox = Arc::new(Memory::default());
        Self { router: webhook::routes(github, Arc::clone(&inbox) as Arc<dyn Inbox>), inbox }
    }

    pub(crate) fn open() -> Self {
        Self::with_secrets(&[SECRET])
    }

    /// As GitHub would send it.
    pub(crate) fn request(event: &str, delivery: &str, body: &[u8]) -> Request<Body> {
        let signature = signature::header(body, &Secret::new(SECRET));
        let request = Request::post(webhook::PATH)
            .header("content-type", "application/json")
            .header("user-agent", "GitHub-Hookshot/0000000")
            .header("x-github-event", event)
            .header("x-github-delivery", delivery)
            .header("x-hub-signature-256", signature);
        request.body(Body::from(body.to_vec())).expect("a request")
    }

    pub(crate) async fn send(&self, request: Request<Body>) -> Answer {
        let answer = self.router.clone().oneshot(request).await.expect("a router does not fail");
        let (head, body) = answer.into_parts();
        let body = to_bytes(body, 1 << 20).await.expect("the answer is short");
        let body = serde_json::from_slice(&body).unwrap_or(Value::Null);
        Answer { status: head.status, headers: head.headers, body }
    }

    pub(crate) async fn deliver(&self, event: &str, delivery: &str, body: &[u8]) -> Answer {
        self.send(Self::request(event, delivery, body)).await
    }
}
