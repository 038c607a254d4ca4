//! Where words that were found come from: lists say who wrote them, and not who changed them, nor where they were said.

use hedgerow_core::platform::PlatformError;
use hedgerow_core::{RepositoryName, Timestamp};
use serde::Deserialize;
use serde_json::json;

use super::Window;
use super::found::moment;
use crate::github::GitHub;
use crate::github::client::CallError;

const ORIGIN: &str = "query($id: ID!) {
  node(id: $id) {
    ... on Comment { publishedAt lastEditedAt author { login } editor { login } }
    ... on Issue {
      timelineItems(last: 1, itemTypes: [TRANSFERRED_EVENT]) { nodes { ... on TransferredEvent { createdAt } } }
    }
    ... on IssueComment {
      issue { timelineItems(last: 1, itemTypes: [TRANSFERRED_EVENT]) { nodes { ... on TransferredEvent { createdAt } } } }
    }
  }
}";

#[derive(Deserialize)]
struct Answer {
    node: Option<Origin>,
}

/// What is known of words besides what they say.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Origin {
    /// When others could read them: words of a review wait for the rest of it.
    published_at: Option<String>,
    last_edited_at: Option<String>,
    author: Option<Login>,
    editor: Option<Login>,
    timeline_items: Option<Moves>,
    issue: Option<Moved>,
}

#[derive(Debug, PartialEq, Eq, Deserialize)]
struct Login {
    login: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Moved {
    timeline_items: Option<Moves>,
}

#[derive(Debug, Deserialize)]
struct Moves {
    nodes: Vec<Option<Move>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Move {
    created_at: Option<String>,
}

/// `None` when they are gone.
pub(super) async fn of(
    github: &GitHub,
    repository: &RepositoryName,
    node_id: &str,
) -> Result<Option<Origin>, PlatformError> {
    match github.client.graphql::<Answer>(repository, ORIGIN, json!({ "id": node_id })).await {
        Ok(answer) => Ok(answer.node),
        Err(CallError::NotFound(_)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

impl Origin {
    /// Said in our time, in this repository, and as their author left them.
    pub(super) fn is_meant(&self, window: Window) -> bool {
        let Some(said) = moment(self.published_at.as_deref()) else { return false };
        let is_old = said.seconds_since(window.oldest) < 0 || self.moved_at().is_some_and(|moved| said <= moved);
        let is_its_authors = self.last_edited_at.is_none() || (self.editor.is_some() && self.editor == self.author);
        !is_old && is_its_authors
    }

    /// When the issue that they stand in came from another repository.
    fn moved_at(&self) -> Option<Timestamp> {
        let of_issue = self.issue.as_ref().and_then(|issue| issue.timeline_items.as_ref());
        let moves = self.timeline_items.as_ref().or(of_issue)?;
        moves.nodes.iter().flatten().filter_map(|found| moment(found.created_at.as_deref())).max()
    }
}
