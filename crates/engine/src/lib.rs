//! Work on this machine: the store, git, isolation, and the decisions that join them.
//!
//! The library never prints, never reads `$HOME` or the environment, and never asks the wall clock: all of that comes
//! in through [`Settings`] and [`Clock`]. The command line, and later the server, are thin callers of [`Engine`].

mod answer;
pub mod assistant;
pub mod base_files;
pub mod bounds;
pub mod cage;
pub mod checkpoints;
mod cleanup;
pub mod clock;
mod close;
mod codebases;
pub mod commands;
pub mod disk;
pub mod dispatch;
mod doctor;
pub mod engine;
mod explain;
pub mod failure;
mod forges;
pub mod gateway;
pub mod git;
mod hands;
mod hosting;
pub mod isolation;
mod journal;
mod lease;
mod look;
pub mod merged;
pub mod outbox;
mod people;
pub mod pull_requests;
pub mod purge;
pub mod reconcile;
mod remote_url;
mod remove;
pub mod replies;
pub mod repository_config;
mod resolve;
mod restore;
mod round;
mod run;
pub mod runs;
pub mod saved;
mod scratch;
pub mod settings;
pub mod steps;
pub mod store;
pub mod sync;
pub mod templates;
pub mod timer;
pub mod token;
pub mod tripwire;
mod vault;
mod verdicts;
pub mod view;

pub use clock::{Clock, SystemClock};
pub use engine::Engine;
pub use failure::{Failure, Outcome};
pub use forges::Forges;
pub use settings::Settings;
pub use token::Token;
