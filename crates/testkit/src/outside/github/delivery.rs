//! What is told to webhooks: written down for everything that happens, and sent as a test wants it.

use std::fmt::Write as _;
use std::time::Duration;

use hmac::{Hmac, KeyInit as _, Mac as _};
use serde_json::{Value, json};
use sha2::Sha256;
use tokio::sync::{mpsc, watch};

use super::state::{World, written};

/// One delivery, sent or not.
#[derive(Debug, Clone)]
pub struct Delivery {
    /// `X-GitHub-Delivery`; the same when it is sent again.
    pub guid: String,
    /// The number of this attempt.
    pub id: u64,
    pub event: String,
    /// Empty for events without one.
    pub action: String,
    /// `acme/shop`.
    pub repository: String,
    /// Exactly what is signed and sent.
    pub body: String,
    /// The hook of the App, not that of the repository.
    pub is_of_app: bool,
    pub is_redelivery: bool,
    /// What the other side answered; `None` when it was not sent, or did not arrive.
    pub status: Option<u16>,
    pub delivered_at: i64,
}

impl Delivery {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).expect("it was made from JSON")
    }
}

/// Which hooks deliver.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Hooks {
    #[default]
    Repository,
    App,
    Both,
    /// And call it the same.
    BothUnderOneName,
}

/// What becomes of deliveries.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Mode {
    pub(crate) holds_back: bool,
    /// The next so many are lost.
    pub(crate) drops: usize,
    pub(crate) hooks: Hooks,
    pub(crate) delay: Duration,
}

#[derive(Debug)]
pub(crate) struct Post {
    pub(crate) target: Option<(String, String)>,
    pub(crate) mode: Mode,
    pub(crate) deliveries: Vec<Delivery>,
    /// Those that wait, by their place in the list.
    pub(crate) waiting: Vec<usize>,
    outgoing: mpsc::UnboundedSender<usize>,
    count: watch::Sender<usize>,
}

/// The ids of the two hooks.
pub(crate) const REPOSITORY_HOOK: u64 = 77_001;
pub(crate) const APP_HOOK: u64 = 77_002;

impl Post {
    pub(crate) fn new(outgoing: mpsc::UnboundedSender<usize>, count: watch::Sender<usize>) -> Self {
        let (mode, deliveries, waiting) = (Mode::default(), Vec::new(), Vec::new());
        Self { target: None, mode, deliveries, waiting, outgoing, count }
    }

    /// Puts one on its way.
    pub(crate) fn send(&mut self, index: usize) {
        self.count.send_modify(|count| *count += 1);
        if self.outgoing.send(index).is_err() {
            // The thread that posts has ended; nobody will.
            self.arrived();
        }
    }

    /// One is no longer on its way, arrived or not.
    pub(crate) fn arrived(&self) {
        self.count.send_modify(|count| *count -= 1);
    }

    fn keep(&mut self, delivery: Delivery) {
        self.deliveries.push(delivery);
        let index = self.deliveries.len() - 1;
        if self.target.is_none() {
            return;
        }
        if self.mode.drops > 0 {
            self.mode.drops -= 1;
        } else if self.mode.holds_back {
            self.waiting.push(index);
        } else {
            self.send(index);
        }
    }
}

/// `sha256=…`, over exactly these bytes.
pub(crate) fn signature(secret: &str, body: &[u8]) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).expect("a key of any length");
    mac.update(body);
    let bytes = mac.finalize().into_bytes();
    bytes.iter().fold("sha256=".to_owned(), |mut all, byte| {
        _ = write!(all, "{byte:02x}");
        all
    })
}

impl World {
    /// Something happened in a repository: everybody who listens is told. `payload` is what is special about it.
    pub(crate) fn happened(&mut self, event: &str, repository: u64, sender: u64, mut payload: Value) {
        payload["repository"] = self.show_repository(repository);
        payload["sender"] = self.show_user(sender);
        let app_hears = self.post.mode.hooks != Hooks::Repository && self.app.installed.contains(&repository);
        // A fork has not the hook of what it is a fork of.
        if self.post.mode.hooks != Hooks::App && self.repository(repository).fork_of.is_none() {
            self.told(event, repository, &payload, false, None);
        }
        if app_hears {
            let name = self.post.deliveries.last().filter(|_| self.post.mode.hooks == Hooks::BothUnderOneName);
            let name = name.map(|delivery| delivery.guid.clone());
            let id = Self::installation(&self.repository(repository).owner);
            payload["installation"] = json!({"id": id, "node_id": format!("MDIzOkludGVncmF0aW9u{id}")});
            self.told(event, repository, &payload, true, name);
        }
    }

    fn told(&mut self, event: &str, repository: u64, payload: &Value, is_of_app: bool, name: Option<String>) {
        let id = self.id();
        let delivery = Delivery {
            guid: name.unwrap_or_else(|| format!("{id:08x}-{:04x}-11f0-8000-{id:012x}", id % 0xffff)),
            id,
            event: event.to_owned(),
            action: payload["action"].as_str().unwrap_or_default().to_owned(),
            repository: self.repository(repository).full_name(),
            body: payload.to_string(),
            is_of_app,
            is_redelivery: false,
            status: None,
            delivered_at: self.clock.now(),
        };
        self.post.keep(delivery);
    }

    /// Sends one again, under its old name.
    pub(crate) fn redelivers(&mut self, index: usize) {
        let id = self.id();
        let again = Delivery {
            id,
            is_redelivery: true,
            status: None,
            delivered_at: self.clock.now(),
            ..self.post.deliveries[index].clone()
        };
        self.post.deliveries.push(again);
        let index = self.post.deliveries.len() - 1;
        self.post.send(index);
    }

    /// As the API tells about a delivery.
    pub(crate) fn show_delivery(&self, delivery: &Delivery) -> Value {
        let (owner, name) = delivery.repository.split_once('/').unwrap_or_default();
        let repository = self.repository_named(owner, name).map(|repository| repository.id);
        let status = match delivery.status {
            Some(status) if (200..300).contains(&status) => "OK",
            Some(_) => "Invalid HTTP Response",
            None => "failed to connect to host",
        };
        json!({
            "id": delivery.id, "guid": delivery.guid, "delivered_at": written(delivery.delivered_at),
            "redelivery": delivery.is_redelivery, "duration": 0.03, "status": status,
            "status_code": delivery.status.unwrap_or(502), "event": delivery.event,
            "action": if delivery.action.is_empty() { Value::Null } else { json!(delivery.action) },
            "installation_id": if delivery.is_of_app { json!(Self::installation(owner)) } else { Value::Null },
            "repository_id": repository, "throttled_at": null,
        })
    }
}
