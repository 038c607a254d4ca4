//! The `http` platform: conversations of callers of the API.
//!
//! There is nobody to send to. A reply is delivered the moment it is stored, because reading the store is how people
//! read it; sending only wakes those who follow.

use std::sync::Arc;

use async_trait::async_trait;
use hedgerow_core::Hints;
use hedgerow_core::message::{Author, Event, Message, RawEvent};
use hedgerow_core::platform::{ConversationKey, Live, Pace, Platform, PlatformError, PlatformKind, Reply};
use serde::{Deserialize, Serialize};

use crate::feed::Feed;

/// The person behind a message whose body names nobody: whoever has the token.
pub(crate) const BEARER: &str = "api";

/// Most characters of one reply. Readers of JSON do not mind long ones.
const LONGEST: usize = 1_000_000;

/// A message as it waits in the inbox.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Said {
    pub(crate) conversation: String,
    pub(crate) text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) codebase: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) author: Option<String>,
}

/// The door for callers of the API.
#[derive(Debug, Default)]
pub struct HttpPlatform {
    feed: Arc<Feed>,
}

impl HttpPlatform {
    pub fn new() -> Self {
        Self::default()
    }

    pub(crate) fn feed(&self) -> Arc<Feed> {
        Arc::clone(&self.feed)
    }
}

#[async_trait]
impl Platform for HttpPlatform {
    fn kind(&self) -> PlatformKind {
        PlatformKind::Http
    }

    fn pace(&self) -> Pace {
        Pace::Stream
    }

    fn longest(&self) -> usize {
        LONGEST
    }

    fn recognises_repeats(&self) -> bool {
        true
    }

    async fn prepare(&self, raw: &RawEvent) -> Result<Option<Event>, PlatformError> {
        let said: Said = serde_json::from_str(&raw.body)
            .map_err(|error| PlatformError::Refused(format!("a stored message cannot be read: {error}")))?;
        let person = said.author.unwrap_or_else(|| BEARER.to_owned());
        Ok(Some(Event::Said(Box::new(Message {
            conversation: ConversationKey { platform: PlatformKind::Http, id: said.conversation },
            parent: None,
            author: Author { id: person.clone(), name: person },
            text: said.text,
            codebase: said.codebase,
            repository: None,
            context: None,
            hints: Hints::default(),
            handle: None,
        }))))
    }

    async fn send(&self, _: &ConversationKey, _: &Reply) -> Result<(), PlatformError> {
        self.feed.wake();
        Ok(())
    }

    async fn show(&self, to: &ConversationKey, live: &Live) {
        self.feed.show(to, live);
    }
}
