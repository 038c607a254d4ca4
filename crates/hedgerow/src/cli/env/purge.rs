//! `hedgerow env purge`: out of the trash before its time. What git could not bring back is saved first.

use hedgerow_core::saved::Skipped;
use hedgerow_core::{Kind, UserError};
use hedgerow_engine::Outcome;
use hedgerow_engine::store::Scope;
use serde::Serialize;

use super::super::context::Context;
use crate::words;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Commits that no remote has, changed, untracked and ignored files, the index and unfinished operations are saved in \
the vault and read back before anything is deleted; `hedgerow env restore` makes the environment again from there. \
Left out: caches such as node_modules, ignored files above 50 MB each or 500 MB in all, sockets. They are listed.")]
pub(crate) struct Arguments {
    /// What it was called: its work (`issue-42`), branch, path, or the beginning of its id; see `hedgerow env trash`
    name: String,
}

/// A purge as scripts see it.
#[derive(Debug, Serialize)]
struct PurgedView<'a> {
    environment: String,
    saved: String,
    bytes: u64,
    skipped: &'a [Skipped],
    undo: String,
}

pub(super) async fn run(arguments: &Arguments, context: &Context<'_>) -> Outcome<()> {
    let codebase = context.codebase().await?;
    let found = context.engine.store().find(codebase.id, &arguments.name, Scope::Trashed).await?;
    let Some(environment) = found else {
        let message = format!("there is no `{}` in the trash of `{}`", arguments.name, codebase.name);
        let error = UserError::new(Kind::NotFound, message).hint("`hedgerow env trash` lists what is there");
        return Err(error.hint("`hedgerow env remove` moves an environment there").into());
    };
    let purged = context.engine.purge(&environment, &context.by).await?;
    let undo = words::restore_command(environment.name(), context.chosen);
    if context.out.is_json() {
        return context.out.json(&PurgedView {
            environment: environment.id.to_string(),
            saved: purged.saved.id.to_string(),
            bytes: purged.saved.bytes,
            skipped: &purged.skipped,
            undo,
        });
    }
    let size = words::bytes(purged.saved.bytes);
    context.out.say(&format!("Deleted `{}` from the trash; {size} saved in the vault", environment.name()));
    for skipped in &purged.skipped {
        context.out.note(&format!("not saved: {}", words::skipped(skipped)));
    }
    context.out.say(&format!("Undo: {undo}"));
    Ok(())
}
