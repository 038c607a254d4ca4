//! The command line: one module per verb, one way in and one way out.

mod codebase;
mod completions;
mod config;
mod context;
mod doctor;
mod env;
mod parse;
mod shell_init;
mod signals;
mod usage;
mod vault;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use clap::{CommandFactory, Parser, Subcommand};
use hedgerow_engine::{Engine, Outcome, SystemClock};

use crate::output::{self, Output};
use crate::settings::{self, Surroundings};
use context::Context;
use signals::Signals;

/// An isolated git worktree for every piece of work
#[derive(Debug, Parser)]
#[command(
    name = "hedgerow",
    version,
    arg_required_else_help = false,
    after_help = "\
Examples:
  hedgerow env create issue 42          an environment for issue 42 of this repository
  hedgerow env list                     all of them, with what is changed in each
  cd \"$(hedgerow env path issue-42)\"    go there (`hcd issue-42` with shell-init)
  hedgerow env remove issue-42          into the trash
  hedgerow env restore issue-42         and back

Exit status: 0 done, 1 failed, 2 wrong usage, 3 refused to protect work, 4 not found, \
5 limit reached, 6 busy."
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    verb: Option<Verb>,
}

/// Flags that every verb takes, below its own in the help.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Options of every command")]
struct Global {
    /// The codebase to work on; otherwise the one of the current folder
    #[arg(long, global = true, value_name = "NAME")]
    codebase: Option<String>,
    /// Answer in JSON, errors too
    #[arg(long, global = true)]
    json: bool,
    /// Where Hedgerow keeps its things; otherwise HEDGEROW_HOME, otherwise ~/.hedgerow
    #[arg(long, global = true, value_name = "FOLDER")]
    home: Option<PathBuf>,
    /// Show more of what is done; twice for still more
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    verbose: u8,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Register, list and forget repositories
    #[command(subcommand)]
    Codebase(codebase::Verb),
    /// Make, use and remove environments: one isolated worktree for each piece of work
    #[command(subcommand)]
    Env(env::Verb),
    /// What is kept of environments whose files are gone
    #[command(subcommand)]
    Vault(vault::Verb),
    /// Check this machine: git, the database, the folders, what was left half done
    Doctor(doctor::Arguments),
    /// Show the settings in effect
    Config(config::Arguments),
    /// Print a completion script for a shell
    Completions(completions::Arguments),
    /// Print what makes `hcd <environment>` work in your shell
    ShellInit(shell_init::Arguments),
}

/// Runs one command line to its exit status.
pub(crate) fn run(argv: &[OsString]) -> ExitCode {
    let arguments = match Arguments::try_parse_from(argv) {
        Ok(arguments) => arguments,
        Err(error) => return usage::report(&error, argv),
    };
    let out = Output::new(arguments.global.json);
    let outcome = act(&arguments, &out).and_then(|code| out.finish().map(|()| code));
    outcome.unwrap_or_else(|failure| {
        out.failure(&failure);
        ExitCode::from(failure.kind().exit_code())
    })
}

fn act(arguments: &Arguments, out: &Output) -> Outcome<ExitCode> {
    let Arguments { global, verb } = arguments;
    let around = Surroundings::read();
    output::start_log(around.log.as_deref(), global.verbose, global.json)?;
    match verb {
        None => {
            output::help(&Arguments::command().render_help());
            Ok(ExitCode::SUCCESS)
        }
        Some(Verb::Completions(wanted)) => Ok(completions::run(wanted, out)),
        Some(Verb::ShellInit(wanted)) => Ok(shell_init::run(wanted, out)),
        Some(Verb::Config(wanted)) => config::run(wanted, out, &around, global.home.as_deref()),
        Some(Verb::Doctor(wanted)) => serve(Served::Doctor(wanted), global, out, &around),
        Some(Verb::Codebase(verb)) => serve(Served::Codebase(verb), global, out, &around),
        Some(Verb::Env(verb)) => serve(Served::Env(verb), global, out, &around),
        Some(Verb::Vault(verb)) => serve(Served::Vault(verb), global, out, &around),
    }
}

/// The verbs that need the engine.
#[derive(Clone, Copy)]
enum Served<'a> {
    Doctor(&'a doctor::Arguments),
    Codebase(&'a codebase::Verb),
    Env(&'a env::Verb),
    Vault(&'a vault::Verb),
}

fn serve(verb: Served<'_>, global: &Global, out: &Output, around: &Surroundings) -> Outcome<ExitCode> {
    let runtime = tokio::runtime::Runtime::new().map_err(anyhow::Error::from)?;
    let outcome = runtime.block_on(until_stopped(verb, global, out, around));
    // What an interrupted command left running must not hold up the prompt.
    runtime.shutdown_background();
    outcome
}

/// Ctrl-C drops the command where it stands: the engine's journal knows what is half done and the next command
/// settles it. Some verbs mind signals themselves: a program started by `env exec` gets them and decides, and being
/// stopped is how `env cleanup --watch` ends.
async fn until_stopped(verb: Served<'_>, global: &Global, out: &Output, around: &Surroundings) -> Outcome<ExitCode> {
    if matches!(verb, Served::Env(verb) if verb.minds_signals()) {
        return with_engine(verb, global, out, around).await;
    }
    let mut signals = Signals::listen()?;
    tokio::select! {
        biased;
        code = signals.stop() => {
            let hint = "what was half done is taken back by the next command".to_owned();
            out.error("interrupted", "interrupted", &[hint]);
            Ok(ExitCode::from(code))
        }
        outcome = with_engine(verb, global, out, around) => outcome,
    }
}

async fn with_engine(verb: Served<'_>, global: &Global, out: &Output, around: &Surroundings) -> Outcome<ExitCode> {
    let settings = settings::read(around, global.home.as_deref())?.settings;
    let opened = Engine::open(settings, Arc::new(SystemClock)).await;
    let engine = match (verb, &opened) {
        // It has something to say above all when the engine does not open.
        (Served::Doctor(_), Err(failure)) => return doctor::cannot_start(failure, out),
        _ => opened?,
    };
    let context = Context::new(engine.clone(), out, around, global.codebase.as_deref());
    let outcome = match verb {
        Served::Doctor(wanted) => doctor::run(wanted, &context).await,
        Served::Codebase(verb) => codebase::run(verb, &context).await,
        Served::Env(verb) => env::run(verb, &context).await,
        Served::Vault(verb) => vault::run(verb, &context).await,
    };
    engine.close().await;
    outcome
}

#[cfg(test)]
mod tests;
