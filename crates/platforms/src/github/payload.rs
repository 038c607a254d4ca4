//! What a delivery of GitHub means, from its bytes alone.
//!
//! Most of what GitHub sends is for nobody here. What is for us is a [`Heard`] with the key that tells it from
//! everything else, however often and under whatever id it is delivered.

pub mod events;
mod parts;
mod things;
mod understand;

use std::collections::BTreeSet;

use serde::de::DeserializeOwned;
use serde_json::error::Category;

use super::GitHub;
use super::config::{Allow, Config};
use super::heard::{Heard, Person};
pub(super) use parts::{Comment, Issue, Review, User};
pub(super) use things::{Place, closed, comment, own_text, review, review_comment};

/// What our own comments begin with. What begins so is not heard, whoever says it.
pub(super) const MARKER: &str = "<!-- hedgerow:";

/// As whom we are addressed, and which bots we listen to.
#[derive(Debug, Clone)]
pub struct Bot {
    /// `hedgerow`: who writes `@hedgerow` means us.
    pub name: String,
    /// The logins that a review can be asked of.
    pub logins: Vec<String>,
    /// Ids of bots that may ask.
    pub listed: BTreeSet<u64>,
}

impl Bot {
    pub fn of(config: &Config) -> Self {
        let name = config.bot_name.trim_start_matches('@').to_owned();
        let listed = match &config.allow {
            Allow::Only(ids) => ids.clone(),
            Allow::Writers | Allow::Everyone => BTreeSet::new(),
        };
        Self { logins: vec![name.clone(), format!("{name}[bot]")], name, listed }
    }

    fn is_us(&self, login: &str) -> bool {
        self.logins.iter().any(|ours| ours.eq_ignore_ascii_case(login))
    }

    fn listens_to(&self, person: &Person) -> bool {
        !person.is_bot || self.listed.contains(&person.id)
    }
}

impl GitHub {
    /// As whom we are addressed, as far as that is known by now.
    pub fn bot(&self) -> Bot {
        let mut bot = Bot::of(&self.config);
        bot.logins.extend(self.client.known().map(|me| me.login.clone()));
        bot
    }
}

/// What a delivery comes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Meaning {
    Heard(Box<Told>),
    /// For nobody here, and why.
    Ignored(&'static str),
}

/// Something for us.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    pub heard: Heard,
    /// The same however it came to us; see [`hedgerow_core::message::DeliveryKey::meaning`].
    pub meaning: String,
    /// When something of this beginning was heard, this was too: it is the first that can be said about the thing.
    pub unless_known: Option<String>,
}

/// Why a delivery cannot be understood.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    #[error("the body is not a JSON object: {0}")]
    NotJson(String),
    #[error("the event is not of the form that GitHub documents: {0}")]
    NotUnderstood(String),
}

/// Reads a delivery. `kind` is what `X-GitHub-Event` says, `delivery` what `X-GitHub-Delivery` says.
///
/// # Errors
/// When it is none, or when something is missing in an event that we act on.
pub fn event(kind: &str, delivery: &str, body: &[u8], bot: &Bot) -> Result<Meaning, Malformed> {
    let trimmed = body.trim_ascii();
    if !(trimmed.starts_with(b"{") && trimmed.ends_with(b"}")) {
        return Err(Malformed::NotJson("it must begin with `{` and end with `}`".to_owned()));
    }
    match kind {
        "issue_comment" => understand::issue_comment_event(body, bot),
        "pull_request_review_comment" => understand::review_comment_event(body, bot),
        "pull_request_review" => understand::review_event(body, bot),
        "issues" => understand::issues_event(body, bot),
        "pull_request" => understand::pull_request_event(body, bot),
        "delete" => understand::delete_event(body, delivery),
        "ping" => Ok(Meaning::Ignored("a greeting")),
        _ => Ok(Meaning::Ignored("events of this type are not used")),
    }
}

/// Reads what we need of an event; everything else in it may be as it likes.
fn read<T: DeserializeOwned>(body: &[u8]) -> Result<T, Malformed> {
    serde_json::from_slice(body).map_err(|error| match error.classify() {
        Category::Data => Malformed::NotUnderstood(error.to_string()),
        Category::Syntax | Category::Eof | Category::Io => Malformed::NotJson(error.to_string()),
    })
}

#[cfg(test)]
mod tests;
