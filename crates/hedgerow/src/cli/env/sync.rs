//! `hedgerow env sync`: the base's news.

use hedgerow_core::CommitSha;
use hedgerow_core::provider::News;
use hedgerow_engine::Outcome;
use serde::Serialize;

use super::super::context::Context;
use crate::words;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Fetches the base, then fast-forwards to it, or merges it in when there are commits of its own. Refuses when there \
are uncommitted changes, or when the two are in conflict; then nothing is changed.")]
pub(crate) struct Arguments {
    /// Its work (`issue-42`), branch, path, or the beginning of its id; without one, the environment you are in
    name: Option<String>,
}

/// A sync as scripts see it.
#[derive(Debug, Serialize)]
struct SyncedView<'a> {
    outcome: &'static str,
    from: Option<&'a CommitSha>,
    to: Option<&'a CommitSha>,
}

impl<'a> SyncedView<'a> {
    const fn new(news: &'a News) -> Self {
        match news {
            News::UpToDate | News::Conflicts(_) => Self { outcome: "up_to_date", from: None, to: None },
            News::Forwarded { from, to } => Self { outcome: "forwarded", from: Some(from), to: Some(to) },
            News::Merged { from, to } => Self { outcome: "merged", from: Some(from), to: Some(to) },
        }
    }
}

pub(super) async fn run(arguments: &Arguments, context: &Context<'_>) -> Outcome<()> {
    let codebase = context.codebase().await?;
    let environment = context.environment(&codebase, arguments.name.as_deref()).await?;
    let synced = context.engine.sync(&environment, &context.by).await?;
    context.tell(&synced.notes);
    if context.out.is_json() {
        return context.out.json(&SyncedView::new(&synced.news));
    }
    context.out.say(&words::synced(&synced));
    Ok(())
}
