//! Work on this machine: the store, git, isolation, and the decisions that join them.
//!
//! The library never prints, never reads `$HOME` or the environment, and never asks the wall clock: all of that comes
//! in through [`Settings`] and [`Clock`]. The command line, and later the server, are thin callers of [`Engine`].

mod cleanup;
pub mod clock;
mod codebases;
mod doctor;
pub mod engine;
mod explain;
pub mod failure;
pub mod git;
pub mod isolation;
mod journal;
mod lease;
mod look;
pub mod merged;
mod remote_url;
mod remove;
mod resolve;
mod restore;
pub mod settings;
pub mod store;
pub mod view;

pub use clock::{Clock, SystemClock};
pub use engine::Engine;
pub use failure::{Failure, Outcome};
pub use settings::Settings;
