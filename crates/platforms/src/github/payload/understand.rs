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
    let mut event: CommentEvent = read(body)?;
    let place = Place {
        repository: event.repository.name()?,
        number: event.issue.number,
        is_pull_request: event.issue.pull_request.is_some(),
    };
    let (changes, sender) = (event.changes.as_ref(), event.sender.as_ref());
    let edit = Edit { action: &action, changes, author: &mut event.comment.user, sender };
    let Some(is_first) = edit.counts(bot) else { return Ok(NOT_NEW) };
    Ok(comment(&place, sender, &event.comment, bot)?.only_first(is_first))
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
    let mut event: ReviewCommentEvent = read(body)?;
    let place = pull(&event.repository, event.pull_request.number)?;
    let (changes, sender) = (event.changes.as_ref(), event.sender.as_ref());
    let edit = Edit { action: &action, changes, author: &mut event.comment.user, sender };
    let Some(is_first) = edit.counts(bot) else { return Ok(NOT_NEW) };
    Ok(review_comment(&place, sender, &event.comment, bot)?.only_first(is_first))
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
    let mut event: ReviewEvent = read(body)?;
    let place = pull(&event.repository, event.pull_request.number)?;
    let (changes, sender) = (event.changes.as_ref(), event.sender.as_ref());
    let edit = Edit { action: &action, changes, author: &mut event.review.user, sender };
    let Some(is_first) = edit.counts(bot) else { return Ok(NOT_NEW) };
    Ok(review(&place, sender, &event.review, bot)?.only_first(is_first))
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
    let mut event: IssueEvent = read(body)?;
    let changes = event.changes.as_ref();
    let (issue, sender) = (&mut event.issue, event.sender.as_ref());
    let place = Place { repository: event.repository.name()?, number: issue.number, is_pull_request: false };
    let id = issue.id;
    match action.as_str() {
        "closed" => closed(&place, sender, issue),
        "deleted" => place.told(sender, What::Closed { merged: false }, format!("closed:{id}:deleted")),
        "transferred" => place.told(sender, What::Transferred, format!("transferred:{id}")),
        "reopened" => reopened(&place, sender, issue),
        "opened" if changes.is_some_and(|changes| changes.old_issue.is_some()) => {
            Ok(Meaning::Ignored("it was moved here, and its words were heard where it was"))
        }
        _ => match (Edit { action: &action, changes, author: &mut issue.user, sender }).counts(bot) {
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
    let mut event: PullRequestEvent = read(body)?;
    let changes = event.changes.as_ref();
    let (request, sender) = (&mut event.pull_request, event.sender.as_ref());
    let place = pull(&event.repository, request.number)?;
    match action.as_str() {
        "closed" => closed(&place, sender, request),
        "reopened" => reopened(&place, sender, request),
        "review_requested" => match &event.requested_reviewer {
            Some(reviewer) if bot.is_us(&reviewer.login) => asked_to_review(&place, sender, request, bot),
            Some(_) => Ok(Meaning::Ignored("somebody else is asked to review")),
            None => Ok(Meaning::Ignored("a team is asked to review")),
        },
        _ => match (Edit { action: &action, changes, author: &mut request.user, sender }).counts(bot) {
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

/// Whose words they are, and what an edit did to them.
struct Edit<'a> {
    action: &'a str,
    changes: Option<&'a Changes>,
    author: &'a mut Option<User>,
    sender: Option<&'a User>,
}

impl Edit<'_> {
    /// Whether the words are said for the first time; if not, an edit brought a mention of us. `None`: neither.
    fn counts(self, bot: &Bot) -> Option<bool> {
        if self.action != "edited" {
            return Some(true);
        }
        // Whoever wrote them is not who changes them, unless that is told.
        let author = self.author.get_or_insert_with(User::gone);
        let is_own = self.sender.is_some_and(|sender| sender.id == author.id);
        let before = self.changes?.body.as_ref()?.from.as_deref().unwrap_or_default();
        // Who mends a fence around a mention in another's words did not write it.
        let was_there =
            if is_own { mention::said_to(&bot.name, before).is_some() } else { mention::is_named(&bot.name, before) };
        (!was_there).then_some(false)
    }
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
