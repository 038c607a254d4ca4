//! A driver of one AI coding agent.

use std::path::PathBuf;
use std::pin::Pin;

use futures_core::Stream;
use serde::Serialize;

use crate::environment::Place;
use crate::id::RunId;
use crate::lease::Lease;
use crate::words;

/// One prompt to an assistant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turn {
    pub run: RunId,
    pub place: Place,
    /// Where in the place the agent starts.
    pub subfolder: Option<PathBuf>,
    pub prompt: String,
    /// Where the agent is and what holds there, for its system prompt, or before the first prompt of a session.
    pub briefing: Option<String>,
    /// The assistant's own name of the session to resume.
    pub resume: Option<String>,
    /// What the assistant remembered of that session, for when it is not at hand on this machine.
    pub memory: Option<Vec<u8>>,
    /// Tools that must not be used, as the assistant calls them.
    pub disallowed_tools: Vec<String>,
    /// Facts for the program's environment, such as `HEDGEROW_BRANCH`.
    pub variables: Vec<(String, String)>,
    /// How to reach the models; `None` when the agent brings its own login.
    pub models: Option<Models>,
    /// What it may touch.
    pub bounds: Bounds,
}

impl Turn {
    /// A prompt in a place, and nothing else.
    pub fn new(run: RunId, place: Place, prompt: impl Into<String>) -> Self {
        Self {
            run,
            place,
            subfolder: None,
            prompt: prompt.into(),
            briefing: None,
            resume: None,
            memory: None,
            disallowed_tools: Vec::new(),
            variables: Vec::new(),
            models: None,
            bounds: Bounds::default(),
        }
    }
}

/// The way to the models that the server opens for one run. The true keys stay with the server.
#[derive(Clone, PartialEq, Eq)]
pub struct Models {
    /// Such as `http://127.0.0.1:4747/llm/<run>`, without a slash at the end.
    pub url: String,
    /// Good for this run only.
    pub token: String,
    /// Whose models can be reached there.
    pub makers: Vec<Maker>,
}

impl std::fmt::Debug for Models {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Models").field("url", &self.url).field("makers", &self.makers).finish_non_exhaustive()
    }
}

words! {
    /// Who makes models: which API a call is meant for.
    Maker as "maker of models" {
        /// Below the URL as it is: `/v1/messages`.
        Anthropic = "anthropic",
        /// Below `/openai`: `/openai/v1/responses`.
        Openai = "openai",
        /// Below `/gemini`: `/gemini/v1beta/…`.
        Gemini = "gemini",
    }
}

/// What a turn may touch of the machine, beyond what every program needs. The cage is made of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Bounds {
    /// The agents' home of this place: their caches and what they remember. `None`: a new one that ends with the turn.
    pub home: Option<PathBuf>,
    /// May be written, besides the place itself: the repository's git folder.
    pub write: Vec<PathBuf>,
    /// Within those, may only be read: hooks, configuration, other worktrees' admin folders.
    pub guard: Vec<PathBuf>,
    /// Within those again, may be written: the admin folder of this worktree.
    pub own: Vec<PathBuf>,
    /// Files and folders of the place that the agent sees otherwise than they are on disk.
    pub covers: Vec<Cover>,
    /// The content is a stranger's: nothing is remembered in the home of others, and logins are only read.
    pub is_fork: bool,
}

/// A path that the agent sees as something else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cover {
    pub path: PathBuf,
    /// What is seen there; `None`: nothing, as an empty file or folder.
    pub with: Option<PathBuf>,
}

/// What an assistant reports while it works.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Update {
    /// Its own name of the session, as soon as it is known: a run that is stopped can be resumed.
    Session(String),
    /// The next piece of the answer.
    Text(String),
    /// A tool call, in one line.
    Tool(String),
    /// What it is going to do, whole each time.
    Plan(Vec<Step>),
    /// What the turn has used so far.
    Usage(Usage),
    /// What people should know meanwhile, such as that it waits for its model.
    Note(String),
    /// Something of its own that has no meaning here; kept in the log of the run.
    Other(String),
    /// What it remembers of the session, to be resumed elsewhere.
    Memory(Vec<u8>),
    Finished(Outcome),
}

/// One step of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Step {
    pub text: String,
    pub state: StepState,
}

words! {
    /// How a step of a plan stands.
    StepState as "state of a step" {
        Pending = "pending",
        Active = "active",
        Done = "done",
    }
}

/// What a turn has used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Usage {
    /// All that went in, what the model had in its cache included.
    pub input_tokens: u64,
    pub cached_tokens: u64,
    pub output_tokens: u64,
    /// In millionths of a dollar, if somebody knows.
    pub cost_micros: Option<u64>,
}

/// How a turn ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// The assistant's own name of the session, to resume it.
    pub session: Option<String>,
    pub answer: String,
}

/// Each has a sentence of its own for people, and its own consequence for the session.
#[derive(Debug, thiserror::Error)]
pub enum AssistantError {
    /// The program is not there or cannot be started.
    #[error("the assistant cannot be started: {0}")]
    Missing(String),
    /// It no longer knows the session; a new one is needed.
    #[error("the assistant no longer knows this session")]
    UnknownSession,
    /// Nobody is logged in, or the key is wrong.
    #[error("the assistant is not logged in: {0}")]
    LoggedOut(String),
    /// Its model takes no more for now.
    #[error("the assistant's model takes no more for now: {0}")]
    Limited(String),
    /// The session has grown beyond what the model can hold. A new one is needed.
    #[error("the session has grown too long for the assistant's model: {0}")]
    OutOfContext(String),
    /// It stopped at a limit that was set for it: turns, or money.
    #[error("the assistant came to a limit: {0}")]
    OutOfBounds(String),
    /// It ended in the middle.
    #[error("the assistant broke off: {0}")]
    Crashed(String),
    /// What it says is not its protocol.
    #[error("the assistant cannot be understood: {0}")]
    Garbled(String),
    /// The cage that is asked for cannot be made.
    #[error("the assistant cannot be caged: {0}")]
    Uncaged(String),
    /// It says itself that it failed.
    #[error("the assistant failed: {0}")]
    Failed(String),
}

impl AssistantError {
    /// Whether the session is of no more use: the next message begins a new one. After any other trouble it goes on.
    pub const fn forgets_session(&self) -> bool {
        matches!(self, Self::UnknownSession | Self::OutOfContext(_))
    }
}

/// A stream of updates. Dropping it stops the agent and everything it started.
pub type Updates = Pin<Box<dyn Stream<Item = Result<Update, AssistantError>> + Send>>;

/// An AI coding agent that can be started in a leased place: an environment, or the scratch folder of a conversation.
pub trait Assistant: Send + Sync {
    fn name(&self) -> &str;
    fn run(&self, lease: &Lease, turn: Turn) -> Updates;
}
