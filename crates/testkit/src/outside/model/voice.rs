//! How a model speaks, apart from what it says: each API frames the same few things its own way.

use std::sync::atomic::{AtomicU64, Ordering};

use axum::http::StatusCode;
use serde_json::Value;

use super::asked::Asked;
use super::trouble::Trouble;

/// What a call used. Made up, but of the right order, and growing with the conversation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Tokens {
    /// Went in and was new.
    pub(super) fresh: u64,
    /// Went in and was in the cache.
    pub(super) cached: u64,
    pub(super) output: u64,
}

impl Tokens {
    /// Four bytes are about a token. All but the last of a conversation that goes on comes from the cache.
    pub(super) fn of(asked: &Asked) -> Self {
        let input = asked.size as u64 / 4 + 1;
        let fresh = if asked.goes_on() { (input / 10).max(1) } else { input };
        Self { fresh, cached: input - fresh, output: 0 }
    }

    pub(super) const fn input(self) -> u64 {
        self.fresh + self.cached
    }

    pub(super) fn says(&mut self, text: &str) {
        self.output += text.len() as u64 / 4 + 1;
    }
}

/// One answer in the making. Every call gives the events that a stream has then, and keeps what `whole` needs.
pub(super) trait Voice: Send + Sync {
    fn begins(&mut self, tokens: Tokens) -> Vec<Event>;
    fn thinks(&mut self, text: &str) -> Vec<Event>;
    fn says(&mut self, text: &str) -> Vec<Event>;
    fn calls(&mut self, tool: &str, input: &Value) -> Vec<Event>;
    /// What keeps the line open while nothing is said.
    fn waits(&self) -> Event;
    /// The stream is over, for a reason.
    fn breaks(&mut self, trouble: Trouble) -> Vec<Event>;
    fn ends(&mut self, tokens: Tokens) -> Vec<Event>;
    /// The same at once, after the end.
    fn whole(&self) -> Value;
}

/// An API: how a request is read, and how it is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Api {
    Messages,
    Responses,
    Chat,
}

impl Api {
    pub(super) fn refusal(self, trouble: Trouble) -> (StatusCode, Value) {
        match self {
            Self::Messages => trouble.anthropic(),
            Self::Responses | Self::Chat => trouble.openai(),
        }
    }
}

/// One server-sent event.
pub(super) type Event = String;

/// With its name, as Anthropic and the Responses API have them: it is the `type` of the data too.
pub(super) fn named(data: &Value) -> Event {
    format!("event: {}\ndata: {data}\n\n", data["type"].as_str().expect("events of these APIs have a type"))
}

pub(super) fn unnamed(data: &impl std::fmt::Display) -> Event {
    format!("data: {data}\n\n")
}

/// Word by word, each with the space behind it.
pub(super) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive(char::is_whitespace)
}

/// An id of the API's kind that no other answer of this process has.
pub(super) fn id(prefix: &str) -> String {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    format!("{prefix}_{:024}", NEXT.fetch_add(1, Ordering::Relaxed))
}
