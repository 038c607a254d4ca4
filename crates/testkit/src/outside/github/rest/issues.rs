//! Issues, among which are the pull requests.

use serde_json::Value;

use super::At;
use crate::outside::github::call::{Answered, Refusal, created, fine, refused, wrong_field};
use crate::outside::github::state::{Issue, Role, World, read};

pub(super) fn answer(world: &mut World, at: &At<'_>, rest: &[&str]) -> Answered {
    match (at.call.method.as_str(), rest) {
        ("GET", ["issues"]) => list(world, at),
        ("POST", ["issues"]) => {
            let by = at.writer(world)?;
            let (title, body) = (at.call.text("Issue", "title")?, at.call.body["body"].as_str());
            let number = world.opens_issue(at.repository, None, by, title, body);
            created(world.show_issue(at.repository, number))
        }
        ("GET", ["issues", number]) => {
            let number = at.issue(world, number)?.number;
            fine(world.show_issue(at.repository, number))
        }
        ("PATCH", ["issues", number]) => change(world, at, number),
        ("POST", ["issues", number, "labels"]) => {
            let number = at.issue(world, number)?.number;
            let by = at.demand(world, Role::Triage)?;
            for name in at.call.body["labels"].as_array().into_iter().flatten().filter_map(Value::as_str) {
                world.labels(at.repository, number, by, name);
            }
            fine(world.show_issue(at.repository, number)["labels"].take())
        }
        _ => Err(Refusal::Unknown),
    }
}

fn list(world: &World, at: &At<'_>) -> Answered {
    let call = at.call;
    let since = match call.asks("since") {
        Some(text) => read(&text).ok_or_else(|| wrong_field("Issue", "since", "invalid"))?,
        None => i64::MIN,
    };
    let state = call.asks("state").unwrap_or_else(|| "open".to_owned());
    let all = world.repository(at.repository).issues.values();
    let wanted = |issue: &&Issue| {
        let state = match state.as_str() {
            "all" => true,
            "closed" => !issue.is_open,
            _ => issue.is_open,
        };
        state && issue.gone.is_none() && issue.updated_at >= since
    };
    let mut found: Vec<&Issue> = all.filter(wanted).collect();
    sort(&mut found, call.asks("sort").as_deref(), call.asks("direction").as_deref());
    call.page(found.iter().map(|issue| world.show_issue(at.repository, issue.number)).collect())
}

/// Newest first, unless asked otherwise.
pub(super) fn sort(issues: &mut [&Issue], by: Option<&str>, direction: Option<&str>) {
    match by {
        Some("updated") => issues.sort_by_key(|issue| (issue.updated_at, issue.number)),
        Some("comments") => issues.sort_by_key(|issue| (issue.comments.len(), issue.number)),
        _ => issues.sort_by_key(|issue| (issue.created_at, issue.number)),
    }
    if direction != Some("asc") {
        issues.reverse();
    }
}

fn change(world: &mut World, at: &At<'_>, number: &str) -> Answered {
    let (number, author) = at.issue(world, number).map(|issue| (issue.number, issue.author))?;
    let by = at.writer(world)?;
    if by != author && world.may(&at.call.who, world.repository(at.repository)) < Role::Triage {
        return Err(refused(403, "Must have admin rights to Repository."));
    }
    let body = &at.call.body;
    world.edits(at.repository, number, by, body["title"].as_str(), body["body"].as_str());
    match body["state"].as_str() {
        Some("closed") => {
            let reason = if body["state_reason"] == "not_planned" { "not_planned" } else { "completed" };
            world.closes(at.repository, number, by, Some(reason));
        }
        Some("open") => world.reopens(at.repository, number, by),
        _ => {}
    }
    fine(world.show_issue(at.repository, number))
}
