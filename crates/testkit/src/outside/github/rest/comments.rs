//! Comments below issues and pull requests.

use serde_json::Value;

use super::At;
use crate::outside::github::call::{Answered, Refusal, created, fine, not_found, nothing, refused, wrong_field};
use crate::outside::github::state::{Comment, Role, World, read};

/// Longer ones GitHub does not take.
const LONGEST: usize = 65_536;

pub(super) fn answer(world: &mut World, at: &At<'_>, rest: &[&str]) -> Answered {
    match (at.call.method.as_str(), rest) {
        ("GET", ["issues", "comments"]) => everywhere(world, at),
        ("GET", ["issues", number, "comments"]) => {
            let issue = at.issue(world, number)?;
            let since = since(at)?;
            let comments = issue.comments.iter().filter(|comment| comment.updated_at >= since);
            let show = |comment| world.show_comment(at.repository, issue.number, comment);
            at.call.page(comments.map(show).collect())
        }
        ("POST", ["issues", number, "comments"]) => {
            let (number, is_locked) = at.issue(world, number).map(|issue| (issue.number, issue.is_locked))?;
            let by = at.writer(world)?;
            if is_locked && world.may(&at.call.who, world.repository(at.repository)) < Role::Write {
                return Err(refused(403, "Unable to create comment because issue is locked."));
            }
            let body = body_of(at)?;
            let id = world.comments(at.repository, number, by, &body);
            created(shown(world, at, number, id))
        }
        ("GET", ["issues", "comments", id]) => {
            let (number, comment) = find(world, at, id)?;
            fine(world.show_comment(at.repository, number, &comment))
        }
        ("PATCH", ["issues", "comments", id]) => {
            let (number, comment) = find(world, at, id)?;
            let by = own(world, at, comment.author)?;
            let body = body_of(at)?;
            world.edits_comment(at.repository, number, comment.id, by, &body);
            fine(shown(world, at, number, comment.id))
        }
        ("DELETE", ["issues", "comments", id]) => {
            let (number, comment) = find(world, at, id)?;
            let by = own(world, at, comment.author)?;
            world.deletes_comment(at.repository, number, comment.id, by);
            nothing()
        }
        _ => Err(Refusal::Unknown),
    }
}

fn shown(world: &World, at: &At<'_>, number: u64, id: u64) -> Value {
    let comment = world.issue(at.repository, number).comment(id).expect("it was just written");
    world.show_comment(at.repository, number, comment)
}

/// The words of a comment, which must be some and not too many.
pub(super) fn body_of(at: &At<'_>) -> Result<String, Refusal> {
    let body = at.call.text("IssueComment", "body")?;
    if body.trim().is_empty() {
        return Err(wrong_field("IssueComment", "body", "missing_field"));
    }
    if body.chars().count() > LONGEST {
        return Err(crate::outside::github::call::invalid(
            "IssueComment",
            "body is too long (maximum is 65536 characters)",
        ));
    }
    Ok(body.to_owned())
}

/// One's own, or what a writer may touch.
pub(super) fn own(world: &World, at: &At<'_>, author: u64) -> Result<u64, Refusal> {
    let by = at.writer(world)?;
    if by != author && world.may(&at.call.who, world.repository(at.repository)) < Role::Write {
        return Err(refused(403, "Must have admin rights to Repository."));
    }
    Ok(by)
}

pub(super) fn since(at: &At<'_>) -> Result<i64, Refusal> {
    match at.call.asks("since") {
        Some(text) => read(&text).ok_or_else(|| wrong_field("IssueComment", "since", "invalid")),
        None => Ok(i64::MIN),
    }
}

fn find(world: &World, at: &At<'_>, id: &str) -> Result<(u64, Comment), Refusal> {
    let id: u64 = id.parse().map_err(|_| not_found())?;
    let issues = world.repository(at.repository).issues.values().filter(|issue| issue.gone.is_none());
    let found = issues.into_iter().find_map(|issue| Some((issue.number, issue.comment(id)?.clone())));
    found.ok_or_else(not_found)
}

/// Comments of the whole repository, by id unless asked otherwise.
fn everywhere(world: &World, at: &At<'_>) -> Answered {
    let since = since(at)?;
    let issues = world.repository(at.repository).issues.values().filter(|issue| issue.gone.is_none());
    let all = issues.flat_map(|issue| issue.comments.iter().map(move |comment| (issue.number, comment)));
    let mut found: Vec<_> = all.filter(|(_, comment)| comment.updated_at >= since).collect();
    match at.call.asks("sort").as_deref() {
        Some("updated") => found.sort_by_key(|(_, comment)| (comment.updated_at, comment.id)),
        Some("created") => found.sort_by_key(|(_, comment)| (comment.created_at, comment.id)),
        _ => found.sort_by_key(|(_, comment)| comment.id),
    }
    // Without `sort` the direction says nothing.
    if at.call.asks("sort").is_some() && at.call.asks("direction").as_deref() != Some("asc") {
        found.reverse();
    }
    at.call.page(found.iter().map(|(number, comment)| world.show_comment(at.repository, *number, comment)).collect())
}
