//! `hedgerow env diff`.

use hedgerow_engine::Outcome;

use super::super::context::Context;

#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  hedgerow env diff issue-42 | git apply --check")]
pub(crate) struct Arguments {
    /// Its work (`issue-42`), branch, path, or the beginning of its id; without one, the environment you are in
    name: Option<String>,
    /// Only which files changed, and by how much
    #[arg(long)]
    stat: bool,
}

pub(super) async fn run(arguments: &Arguments, context: &Context<'_>) -> Outcome<()> {
    let codebase = context.codebase().await?;
    let environment = context.environment(&codebase, arguments.name.as_deref()).await?;
    let patch = context.engine.diff(&environment, arguments.stat).await?;
    if context.out.is_json() {
        let field = if arguments.stat { "stat" } else { "patch" };
        return context.out.json(&serde_json::json!({
            "id": environment.id, "branch": environment.branch, field: String::from_utf8_lossy(&patch),
        }));
    }
    context.out.patch(&patch);
    Ok(())
}
