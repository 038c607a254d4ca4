//! The command line: one module per verb, one way in and one way out.

mod chat;
mod codebase;
mod completions;
mod config;
mod context;
mod doctor;
mod env;
mod github;
mod parse;
mod run;
mod serve;
mod shell_init;
mod signals;
mod spending;
mod supervise;
mod usage;
mod vault;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use clap::{CommandFactory, Parser, Subcommand};
use hedgerow_engine::{Engine, Outcome, SystemClock};

use crate::output::{self, Output};
use crate::settings::{self, Configuration, Surroundings};
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
    /// Talk to an assistant here, in a conversation of its own
    Chat(chat::Arguments),
    /// Register, list and forget repositories
    #[command(subcommand)]
    Codebase(codebase::Verb),
    /// Make, use and remove environments: one isolated worktree for each piece of work
    #[command(subcommand)]
    Env(env::Verb),
    /// What assistants did, are doing, and what it took
    #[command(subcommand)]
    Run(run::Verb),
    /// What is kept of environments whose files are gone
    #[command(subcommand)]
    Vault(vault::Verb),
    /// Run the server: take messages, have them answered, tidy up on time
    Serve(serve::Arguments),
    /// Set up GitHub, and replay what it delivered
    #[command(subcommand)]
    Github(github::Verb),
    /// Check this machine: git, the database, the folders, what was left half done
    Doctor(doctor::Arguments),
    /// What models cost, by codebase and by person
    Spending(spending::Arguments),
    /// Show the settings in effect
    Config(config::Arguments),
    /// Print a completion script for a shell
    Completions(completions::Arguments),
    /// Print what makes `hcd <environment>` work in your shell
    ShellInit(shell_init::Arguments),
    /// Run a program, and end everything it started when it is done or we are gone
    #[command(hide = true)]
    Supervise(supervise::Arguments),
}

/// Runs one command line to its exit status.
pub(crate) fn run(argv: &[OsString]) -> ExitCode {
    let arguments = match Arguments::try_parse_from(argv) {
        Ok(arguments) => arguments,
        Err(error) => return usage::report(&error, argv),
    };
    let out = Output::new(arguments.global.json);
    let outcome = act(&arguments, argv, &out).and_then(|code| out.finish().map(|()| code));
    outcome.unwrap_or_else(|failure| {
        out.failure(&failure);
        ExitCode::from(failure.kind().exit_code())
    })
}

fn act(arguments: &Arguments, argv: &[OsString], out: &Output) -> Outcome<ExitCode> {
    let Arguments { global, verb } = arguments;
    // These live long and start the programs of others, who must not find our secrets.
    let starts_agents = matches!(verb, Some(Verb::Serve(_) | Verb::Chat(_)));
    let handed = if starts_agents { settings::withdraw_secrets(argv)? } else { None };
    let around = Surroundings::read(handed);
    let is_server = matches!(verb, Some(Verb::Serve(_)));
    output::start_log(around.log.as_deref(), global.verbose, global.json, is_server)?;
    match verb {
        None => {
            output::help(&Arguments::command().render_help());
            Ok(ExitCode::SUCCESS)
        }
        Some(Verb::Supervise(wanted)) => Ok(supervise::run(wanted, out)),
        Some(Verb::Completions(wanted)) => Ok(completions::run(wanted, out)),
        Some(Verb::ShellInit(wanted)) => Ok(shell_init::run(wanted, out)),
        Some(Verb::Config(wanted)) => config::run(wanted, out, &around, global),
        Some(Verb::Github(verb)) => github::run(verb, out, &around, global),
        Some(Verb::Chat(wanted)) => engage(Engaged::Chat(wanted), global, out, &around),
        Some(Verb::Serve(wanted)) => engage(Engaged::Serve(wanted), global, out, &around),
        Some(Verb::Doctor(wanted)) => engage(Engaged::Doctor(wanted), global, out, &around),
        Some(Verb::Codebase(verb)) => engage(Engaged::Codebase(verb), global, out, &around),
        Some(Verb::Env(verb)) => engage(Engaged::Env(verb), global, out, &around),
        Some(Verb::Run(verb)) => engage(Engaged::Run(verb), global, out, &around),
        Some(Verb::Vault(verb)) => engage(Engaged::Vault(verb), global, out, &around),
        Some(Verb::Spending(_)) => engage(Engaged::Spending, global, out, &around),
    }
}

/// The verbs that need the engine.
#[derive(Clone, Copy)]
enum Engaged<'a> {
    Chat(&'a chat::Arguments),
    Serve(&'a serve::Arguments),
    Doctor(&'a doctor::Arguments),
    Codebase(&'a codebase::Verb),
    Env(&'a env::Verb),
    Run(&'a run::Verb),
    Vault(&'a vault::Verb),
    Spending,
}

fn engage(verb: Engaged<'_>, global: &Global, out: &Output, around: &Surroundings) -> Outcome<ExitCode> {
    let runtime = tokio::runtime::Runtime::new().map_err(anyhow::Error::from)?;
    let outcome = runtime.block_on(until_stopped(verb, global, out, around));
    // What an interrupted command left running must not hold up the prompt.
    runtime.shutdown_background();
    outcome
}

/// Ctrl-C drops the command where it stands: the engine's journal knows what is half done and the next command
/// settles it. Some verbs mind signals themselves: a program started by `env exec` gets them and decides, and being
/// stopped is how `serve` and `env cleanup --watch` end, and in a chat Ctrl-C is for the run.
async fn until_stopped(verb: Engaged<'_>, global: &Global, out: &Output, around: &Surroundings) -> Outcome<ExitCode> {
    let minds_signals = match verb {
        Engaged::Chat(_) | Engaged::Serve(_) => true,
        Engaged::Env(verb) => verb.minds_signals(),
        _ => false,
    };
    if minds_signals {
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

async fn with_engine(verb: Engaged<'_>, global: &Global, out: &Output, around: &Surroundings) -> Outcome<ExitCode> {
    let Configuration { settings, server, .. } = settings::read(around, global.home.as_deref())?;
    let opened = Engine::open(settings, Arc::new(SystemClock)).await;
    let engine = match (verb, &opened) {
        // It has something to say above all when the engine does not open.
        (Engaged::Doctor(_), Err(failure)) => return doctor::cannot_start(failure, out),
        _ => opened?,
    };
    let context = Context::new(engine.clone(), out, around, global.codebase.as_deref());
    let outcome = match verb {
        Engaged::Chat(wanted) => chat::run(wanted, &context).await,
        Engaged::Serve(wanted) => serve::run(wanted, &context, &server).await,
        Engaged::Doctor(wanted) => doctor::run(wanted, &context, &server).await,
        Engaged::Codebase(verb) => codebase::run(verb, &context).await,
        Engaged::Env(verb) => env::run(verb, &context).await,
        Engaged::Run(verb) => run::run(verb, &context).await.map(|()| ExitCode::SUCCESS),
        Engaged::Vault(verb) => vault::run(verb, &context).await,
        Engaged::Spending => spending::run(&context).await,
    };
    engine.close().await;
    outcome
}

#[cfg(test)]
mod tests;
