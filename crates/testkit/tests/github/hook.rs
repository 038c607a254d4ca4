//! Somebody who is delivered to.

use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use serde_json::Value;
use tokio::net::TcpListener;

#[derive(Debug, Clone)]
pub(crate) struct Got {
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

impl Got {
    pub(crate) fn header(&self, name: &str) -> String {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).expect("JSON")
    }

    /// `issues opened`.
    pub(crate) fn what(&self) -> String {
        format!("{} {}", self.header("x-github-event"), self.json()["action"].as_str().unwrap_or("-"))
    }
}

type Pile = Arc<Mutex<Vec<Got>>>;

pub(crate) struct Hook {
    pub(crate) url: String,
    pile: Pile,
}

impl Hook {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let url = format!("http://{}/webhooks/github", listener.local_addr().expect("an address"));
        let pile = Pile::default();
        let routes = Router::new().route("/webhooks/github", post(take)).with_state(Arc::clone(&pile));
        tokio::spawn(async move { axum::serve(listener, routes).await });
        Self { url, pile }
    }

    pub(crate) fn got(&self) -> Vec<Got> {
        self.pile.lock().expect("nobody panicked").clone()
    }

    pub(crate) fn whats(&self) -> Vec<String> {
        self.got().iter().map(Got::what).collect()
    }
}

async fn take(State(pile): State<Pile>, headers: HeaderMap, body: Bytes) -> StatusCode {
    pile.lock().expect("nobody panicked").push(Got { headers, body: body.to_vec() });
    StatusCode::ACCEPTED
}
