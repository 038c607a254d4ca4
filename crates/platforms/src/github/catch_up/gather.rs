//! Asks GitHub what happened in a repository since some time. Bounded: what does not fit is left to the next look.

use hedgerow_core::platform::PlatformError;
use hedgerow_core::{RepositoryName, Timestamp};
use serde_json::Value;

use super::Window;
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

/// What was gathered.
pub(super) struct Gathered<'a> {
    github: &'a GitHub,
    repository: &'a RepositoryName,
    window: Window,
    bot: Bot,
    /// When it happened, and what.
    pub(super) told: Vec<(Timestamp, Told)>,
    pub(super) until: Timestamp,
}

impl<'a> Gathered<'a> {
    pub(super) async fn within(
        github: &'a GitHub,
        repository: &'a RepositoryName,
        window: Window,
    ) -> Result<Self, PlatformError> {
        let until = window.now;
        let mut gathered = Self { github, repository, window, bot: github.bot(), told: Vec::new(), until };
        gathered.comments().await?;
        gathered.issues().await?;
        Ok(gathered)
    }

    async fn comments(&mut self) -> Result<(), PlatformError> {
        for comment in self.list::<Comment>("/issues/comments", "").await? {
            self.add(comment.at(), comment.told(&self.bot));
        }
        for comment in self.list::<Comment>("/pulls/comments", "").await? {
            self.add(comment.at(), comment.told_on_a_line(&self.bot));
        }
        Ok(())
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
            self.add(moment(issue.thing.created_at.as_deref()), issue.opened(&self.bot));
        }
        if self.is_new(issue.thing.closed_at.as_deref()) {
            self.add(moment(issue.thing.closed_at.as_deref()), issue.closed(None));
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
                    self.add(moment(request.thing.created_at.as_deref()), request.opened(&self.bot));
                }
                if is_closed {
                    self.add(moment(request.thing.closed_at.as_deref()), request.closed(listed.who_closed()));
                }
            }
        }
        let path = format!("/pulls/{number}/reviews");
        let reviews = self.github.client.list::<Value>(self.repository, &path, MOST_REVIEWS).await;
        for review in unless_gone(reviews)?.unwrap_or_default() {
            let Some(review) = Found::<Review>::read(review) else { continue };
            if self.is_new(review.thing.submitted_at.as_deref()) {
                self.add(review.at(), review.told(&self.bot));
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
        let path = format!("{path}?since={}&sort=updated&direction=asc{more}", self.window.since);
        let listed = self.github.client.list::<Value>(self.repository, &path, MOST).await?;
        if listed.len() >= MOST {
            let last = listed.last().and_then(|last| last.get("updated_at")).and_then(Value::as_str);
            self.goes_on_from(moment(last));
        }
        Ok(listed.into_iter().filter_map(Found::read).collect())
    }

    fn add(&mut self, at: Option<Timestamp>, told: Option<Told>) {
        if let (Some(at), Some(told)) = (at, told) {
            self.told.push((at, told));
        }
    }

    fn is_new(&self, at: Option<&str>) -> bool {
        moment(at).is_some_and(|at| at.seconds_since(self.window.oldest) >= 0)
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

/// What is gone meanwhile is passed over.
fn unless_gone<T>(answer: Result<T, CallError>) -> Result<Option<T>, PlatformError> {
    match answer {
        Ok(answer) => Ok(Some(answer)),
        Err(CallError::NotFound(_) | CallError::Moved) => Ok(None),
        Err(error) => Err(error.into()),
    }
}
