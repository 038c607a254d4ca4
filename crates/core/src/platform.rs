//! Where people talk. The engine speaks to a platform through these ports only.

use async_trait::async_trait;

use crate::branch::BranchName;
use crate::message::{Author, Event, RawEvent};
use crate::words;
use crate::work::Work;

words! {
    /// A platform.
    PlatformKind as "platform" {
        Github = "github",
        Slack = "slack",
        Discord = "discord",
        Telegram = "telegram",
        Http = "http",
        Terminal = "terminal",
    }
}

/// One place where people talk, and where it is right to answer.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ConversationKey {
    pub platform: PlatformKind,
    /// The platform's own name for it, such as `acme/shop#42`. Never empty.
    pub id: String,
}

/// How a platform likes its answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    /// As they come.
    Stream,
    /// One reply at the end.
    Batch,
}

/// What goes back to a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    pub text: String,
    /// Each accepted message ends in exactly one final reply.
    pub last: bool,
    /// The same for every attempt to send this reply, so that a platform can recognise a repeat.
    pub idempotency_key: String,
}

#[derive(Debug, thiserror::Error)]
pub enum PlatformError {
    /// Worth another try after a while.
    #[error("the platform is not answering: {0}")]
    Transient(String),
    #[error("the platform refused: {0}")]
    Refused(String),
}

/// A thin door to one chat or forge. It prepares events and sends replies; it decides nothing.
#[async_trait]
pub trait Platform: Send + Sync {
    fn kind(&self) -> PlatformKind;
    fn pace(&self) -> Pace;
    /// Turns an event that is already written down into one that can be acted on: makes the thread, fetches what
    /// hints need. Safe to repeat. `None` when it turns out that nobody meant us.
    async fn prepare(&self, raw: &RawEvent) -> Result<Option<Event>, PlatformError>;
    async fn send(&self, to: &ConversationKey, reply: &Reply) -> Result<(), PlatformError>;
}

/// The present state of an issue or pull request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkState {
    Open,
    Closed,
    Merged,
    Unknown,
}

/// What a person may do on a repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Permission {
    None,
    Read,
    Write,
    Admin,
}

/// A pull request to open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PullRequestDraft {
    pub head: BranchName,
    pub base: BranchName,
    pub title: String,
    pub body: String,
}

/// What a platform with issues and pull requests can additionally be asked.
#[async_trait]
pub trait Forge: Send + Sync {
    async fn state(&self, work: &Work) -> Result<WorkState, PlatformError>;
    async fn permission(&self, author: &Author) -> Result<Permission, PlatformError>;
    async fn open_pull_request(&self, draft: &PullRequestDraft) -> Result<u64, PlatformError>;
}
