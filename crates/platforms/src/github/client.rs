//! Calls of GitHub's API: authorised, bounded, tried again where that helps.

use std::sync::Arc;
use std::time::Duration;

use hedgerow_core::platform::PlatformError;
use hedgerow_core::{RepositoryName, Secret};
use reqwest::Method;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::Config;

/// One connection pool and the tokens for it.
#[derive(Debug)]
pub(crate) struct Client {
    config: Arc<Config>,
}

/// Why a call has no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum CallError {
    /// 404, 410, 451: there is none, or none for us.
    #[error("there is no such thing at {0}, or not for us")]
    NotFound(String),
    /// 301: it has another place now.
    #[error("it has moved")]
    Moved,
    /// GitHub does not want it, and would not later either.
    #[error("{status}: {message}")]
    Refused { status: u16, message: String },
    /// No answer, a failure on its side, or too many calls; after this time another try may go better.
    #[error("{why}")]
    Transient { why: String, after: Option<Duration> },
}

impl From<CallError> for PlatformError {
    fn from(error: CallError) -> Self {
        match error {
            CallError::Transient { why, .. } => Self::Transient(why),
            other => Self::Refused(other.to_string()),
        }
    }
}

impl Client {
    pub(crate) fn new(config: Arc<Config>) -> Result<Self, String> {
        Ok(Self { config })
    }

    /// A call about a repository, as whom we are there. `path` begins with a slash and comes after `/repos/acme/shop`.
    pub(crate) async fn call<T: DeserializeOwned>(
        &self,
        method: Method,
        repository: &RepositoryName,
        path: &str,
        body: Option<&(impl Serialize + Sync)>,
    ) -> Result<T, CallError> {
        let _ = (method, repository, path, body, &self.config);
        Err(CallError::Moved)
    }

    pub(crate) async fn get<T: DeserializeOwned>(
        &self,
        repository: &RepositoryName,
        path: &str,
    ) -> Result<T, CallError> {
        self.call(Method::GET, repository, path, None::<&Value>).await
    }

    /// All pages of a list, up to `most` things.
    pub(crate) async fn list<T: DeserializeOwned>(
        &self,
        repository: &RepositoryName,
        path: &str,
        most: usize,
    ) -> Result<Vec<T>, CallError> {
        let _ = (repository, path, most);
        Err(CallError::Moved)
    }

    /// A GraphQL query about a repository: what is under `data`. Errors without data are refused.
    pub(crate) async fn graphql<T: DeserializeOwned>(
        &self,
        repository: &RepositoryName,
        query: &str,
        variables: Value,
    ) -> Result<T, CallError> {
        let _ = (repository, query, variables);
        Err(CallError::Moved)
    }

    /// What opens the repository now.
    pub(crate) async fn token(&self, repository: &RepositoryName) -> Result<Secret, CallError> {
        let _ = repository;
        Err(CallError::Moved)
    }
}
