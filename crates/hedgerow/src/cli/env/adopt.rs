//! `hedgerow env adopt`.

use std::path::{Path, PathBuf};

use hedgerow_core::{Codebase, Hints};
use hedgerow_engine::Outcome;

use super::super::context::Context;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  hedgerow env adopt ../shop-feature\n  hedgerow env adopt feature/auth")]
pub(crate) struct Arguments {
    /// The folder of the worktree, or the branch that is checked out in it
    #[arg(value_name = "PATH|BRANCH")]
    worktree: PathBuf,
}

pub(super) async fn run(arguments: &Arguments, context: &Context<'_>) -> Outcome<()> {
    let path = context.absolute(&arguments.worktree)?;
    // The worktree says best which repository it belongs to, wherever the command is given.
    let codebase = match context.chosen {
        None if path.is_dir() => context.codebase_at(&path).await?,
        _ => context.codebase().await?,
    };
    let path =
        if path.exists() { path } else { on_branch(context, &codebase, &arguments.worktree).await?.unwrap_or(path) };
    let resolved = context.engine.adopt(&codebase, &path, &context.by).await?;
    super::answer(context, &resolved, &Hints::default(), false).await
}

/// Where the branch of that name is checked out.
async fn on_branch(context: &Context<'_>, codebase: &Codebase, name: &Path) -> Outcome<Option<PathBuf>> {
    let Some(name) = name.to_str() else { return Ok(None) };
    let mut worktrees = context.engine.worktrees(codebase).await?.into_iter().map(|known| known.found);
    let found = worktrees.find(|found| found.branch.as_ref().is_some_and(|branch| branch.as_str() == name));
    Ok(found.map(|found| found.path))
}
