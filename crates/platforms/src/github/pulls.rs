//! Pull requests: as GitHub has them now, found by their branch, and new ones.

use hedgerow_core::platform::{Checks, PullRequest, PullRequestDraft, WorkState};
use hedgerow_core::{BranchName, CommitSha, RepositoryName, Timestamp};
use reqwest::Method;
use serde::Deserialize;
use serde_json::{Value, json};

use super::GitHub;
use super::client::{CallError, escaped};

/// Most pull requests of one branch that are looked at.
const MOST_OF_A_BRANCH: usize = 100;
/// Most characters that GitHub takes.
const LONGEST_TITLE: usize = 256;

/// How it stands with everything that ran for the newest commit.
const CHECKS: &str = "query($owner: String!, $name: String!, $number: Int!) {
  repository(owner: $owner, name: $name) {
    pullRequest(number: $number) {
      commits(last: 1) { nodes { commit { statusCheckRollup { state } } } }
    }
  }
}";

/// A pull request as GitHub tells it, whole or in a list.
#[derive(Debug, Deserialize)]
pub(super) struct Told {
    number: u64,
    #[serde(default)]
    html_url: String,
    #[serde(default)]
    pub(super) title: String,
    #[serde(default)]
    pub(super) body: Option<String>,
    #[serde(default)]
    state: String,
    #[serde(default)]
    draft: bool,
    /// Only of a whole one.
    #[serde(default)]
    merged: bool,
    #[serde(default)]
    merged_at: Option<String>,
    #[serde(default)]
    created_at: Option<String>,
    pub(super) head: End,
    pub(super) base: End,
}

/// One of the two ends of a pull request.
#[derive(Debug, Deserialize)]
pub(super) struct End {
    #[serde(default, rename = "ref")]
    pub(super) branch: String,
    #[serde(default)]
    pub(super) sha: String,
    /// `None` when the repository is gone.
    #[serde(default)]
    repo: Option<Home>,
}

#[derive(Debug, Deserialize)]
struct Home {
    id: u64,
}

/// A repository as GitHub tells it.
#[derive(Deserialize)]
struct Owned {
    owner: Owner,
}

#[derive(Deserialize)]
struct Owner {
    login: String,
}

impl Told {
    pub(super) fn state(&self) -> WorkState {
        match (self.merged || self.merged_at.is_some(), self.state.as_str()) {
            (true, _) => WorkState::Merged,
            (false, "open") => WorkState::Open,
            (false, "closed") => WorkState::Closed,
            (false, _) => WorkState::Unknown,
        }
    }

    /// A head whose repository is gone cannot be known to be ours.
    pub(super) fn is_fork(&self) -> bool {
        match (&self.head.repo, &self.base.repo) {
            (Some(head), Some(base)) => head.id != base.id,
            _ => true,
        }
    }

    fn is_of(&self, branch: &BranchName) -> bool {
        !self.is_fork() && self.head.branch == branch.as_str()
    }

    fn with(self, checks: Option<Checks>) -> PullRequest {
        let at = |text: &String| text.parse::<jiff::Timestamp>().ok();
        PullRequest {
            state: self.state(),
            is_fork: self.is_fork(),
            number: self.number,
            is_draft: self.draft,
            head_branch: BranchName::parse(&self.head.branch).ok(),
            head: CommitSha::parse(&self.head.sha).ok(),
            base_branch: BranchName::parse(&self.base.branch).ok(),
            created_at: self.created_at.as_ref().and_then(at).map(|at| Timestamp::from_millis(at.as_millisecond())),
            url: self.html_url,
            title: self.title,
            checks,
        }
    }
}

impl GitHub {
    /// `None` when there is none of that number.
    pub(super) async fn fetch_pull(
        &self,
        repository: &RepositoryName,
        number: u64,
    ) -> Result<Option<PullRequest>, CallError> {
        match self.client.get::<Told>(repository, &format!("/pulls/{number}")).await {
            Ok(told) => Ok(Some(self.with_checks(repository, told).await?)),
            Err(CallError::NotFound(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The newest open one whose head is this branch of the repository itself.
    pub(super) async fn fetch_pull_of(
        &self,
        repository: &RepositoryName,
        head: &BranchName,
    ) -> Result<Option<PullRequest>, CallError> {
        match self.fetch_pulls_of(repository, head, "open").await?.into_iter().next() {
            Some(told) => Ok(Some(self.with_checks(repository, told).await?)),
            None => Ok(None),
        }
    }

    /// The newest one whose head is, or was, this branch of the repository itself, in whatever state. Without its checks.
    pub(crate) async fn newest_pull_request_of(
        &self,
        repository: &RepositoryName,
        head: &BranchName,
    ) -> Result<Option<PullRequest>, CallError> {
        Ok(self.fetch_pulls_of(repository, head, "all").await?.into_iter().next().map(|told| told.with(None)))
    }

    /// The newest first.
    async fn fetch_pulls_of(
        &self,
        repository: &RepositoryName,
        head: &BranchName,
        state: &str,
    ) -> Result<Vec<Told>, CallError> {
        let found = self.fetch_pulls_by(repository, repository.owner(), head, state).await?;
        if !found.is_empty() || !self.client.was_led_on(repository) {
            return Ok(found);
        }
        // With its name its owner may be another one by now, and so the name of the branch.
        let Owned { owner } = self.client.get(repository, "").await?;
        if owner.login.eq_ignore_ascii_case(repository.owner()) {
            return Ok(found);
        }
        self.fetch_pulls_by(repository, &owner.login, head, state).await
    }

    async fn fetch_pulls_by(
        &self,
        repository: &RepositoryName,
        owner: &str,
        head: &BranchName,
        state: &str,
    ) -> Result<Vec<Told>, CallError> {
        let of = escaped(&format!("{owner}:{}", head.as_str()));
        let path = format!("/pulls?state={state}&sort=created&direction=desc&head={of}");
        let mut all: Vec<Told> = self.client.list(repository, &path, MOST_OF_A_BRANCH).await?;
        // GitHub takes a fork of the same owner for it too, and leaves out a filter that it does not understand.
        all.retain(|told| told.is_of(head));
        Ok(all)
    }

    /// A new one, or the one that is there already.
    pub(super) async fn make_pull(
        &self,
        repository: &RepositoryName,
        draft: &PullRequestDraft,
    ) -> Result<PullRequest, CallError> {
        let title: String = draft.title.chars().take(LONGEST_TITLE).collect();
        let wish =
            json!({ "title": title, "body": draft.body, "head": draft.head.as_str(), "base": draft.base.as_str() });
        match self.client.call::<Told>(Method::POST, repository, "/pulls", Some(&wish)).await {
            Ok(told) => Ok(told.with(None)),
            Err(CallError::Refused { status: 422, message }) if message.contains("already exists") => {
                let there = self.fetch_pulls_of(repository, &draft.head, "open").await?;
                let same = there.into_iter().find(|told| told.base.branch == draft.base.as_str());
                same.map(|told| told.with(None)).ok_or(CallError::Refused { status: 422, message })
            }
            Err(error) => Err(error),
        }
    }

    /// Only an open one is followed.
    async fn with_checks(&self, repository: &RepositoryName, told: Told) -> Result<PullRequest, CallError> {
        let checks = match told.state() {
            WorkState::Open => self.fetch_checks(repository, told.number).await?,
            _ => None,
        };
        Ok(told.with(checks))
    }

    async fn fetch_checks(&self, repository: &RepositoryName, number: u64) -> Result<Option<Checks>, CallError> {
        let variables = json!({ "owner": repository.owner(), "name": repository.name(), "number": number });
        match self.client.graphql::<Value>(repository, CHECKS, variables).await {
            Ok(data) => Ok(checks_of(&data)),
            Err(error) if error.is_transient() => Err(error),
            // To see the checks is a permission of its own.
            Err(error) => {
                tracing::warn!(%repository, number, %error, "the checks of a pull request cannot be seen");
                Ok(None)
            }
        }
    }
}

fn checks_of(data: &Value) -> Option<Checks> {
    let state = data.pointer("/repository/pullRequest/commits/nodes/0/commit/statusCheckRollup/state")?;
    match state.as_str()? {
        "SUCCESS" => Some(Checks::Passing),
        "FAILURE" | "ERROR" => Some(Checks::Failing),
        "PENDING" | "EXPECTED" => Some(Checks::Pending),
        _ => None,
    }
}
