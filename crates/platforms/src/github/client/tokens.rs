//! Tokens for repositories, fetched when they are needed.

use hedgerow_core::{RepositoryName, Secret};
use reqwest::Method;
use serde::Deserialize;
use serde_json::json;

use super::retry::its_clock;
use super::{CallError, Caller, Client, read};
use crate::github::identity::{App, Bearer, Given, Held, Installation, Keys, Me};

impl Client {
    /// What opens the repository now.
    pub(crate) async fn token(&self, repository: &RepositoryName) -> Result<Secret, CallError> {
        self.in_time(self.patience.call, async { Ok(self.bearer(repository).await?.token) }).await
    }

    /// Who we are to others. Asked once.
    pub(crate) async fn who(&self) -> Result<Me, CallError> {
        self.me.get_or_try_init(|| self.in_time(self.patience.call, self.fetch_who())).await.cloned()
    }

    /// Who we are, when somebody asked before.
    pub(crate) fn known(&self) -> Option<&Me> {
        self.me.get()
    }

    async fn fetch_who(&self) -> Result<Me, CallError> {
        #[derive(Deserialize)]
        struct Person {
            id: u64,
            login: String,
        }
        #[derive(Deserialize)]
        struct Itself {
            slug: String,
        }
        let path = match &self.keys {
            Keys::Token(_) => "/user",
            Keys::App(_) => "/app",
        };
        let answer = self.exchange(&self.ask(Method::GET, path, None)?, &self.lasting()?).await?;
        match &self.keys {
            Keys::Token(_) => read(&answer).map(|Person { id, login }| Me { login, id: Some(id) }),
            Keys::App(_) => read(&answer).map(|Itself { slug }| Me { login: format!("{slug}[bot]"), id: None }),
        }
    }

    pub(super) fn lasting(&self) -> Result<Bearer, CallError> {
        self.keys.lasting().map_err(|message| CallError::Refused { status: 401, message })
    }

    pub(super) async fn bearer(&self, repository: &RepositoryName) -> Result<Bearer, CallError> {
        let Keys::App(app) = &self.keys else { return self.lasting() };
        let slot = app.slot(repository);
        let mut held = slot.lock().await;
        if let Some(held) = held.as_ref().filter(|held| held.is_good()) {
            return Ok(held.bearer().clone());
        }
        // Whoever waits for the slot finds the new one there.
        let new = self.fetch_token(repository).await?;
        let bearer = new.bearer().clone();
        *held = Some(new);
        Ok(bearer)
    }

    /// Whether there can be another token than the one that was not taken.
    pub(super) async fn forget(&self, repository: &RepositoryName, refused: &Bearer) -> bool {
        let Keys::App(app) = &self.keys else { return false };
        drop_if(app, repository, refused).await;
        true
    }

    async fn fetch_token(&self, repository: &RepositoryName) -> Result<Held, CallError> {
        let path = format!("/repos/{repository}/installation");
        let answer = self.exchange(&self.ask(Method::GET, &path, None)?, &self.lasting()?).await;
        let answer = answer.map_err(|error| not_installed(error, repository))?;
        let Installation { id } = read(&answer)?;
        let path = format!("/app/installations/{id}/access_tokens");
        // No more than the one repository, whatever else the installation sees.
        let wish = match answer.led_to {
            Some(renamed) => json!({ "repository_ids": [renamed] }),
            None => json!({ "repositories": [repository.name()] }),
        };
        let mut ask = self.ask(Method::POST, &path, Some(wish.to_string().into_bytes()))?;
        // Nobody is hurt by a token that nobody has.
        ask.repeatable = true;
        let answer = self.exchange(&ask, &self.lasting()?).await;
        let answer = answer.map_err(|error| not_installed(error, repository))?;
        let Given { token, expires_at } = read(&answer)?;
        tracing::debug!(%repository, expires_at, "a new token of the installation");
        let bearer = Bearer { token: Secret::new(token), caller: Caller::Installation(id) };
        Ok(Held::new(bearer, &expires_at, its_clock(&answer.headers)))
    }
}

async fn drop_if(app: &App, repository: &RepositoryName, refused: &Bearer) {
    let slot = app.slot(repository);
    let mut held = slot.lock().await;
    // Somebody may have fetched a better one meanwhile.
    if held.as_ref().is_some_and(|held| held.bearer().token == refused.token) {
        *held = None;
    }
}

/// That the App is not there says nothing about what was asked for.
fn not_installed(error: CallError, repository: &RepositoryName) -> CallError {
    match error {
        CallError::NotFound(_) => {
            let message = format!(
                "the GitHub App is not installed on {repository}; install it there, or add the repository to it"
            );
            CallError::Refused { status: 404, message }
        }
        other => other,
    }
}
