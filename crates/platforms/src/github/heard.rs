//! An event of GitHub as it waits in the inbox: what its delivery said that matters, in a form of our own.
//!
//! The same whether it was delivered or found later by looking, so that both are one event.

use hedgerow_core::message::{DeliveryKey, RawEvent};
use hedgerow_core::platform::PlatformKind;
use hedgerow_core::{RepositoryName, Timestamp, command};
use serde::{Deserialize, Serialize};

/// What happened on which issue or pull request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Heard {
    /// `acme/shop`, as GitHub spells it.
    pub repository: String,
    pub number: u64,
    pub is_pull_request: bool,
    /// Who did it.
    pub sender: Person,
    pub what: What,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Person {
    pub id: u64,
    pub login: String,
    /// An App, or an account that says it is one.
    pub is_bot: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum What {
    /// Somebody said something to us.
    Asked(Asked),
    Closed {
        merged: bool,
    },
    Reopened,
    /// It is in another repository now.
    Transferred,
    /// A branch of the repository was deleted; the number is 0.
    BranchDeleted {
        branch: String,
    },
}

/// Words for us, and where they stand.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    /// What was said, without the mention.
    pub text: String,
    pub place: Spot,
    /// GitHub's own name of the thing that holds the words, for reactions.
    pub node_id: String,
    /// When it was said; only what was said before is read. RFC 3339.
    pub at: String,
    /// We were asked as a reviewer; there are no words.
    #[serde(default)]
    pub as_reviewer: bool,
    /// Somebody put the mention into what another had written. Only what follows it on its line is the ask; all of it is
    /// read as data.
    #[serde(default)]
    pub is_anothers: bool,
}

/// Where words stand.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Spot {
    /// The text of the issue or pull request itself.
    Body,
    Comment {
        id: u64,
    },
    /// On a line of a file; answered in its thread.
    ReviewComment {
        id: u64,
    },
    /// The text of a review.
    Review {
        id: u64,
    },
}

impl Heard {
    /// The place where people talk about it, and the lane of its events.
    pub fn conversation(&self) -> String {
        format!("{}#{}", self.repository, self.number)
    }

    /// `None` when it is no name that a repository can have.
    pub fn repository(&self) -> Option<RepositoryName> {
        self.repository.parse().ok()
    }

    /// As an event to hand in. `meaning` is what it is about, whatever it is delivered as.
    pub fn raw(&self, delivery: String, meaning: String, received_at: Timestamp) -> RawEvent {
        let urgent = matches!(&self.what, What::Asked(asked) if command::is_urgent(&asked.text));
        RawEvent {
            platform: PlatformKind::Github,
            delivery: DeliveryKey { id: delivery, meaning: Some(meaning) },
            lane: self.conversation(),
            urgent,
            body: serde_json::json!(self).to_string(),
            received_at,
        }
    }

    pub fn read(raw: &RawEvent) -> Result<Self, serde_json::Error> {
        serde_json::from_str(&raw.body)
    }
}
