//! Pull requests in words: one that was opened, or pushed to, and how one stands.

use hedgerow_core::provider::Pushed;

use super::plural;
use crate::pull_requests::Proposed;
use crate::view::PullRequestView;

/// What became of the wish for a pull request.
pub fn proposed(done: &Proposed) -> String {
    let number = done.pr.number;
    let url = done.pr.url.as_ref().map(|url| format!(": {url}")).unwrap_or_default();
    let first = match (done.is_new, &done.pushed) {
        (true, _) => format!("Opened pull request #{number}{url}"),
        (false, Pushed::Moved { commits: Some(count @ 1..), .. }) => {
            format!("Pushed {} to #{number}{url}", plural(*count, "commit"))
        }
        (false, Pushed::Moved { .. }) => format!("Pushed `{}` to #{number}{url}", done.target),
        (false, Pushed::UpToDate | Pushed::Rejected(_)) => format!("#{number} has every commit already{url}"),
    };
    let mut lines = vec![first];
    if done.leaves_changes {
        lines.push(format!("• `{}` has uncommitted changes, which are not in it", done.environment.name()));
    }
    lines.join("\n")
}

/// `#99 open, checks failing`
pub fn pull_request(pr: &PullRequestView) -> String {
    let state = pr.state.as_ref().map(|state| format!(" {state}")).unwrap_or_default();
    let is_over = matches!(pr.state.as_deref(), Some("merged" | "closed"));
    let checks = pr.checks.filter(|_| !is_over).map(|checks| format!(", checks {checks}")).unwrap_or_default();
    format!("#{}{state}{checks}", pr.number)
}
