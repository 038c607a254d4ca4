//! Commits, and what is known about them.

use serde_json::{Value, json};

use super::shown;
use crate::outside::github::graphql::thing::{Found, Missing, Out, Thing, list, thing, value};
use crate::outside::github::state::{Check, Kind, Node, World};

pub(super) fn of_commit(world: &World, id: u64, sha: &str, name: &str, _: &Value) -> Found {
    let rest = world.show_commit(id, sha);
    let commit = &rest["commit"];
    let message = commit["message"].as_str().unwrap_or_default();
    let (headline, body) = message.split_once('\n').unwrap_or((message, ""));
    match name {
        "id" => shown(&rest, "node_id"),
        "oid" => value(sha),
        "abbreviatedOid" => value(&sha[..7]),
        "message" => value(message),
        "messageHeadline" => value(headline),
        "messageBody" => value(body.trim()),
        "url" => shown(&rest, "html_url"),
        "committedDate" => shown(&commit["committer"], "date"),
        "authoredDate" => shown(&commit["author"], "date"),
        "author" | "committer" => thing(Thing::Plain("GitActor", commit[name].clone())),
        "statusCheckRollup" => rollup(world, id, sha),
        _ => Err(Missing::Unknown),
    }
}

/// Nothing, when nothing is known.
#[expect(clippy::unnecessary_wraps, reason = "it is a field like others")]
pub(super) fn rollup(world: &World, id: u64, sha: &str) -> Found {
    let is_known = world.repository(id).checks.iter().any(|check| check.sha == sha);
    Ok(if is_known { Out::Thing(Thing::Rollup(id, sha.to_owned())) } else { Out::Nothing })
}

pub(super) fn of_rollup(world: &World, id: u64, sha: &str, name: &str, arguments: &Value) -> Found {
    let (runs, statuses) = (world.checks_of(id, sha, false), world.checks_of(id, sha, true));
    match name {
        "state" => value(state(runs.iter().chain(&statuses).copied())),
        "contexts" => {
            let runs = runs.into_iter().cloned().map(Thing::CheckRun);
            let statuses = statuses.into_iter().cloned().map(Thing::StatusContext);
            list(runs.chain(statuses).map(|check| Thing::Either(Box::new(check), false)), arguments)
        }
        _ => Err(Missing::Unknown),
    }
}

fn state<'a>(checks: impl Iterator<Item = &'a Check>) -> &'static str {
    let mut state = "SUCCESS";
    for check in checks {
        match check.conclusion.as_deref() {
            Some("success" | "neutral" | "skipped") => {}
            Some(_) => return "FAILURE",
            None => state = "PENDING",
        }
    }
    state
}

pub(super) fn of_run(check: &Check, name: &str) -> Found {
    match name {
        "id" => value(Node(Kind::CheckRun, check.id).to_string()),
        "name" => value(check.name.clone()),
        "status" => value(if check.conclusion.is_some() { "COMPLETED" } else { "IN_PROGRESS" }),
        "conclusion" => value(json!(check.conclusion.as_ref().map(|word| word.to_ascii_uppercase()))),
        _ => Err(Missing::Unknown),
    }
}

pub(super) fn of_status(check: &Check, name: &str) -> Found {
    match name {
        "context" => value(check.name.clone()),
        "state" => value(check.conclusion.as_deref().unwrap_or("pending").to_ascii_uppercase()),
        _ => Err(Missing::Unknown),
    }
}
