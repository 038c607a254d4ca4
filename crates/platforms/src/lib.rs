//! The doors to the outside: GitHub, Slack, Discord, Telegram and the terminal, one folder each.
//!
//! A platform checks who sent an event, hands it to the [`Inbox`] as it came, later prepares it with what it knows
//! (the [`Hints`]) and sends replies back. A platform with issues and pull requests is a [`Forge`] as well. It
//! decides nothing: which environment a message gets is the engine's to say.
//!
//! This crate depends on `hedgerow-core` and not on `hedgerow-engine`. That missing line in its manifest is the
//! architecture: a platform cannot write a row, clone a repository or make an environment, because those words are
//! not in scope. `tests/ports.rs` implements the ports from out here, so the seam is known to be wide enough.
//!
//! [`Hints`]: hedgerow_core::Hints

pub mod github;
pub mod terminal;

pub use hedgerow_core::message::Inbox;
pub use hedgerow_core::platform::{Forge, Platform};
