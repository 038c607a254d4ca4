//! `hedgerow env pr`: push, and open a pull request.

use hedgerow_core::CommitSha;
use hedgerow_core::provider::Pushed;
use hedgerow_engine::Outcome;
use hedgerow_engine::pull_requests::Proposed;
use serde::Serialize;

use super::super::context::Context;
use crate::words;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Pushes the commits of the environment to its forge and opens a pull request with them; where there is one, they go \
into it. Nothing is forced, except on a branch that Hedgerow made and pushed itself.")]
pub(crate) struct Arguments {
    /// Its work (`issue-42`), branch, path, or the beginning of its id; without one, the environment you are in
    name: Option<String>,
}

/// What was done, as scripts see it.
#[derive(Debug, Serialize)]
struct ProposedView<'a> {
    outcome: &'static str,
    number: u64,
    url: Option<&'a str>,
    branch: &'a str,
    from: Option<&'a CommitSha>,
    to: Option<&'a CommitSha>,
    uncommitted: bool,
}

impl<'a> ProposedView<'a> {
    fn new(done: &'a Proposed) -> Self {
        let (from, to) = match &done.pushed {
            Pushed::Moved { from, to, .. } => (from.as_ref(), Some(to)),
            Pushed::UpToDate | Pushed::Rejected(_) => (None, None),
        };
        let outcome = match (done.is_new, to) {
            (true, _) => "opened",
            (false, Some(_)) => "pushed",
            (false, None) => "up_to_date",
        };
        let (number, url) = (done.pr.number, done.pr.url.as_deref());
        Self { outcome, number, url, branch: done.target.as_str(), from, to, uncommitted: done.leaves_changes }
    }
}

pub(super) async fn run(arguments: &Arguments, context: &Context<'_>) -> Outcome<()> {
    let codebase = context.codebase().await?;
    let environment = context.environment(&codebase, arguments.name.as_deref()).await?;
    let proposed = context.engine.propose(&environment, &context.by).await?;
    if context.out.is_json() {
        return context.out.json(&ProposedView::new(&proposed));
    }
    context.out.say(&words::proposed(&proposed));
    Ok(())
}
