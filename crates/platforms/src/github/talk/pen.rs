//! Comments of one issue or pull request: written, written anew, and found again.

use std::sync::Arc;

use hedgerow_core::RepositoryName;
use hedgerow_core::platform::PlatformError;
use reqwest::Method;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Value, json};

use super::super::client::{CallError, Client};
use super::markers::Marks;

/// Most pages of a hundred comments that are looked at, from the newest on.
const MOST_PAGES: usize = 3;

const COMMENTS: &str = "query($owner: String!, $name: String!, $number: Int!, $before: String) {
  repository(owner: $owner, name: $name) {
    issueOrPullRequest(number: $number) {
      ... on Issue { comments(last: 100, before: $before) {
        nodes { databaseId fullDatabaseId viewerDidAuthor body } pageInfo { hasPreviousPage startCursor } } }
      ... on PullRequest { comments(last: 100, before: $before) {
        nodes { databaseId fullDatabaseId viewerDidAuthor body } pageInfo { hasPreviousPage startCursor } } }
    }
  }
}";

const THREADS: &str = "query($owner: String!, $name: String!, $number: Int!) {
  repository(owner: $owner, name: $name) {
    pullRequest(number: $number) {
      reviewThreads(last: 100) { nodes { comments(last: 20) {
        nodes { databaseId fullDatabaseId viewerDidAuthor body } } } }
    }
  }
}";

/// Who writes in one conversation.
#[derive(Debug, Clone)]
pub(super) struct Pen {
    pub(super) client: Arc<Client>,
    pub(super) repository: RepositoryName,
    pub(super) number: u64,
    /// Answer in the thread of this review comment.
    pub(super) thread: Option<u64>,
}

/// A comment that is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Written {
    id: u64,
    in_thread: bool,
}

/// A comment that we wrote, with what it says about itself.
#[derive(Debug)]
pub(super) struct Own {
    pub(super) written: Written,
    pub(super) marks: Marks,
}

#[derive(Deserialize)]
struct New {
    id: u64,
}

#[derive(Deserialize)]
struct Remark {
    #[serde(default)]
    in_reply_to_id: Option<u64>,
}

impl Pen {
    pub(super) async fn write(&self, body: &str) -> Result<Written, CallError> {
        let body = json!({ "body": body });
        if let Some(thread) = self.thread
            && let Some(id) = self.answer_in_thread(thread, &body).await?
        {
            return Ok(Written { id, in_thread: true });
        }
        let path = format!("/issues/{}/comments", self.number);
        let New { id } = self.client.call(Method::POST, &self.repository, &path, Some(&body)).await?;
        Ok(Written { id, in_thread: false })
    }

    /// `None` when there is no such thread any more.
    async fn answer_in_thread(&self, thread: u64, body: &Value) -> Result<Option<u64>, CallError> {
        let refused = match self.reply(thread, body).await {
            Ok(id) => return Ok(Some(id)),
            Err(error @ (CallError::NotFound(_) | CallError::Refused { status: 422, .. })) => error,
            Err(error) => return Err(error),
        };
        // Only the first comment of a thread can be answered. This may be a later one.
        match self.client.get(&self.repository, &format!("/pulls/comments/{thread}")).await {
            Ok(Remark { in_reply_to_id: Some(first) }) => match self.reply(first, body).await {
                Err(CallError::NotFound(_)) => Ok(None),
                other => other.map(Some),
            },
            Ok(Remark { in_reply_to_id: None }) if !matches!(refused, CallError::NotFound(_)) => Err(refused),
            Ok(_) | Err(CallError::NotFound(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    async fn reply(&self, comment: u64, body: &Value) -> Result<u64, CallError> {
        let path = format!("/pulls/{}/comments/{comment}/replies", self.number);
        let New { id } = self.client.call(Method::POST, &self.repository, &path, Some(body)).await?;
        Ok(id)
    }

    pub(super) async fn rewrite(&self, comment: Written, body: &str) -> Result<(), CallError> {
        let place = if comment.in_thread { "pulls" } else { "issues" };
        let path = format!("/{place}/comments/{}", comment.id);
        let body = json!({ "body": body });
        self.client.call::<IgnoredAny>(Method::PATCH, &self.repository, &path, Some(&body)).await?;
        Ok(())
    }

    /// An error when there is nothing to write on.
    pub(super) async fn require_place(&self) -> Result<(), CallError> {
        self.client.get::<IgnoredAny>(&self.repository, &format!("/issues/{}", self.number)).await.map(drop)
    }

    /// Our own comments among the newest ones. Who quotes a marker of ours has not written ours.
    pub(super) async fn own(&self) -> Result<Vec<Own>, CallError> {
        // A part that GitHub leaves out is no list without comments.
        let unseen = || CallError::NotFound("the comments".to_owned());
        let mut own = Vec::new();
        if self.thread.is_some() {
            let answer: Value = self.client.graphql(&self.repository, THREADS, self.variables(None)).await?;
            let threads = &answer["repository"]["pullRequest"]["reviewThreads"]["nodes"];
            for thread in threads.as_array().ok_or_else(unseen)? {
                own.extend(ours(&thread["comments"]["nodes"], true).ok_or_else(unseen)?);
            }
        }
        let mut before = None;
        for _ in 0..MOST_PAGES {
            let variables = self.variables(before.as_deref());
            let answer: Value = self.client.graphql(&self.repository, COMMENTS, variables).await?;
            let comments = &answer["repository"]["issueOrPullRequest"]["comments"];
            own.extend(ours(&comments["nodes"], false).ok_or_else(unseen)?);
            before = comments["pageInfo"]["startCursor"].as_str().map(str::to_owned);
            if before.is_none() || comments["pageInfo"]["hasPreviousPage"] != json!(true) {
                break;
            }
        }
        Ok(own)
    }

    fn variables(&self, before: Option<&str>) -> Value {
        json!({
            "owner": self.repository.owner(),
            "name": self.repository.name(),
            "number": self.number,
            "before": before,
        })
    }

    /// Why something could not be said, for the log and for whoever tries again.
    pub(super) fn explain(&self, error: CallError) -> PlatformError {
        let place = format!("{}#{}", self.repository, self.number);
        match error {
            CallError::Transient { why, after: Some(after) } => {
                PlatformError::Transient(format!("{why} (it asks to wait {} s)", after.as_secs()))
            }
            CallError::Transient { why, after: None } => PlatformError::Transient(why),
            // Whoever runs this can put another token in its place.
            CallError::Refused { status: 401, message } => {
                PlatformError::Transient(format!("GitHub does not know who we are: {message}"))
            }
            CallError::Refused { status: 403, message } if message.contains("locked") => {
                PlatformError::Refused(format!("the conversation on {place} is locked: unlock it and ask again"))
            }
            CallError::NotFound(_) => {
                PlatformError::Refused(format!("{place} is gone, or the bot may not see it any more"))
            }
            CallError::Moved => PlatformError::Refused(format!("{place} has moved: ask again in its new place")),
            CallError::Refused { status, message } => {
                PlatformError::Refused(format!("GitHub takes no comment on {place}: {message} ({status})"))
            }
        }
    }
}

/// `None` when there is no list.
fn ours(nodes: &Value, in_thread: bool) -> Option<Vec<Own>> {
    let own = |node: &Value| {
        let marks = Marks::of(node["body"].as_str()?);
        // Newer ids do not fit into the older field.
        let full = &node["fullDatabaseId"];
        let id = full.as_u64().or_else(|| full.as_str()?.parse().ok()).or_else(|| node["databaseId"].as_u64())?;
        (node["viewerDidAuthor"] == json!(true)).then_some(Own { written: Written { id, in_thread }, marks })
    };
    Some(nodes.as_array()?.iter().filter_map(own).collect())
}
