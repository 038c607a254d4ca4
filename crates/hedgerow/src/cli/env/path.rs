//! `hedgerow env path`: made for `cd "$(hedgerow env path issue-42)"`.

use hedgerow_engine::Outcome;

use super::super::context::Context;

#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  cd \"$(hedgerow env path issue-42)\"")]
pub(crate) struct Arguments {
    /// Its work (`issue-42`), branch, path, or the beginning of its id; without one, the environment you are in
    name: Option<String>,
}

pub(super) async fn run(arguments: &Arguments, context: &Context<'_>) -> Outcome<()> {
    let codebase = context.codebase().await?;
    let environment = context.environment(&codebase, arguments.name.as_deref()).await?;
    let path = context.engine.require_path(&environment).await?;
    if context.out.is_json() {
        return context.out.json(&serde_json::json!({"path": path.to_string_lossy()}));
    }
    context.out.value(path.as_os_str());
    Ok(())
}
