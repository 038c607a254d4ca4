//! Something is found out about a commit.

use serde_json::json;

use crate::outside::github::state::{Check, World};

impl World {
    /// A check run, or an older status; `None` while it runs.
    pub(crate) fn checks(&mut self, repository: u64, sha: &str, name: &str, conclusion: Option<&str>, is_status: bool) {
        let (id, at) = (self.id(), self.clock.tick());
        let conclusion = conclusion.map(str::to_owned);
        let check = Check { id, sha: sha.to_owned(), name: name.to_owned(), is_status, conclusion, at };
        self.repository_mut(repository).checks.push(check.clone());
        let by = self.user("github-actions[bot]");
        let (event, payload) = if is_status {
            let mut status = Self::show_status(&check);
            status["sha"] = json!(sha);
            ("status", status)
        } else {
            let run = self.show_check_run(&check);
            let action = if check.conclusion.is_some() { "completed" } else { "created" };
            ("check_run", json!({"action": action, "check_run": run}))
        };
        self.happened(event, repository, by, payload);
        if !is_status && check.conclusion.is_some() {
            let suite = json!({
                "id": id + 1, "head_sha": sha, "head_branch": null, "status": "completed",
                "conclusion": check.conclusion, "pull_requests": [],
            });
            self.happened("check_suite", repository, by, json!({"action": "completed", "check_suite": suite}));
        }
    }
}
