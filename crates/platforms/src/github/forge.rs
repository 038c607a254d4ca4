//! What the engine asks about repositories, issues, pull requests and people.

#[cfg(test)]
mod tests;

use std::future::Future;
use std::time::Duration;

use async_trait::async_trait;
use hedgerow_core::message::Author;
use hedgerow_core::platform::{
    Credential, Forge, Permission, PlatformError, PlatformKind, PullRequest, PullRequestDraft, WorkState,
};
use hedgerow_core::{BranchName, RepositoryName, Work};
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::client::{CallError, escaped};
use super::pulls::Told;
use super::{GitHub, remote};

/// Whom git says it is; GitHub looks at the token alone.
const USERNAME: &str = "x-access-token";

const LONGEST: Duration = Duration::from_secs(55);

/// Where a repository is cloned from.
pub(super) fn clone_url(web_url: &str, repository: &RepositoryName) -> String {
    format!("{web_url}/{repository}.git")
}

/// Several calls, which end within the minute that the port promises.
async fn in_time<T>(calls: impl Future<Output = Result<T, CallError>>) -> Result<T, PlatformError> {
    let late = |_| PlatformError::Transient("GitHub did not answer within a minute".to_owned());
    Ok(tokio::time::timeout(LONGEST, Box::pin(calls)).await.map_err(late)??)
}

#[async_trait]
impl Forge for GitHub {
    fn platform(&self) -> PlatformKind {
        PlatformKind::Github
    }

    fn repository(&self, remote: &str) -> Option<RepositoryName> {
        remote::repository(&self.config.web_url, remote).map(|name| self.renamed.now(name))
    }

    async fn learn_names(&self, remotes: &[&str], repository: &RepositoryName) -> Result<(), PlatformError> {
        in_time(self.fetch_names(remotes, repository)).await
    }

    fn clone_url(&self, repository: &RepositoryName) -> String {
        clone_url(&self.config.web_url, repository)
    }

    fn clones(&self) -> bool {
        self.config.clones
    }

    fn is_strained(&self) -> bool {
        self.client.is_strained()
    }

    /// Its URL is the one to clone from, letter by letter: in `credential.<url>.helper` git compares the host in any case, but the
    /// path exactly and by whole parts, so that `…/shop` is not `…/shop.git`. For a remote that is spelled in another way the
    /// setting has to name that remote's own URL, once scheme, host and port are the same as here.
    async fn credential(&self, repository: &RepositoryName) -> Result<Credential, PlatformError> {
        let password = self.client.token(repository).await?;
        Ok(Credential { url: Forge::clone_url(self, repository), username: USERNAME.to_owned(), password })
    }

    async fn state(&self, repository: &RepositoryName, work: &Work) -> Result<WorkState, PlatformError> {
        in_time(self.fetch_state(repository, work)).await
    }

    async fn permission(&self, repository: &RepositoryName, author: &Author) -> Result<Permission, PlatformError> {
        let path = format!("/collaborators/{}/permission", escaped(&author.name));
        match self.client.get::<Standing>(repository, &path).await {
            Ok(standing) => Ok(standing.of(author)),
            Err(CallError::NotFound(_)) => Ok(Permission::None),
            Err(error) => Err(error.into()),
        }
    }

    async fn pull_request(
        &self,
        repository: &RepositoryName,
        number: u64,
    ) -> Result<Option<PullRequest>, PlatformError> {
        in_time(self.fetch_pull(repository, number)).await
    }

    async fn pull_request_of(
        &self,
        repository: &RepositoryName,
        head: &BranchName,
    ) -> Result<Option<PullRequest>, PlatformError> {
        in_time(self.fetch_pull_of(repository, head)).await
    }

    async fn open_pull_request(
        &self,
        repository: &RepositoryName,
        draft: &PullRequestDraft,
    ) -> Result<PullRequest, PlatformError> {
        in_time(self.make_pull(repository, draft)).await
    }
}

impl GitHub {
    async fn fetch_state(&self, repository: &RepositoryName, work: &Work) -> Result<WorkState, CallError> {
        let state = match work {
            Work::Issue(number) => {
                self.client.get::<Issue>(repository, &format!("/issues/{number}")).await.map(|issue| issue.state())
            }
            Work::PullRequest(number) | Work::Review(number) => {
                self.client.get::<Told>(repository, &format!("/pulls/{number}")).await.map(|told| told.state())
            }
            Work::Thread(_) | Work::Task(_) => Ok(WorkState::Unknown),
        };
        match state {
            Err(CallError::NotFound(_) | CallError::Moved) => self.state_of_what_is_gone(repository).await,
            other => other,
        }
    }

    /// What is not where it was, in a repository that is, is deleted or transferred. When the repository itself is gone
    /// or is hidden from us, nothing is known about what is in it.
    async fn state_of_what_is_gone(&self, repository: &RepositoryName) -> Result<WorkState, CallError> {
        match self.client.get::<IgnoredAny>(repository, "").await {
            Ok(_) => Ok(WorkState::Closed),
            Err(CallError::NotFound(_) | CallError::Moved) => Ok(WorkState::Unknown),
            Err(error) => Err(error),
        }
    }
}

#[derive(Deserialize)]
struct Issue {
    #[serde(default)]
    state: String,
    /// There when it is a pull request.
    #[serde(default)]
    pull_request: Option<Merging>,
}

#[derive(Deserialize)]
struct Merging {
    #[serde(default)]
    merged_at: Option<String>,
}

impl Issue {
    fn state(&self) -> WorkState {
        let is_merged = self.pull_request.as_ref().is_some_and(|pull| pull.merged_at.is_some());
        match self.state.as_str() {
            _ if is_merged => WorkState::Merged,
            "open" => WorkState::Open,
            "closed" => WorkState::Closed,
            _ => WorkState::Unknown,
        }
    }
}

/// What somebody may do, as GitHub tells it.
#[derive(Deserialize)]
struct Standing {
    #[serde(default)]
    permission: String,
    #[serde(default)]
    role_name: String,
    #[serde(default)]
    user: Option<Account>,
}

#[derive(Deserialize)]
struct Account {
    id: u64,
}

impl Standing {
    /// Of this very person: a login may have passed to somebody else.
    fn of(&self, author: &Author) -> Permission {
        if self.user.as_ref().is_none_or(|user| user.id.to_string() != author.id) {
            return Permission::None;
        }
        // The older field also says what a role with a name of its own is based on.
        let word = if self.permission.is_empty() { &self.role_name } else { &self.permission };
        match word.as_str() {
            "admin" => Permission::Admin,
            "maintain" | "write" => Permission::Write,
            "triage" | "read" => Permission::Read,
            _ => Permission::None,
        }
    }
}
