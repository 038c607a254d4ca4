//! Isolation: environments as git worktrees.
//!
//! The provider does as it is told and reports facts. Which environment a request gets is `resolve`'s business, what may
//! be removed is `cleanup`'s.

mod adopt;
mod advance;
mod base;
mod create;
mod fill;
mod inspect;
pub mod ownership;
mod start;
mod trash;
mod worktree;

pub use base::Base;
pub(crate) use base::make_private;
pub use worktree::WorktreeProvider;
