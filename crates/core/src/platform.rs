//! Where people talk. The engine speaks to a platform through these ports only.

use async_trait::async_trait;

use crate::assistant::{Step, Usage};
use crate::branch::BranchName;
use crate::id::{RunId, Timestamp};
use crate::message::{Author, Event, RawEvent, Refused};
use crate::repository::RepositoryName;
use crate::secret::Secret;
use crate::sha::CommitSha;
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
    /// An earlier attempt may have arrived.
    pub is_repeat: bool,
    /// The run whose last word this is.
    pub run: Option<RunId>,
    /// The handle of the message that this answers ([`crate::message::Message::handle`]).
    pub handle: Option<String>,
}

impl Reply {
    /// A reply that answers nobody in particular, sent for the first time.
    pub fn new(text: impl Into<String>, last: bool, idempotency_key: impl Into<String>) -> Self {
        let (text, idempotency_key) = (text.into(), idempotency_key.into());
        Self { text, last, idempotency_key, is_repeat: false, run: None, handle: None }
    }
}

/// How it stands with a message, for a platform that can show that on the message itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    Seen,
    Working,
    Done,
    Failed,
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
    /// What its author is told if they may no longer ask: their turn came after a wait.
    async fn refusal(&self, raw: &RawEvent) -> Result<Option<Refused>, PlatformError> {
        let _ = raw;
        Ok(None)
    }
    async fn send(&self, to: &ConversationKey, reply: &Reply) -> Result<(), PlatformError>;
    /// Shows what an assistant does while it does it. Nobody relies on it: the final reply says everything again.
    async fn show(&self, to: &ConversationKey, live: &Live) {
        let _ = (to, live);
    }
    /// Shows how it stands with a message. Nobody relies on it; safe to repeat. `handle` is what `prepare` gave.
    async fn mark(&self, handle: &str, mark: Mark) {
        let _ = (handle, mark);
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
    /// Also: transferred, or deleted.
    Closed,
    Merged,
    Unknown,
}

impl WorkState {
    /// As it is stored and shown; nothing when it is not known.
    pub const fn word(self) -> Option<&'static str> {
        match self {
            Self::Open => Some("open"),
            Self::Closed => Some("closed"),
            Self::Merged => Some("merged"),
            Self::Unknown => None,
        }
    }
}

words! {
    /// How the checks of a pull request stand, all together.
    Checks as "state of checks" {
        Pending = "pending",
        Passing = "passing",
        Failing = "failing",
    }
}

/// What a person may do on a repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Permission {
    None,
    Read,
    Write,
    Admin,
}

/// A pull request as the forge has it now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PullRequest {
    pub number: u64,
    pub url: String,
    pub title: String,
    pub state: WorkState,
    pub is_draft: bool,
    /// `None` when it is gone, or no name that git takes.
    pub head_branch: Option<BranchName>,
    /// Where its head is; of a merged one, where it was merged.
    pub head: Option<CommitSha>,
    /// Whether its head is in another repository.
    pub is_fork: bool,
    pub base_branch: Option<BranchName>,
    /// `None` when there are none.
    pub checks: Option<Checks>,
    pub created_at: Option<Timestamp>,
}

/// A pull request to open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PullRequestDraft {
    pub head: BranchName,
    pub base: BranchName,
    pub title: String,
    pub body: String,
}

/// What git shows a remote. Held in memory only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Credential {
    /// The URL it is for, such as `https://github.com/acme/shop.git`; shown to no other.
    pub url: String,
    pub username: String,
    pub password: Secret,
}

/// What a platform with issues and pull requests can additionally be asked. Each call ends within a minute.
#[async_trait]
pub trait Forge: Send + Sync {
    fn platform(&self) -> PlatformKind;
    /// Which repository of this forge a remote's URL names, in whatever form. `None`: it is elsewhere.
    fn repository(&self, remote: &str) -> Option<RepositoryName>;
    /// Finds out which of these remotes, by their URLs, lead to the repository although they name another: it may have had
    /// that name before. From then on [`Forge::repository`] knows.
    async fn learn_names(&self, _remotes: &[&str], _repository: &RepositoryName) -> Result<(), PlatformError> {
        Ok(())
    }
    /// Where to clone it from. Without any credential in it.
    fn clone_url(&self, repository: &RepositoryName) -> String;
    /// Whether a repository that somebody asks about is cloned when it is not there yet.
    fn clones(&self) -> bool;
    /// Whether it takes few more calls: what nobody waits for should be asked later.
    fn is_strained(&self) -> bool {
        false
    }
    /// What opens it for fetching and pushing. Asked for each time it is needed: it may be short-lived.
    async fn credential(&self, repository: &RepositoryName) -> Result<Credential, PlatformError>;
    async fn state(&self, repository: &RepositoryName, work: &Work) -> Result<WorkState, PlatformError>;
    async fn permission(&self, repository: &RepositoryName, author: &Author) -> Result<Permission, PlatformError>;
    /// `None` when there is none of that number.
    async fn pull_request(
        &self,
        repository: &RepositoryName,
        number: u64,
    ) -> Result<Option<PullRequest>, PlatformError>;
    /// The open pull request whose head is this branch of the repository itself.
    async fn pull_request_of(
        &self,
        repository: &RepositoryName,
        head: &BranchName,
    ) -> Result<Option<PullRequest>, PlatformError>;
    async fn open_pull_request(
        &self,
        repository: &RepositoryName,
        draft: &PullRequestDraft,
    ) -> Result<PullRequest, PlatformError>;
}
