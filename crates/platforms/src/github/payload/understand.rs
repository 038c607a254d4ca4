//! From a delivery to what it means: one function for each type of event.

use hedgerow_core::BranchName;
use serde::Deserialize;

use super::parts::{Changes, Comment, Issue, Repository, Review, User};
use super::things::{
    NOT_NEW, NOT_USED, Place, Understood, asked_to_review, closed, comment, own_text, reopened, review, review_comment,
};
use super::{Bot, Malformed, Meaning, read};
use crate::github::heard::What;
use crate::github::mention;

#[derive(Deserialize)]
struct Acted {
    action: String,
}

#[derive(Deserialize)]
struct CommentEvent {
    issue: Issue,
    comment: Comment,
    #[serde(default)]
    changes: Option<Changes>,
    repository: Repository,
    sender: Option<User>,
}

pub(super) fn issue_comment_event(body: &[u8], bot: &Bot) -> Understood {
    let action = read::<Acted>(body)?.action;
    if !matches!(action.as_str(), "created" | "edited") {
        return Ok(NOT_USED);
    }
    let event: CommentEvent = read(body)?;
    let place = Place {
        repository: event.repository.name()?,
        number: event.issue.number,
        is_pull_request: event.issue.pull_request.is_some(),
    };
    let Some(is_first) = is_first(&action, event.changes.as_ref(), bot) else { return Ok(NOT_NEW) };
    Ok(comment(&place, event.sender.as_ref(), &event.comment, bot)?.only_first(is_first))
}

#[derive(Deserialize)]
struct ReviewCommentEvent {
    pull_request: Numbered,
    comment: Comment,
    #[serde(default)]
    changes: Option<Changes>,
    repository: Repository,
    sender: Option<User>,
}

#[derive(Deserialize)]
struct Numbered {
    number: u64,
}

pub(super) fn review_comment_event(body: &[u8], bot: &Bot) -> Understood {
    let action = read::<Acted>(body)?.action;
    if !matches!(action.as_str(), "created" | "edited") {
        return Ok(NOT_USED);
    }
    let event: ReviewCommentEvent = read(body)?;
    let place = pull(&event.repository, event.pull_request.number)?;
    let Some(is_first) = is_first(&action, event.changes.as_ref(), bot) else { return Ok(NOT_NEW) };
    Ok(review_comment(&place, event.sender.as_ref(), &event.comment, bot)?.only_first(is_first))
}

#[derive(Deserialize)]
struct ReviewEvent {
    pull_request: Numbered,
    review: Review,
    #[serde(default)]
    changes: Option<Changes>,
    repository: Repository,
    sender: Option<User>,
}

pub(super) fn review_event(body: &[u8], bot: &Bot) -> Understood {
    let action = read::<Acted>(body)?.action;
    if !matches!(action.as_str(), "submitted" | "edited") {
        return Ok(NOT_USED);
    }
    let event: ReviewEvent = read(body)?;
    let place = pull(&event.repository, event.pull_request.number)?;
    let Some(is_first) = is_first(&action, event.changes.as_ref(), bot) else { return Ok(NOT_NEW) };
    Ok(review(&place, event.sender.as_ref(), &event.review, bot)?.only_first(is_first))
}

#[derive(Deserialize)]
struct IssueEvent {
    issue: Issue,
    #[serde(default)]
    changes: Option<Changes>,
    repository: Repository,
    sender: Option<User>,
}

pub(super) fn issues_event(body: &[u8], bot: &Bot) -> Understood {
    let action = read::<Acted>(body)?.action;
    if !matches!(action.as_str(), "opened" | "edited" | "closed" | "reopened" | "transferred" | "deleted") {
        return Ok(NOT_USED);
    }
    let event: IssueEvent = read(body)?;
    let (issue, sender) = (&event.issue, event.sender.as_ref());
    let place = Place { repository: event.repository.name()?, number: issue.number, is_pull_request: false };
    let id = issue.id;
    match action.as_str() {
        "closed" => closed(&place, sender, issue),
        "deleted" => place.told(sender, What::Closed { merged: false }, format!("closed:{id}:deleted")),
        "transferred" => place.told(sender, What::Transferred, format!("transferred:{id}")),
        "reopened" => reopened(&place, sender, issue),
        "opened" if event.changes.as_ref().is_some_and(|changes| changes.old_issue.is_some()) => {
            Ok(Meaning::Ignored("it was moved here, and its words were heard where it was"))
        }
        _ => match is_first(&action, event.changes.as_ref(), bot) {
            Some(is_first) => Ok(own_text(&place, sender, issue, is_first, bot)?.only_first(is_first)),
            None => Ok(NOT_NEW),
        },
    }
}

#[derive(Deserialize)]
struct PullRequestEvent {
    pull_request: Issue,
    #[serde(default)]
    changes: Option<Changes>,
    /// A person; a team is under another name.
    requested_reviewer: Option<User>,
    repository: Repository,
    sender: Option<User>,
}

pub(super) fn pull_request_event(body: &[u8], bot: &Bot) -> Understood {
    let action = read::<Acted>(body)?.action;
    if !matches!(action.as_str(), "opened" | "edited" | "closed" | "reopened" | "review_requested") {
        return Ok(NOT_USED);
    }
    let event: PullRequestEvent = read(body)?;
    let (request, sender) = (&event.pull_request, event.sender.as_ref());
    let place = pull(&event.repository, request.number)?;
    match action.as_str() {
        "closed" => closed(&place, sender, request),
        "reopened" => reopened(&place, sender, request),
        "review_requested" => match &event.requested_reviewer {
            Some(reviewer) if bot.is_us(&reviewer.login) => asked_to_review(&place, sender, request, bot),
            Some(_) => Ok(Meaning::Ignored("somebody else is asked to review")),
            None => Ok(Meaning::Ignored("a team is asked to review")),
        },
        _ => match is_first(&action, event.changes.as_ref(), bot) {
            Some(is_first) => Ok(own_text(&place, sender, request, is_first, bot)?.only_first(is_first)),
            None => Ok(NOT_NEW),
        },
    }
}

#[derive(Deserialize)]
struct DeleteEvent {
    #[serde(rename = "ref")]
    name: String,
    ref_type: String,
    repository: Repository,
    sender: Option<User>,
}

pub(super) fn delete_event(body: &[u8], delivery: &str) -> Understood {
    let event: DeleteEvent = read(body)?;
    if event.ref_type != "branch" {
        return Ok(Meaning::Ignored("no branch was deleted"));
    }
    let Ok(branch) = BranchName::parse(&event.name) else {
        return Ok(Meaning::Ignored("the branch has a name that none of ours has"));
    };
    let place = Place { repository: event.repository.name()?, number: 0, is_pull_request: false };
    let meaning = format!("deleted:{}:{branch}:{delivery}", event.repository.id);
    place.told(event.sender.as_ref(), What::BranchDeleted { branch: branch.to_string() }, meaning)
}

/// Whether words are said for the first time, or an edit brought a mention of us. `None`: neither.
fn is_first(action: &str, changes: Option<&Changes>, bot: &Bot) -> Option<bool> {
    if action != "edited" {
        return Some(true);
    }
    let before = changes?.body.as_ref()?.from.as_deref().unwrap_or_default();
    mention::said_to(&bot.name, before).is_none().then_some(false)
}

impl Meaning {
    /// An edit that brings a mention is heard even when an earlier state of the words was.
    fn only_first(mut self, is_first: bool) -> Self {
        if let Self::Heard(told) = &mut self
            && !is_first
        {
            told.unless_known = None;
        }
        self
    }
}

fn pull(repository: &Repository, number: u64) -> Result<Place, Malformed> {
    Ok(Place { repository: repository.name()?, number, is_pull_request: true })
}
