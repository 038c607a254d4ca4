//! What people say, as it comes in.

use async_trait::async_trait;

use crate::hints::Hints;
use crate::id::Timestamp;
use crate::platform::{ConversationKey, PlatformKind};

/// An event as the platform delivered it, after its signature was checked and before anything was understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawEvent {
    pub platform: PlatformKind,
    pub delivery: DeliveryKey,
    pub body: Vec<u8>,
    pub received_at: Timestamp,
}

/// What makes a delivery recognisable when it comes again.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct DeliveryKey {
    /// The platform's own id of this delivery.
    pub id: String,
    /// What it is about, for platforms that deliver one thing under two ids.
    pub meaning: Option<String>,
}

/// Who said it. The id never changes; the name may.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Author {
    pub id: String,
    pub name: String,
}

/// Something a person said to us.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    pub conversation: ConversationKey,
    pub parent: Option<ConversationKey>,
    pub author: Author,
    pub text: String,
    /// What was said before, as data for the assistant.
    pub context: Option<String>,
    pub hints: Hints,
}

/// An issue or pull request came to its end, or back from it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Closed {
    pub conversation: ConversationKey,
    pub hints: Hints,
    pub merged: bool,
    pub reopened: bool,
}

/// An event that can be acted on. Closings take the same road as messages, so that order is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    Said(Box<Message>),
    Closed(Box<Closed>),
}

/// What became of a delivery at the door.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Accepted {
    /// Written down; it will be acted on, whatever happens.
    Queued,
    /// Seen before.
    Duplicate,
    /// Not now: the queue is full or the server is going down. The sender may try again.
    Busy,
}

/// Where platforms hand events in.
#[async_trait]
pub trait Inbox: Send + Sync {
    async fn accept(&self, raw: RawEvent) -> Accepted;
}
