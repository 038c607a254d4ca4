//! `hedgerow env remove`: into the trash, never away. The answer ends with the command that undoes it.

use hedgerow_engine::Outcome;
use hedgerow_engine::engine::Removed;
use hedgerow_engine::view::RemovedView;

use super::super::context::Context;
use crate::words;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Refuses when there are uncommitted changes, an unfinished rebase or merge, or commits that nothing \
else holds. With --force it goes to the trash as it is, and `hedgerow env restore` brings it back whole.")]
pub(crate) struct Arguments {
    /// Its work (`issue-42`), branch, path, or the beginning of its id; without one, the environment you are in
    name: Option<String>,
    /// Even with uncommitted work in it, or when it was adopted
    #[arg(long)]
    force: bool,
}

pub(super) async fn run(arguments: &Arguments, context: &Context<'_>) -> Outcome<()> {
    let codebase = context.codebase().await?;
    let environment = context.environment(&codebase, arguments.name.as_deref()).await?;
    let was_inside = context.is_inside(&environment.path);
    let removed = context.engine.remove(&environment, arguments.force, &context.by).await?;
    if was_inside && !matches!(removed, Removed::LetGo { .. }) {
        let back = words::quoted(&codebase.path.to_string_lossy());
        context.out.note(&format!("your shell is still in the folder that moved; `cd {back}`"));
    }
    let undo = words::undo(&removed, context.chosen);
    if context.out.is_json() {
        return context.out.json(&RemovedView::new(&removed, &codebase.name, undo));
    }
    context.out.say(&words::removed(&removed));
    if let Some(undo) = undo {
        context.out.say(&format!("Undo: {undo}"));
    }
    Ok(())
}
