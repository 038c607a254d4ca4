//! What people say, as it comes in.

use async_trait::async_trait;

use crate::hints::Hints;
use crate::id::{MessageId, Timestamp};
use crate::platform::{ConversationKey, PlatformKind};
use crate::repository::RepositoryName;

/// An event as the platform delivered it, after its signature was checked and before anything was understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawEvent {
    pub platform: PlatformKind,
    pub delivery: DeliveryKey,
    /// Events of one lane are acted on one after the other, in the order they were accepted. What the platform can
    /// tell without asking anyone: the issue, the thread, the chat.
    pub lane: String,
    /// It does not wait for its turn: see [`crate::command::is_urgent`].
    pub urgent: bool,
    /// As it came, in the platform's own form.
    pub body: String,
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
    /// The codebase that the person or the platform named.
    pub codebase: Option<String>,
    /// The repository that an event of a forge is about. Nothing else may be worked on from there.
    pub repository: Option<RepositoryName>,
    /// What was said before, as data for the assistant: of each text only what people see of it.
    pub context: Option<String>,
    pub hints: Hints,
    /// What the platform needs to answer this very message, in its own words: a few bytes that are kept with it.
    pub handle: Option<String>,
}

/// An issue or pull request came to its end, or back from it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Closed {
    pub conversation: ConversationKey,
    /// Who closed it.
    pub author: Author,
    /// Whether they may ask for things here. Who may not lets go of nothing but what a fork brought.
    pub is_allowed: bool,
    pub repository: Option<RepositoryName>,
    pub hints: Hints,
    pub merged: bool,
    pub reopened: bool,
}

/// Somebody asked who may not. They are told so once in a conversation, and nothing else happens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    pub conversation: ConversationKey,
    pub author: Author,
    /// Said to them.
    pub words: String,
    /// See [`Message::handle`].
    pub handle: Option<String>,
}

/// An event that can be acted on. Closings take the same road as messages, so that order is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    Said(Box<Message>),
    Closed(Box<Closed>),
    Refused(Box<Refused>),
}

/// What became of a delivery at the door.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Accepted {
    /// Written down; it will be acted on, whatever happens.
    Queued(MessageId),
    /// Seen before, as this one.
    Duplicate(MessageId),
    /// Not now: the queue is full, the server is going down, or the store does not answer. The sender may try again.
    Busy,
}

/// Where platforms hand events in.
#[async_trait]
pub trait Inbox: Send + Sync {
    /// Returns when the event is safe on disk, or will not be.
    async fn accept(&self, raw: RawEvent) -> Accepted;
    /// Whether a delivery about this thing was accepted, as far back as anything is kept: `about` is a meaning, or one up to
    /// its second colon, such as `comment:7`. For a platform that looks for what it missed.
    async fn knows(&self, platform: PlatformKind, about: &str) -> bool;
}
