//! Commits, and what is known about them.

use serde_json::{Value, json};

use super::At;
use crate::outside::github::call::{Answered, Refusal, fine, refused};
use crate::outside::github::git::bare;
use crate::outside::github::state::World;

pub(super) fn answer(world: &World, at: &At<'_>, rest: &[&str]) -> Answered {
    let ["commits", name, what @ ..] = rest else { return Err(Refusal::Unknown) };
    let path = &world.repository(at.repository).path;
    let sha = bare::rev(path, name).or_else(|| bare::rev(path, &format!("refs/heads/{name}")));
    let sha = sha.ok_or_else(|| refused(422, &format!("No commit found for SHA: {name}")))?;
    match (at.call.method.as_str(), what) {
        ("GET", []) => fine(world.show_commit(at.repository, &sha)),
        ("GET", ["check-runs"]) => {
            let runs = world.checks_of(at.repository, &sha, false);
            let runs: Vec<Value> = runs.into_iter().map(|check| world.show_check_run(check)).collect();
            at.call.page_in(runs, |page, count| json!({"total_count": count, "check_runs": page}))
        }
        ("GET", ["status"]) => {
            let statuses = world.checks_of(at.repository, &sha, true);
            let is =
                |wanted: &str| statuses.iter().any(|check| check.conclusion.as_deref().unwrap_or("pending") == wanted);
            let state = if is("failure") || is("error") {
                "failure"
            } else if is("pending") || statuses.is_empty() {
                "pending"
            } else {
                "success"
            };
            let shown: Vec<Value> = statuses.iter().map(|check| World::show_status(check)).collect();
            fine(json!({"state": state, "sha": sha, "total_count": shown.len(), "statuses": shown}))
        }
        ("GET", ["pulls"]) => {
            let issues = world.repository(at.repository).issues.values();
            let of_it = issues.filter(|issue| issue.pull.as_ref().is_some_and(|pull| pull.head == sha));
            at.call.page(of_it.map(|issue| world.show_pull(at.repository, issue.number)).collect())
        }
        _ => Err(Refusal::Unknown),
    }
}
