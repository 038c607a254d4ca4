//! The parts of GitHub's objects that matter to us. The same in deliveries and in answers of its API.

use hedgerow_core::RepositoryName;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::Malformed;
use crate::github::heard::Person;

/// Longest login. GitHub's own are shorter; those of apps have `[bot]` behind them.
const LONGEST_LOGIN: usize = 100;

#[derive(Debug, Deserialize)]
pub(in crate::github) struct User {
    pub(in crate::github) id: u64,
    pub(in crate::github) login: String,
    #[serde(rename = "type")]
    kind: Option<String>,
}

impl User {
    pub(in crate::github) fn person(&self) -> Result<Person, Malformed> {
        let is_plain = |c: char| c.is_ascii_graphic() && c != '/' && c != '@';
        if self.login.is_empty() || self.login.len() > LONGEST_LOGIN || !self.login.chars().all(is_plain) {
            return Err(Malformed::NotUnderstood("a login is not one".to_owned()));
        }
        let is_bot = self.kind.as_deref() == Some("Bot") || self.login.to_ascii_lowercase().ends_with("[bot]");
        Ok(Person { id: self.id, login: self.login.clone(), is_bot })
    }

    /// Who wrote what nobody is named for.
    pub(in crate::github) fn gone() -> Self {
        let Person { id, login, .. } = Self::ghost();
        Self { id, login, kind: None }
    }

    /// Whoever is gone. GitHub shows them all under this name.
    pub(in crate::github) fn ghost() -> Person {
        Person { id: 0, login: "ghost".to_owned(), is_bot: false }
    }
}

#[derive(Debug, Deserialize)]
pub(in crate::github) struct Repository {
    pub(in crate::github) id: u64,
    full_name: String,
}

impl Repository {
    pub(in crate::github) fn name(&self) -> Result<RepositoryName, Malformed> {
        self.full_name.parse().map_err(|_| Malformed::NotUnderstood("the repository's name is not one".to_owned()))
    }
}

/// An issue or a pull request.
#[derive(Debug, Deserialize)]
pub(in crate::github) struct Issue {
    pub(in crate::github) id: u64,
    pub(in crate::github) number: u64,
    pub(in crate::github) node_id: Option<String>,
    pub(in crate::github) body: Option<String>,
    /// Who wrote it.
    #[serde(default, deserialize_with = "if_readable")]
    pub(in crate::github) user: Option<User>,
    pub(in crate::github) created_at: Option<String>,
    pub(in crate::github) updated_at: Option<String>,
    pub(in crate::github) closed_at: Option<String>,
    /// There when it is a pull request that is shown as an issue.
    pub(in crate::github) pull_request: Option<Link>,
    /// This and what follows are said of a pull request only.
    pub(in crate::github) merged: Option<bool>,
    pub(in crate::github) merged_at: Option<String>,
}

/// That there is something, whatever it says.
#[derive(Debug, Deserialize)]
pub(in crate::github) struct Link {}

/// A comment, on an issue or on a line.
#[derive(Debug, Deserialize)]
pub(in crate::github) struct Comment {
    pub(in crate::github) id: u64,
    pub(in crate::github) node_id: Option<String>,
    pub(in crate::github) body: Option<String>,
    /// Who wrote it.
    #[serde(default, deserialize_with = "if_readable")]
    pub(in crate::github) user: Option<User>,
    pub(in crate::github) created_at: Option<String>,
    pub(in crate::github) updated_at: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(in crate::github) struct Review {
    pub(in crate::github) id: u64,
    pub(in crate::github) node_id: Option<String>,
    pub(in crate::github) body: Option<String>,
    /// Who wrote it.
    #[serde(default, deserialize_with = "if_readable")]
    pub(in crate::github) user: Option<User>,
    pub(in crate::github) submitted_at: Option<String>,
}

/// What helps and is not needed: in another form than it should have, it is not there.
fn if_readable<'d, D: Deserializer<'d>, T: DeserializeOwned>(from: D) -> Result<Option<T>, D::Error> {
    Ok(serde_json::from_value(Value::deserialize(from)?).ok())
}

/// What an edit changed.
#[derive(Debug, Default, Deserialize)]
pub(in crate::github) struct Changes {
    pub(in crate::github) body: Option<Before>,
    /// There when an issue was opened by moving it here.
    pub(in crate::github) old_issue: Option<Link>,
}

#[derive(Debug, Deserialize)]
pub(in crate::github) struct Before {
    pub(in crate::github) from: Option<String>,
}

/// A time in the one form that keys are made of. The first that there is.
pub(in crate::github) fn moment(candidates: &[Option<&str>]) -> Result<String, Malformed> {
    let text = candidates.iter().find_map(|text| *text);
    let text = text.ok_or_else(|| Malformed::NotUnderstood("a time is missing".to_owned()))?;
    let read = text.parse::<jiff::Timestamp>().and_then(|moment| jiff::Timestamp::from_second(moment.as_second()));
    read.map(|moment| moment.to_string()).map_err(|_| Malformed::NotUnderstood("a time is not one".to_owned()))
}
