//! `hedgerow env`: one file per verb.

mod adopt;
mod checkpoint;
mod cleanup;
pub(crate) mod create;
mod diff;
mod exec;
mod keep;
mod list;
mod orphans;
mod path;
mod pr;
mod purge;
mod remove;
mod restore;
mod show;
mod sync;
mod trash;
mod undo;

use std::process::ExitCode;

use clap::Subcommand;
use hedgerow_core::{Codebase, Environment, Hints};
use hedgerow_engine::Outcome;
use hedgerow_engine::engine::{Detail, Resolved};
use hedgerow_engine::view::{Look, View};

use super::context::Context;
use crate::words;

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Find or make the environment of a piece of work
    #[command(subcommand, after_help = create::EXAMPLES)]
    Create(create::Verb),
    /// All environments of the codebase, with what is changed in each
    List(list::Arguments),
    /// One environment; without a name, the one you are in
    Show(show::Arguments),
    /// The folder of an environment
    Path(path::Arguments),
    /// Run a program in an environment
    Exec(exec::Arguments),
    /// Take a worktree that someone else made into the list; it is never moved or deleted by automation
    Adopt(adopt::Arguments),
    /// Move an environment to the trash; refuses when work could be lost
    Remove(remove::Arguments),
    /// Bring an environment back from the trash or, if it is purged, from what was saved of it
    Restore(restore::Arguments),
    /// Save the state of an environment, to go back to later
    Checkpoint(checkpoint::Arguments),
    /// The states of an environment that `undo` can go back to
    Checkpoints(checkpoint::ListArguments),
    /// Take back what the last turn changed, or everything since a checkpoint
    Undo(undo::Arguments),
    /// Bring what is new on the base into an environment
    Sync(sync::Arguments),
    /// Push its commits and open a pull request, or push them into the one there is
    Pr(pr::Arguments),
    /// Pin an environment: automation leaves it alone
    Keep(keep::Arguments),
    /// Unpin an environment
    Unkeep(keep::Arguments),
    /// Remove what is merged, stale, gone or left over, with a report; once, when due, or on a timer
    Cleanup(cleanup::Arguments),
    /// Every git worktree of the repository, those unknown to Hedgerow marked
    Orphans,
    /// Delete an environment from the trash now; what git could not bring back is saved first
    Purge(purge::Arguments),
    /// What is in the trash and in the vault
    Trash(trash::Arguments),
    /// What an environment changed since its base, committed or not, as a patch
    Diff(diff::Arguments),
}

impl Verb {
    /// Whether it deals with signals itself.
    pub(super) const fn minds_signals(&self) -> bool {
        match self {
            Self::Exec(_) => true,
            Self::Cleanup(arguments) => arguments.watch,
            _ => false,
        }
    }
}

pub(super) async fn run(verb: &Verb, context: &Context<'_>) -> Outcome<ExitCode> {
    match verb {
        Verb::Exec(arguments) => return exec::run(arguments, context).await,
        Verb::Cleanup(arguments) => return cleanup::run(arguments, context).await,
        Verb::Create(verb) => create::run(verb, context).await?,
        Verb::List(arguments) => list::run(arguments, context).await?,
        Verb::Show(arguments) => show::run(arguments, context).await?,
        Verb::Path(arguments) => path::run(arguments, context).await?,
        Verb::Adopt(arguments) => adopt::run(arguments, context).await?,
        Verb::Remove(arguments) => remove::run(arguments, context).await?,
        Verb::Restore(arguments) => restore::run(arguments, context).await?,
        Verb::Checkpoint(arguments) => checkpoint::run(arguments, context).await?,
        Verb::Checkpoints(arguments) => checkpoint::list(arguments, context).await?,
        Verb::Undo(arguments) => undo::run(arguments, context).await?,
        Verb::Sync(arguments) => sync::run(arguments, context).await?,
        Verb::Pr(arguments) => pr::run(arguments, context).await?,
        Verb::Keep(arguments) => keep::run(arguments, true, context).await?,
        Verb::Unkeep(arguments) => keep::run(arguments, false, context).await?,
        Verb::Orphans => orphans::run(context).await?,
        Verb::Purge(arguments) => purge::run(arguments, context).await?,
        Verb::Trash(arguments) => trash::run(arguments, context).await?,
        Verb::Diff(arguments) => diff::run(arguments, context).await?,
    }
    Ok(ExitCode::SUCCESS)
}

/// The answer of every verb that ends with an environment to work in: a sentence, and the path as the last line.
async fn answer(context: &Context<'_>, resolved: &Resolved, hints: &Hints, is_quiet: bool) -> Outcome<()> {
    let Resolved { environment, resolution, notes, .. } = resolved;
    let is_json = context.out.is_json();
    if is_json || !is_quiet {
        context.tell(notes);
    }
    if is_json {
        let mut view = context.engine.view(environment, Detail::Status).await?;
        view.resolution = Some(*resolution);
        return context.out.json(&view);
    }
    if !is_quiet {
        let view = match hints.pr_head {
            Some(_) => Some(context.engine.view(environment, Detail::Status).await?),
            None => None,
        };
        let head = view.as_ref().and_then(head);
        context.out.say(&words::resolved(resolved, hints, head, context.now));
    }
    context.out.value(environment.path.as_os_str());
    Ok(())
}

/// The commit that is checked out, where git was asked.
fn head(view: &View) -> Option<&hedgerow_core::CommitSha> {
    match &view.condition {
        Some(hedgerow_core::provider::Condition::Present(facts)) => facts.head.as_ref(),
        _ => None,
    }
}

/// The environment's row, without asking git.
fn row(environment: &Environment, codebase: &Codebase) -> View {
    View::new(environment, &codebase.name, Look::default())
}
