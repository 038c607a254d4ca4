//! Comments on lines, and answers in their threads.

use serde_json::Value;

use super::At;
use super::comments::{body_of, own, since};
use crate::outside::github::call::{Answered, Refusal, created, fine, not_found, nothing, wrong_field};
use crate::outside::github::deeds::Remark;
use crate::outside::github::state::{ReviewComment, World};

pub(super) fn answer(world: &mut World, at: &At<'_>, rest: &[&str]) -> Answered {
    match (at.call.method.as_str(), rest) {
        ("GET", ["pulls", "comments"]) => everywhere(world, at),
        ("GET", ["pulls", number, "comments"]) => {
            let issue = at.pull(world, number)?;
            let since = since(at)?;
            let comments = issue.pull().review_comments.iter().filter(|comment| comment.updated_at >= since);
            let show = |comment| world.show_review_comment(at.repository, issue.number, comment);
            at.call.page(comments.map(show).collect())
        }
        ("GET", ["pulls", "comments", id]) => {
            let (number, comment) = find(world, at, id)?;
            fine(world.show_review_comment(at.repository, number, &comment))
        }
        ("PATCH", ["pulls", "comments", id]) => {
            let (number, comment) = find(world, at, id)?;
            let by = own(world, at, comment.author)?;
            let body = body_of(at)?;
            world.edits_remark(at.repository, number, comment.id, by, &body);
            fine(shown(world, at, number, comment.id))
        }
        ("DELETE", ["pulls", "comments", id]) => {
            let (number, comment) = find(world, at, id)?;
            let by = own(world, at, comment.author)?;
            world.deletes_remark(at.repository, number, comment.id, by);
            nothing()
        }
        ("POST", ["pulls", number, "comments", id, "replies"]) => {
            let number = at.pull(world, number)?.number;
            let (of, first) = find(world, at, id)?;
            if of != number {
                return Err(not_found());
            }
            // GitHub takes answers to the first comment of a thread only.
            if first.reply_to.is_some() {
                return Err(wrong_field("PullRequestReviewComment", "in_reply_to", "invalid"));
            }
            write(
                world,
                at,
                number,
                Remark { path: first.path, line: first.line, body: String::new(), reply_to: Some(first.id) },
            )
        }
        ("POST", ["pulls", number, "comments"]) => {
            let number = at.pull(world, number)?.number;
            let body = &at.call.body;
            let remark = match body["in_reply_to"].as_u64() {
                Some(first) => {
                    let (_, first) = find(world, at, &first.to_string())?;
                    Remark { path: first.path, line: first.line, body: String::new(), reply_to: Some(first.id) }
                }
                None => {
                    let path = at.call.text("PullRequestReviewComment", "path")?.to_owned();
                    at.call.text("PullRequestReviewComment", "commit_id")?;
                    let line = body["line"].as_u64().or_else(|| body["position"].as_u64());
                    let line = line.ok_or_else(|| wrong_field("PullRequestReviewComment", "line", "missing_field"))?;
                    Remark { path, line, body: String::new(), reply_to: None }
                }
            };
            write(world, at, number, remark)
        }
        _ => Err(Refusal::Unknown),
    }
}

fn write(world: &mut World, at: &At<'_>, number: u64, remark: Remark) -> Answered {
    let by = at.writer(world)?;
    let body = body_of(at)?;
    let id = world.remarks(at.repository, number, by, &Remark { body, ..remark });
    created(shown(world, at, number, id))
}

fn shown(world: &World, at: &At<'_>, number: u64, id: u64) -> Value {
    let comments = &world.issue(at.repository, number).pull().review_comments;
    let comment = comments.iter().find(|comment| comment.id == id).expect("it was just written");
    world.show_review_comment(at.repository, number, comment)
}

fn find(world: &World, at: &At<'_>, id: &str) -> Result<(u64, ReviewComment), Refusal> {
    let issues = world.repository(at.repository).issues.values().filter(|issue| issue.gone.is_none());
    let mut all = issues.flat_map(|issue| {
        let comments = issue.pull.iter().flat_map(|pull| &pull.review_comments);
        comments.map(move |comment| (issue.number, comment))
    });
    let found = all.find(|(_, comment)| comment.id.to_string() == id);
    found.map(|(number, comment)| (number, comment.clone())).ok_or_else(not_found)
}

fn everywhere(world: &World, at: &At<'_>) -> Answered {
    let since = since(at)?;
    let issues = world.repository(at.repository).issues.values().filter(|issue| issue.gone.is_none());
    let all = issues.flat_map(|issue| {
        let comments = issue.pull.iter().flat_map(|pull| &pull.review_comments);
        comments.map(move |comment| (issue.number, comment))
    });
    let mut found: Vec<_> = all.filter(|(_, comment)| comment.updated_at >= since).collect();
    match at.call.asks("sort").as_deref() {
        Some("updated") => found.sort_by_key(|(_, comment)| (comment.updated_at, comment.id)),
        _ => found.sort_by_key(|(_, comment)| (comment.created_at, comment.id)),
    }
    if at.call.asks("direction").as_deref() == Some("desc") {
        found.reverse();
    }
    at.call.page(
        found.iter().map(|(number, comment)| world.show_review_comment(at.repository, *number, comment)).collect(),
    )
}
