//! Words and rules: what Hedgerow talks about and how it decides, without any input or output.
//!
//! Nothing here opens a file, starts a process, asks a clock or touches a database. That is what makes the
//! rules testable by table, and what keeps a platform from reaching into the store: these words are all it sees.

pub mod assistant;
pub mod branch;
pub mod checkpoint;
pub mod cleanup;
pub mod codebase;
pub mod command;
pub mod condition;
pub mod environment;
pub mod error;
pub mod hints;
pub mod id;
pub mod lease;
pub mod markdown;
pub mod merged;
pub mod message;
pub mod note;
pub mod platform;
pub mod provider;
pub mod push;
pub mod repository;
pub mod run;
pub mod saved;
pub mod secret;
pub mod sha;
pub mod split;
pub mod untrusted;
pub mod work;

pub use branch::{BranchName, FolderName};
pub use checkpoint::Checkpoint;
pub use codebase::Codebase;
pub use environment::{Environment, Place, State};
pub use error::{Kind, UserError};
pub use hints::Hints;
pub use id::{
    CodebaseId, ConversationId, EnvironmentId, EventId, MessageId, ReplyId, RunId, SavedId, SessionId, Timestamp,
};
pub use lease::Lease;
pub use repository::RepositoryName;
pub use secret::Secret;
pub use sha::CommitSha;
pub use work::Work;
