//! `hedgerow github`: what is needed besides the server so that GitHub can be worked on.

mod page;
mod replay;
mod setup;

use std::process::ExitCode;

use clap::Subcommand;
use hedgerow_engine::Outcome;

use super::Global;
use crate::output::Output;
use crate::settings::{self, Surroundings};

#[derive(Debug, Subcommand)]
pub(super) enum Verb {
    /// Say what GitHub must be told, or make a GitHub App in your browser
    Setup(setup::Arguments),
    /// Send saved deliveries of GitHub to the running server, as GitHub would
    Replay(replay::Arguments),
}

/// Neither needs the engine: what they do comes before it, or is done by the server.
pub(super) fn run(verb: &Verb, out: &Output, around: &Surroundings, global: &Global) -> Outcome<ExitCode> {
    let read = settings::read(around, global.home.as_deref())?;
    let runtime = tokio::runtime::Runtime::new().map_err(anyhow::Error::from)?;
    runtime.block_on(async {
        match verb {
            Verb::Setup(wanted) => setup::run(wanted, &read, out).await,
            Verb::Replay(wanted) => replay::run(wanted, &read.server, out, around).await,
        }
    })
}
