//! What is said: comments, reviews, threads, reactions.

use serde_json::{Value, json};

use super::shown;
use crate::outside::github::access::Who;
use crate::outside::github::graphql::thing::{Found, Missing, Thing, list, maybe, thing, value};
use crate::outside::github::state::{Kind, Node, Reaction, World, written};

/// What all have that somebody said, wherever: `None` for other fields and other things.
pub(super) fn of_anything(world: &World, who: &Who, of: &Thing, name: &str) -> Option<Found> {
    if !["viewerDidAuthor", "lastEditedAt", "editor", "isMinimized", "publishedAt"].contains(&name) {
        return None;
    }
    let is_of_issue = matches!(of, Thing::Issue(..) | Thing::Pull(..));
    let (author, published, edited) = match of {
        Thing::Issue(id, number) | Thing::Pull(id, number) => {
            let issue = world.issue(*id, *number);
            (issue.author, issue.created_at, issue.edited)
        }
        Thing::Comment(id, number, comment) => {
            let comment = world.issue(*id, *number).comment(*comment)?;
            (comment.author, comment.created_at, comment.edited)
        }
        Thing::Review(id, number, review) => {
            let reviews = &world.issue(*id, *number).pull().reviews;
            let review = reviews.iter().find(|other| other.id == *review)?;
            (review.author, review.submitted_at, None)
        }
        Thing::ReviewComment(id, number, comment) => {
            let comments = &world.issue(*id, *number).pull().review_comments;
            let comment = comments.iter().find(|other| other.id == *comment)?;
            (comment.author, comment.created_at, comment.edited)
        }
        _ => return None,
    };
    match name {
        "viewerDidAuthor" => Some(value(matches!(who, Who::Holder(token) if token.who == author))),
        "lastEditedAt" => Some(value(json!(edited.map(|(at, _)| written(at))))),
        "editor" => Some(maybe(edited.map(|(_, by)| Thing::Actor(by)))),
        "publishedAt" => Some(value(written(published))),
        // Issues cannot be folded away.
        _ => (!is_of_issue).then(|| value(false)),
    }
}

/// Repository, number, id.
type At = (u64, u64, u64);

pub(super) fn of_comment(world: &World, at: At, name: &str, arguments: &Value) -> Found {
    let (id, number, comment) = at;
    let comment = world.issue(id, number).comment(comment).expect("it was found before");
    let rest = world.show_comment(id, number, comment);
    match name {
        "issue" => thing(Thing::Issue(id, number)),
        "reactions" => list(comment.reactions.iter().cloned().map(Thing::Reaction), arguments),
        _ => said(&rest, comment.author, name),
    }
}

/// What everything that was said has.
fn said(rest: &Value, author: u64, name: &str) -> Found {
    match name {
        "id" => shown(rest, "node_id"),
        "databaseId" | "fullDatabaseId" => shown(rest, "id"),
        "body" | "bodyText" => shown(rest, "body"),
        "author" => thing(Thing::Actor(author)),
        "authorAssociation" => shown(rest, "author_association"),
        "createdAt" => shown(rest, "created_at"),
        "updatedAt" => shown(rest, "updated_at"),
        "url" => shown(rest, "html_url"),
        _ => Err(Missing::Unknown),
    }
}

pub(super) fn of_review(world: &World, at: At, name: &str, arguments: &Value) -> Found {
    let (id, number, review) = at;
    let pull = world.issue(id, number).pull();
    let review = pull.reviews.iter().find(|other| other.id == review).expect("it was found before");
    let rest = world.show_review(id, number, review);
    match name {
        "state" => value(review.state),
        "submittedAt" | "createdAt" | "updatedAt" => shown(&rest, "submitted_at"),
        "commit" => thing(Thing::Commit(id, review.commit.clone())),
        "reactions" => list(review.reactions.iter().cloned().map(Thing::Reaction), arguments),
        "comments" => {
            let comments = pull.review_comments.iter().filter(|comment| comment.review == review.id);
            list(comments.map(|comment| Thing::ReviewComment(id, number, comment.id)), arguments)
        }
        _ => said(&rest, review.author, name),
    }
}

pub(super) fn of_review_comment(world: &World, at: At, name: &str, arguments: &Value) -> Found {
    let (id, number, comment) = at;
    let pull = world.issue(id, number).pull();
    let comment = pull.review_comments.iter().find(|other| other.id == comment).expect("it was found before");
    let rest = world.show_review_comment(id, number, comment);
    match name {
        "path" => value(comment.path.clone()),
        "line" => shown(&rest, "line"),
        "originalLine" => shown(&rest, "original_line"),
        "startLine" => shown(&rest, "start_line"),
        "originalStartLine" => shown(&rest, "original_start_line"),
        "diffHunk" => value(comment.hunk.clone()),
        "outdated" => value(rest["line"].is_null()),
        "commit" | "originalCommit" => thing(Thing::Commit(id, comment.commit.clone())),
        "replyTo" => maybe(comment.reply_to.map(|first| Thing::ReviewComment(id, number, first))),
        "pullRequestReview" => thing(Thing::Review(id, number, comment.review)),
        "pullRequest" => thing(Thing::Pull(id, number)),
        "reactions" => list(comment.reactions.iter().cloned().map(Thing::Reaction), arguments),
        _ => said(&rest, comment.author, name),
    }
}

pub(super) fn of_thread(world: &World, at: At, name: &str, arguments: &Value) -> Found {
    let (id, number, wanted) = at;
    let pull = world.issue(id, number).pull();
    let beside = pull.threads.iter().find(|other| other.id == wanted).expect("it was found before");
    let comments: Vec<_> = pull.review_comments.iter().filter(|comment| comment.thread == wanted).collect();
    let line = comments.first().map(|comment| comment.line);
    match name {
        "id" => value(Node(Kind::Thread, wanted).to_string()),
        "isResolved" => value(beside.is_resolved),
        "isOutdated" => value(beside.is_outdated),
        "isCollapsed" => value(beside.is_resolved || beside.is_outdated),
        "path" => value(comments.first().map(|comment| comment.path.clone()).unwrap_or_default()),
        "line" => value(json!(line.filter(|_| !beside.is_outdated))),
        "originalLine" => value(json!(line)),
        "startLine" | "originalStartLine" => value(Value::Null),
        "diffSide" => value("RIGHT"),
        "subjectType" => value("LINE"),
        "pullRequest" => thing(Thing::Pull(id, number)),
        "comments" => list(comments.iter().map(|comment| Thing::ReviewComment(id, number, comment.id)), arguments),
        _ => Err(Missing::Unknown),
    }
}

pub(super) fn of_reaction(reaction: &Reaction, name: &str) -> Found {
    match name {
        "id" => value(Node(Kind::Reaction, reaction.id).to_string()),
        "databaseId" => value(reaction.id),
        "content" => value(super::mutation::word(&reaction.content)),
        "user" => thing(Thing::User(reaction.who)),
        "createdAt" => value(written(reaction.created_at)),
        _ => Err(Missing::Unknown),
    }
}
