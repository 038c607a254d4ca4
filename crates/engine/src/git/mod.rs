//! The one room that starts git.
//!
//! Everything here passes whole arguments, never a shell line; asks in porcelain formats with `-z`; and decides by exit
//! codes. The user's and the system's configuration stay in force (credential helpers, proxies, LFS are theirs to
//! choose); what a *repository's* own configuration could run is switched off, see [`hazards`].

pub mod blobs;
mod call;
pub mod checkpoints;
mod credentials;
mod error;
pub mod hazards;
pub mod import;
pub mod index;
mod input;
mod keep;
mod lock;
pub mod look;
mod mend;
pub mod merge;
pub mod pack;
pub mod push;
pub mod refs;
mod remains;
pub mod remote;
mod repo;
pub mod rewinding;
pub mod status;
pub mod tree;
mod version;
mod watch;
pub mod watched;
pub mod worktree;

pub use call::Git;
pub use error::GitError;
pub use lock::{LockKind, RepoLock};
pub(crate) use mend::half_made;
pub(crate) use remains::{remove_locks_below, tidy_if_any};
pub use repo::Repo;
pub use version::Version;

/// What every function of this room answers with.
pub type GitResult<T> = Result<T, GitError>;
