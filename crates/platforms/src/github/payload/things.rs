//! What is said and what happens, wherever it is told: in a delivery, or in an answer of the API.

use hedgerow_core::RepositoryName;
use hedgerow_core::untrusted::{visible, visible_ask};

use super::parts::{Comment, Issue, Review, User, moment};
use super::{Bot, MARKER, Malformed, Meaning, Told};
use crate::github::heard::{Asked, Heard, Spot, What};
use crate::github::mention;

/// Most bytes of what somebody says that are kept.
const LONGEST_TEXT: usize = 64 * 1024;
/// Says so.
const CUT: &str = "\n\n(The rest is left out: the text is longer than 64 KiB.)";
/// Longest node id; theirs are a few dozen characters.
const LONGEST_NODE_ID: usize = 200;

pub(super) type Understood = Result<Meaning, Malformed>;

pub(super) const NOT_USED: Meaning = Meaning::Ignored("this action is not used");
pub(super) const NOT_NEW: Meaning = Meaning::Ignored("the edit brought no new mention");
const NOBODY: Meaning = Meaning::Ignored("nobody says it");
const BOT: Meaning = Meaning::Ignored("a bot that is not listed says it");

/// Which issue or pull request.
#[derive(Debug, Clone)]
pub(in crate::github) struct Place {
    pub(in crate::github) repository: RepositoryName,
    pub(in crate::github) number: u64,
    pub(in crate::github) is_pull_request: bool,
}

impl Place {
    pub(super) fn told(&self, sender: Option<&User>, what: What, meaning: String) -> Understood {
        let heard = Heard {
            repository: self.repository.to_string(),
            number: self.number,
            is_pull_request: self.is_pull_request,
            sender: sender.map_or_else(|| Ok(User::ghost()), User::person)?,
            what,
        };
        Ok(Meaning::Heard(Box::new(Told { heard, meaning, unless_known: None })))
    }
}

pub(in crate::github) fn comment(place: &Place, by: Option<&User>, comment: &Comment, bot: &Bot) -> Understood {
    said_in(comment, "comment", Spot::Comment { id: comment.id }, place, by, bot)
}

pub(in crate::github) fn review_comment(place: &Place, by: Option<&User>, comment: &Comment, bot: &Bot) -> Understood {
    said_in(comment, "review-comment", Spot::ReviewComment { id: comment.id }, place, by, bot)
}

fn said_in(comment: &Comment, kind: &str, spot: Spot, place: &Place, by: Option<&User>, bot: &Bot) -> Understood {
    let words = Words { text: &comment.body, node_id: &comment.node_id, author: &comment.user, spot };
    words.asked(place, by, bot, || {
        let at = moment(&[comment.updated_at.as_deref(), comment.created_at.as_deref()])?;
        let about = format!("{kind}:{}:", comment.id);
        Ok(Key { meaning: format!("{about}{at}"), about, at })
    })
}

pub(in crate::github) fn review(place: &Place, by: Option<&User>, review: &Review, bot: &Bot) -> Understood {
    let id = review.id;
    let words = Words { text: &review.body, node_id: &review.node_id, author: &review.user, spot: Spot::Review { id } };
    words.asked(place, by, bot, || {
        let at = moment(&[review.submitted_at.as_deref()])?;
        Ok(Key { meaning: format!("review:{id}:{at}"), about: format!("review:{id}:"), at })
    })
}

/// The text of an issue or pull request, as it was opened or as an edit left it.
pub(in crate::github) fn own_text(
    place: &Place,
    by: Option<&User>,
    issue: &Issue,
    is_opened: bool,
    bot: &Bot,
) -> Understood {
    let words = Words { text: &issue.body, node_id: &issue.node_id, author: &issue.user, spot: Spot::Body };
    words.asked(place, by, bot, || {
        let about = format!("{}:{}:", if place.is_pull_request { "pull" } else { "issue" }, issue.id);
        if is_opened {
            let at = moment(&[issue.created_at.as_deref(), issue.updated_at.as_deref()])?;
            Ok(Key { meaning: format!("{about}opened"), about, at })
        } else {
            let at = moment(&[issue.updated_at.as_deref()])?;
            Ok(Key { meaning: format!("{about}{at}"), about, at })
        }
    })
}

pub(in crate::github) fn closed(place: &Place, by: Option<&User>, issue: &Issue) -> Understood {
    let at = moment(&[issue.closed_at.as_deref(), issue.updated_at.as_deref()])?;
    let merged = place.is_pull_request && issue.merged.unwrap_or(issue.merged_at.is_some());
    place.told(by, What::Closed { merged }, format!("closed:{}:{at}", issue.id))
}

pub(super) fn reopened(place: &Place, by: Option<&User>, issue: &Issue) -> Understood {
    let at = moment(&[issue.updated_at.as_deref()])?;
    place.told(by, What::Reopened, format!("reopened:{}:{at}", issue.id))
}

pub(super) fn asked_to_review(place: &Place, by: Option<&User>, request: &Issue, bot: &Bot) -> Understood {
    let Some(by) = by else { return Ok(NOBODY) };
    if !bot.listens_to(&by.person()?) {
        return Ok(BOT);
    }
    let at = moment(&[request.updated_at.as_deref()])?;
    let node_id = node_id(request.node_id.as_deref())?;
    let meaning = format!("review-request:{}:{at}", request.id);
    let asked = Asked { text: String::new(), place: Spot::Body, node_id, at, as_reviewer: true, is_anothers: false };
    place.told(Some(by), What::Asked(asked), meaning)
}

/// What was said, and in what.
struct Words<'a> {
    text: &'a Option<String>,
    node_id: &'a Option<String>,
    /// Who wrote them, where that is told.
    author: &'a Option<User>,
    spot: Spot,
}

/// What tells words from all others.
struct Key {
    meaning: String,
    about: String,
    at: String,
}

impl Words<'_> {
    /// Most words are not for us: those are told apart before anything else is looked at.
    fn asked(
        self,
        place: &Place,
        by: Option<&User>,
        bot: &Bot,
        key: impl FnOnce() -> Result<Key, Malformed>,
    ) -> Understood {
        let text = self.text.as_deref().unwrap_or_default();
        if text.trim_start().starts_with(MARKER) {
            return Ok(Meaning::Ignored("we said it ourselves"));
        }
        if mention::said_to(&bot.name, text).is_none() {
            return Ok(Meaning::Ignored("it does not mention us"));
        }
        let Some(by) = by else { return Ok(NOBODY) };
        let sender = by.person()?;
        let is_anothers = self.author.as_ref().is_some_and(|author| author.id != sender.id);
        if !bot.listens_to(&sender) {
            return Ok(BOT);
        }
        let Key { meaning, about, at } = key()?;
        let node_id = node_id(self.node_id.as_deref())?;
        // What nobody sees there is no order either. It is taken out first: without the mention other words begin a line.
        let said = if is_anothers {
            mention::said_behind(&bot.name, &visible(text))
        } else {
            mention::said_to(&bot.name, &visible_ask(text))
        };
        let text = cut(said.unwrap_or_default().trim().to_owned());
        let asked = Asked { text, place: self.spot, node_id, at, as_reviewer: false, is_anothers };
        let heard = Heard {
            repository: place.repository.to_string(),
            number: place.number,
            is_pull_request: place.is_pull_request,
            sender,
            what: What::Asked(asked),
        };
        Ok(Meaning::Heard(Box::new(Told { heard, meaning, unless_known: Some(about) })))
    }
}

fn node_id(node_id: Option<&str>) -> Result<String, Malformed> {
    let text = node_id.unwrap_or_default();
    if text.len() > LONGEST_NODE_ID || !text.chars().all(|c| c.is_ascii_graphic()) {
        return Err(Malformed::NotUnderstood("a node id is not one".to_owned()));
    }
    Ok(text.to_owned())
}

fn cut(mut text: String) -> String {
    if text.len() > LONGEST_TEXT {
        text.truncate(text.floor_char_boundary(LONGEST_TEXT));
        text.push_str(CUT);
    }
    text
}
