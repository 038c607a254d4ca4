//! What is known about a commit: check runs, and the older statuses.

use serde_json::{Value, json};

use crate::outside::github::state::{Check, Kind, Node, World, written};

impl World {
    pub(crate) fn show_check_run(&self, check: &Check) -> Value {
        let is_done = check.conclusion.is_some();
        json!({
            "id": check.id, "node_id": Node(Kind::CheckRun, check.id).json(), "head_sha": check.sha,
            "name": check.name, "external_id": "", "html_url": format!("{}/runs/{}", self.url, check.id),
            "status": if is_done { "completed" } else { "in_progress" }, "conclusion": check.conclusion,
            "started_at": written(check.at), "completed_at": is_done.then(|| written(check.at)),
            "check_suite": {"id": check.id + 1}, "pull_requests": [],
        })
    }

    pub(crate) fn show_status(check: &Check) -> Value {
        json!({
            "id": check.id, "node_id": format!("SC_kwDO{:08x}", check.id), "context": check.name,
            "state": check.conclusion.as_deref().unwrap_or("pending"), "description": null, "target_url": null,
            "created_at": written(check.at), "updated_at": written(check.at),
        })
    }

    /// The newest of each name for a commit.
    pub(crate) fn checks_of(&self, repository: u64, sha: &str, statuses: bool) -> Vec<&Check> {
        let all = &self.repository(repository).checks;
        let of_sha: Vec<&Check> = all.iter().filter(|check| check.sha == sha && check.is_status == statuses).collect();
        let is_newest = |check: &&Check| !of_sha.iter().any(|other| other.name == check.name && other.id > check.id);
        of_sha.iter().filter(|check| is_newest(check)).copied().collect()
    }
}
