//! Work on this machine: the store, git, isolation, and the decisions that join them.
//!
//! The library never prints, never reads `$HOME` or the environment, and never asks the wall clock: all of that comes
//! in through [`Settings`] and [`Clock`]. The command line, and later the server, are thin callers of [`Engine`].

pub mod checkpoints;
mod cleanup;
pub mod clock;
mod close;
mod codebases;
pub mod disk;
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
pub mod purge;
pub mod reconcile;
mod remote_url;
mod remove;
mod resolve;
mod restore;
mod round;
pub mod saved;
pub mod settings;
pub mod steps;
pub mod store;
pub mod timer;
mod vault;
mod verdicts;
pub mod view;

pub use clock::{Clock, SystemClock};
pub use engine::Engine;
pub use failure::{Failure, Outcome};
pub use settings::Settings;
