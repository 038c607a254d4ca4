//! Isolation: environments as git worktrees.
//!
//! The provider does as it is told and reports facts. Which environment a request gets is `resolve`'s business, what may
//! be removed is `cleanup`'s.

mod adopt;
mod advance;
mod base;
mod beneath;
mod checkpoint;
mod create;
mod fill;
mod inspect;
mod mounts;
pub mod ownership;
pub(crate) mod plain_file;
mod preview;
mod purge;
mod push;
mod rebuild;
mod rewind;
mod save;
mod start;
mod sync;
mod trash;
mod unfinished;
mod worktree;

pub use base::Base;
pub(crate) use base::make_private;
pub use worktree::WorktreeProvider;
