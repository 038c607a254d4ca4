//! What GitHub's lists say, as what its deliveries would have said.

use hedgerow_core::{RepositoryName, Timestamp};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::github::heard::Person;
use crate::github::payload;
use crate::github::payload::{Bot, Comment, Issue, Malformed, Meaning, Place, Review, Told, User};

/// A thing of a list, with who said it and where it is.
#[derive(Debug, Deserialize)]
pub(super) struct Found<T> {
    html_url: String,
    pub(super) user: Option<User>,
    closed_by: Option<User>,
    merged_by: Option<User>,
    #[serde(flatten)]
    pub(super) thing: T,
}

impl<T: DeserializeOwned> Found<T> {
    pub(super) fn read(value: Value) -> Option<Self> {
        let read = serde_json::from_value(value);
        read.inspect_err(|error| tracing::debug!(%error, "something in a list of GitHub is not understood")).ok()
    }
}

impl<T> Found<T> {
    /// As its address tells: `https://github.com/acme/shop/pull/99#discussion_r1`, spelled as GitHub spells it.
    pub(super) fn place(&self) -> Option<Place> {
        let address = self.html_url.split(['#', '?']).next()?;
        let mut parts = address.rsplit('/');
        let number = parts.next()?.parse().ok()?;
        let is_pull_request = match parts.next()? {
            "pull" => true,
            "issues" => false,
            _ => return None,
        };
        let name = parts.next()?;
        let repository = RepositoryName::new(parts.next()?, name)?;
        Some(Place { repository, number, is_pull_request })
    }

    pub(super) fn who_closed(&self) -> Option<&User> {
        self.merged_by.as_ref().or(self.closed_by.as_ref())
    }

    pub(super) fn closer(&self) -> Option<Person> {
        self.who_closed()?.person().ok()
    }
}

impl Found<Comment> {
    pub(super) fn at(&self) -> Option<Timestamp> {
        moment(self.thing.updated_at.as_deref())
    }

    pub(super) fn told(&self, bot: &Bot) -> Option<Told> {
        let (place, by) = (self.place()?, self.user.as_ref());
        heard(payload::comment(&place, by, &self.thing, bot))
    }

    pub(super) fn told_on_a_line(&self, bot: &Bot) -> Option<Told> {
        let (place, by) = (self.place()?, self.user.as_ref());
        heard(payload::review_comment(&place, by, &self.thing, bot))
    }
}

impl Found<Review> {
    pub(super) fn at(&self) -> Option<Timestamp> {
        moment(self.thing.submitted_at.as_deref())
    }

    pub(super) fn told(&self, bot: &Bot) -> Option<Told> {
        heard(payload::review(&self.place()?, self.user.as_ref(), &self.thing, bot))
    }
}

impl Found<Issue> {
    pub(super) fn opened(&self, bot: &Bot) -> Option<Told> {
        heard(payload::own_text(&self.place()?, self.user.as_ref(), &self.thing, true, bot))
    }

    /// By whom is told by itself or, of a pull request, perhaps by another list.
    pub(super) fn closed(&self, by: Option<&User>) -> Option<Told> {
        heard(payload::closed(&self.place()?, self.who_closed().or(by), &self.thing))
    }

    /// Whether its text speaks to us. Of a pull request this is all that a list of issues can tell.
    pub(super) fn mentions(&self, bot: &Bot) -> bool {
        self.opened(bot).is_some()
    }
}

fn heard(meaning: Result<Meaning, Malformed>) -> Option<Told> {
    match meaning {
        Ok(Meaning::Heard(told)) => Some(*told),
        Ok(Meaning::Ignored(_)) => None,
        Err(error) => {
            tracing::debug!(%error, "something in a list of GitHub is not understood");
            None
        }
    }
}

pub(super) fn moment(text: Option<&str>) -> Option<Timestamp> {
    let moment: jiff::Timestamp = text?.parse().ok()?;
    Some(Timestamp::from_millis(moment.as_millisecond()))
}
