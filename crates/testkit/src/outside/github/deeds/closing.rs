//! Issues and pull requests are closed and opened again.

use serde_json::json;

use crate::outside::github::state::World;

impl World {
    pub(crate) fn closes(&mut self, repository: u64, number: u64, by: u64, reason: Option<&'static str>) {
        let time = self.clock.tick();
        let issue = self.issue_mut(repository, number);
        if !issue.is_open {
            return;
        }
        issue.is_open = false;
        issue.state_reason = if issue.pull.is_some() { None } else { reason.or(Some("completed")) };
        (issue.closed_at, issue.closed_by, issue.updated_at) = (Some(time), Some(by), time);
        self.tells_issue(repository, number, by, "closed", json!({}));
    }

    pub(crate) fn reopens(&mut self, repository: u64, number: u64, by: u64) {
        let time = self.clock.tick();
        let issue = self.issue_mut(repository, number);
        if issue.is_open || issue.is_merged() {
            return;
        }
        issue.is_open = true;
        issue.state_reason = issue.pull.is_none().then_some("reopened");
        (issue.closed_at, issue.closed_by, issue.updated_at) = (None, None, time);
        self.tells_issue(repository, number, by, "reopened", json!({}));
    }
}
