//! The repositories themselves: bare ones on disk, fetched from and pushed to over HTTP with a real git.

mod backend;
pub(crate) mod bare;
mod merging;
mod moved;

pub(crate) use backend::{Wanted, serve};
pub use merging::Way;
