//! Reviews, and who is asked for one.

use serde_json::Value;

use super::At;
use crate::outside::github::call::{Answered, Refusal, created, fine, not_found, wrong_field};
use crate::outside::github::deeds::Remark;
use crate::outside::github::state::{Review, Role, World};

pub(super) fn answer(world: &mut World, at: &At<'_>, rest: &[&str]) -> Answered {
    match (at.call.method.as_str(), rest) {
        ("GET", ["pulls", number, "reviews"]) => {
            let issue = at.pull(world, number)?;
            let show = |review| world.show_review(at.repository, issue.number, review);
            at.call.page(issue.pull().reviews.iter().map(show).collect())
        }
        ("GET", ["pulls", number, "reviews", id]) => {
            let issue = at.pull(world, number)?;
            let review = find(&issue.pull().reviews, id)?;
            fine(world.show_review(at.repository, issue.number, review))
        }
        ("GET", ["pulls", number, "reviews", id, "comments"]) => {
            let issue = at.pull(world, number)?;
            let review = find(&issue.pull().reviews, id)?.id;
            let comments = issue.pull().review_comments.iter().filter(|comment| comment.review == review);
            let show = |comment| world.show_review_comment(at.repository, issue.number, comment);
            at.call.page(comments.map(show).collect())
        }
        ("POST", ["pulls", number, "reviews"]) => review(world, at, number),
        ("POST", ["pulls", number, "requested_reviewers"]) => {
            let number = at.pull(world, number)?.number;
            let by = at.demand(world, Role::Write)?;
            for login in at.call.body["reviewers"].as_array().into_iter().flatten().filter_map(Value::as_str) {
                let of = world.user(login);
                world.requests_review(at.repository, number, by, of);
            }
            created(world.show_pull(at.repository, number))
        }
        _ => Err(Refusal::Unknown),
    }
}

fn find<'w>(reviews: &'w [Review], id: &str) -> Result<&'w Review, Refusal> {
    reviews.iter().find(|review| review.id.to_string() == id).ok_or_else(not_found)
}

fn review(world: &mut World, at: &At<'_>, number: &str) -> Answered {
    let number = at.pull(world, number)?.number;
    let by = at.writer(world)?;
    let state = match at.call.body["event"].as_str() {
        Some("APPROVE") => "APPROVED",
        Some("REQUEST_CHANGES") => "CHANGES_REQUESTED",
        Some("COMMENT") => "COMMENTED",
        _ => return Err(wrong_field("PullRequestReview", "event", "invalid")),
    };
    let body = at.call.body["body"].as_str().unwrap_or_default();
    let read = |comment: &Value| Remark {
        path: comment["path"].as_str().unwrap_or_default().to_owned(),
        line: comment["line"].as_u64().or_else(|| comment["position"].as_u64()).unwrap_or(1),
        body: comment["body"].as_str().unwrap_or_default().to_owned(),
        reply_to: None,
    };
    let remarks: Vec<Remark> = at.call.body["comments"].as_array().into_iter().flatten().map(read).collect();
    if body.is_empty() && remarks.is_empty() && state != "APPROVED" {
        return Err(wrong_field("PullRequestReview", "body", "missing_field"));
    }
    let id = world.reviews_with(at.repository, number, by, state, body, &remarks);
    let review = find(&world.issue(at.repository, number).pull().reviews, &id.to_string())?;
    fine(world.show_review(at.repository, number, review))
}
