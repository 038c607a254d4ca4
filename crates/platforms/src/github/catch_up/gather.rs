//! Asks GitHub what happened in a repository since some time. Bounded: what does not fit is left to the next look.

use hedgerow_core::platform::PlatformError;
use hedgerow_core::{RepositoryName, Timestamp};
use serde_json::{Value, json};

use super::found::{Found, moment};
use crate::github::GitHub;
use crate::github::client::CallError;
use crate::github::heard::Person;
use crate::github::payload::{Bot, Comment, Issue, Review, Told};

/// Most things of one list in one look.
const MOST: usize = 1000;
/// Most pull requests whose reviews are read in one look.
const MOST_REVIEWED: usize = 50;
/// Most reviews of one pull request.
const MOST_REVIEWS: usize = 500;

/// Who wrote something, and who changed it last.
const WHO_EDITED: &str = "query($id: ID!) {
  node(id: $id) { ... on Comment { lastEditedAt author { login } editor { login } } }
}";

/// What was gathered.
pub(super) struct Gathered<'a> {
    github: &'a GitHub,
    repository: &'a RepositoryName,
    since: Timestamp,
    bot: Bot,
    pub(super) seen: Vec<Seen>,
    pub(super) until: Timestamp,
}

/// Something that a list told of.
pub(super) struct Seen {
    pub(super) at: Timestamp,
    pub(super) told: Told,
    /// Its words may not be those that its author wrote.
    pub(super) may_be_edited: bool,
}

impl<'a> Gathered<'a> {
    pub(super) async fn since(
        github: &'a GitHub,
        repository: &'a RepositoryName,
        since: Timestamp,
        now: Timestamp,
    ) -> Result<Self, PlatformError> {
        let mut gathered = Self { github, repository, since, bot: github.bot(), seen: Vec::new(), until: now };
        gathered.comments().await?;
        gathered.issues().await?;
        Ok(gathered)
    }

    async fn comments(&mut self) -> Result<(), PlatformError> {
        for comment in self.list::<Comment>("/issues/comments", "").await? {
            self.comment(&comment, comment.told(&self.bot));
        }
        for comment in self.list::<Comment>("/pulls/comments", "").await? {
            self.comment(&comment, comment.told_on_a_line(&self.bot));
        }
        Ok(())
    }

    /// Of an older one that was edited the list does not say what is new; of a new one all is.
    fn comment(&mut self, comment: &Found<Comment>, told: Option<Told>) {
        let is_edited = comment.is_edited();
        if !is_edited || self.is_new(comment.thing.created_at.as_deref()) {
            self.add(comment.at(), told, is_edited);
        }
    }

    /// Issues, and pull requests, which are in the same list.
    async fn issues(&mut self) -> Result<(), PlatformError> {
        let mut reviewed = 0;
        for issue in self.list::<Issue>("/issues", "&state=all").await? {
            if issue.thing.pull_request.is_none() {
                self.issue(&issue);
                continue;
            }
            if reviewed == MOST_REVIEWED {
                self.goes_on_from(moment(issue.thing.updated_at.as_deref()));
                break;
            }
            reviewed += 1;
            self.pull_request(&issue).await?;
        }
        Ok(())
    }

    fn issue(&mut self, issue: &Found<Issue>) {
        if self.is_new(issue.thing.created_at.as_deref()) {
            self.add(moment(issue.thing.created_at.as_deref()), issue.opened(&self.bot), true);
        }
        if self.is_new(issue.thing.closed_at.as_deref()) {
            self.add(moment(issue.thing.closed_at.as_deref()), issue.closed(None), false);
        }
    }

    /// Its id in the list is not the one that deliveries tell it by, so it is asked for when there is something to tell.
    async fn pull_request(&mut self, listed: &Found<Issue>) -> Result<(), PlatformError> {
        let is_opened = self.is_new(listed.thing.created_at.as_deref()) && listed.mentions(&self.bot);
        let is_closed = self.is_new(listed.thing.closed_at.as_deref());
        let number = listed.thing.number;
        if is_opened || is_closed {
            let answer = self.github.client.get(self.repository, &format!("/pulls/{number}")).await;
            if let Some(request) = unless_gone(answer)?.and_then(Found::<Issue>::read) {
                if is_opened {
                    self.add(moment(request.thing.created_at.as_deref()), request.opened(&self.bot), true);
                }
                if is_closed {
                    let told = request.closed(listed.who_closed());
                    self.add(moment(request.thing.closed_at.as_deref()), told, false);
                }
            }
        }
        let path = format!("/pulls/{number}/reviews");
        let reviews = self.github.client.list::<Value>(self.repository, &path, MOST_REVIEWS).await;
        for review in unless_gone(reviews)?.unwrap_or_default() {
            let Some(review) = Found::<Review>::read(review) else { continue };
            if self.is_new(review.thing.submitted_at.as_deref()) {
                self.add(review.at(), review.told(&self.bot), true);
            }
        }
        Ok(())
    }

    /// What changed since, in the order it changed.
    async fn list<T: serde::de::DeserializeOwned>(
        &mut self,
        path: &str,
        more: &str,
    ) -> Result<Vec<Found<T>>, PlatformError> {
        let path = format!("{path}?since={}&sort=updated&direction=asc{more}", self.since);
        let listed = self.github.client.list::<Value>(self.repository, &path, MOST).await?;
        if listed.len() >= MOST {
            let last = listed.last().and_then(|last| last.get("updated_at")).and_then(Value::as_str);
            self.goes_on_from(moment(last));
        }
        Ok(listed.into_iter().filter_map(Found::read).collect())
    }

    fn add(&mut self, at: Option<Timestamp>, told: Option<Told>, may_be_edited: bool) {
        if let (Some(at), Some(told)) = (at, told) {
            self.seen.push(Seen { at, told, may_be_edited });
        }
    }

    fn is_new(&self, at: Option<&str>) -> bool {
        moment(at).is_some_and(|at| at.seconds_since(self.since) >= 0)
    }

    fn goes_on_from(&mut self, at: Option<Timestamp>) {
        self.until = at.map_or(self.until, |at| at.min(self.until));
    }
}

/// Who closed an issue or pull request, as it says itself.
pub(super) async fn who_closed(
    github: &GitHub,
    repository: &RepositoryName,
    number: u64,
) -> Result<Option<Person>, PlatformError> {
    let answer = github.client.get(repository, &format!("/issues/{number}")).await;
    Ok(unless_gone(answer)?.and_then(Found::<Issue>::read).and_then(|issue| issue.closer()))
}

/// Whether the words are those of who is said to have written them: nobody else has changed them. Lists do not say that.
pub(super) async fn is_its_authors(
    github: &GitHub,
    repository: &RepositoryName,
    node_id: &str,
) -> Result<bool, PlatformError> {
    let answer = github.client.graphql::<Value>(repository, WHO_EDITED, json!({ "id": node_id })).await;
    let node = match answer {
        Ok(mut answer) => answer["node"].take(),
        Err(error) if error.is_transient() => return Err(error.into()),
        Err(error) => {
            tracing::warn!(%repository, %error, "GitHub does not say who changed something last");
            return Ok(false);
        }
    };
    let (author, editor) = (&node["author"]["login"], &node["editor"]["login"]);
    Ok(node.is_object() && (node["lastEditedAt"].is_null() || (editor.is_string() && editor == author)))
}

/// What is gone meanwhile is passed over.
fn unless_gone<T>(answer: Result<T, CallError>) -> Result<Option<T>, PlatformError> {
    match answer {
        Ok(answer) => Ok(Some(answer)),
        Err(CallError::NotFound(_) | CallError::Moved) => Ok(None),
        Err(error) => Err(error.into()),
    }
}
