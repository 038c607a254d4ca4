//! A driver of one AI coding agent.

use std::path::PathBuf;
use std::pin::Pin;

use futures_core::Stream;

use crate::environment::Place;
use crate::id::RunId;
use crate::lease::Lease;

/// One prompt to an assistant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turn {
    pub run: RunId,
    pub place: Place,
    /// Where in the place the agent starts.
    pub subfolder: Option<PathBuf>,
    pub prompt: String,
    /// The assistant's own name of the session to resume.
    pub resume: Option<String>,
    /// Facts for the program's environment, such as `HEDGEROW_BRANCH`.
    pub variables: Vec<(String, String)>,
}

/// What an assistant reports while it works.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Update {
    Text(String),
    /// A tool call, in one line.
    Tool(String),
    Finished(Outcome),
}

/// How a turn ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// The assistant's own name of the session, to resume it.
    pub session: Option<String>,
    pub answer: String,
}

#[derive(Debug, thiserror::Error)]
pub enum AssistantError {
    /// The program is not there or cannot be started.
    #[error("the assistant cannot be started: {0}")]
    Missing(String),
    /// It no longer knows the session; a new one is needed.
    #[error("the assistant no longer knows this session")]
    UnknownSession,
    #[error("the assistant failed: {0}")]
    Failed(String),
}

/// A stream of updates. Dropping it stops the agent and everything it started.
pub type Updates = Pin<Box<dyn Stream<Item = Result<Update, AssistantError>> + Send>>;

/// An AI coding agent that can be started in a leased place: an environment, or the scratch folder of a conversation.
pub trait Assistant: Send + Sync {
    fn name(&self) -> &str;
    fn run(&self, lease: &Lease, turn: Turn) -> Updates;
}
