//! `hedgerow env checkpoint` and `checkpoints`.

use hedgerow_core::Checkpoint;
use hedgerow_engine::Outcome;
use serde::Serialize;

use super::super::context::Context;
use crate::output::{BOLD, Cell, DIM, Table};
use crate::words;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Saves files, staged changes, HEAD and an unfinished rebase or merge, without touching any of them. Files that git \
ignores and repositories inside are no part of it. The newest 20 are kept; `hedgerow env undo` goes back.")]
pub(crate) struct Arguments {
    /// Its work (`issue-42`), branch, path, or the beginning of its id; without one, the environment you are in
    name: Option<String>,
    /// A few words to know it by
    #[arg(long)]
    label: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ListArguments {
    /// Its work (`issue-42`), branch, path, or the beginning of its id; without one, the environment you are in
    name: Option<String>,
}

/// A checkpoint as scripts see it when one was asked for.
#[derive(Debug, Serialize)]
struct CheckedView<'a> {
    #[serde(flatten)]
    checkpoint: &'a Checkpoint,
    is_new: bool,
}

pub(super) async fn run(arguments: &Arguments, context: &Context<'_>) -> Outcome<()> {
    let codebase = context.codebase().await?;
    let environment = context.environment(&codebase, arguments.name.as_deref()).await?;
    let checked = context.engine.checkpoint(&environment, arguments.label.as_deref(), &context.by).await?;
    if context.out.is_json() {
        return context.out.json(&CheckedView { checkpoint: &checked.checkpoint, is_new: checked.is_new });
    }
    let (name, number) = (environment.name(), checked.checkpoint.number);
    context.out.say(&if checked.is_new {
        format!("Saved the state of `{name}` as checkpoint {number}")
    } else {
        format!("Nothing has changed in `{name}` since checkpoint {number}")
    });
    Ok(())
}

pub(super) async fn list(arguments: &ListArguments, context: &Context<'_>) -> Outcome<()> {
    let codebase = context.codebase().await?;
    let environment = context.environment(&codebase, arguments.name.as_deref()).await?;
    let checkpoints = context.engine.checkpoints(&environment).await?;
    if context.out.is_json() {
        return context.out.json(&checkpoints);
    }
    if checkpoints.is_empty() {
        context.out.note(&format!("`{}` has no checkpoints", environment.name()));
        return Ok(());
    }
    let mut table = Table::new(&["NUMBER", "AGE", "LABEL"]);
    for checkpoint in checkpoints.iter().rev() {
        table.row(vec![
            Cell::new(checkpoint.number.to_string(), BOLD),
            Cell::new(words::age(checkpoint.made_at, context.now), DIM),
            checkpoint.label.as_deref().unwrap_or_default().into(),
        ]);
    }
    context.out.table(&table);
    Ok(())
}
