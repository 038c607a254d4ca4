//! Where people talk. The engine speaks to a platform through these ports only.

use async_trait::async_trait;

use crate::assistant::{Step, Usage};
use crate::branch::BranchName;
use crate::id::RunId;
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
    /// Most characters of one message; longer replies come in parts.
    fn longest(&self) -> usize;
    /// Whether a reply that is sent again under the same idempotency key appears once. If not, a repeat after a crash
    /// says that it is one.
    fn recognises_repeats(&self) -> bool;
    /// The only conversation that this process serves, for a platform that is one window. `None`: all of the kind.
    fn only(&self) -> Option<&str> {
        None
    }
    /// Turns an event that is already written down into one that can be acted on: makes the thread, fetches what
    /// hints need. Safe to repeat. `None` when it turns out that nobody meant us.
    async fn prepare(&self, raw: &RawEvent) -> Result<Option<Event>, PlatformError>;
    async fn send(&self, to: &ConversationKey, reply: &Reply) -> Result<(), PlatformError>;
    /// Shows what an assistant does while it does it. Nobody relies on it: the final reply says everything again.
    async fn show(&self, to: &ConversationKey, live: &Live) {
        let _ = (to, live);
    }
}

/// What happens in a run, as it happens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Live {
    pub run: RunId,
    pub what: Glimpse,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Glimpse {
    Started,
    /// The next piece of the answer.
    Text(String),
    /// A tool call, in one line.
    Tool(String),
    /// What it is going to do, whole each time.
    Plan(Vec<Step>),
    /// What it has used so far.
    Usage(Usage),
    /// What people should know meanwhile.
    Note(String),
    Ended,
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
