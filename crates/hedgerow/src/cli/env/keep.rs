//! `hedgerow env keep` and `unkeep`.

use hedgerow_engine::Outcome;

use super::super::context::Context;
use crate::words;

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Its work (`issue-42`), branch, path, or the beginning of its id; without one, the environment you are in
    name: Option<String>,
}

pub(super) async fn run(arguments: &Arguments, is_pinned: bool, context: &Context<'_>) -> Outcome<()> {
    let codebase = context.codebase().await?;
    let environment = context.environment(&codebase, arguments.name.as_deref()).await?;
    let environment = context.engine.pin(&environment, is_pinned, &context.by).await?;
    if context.out.is_json() {
        return context.out.json(&super::row(&environment, &codebase));
    }
    context.out.say(&words::pinned(environment.name(), is_pinned));
    Ok(())
}
