//! `hedgerow env restore`.

use hedgerow_core::Hints;
use hedgerow_engine::Outcome;

use super::super::context::Context;

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// What it was called: its work (`issue-42`), branch, path, or the beginning of its id; see `hedgerow env trash`
    name: String,
}

pub(super) async fn run(arguments: &Arguments, context: &Context<'_>) -> Outcome<()> {
    let codebase = context.codebase().await?;
    let resolved = context.engine.restore(&codebase, &arguments.name, &context.by).await?;
    super::answer(context, &resolved, &Hints::default(), false).await
}
