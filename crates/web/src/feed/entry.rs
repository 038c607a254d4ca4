//! An event as followers read it: a name, and a line of JSON.

use std::collections::HashMap;

use axum::response::sse;
use hedgerow_core::platform::{ConversationKey, Glimpse, Live};
use hedgerow_core::{ConversationId, EventId};
use hedgerow_engine::store::{Event, Store, StoreError};
use serde_json::{Value, json};

/// Conversations whose names are remembered.
const MOST_NAMES: usize = 4096;

/// `http:support-17`
pub(crate) fn key_text(key: &ConversationKey) -> String {
    format!("{}:{}", key.platform, key.id)
}

/// An entry of the log.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) id: EventId,
    pub(super) conversation: Option<String>,
    name: &'static str,
    data: String,
}

impl Entry {
    /// Roughly what it takes in memory.
    pub(super) fn bytes(&self) -> usize {
        self.data.len() + 128
    }

    pub(super) fn message(&self) -> sse::Event {
        sse::Event::default().id(self.id.to_string()).event(self.name).data(&self.data)
    }
}

/// Makes entries of what the log says, and remembers what conversations are called.
#[derive(Debug)]
pub(super) struct Scribe {
    store: Store,
    names: HashMap<ConversationId, Option<String>>,
}

impl Scribe {
    pub(super) fn new(store: Store) -> Self {
        Self { store, names: HashMap::new() }
    }

    pub(super) const fn store(&self) -> &Store {
        &self.store
    }

    pub(super) async fn entry(&mut self, event: &Event) -> Result<Entry, StoreError> {
        let conversation = match event.conversation {
            Some(id) => self.name(id).await?,
            None => None,
        };
        let mut data = json!({
            "what": event.what,
            "at": event.at,
            "actor": event.actor.to_string(),
            "conversation": conversation,
            "codebase_id": event.codebase,
            "environment_id": event.environment,
            "old_sha": event.old_sha.as_ref().map(ToString::to_string),
            "new_sha": event.new_sha.as_ref().map(ToString::to_string),
            "detail": event.detail,
        });
        let name = name(event);
        match (name, &event.detail) {
            ("reply", Some(detail)) => self.add_reply(&mut data, detail).await?,
            ("message", Some(detail)) => self.add_said(&mut data, detail).await?,
            ("run", Some(detail)) => {
                // `<id>`, and how it ended.
                let (id, state) = detail.split_once(' ').unwrap_or((detail, "running"));
                (data["run_id"], data["state"]) = (json!(id), json!(state));
            }
            _ => {}
        }
        Ok(Entry { id: event.id, conversation, name, data: data.to_string() })
    }

    /// The words themselves, as long as they are remembered.
    async fn add_reply(&self, data: &mut Value, detail: &str) -> Result<(), StoreError> {
        let Ok(id) = detail.parse() else { return Ok(()) };
        if let Some((text, message, last)) = self.store.reply(id).await? {
            data["text"] = json!(text);
            data["message_id"] = json!(message);
            data["final"] = json!(last);
        }
        Ok(())
    }

    async fn add_said(&self, data: &mut Value, detail: &str) -> Result<(), StoreError> {
        let Ok(id) = detail.parse() else { return Ok(()) };
        data["message_id"] = json!(detail);
        data["text"] = json!(self.store.said(id).await?);
        Ok(())
    }

    async fn name(&mut self, id: ConversationId) -> Result<Option<String>, StoreError> {
        if let Some(known) = self.names.get(&id) {
            return Ok(known.clone());
        }
        let name = self.store.conversation_by_id(id).await?.map(|found| key_text(&found.key));
        if self.names.len() >= MOST_NAMES {
            self.names.clear();
        }
        self.names.insert(id, name.clone());
        Ok(name)
    }
}

/// What kind of event it is, for those who listen for some only. `what` in the data says it exactly.
fn name(event: &Event) -> &'static str {
    let first = event.what.split('-').next().unwrap_or_default();
    match first {
        "reply" => "reply",
        "message" => "message",
        "run" => "run",
        "session" => "session",
        _ if event.environment.is_some() => "environment",
        _ if event.codebase.is_some() => "codebase",
        _ => "other",
    }
}

/// Something a run did just now.
#[derive(Debug)]
pub(super) struct Glimpsed {
    pub(super) conversation: String,
    data: String,
}

impl Glimpsed {
    pub(super) fn new(to: &ConversationKey, live: &Live) -> Self {
        let conversation = key_text(to);
        let (what, text) = match &live.what {
            Glimpse::Started => ("started", None),
            Glimpse::Text(text) => ("text", Some(text)),
            Glimpse::Tool(text) => ("tool", Some(text)),
            Glimpse::Plan(_) => ("plan", None),
            Glimpse::Usage(_) => ("usage", None),
            Glimpse::Note(text) => ("note", Some(text)),
            Glimpse::Ended => ("ended", None),
        };
        let mut data = json!({"what": what, "conversation": conversation, "run_id": live.run, "text": text});
        match &live.what {
            Glimpse::Plan(steps) => data["steps"] = json!(steps),
            Glimpse::Usage(usage) => data["usage"] = json!(usage),
            _ => {}
        }
        Self { conversation, data: data.to_string() }
    }

    /// Without an id: it cannot be had again.
    pub(super) fn message(&self) -> sse::Event {
        sse::Event::default().event("live").data(&self.data)
    }
}
