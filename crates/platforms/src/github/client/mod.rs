//! Calls of GitHub's API: authorised, bounded, tried again where that helps.
//!
//! A call is made as whom we are on its repository. It ends within half a minute, whatever happens: with an answer, or with a
//! [`CallError`] that says whether another try may go better.

mod error;
mod graphql;
mod limits;
mod pages;
mod redirect;
mod retry;
#[cfg(test)]
pub(in crate::github) mod tests;
mod tokens;
mod wire;

use std::collections::HashSet;
use std::future::Future;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hedgerow_core::RepositoryName;
use reqwest::{Method, Url};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::sync::OnceCell;

pub(crate) use error::CallError;
pub(in crate::github) use limits::Caller;
use limits::Limits;
use retry::{Patience, Verdict, verdict};
use wire::{Answer, Ask, Resource, Wire};

use super::Config;
use super::identity::{Bearer, Keys, Me};

/// One connection pool and the tokens for it.
#[derive(Debug)]
pub(crate) struct Client {
    config: Arc<Config>,
    api: Url,
    keys: Keys,
    wire: Wire,
    limits: Limits,
    patience: Patience,
    me: OnceCell<Me>,
    /// Names of repositories that have another one by now.
    led_on: Mutex<HashSet<RepositoryName>>,
}

impl Client {
    pub(crate) fn new(config: Arc<Config>) -> Result<Self, String> {
        let api = Url::parse(&config.api_url).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
        let api = api.ok_or_else(|| format!("{} is no address of an API", config.api_url))?;
        let keys = Keys::new(&config.identity)?;
        let wire = Wire::new(&api)?;
        let (limits, patience, me) = (Limits::default(), Patience::default(), OnceCell::new());
        Ok(Self { config, api, keys, wire, limits, patience, me, led_on: Mutex::default() })
    }

    /// A call about a repository, as whom we are there. `path` begins with a slash and comes after `/repos/acme/shop`; empty, it
    /// is the repository itself. An answer without a body reads as `null`, so `()` and [`serde::de::IgnoredAny`] can be
    /// read from it.
    pub(crate) async fn call<T: DeserializeOwned>(
        &self,
        method: Method,
        repository: &RepositoryName,
        path: &str,
        body: Option<&(impl Serialize + Sync)>,
    ) -> Result<T, CallError> {
        let ask = self.ask(method, &format!("/repos/{repository}{path}"), written(body)?)?;
        read(&self.in_time(self.patience.call, self.authorised(repository, &ask)).await?)
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
        let first = self.ask(Method::GET, &pages::with_large_pages(&format!("/repos/{repository}{path}")), None)?;
        self.in_time(self.patience.list, self.all_pages(Some(repository), first, most)).await
    }

    /// A GraphQL query about a repository: what is under `data`. Errors without data are refused.
    pub(crate) async fn graphql<T: DeserializeOwned>(
        &self,
        repository: &RepositoryName,
        query: &str,
        variables: Value,
    ) -> Result<T, CallError> {
        let body = json!({ "query": query, "variables": variables }).to_string().into_bytes();
        let ask = Ask {
            method: Method::POST,
            url: address(&self.config.graphql_url())?,
            body: Some(body),
            resource: Resource::Graphql,
            repeatable: graphql::is_query(query),
        };
        let answer = self.in_time(self.patience.call, self.authorised(repository, &ask)).await?;
        graphql::data(&answer.body)
    }

    /// Whether the calls that are left should be kept for people who wait for an answer.
    pub(crate) fn is_strained(&self) -> bool {
        self.limits.are_low()
    }

    /// A call about no repository: as the App itself, or with the personal token. `path` is the whole path.
    pub(crate) async fn call_as_ourselves<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        body: Option<&(impl Serialize + Sync)>,
    ) -> Result<T, CallError> {
        let (ask, bearer) = (self.ask(method, path, written(body)?)?, self.lasting()?);
        read(&self.in_time(self.patience.call, self.exchange(&ask, &bearer)).await?)
    }

    /// All pages of a list about no repository, up to `most` things.
    pub(crate) async fn list_as_ourselves<T: DeserializeOwned>(
        &self,
        path: &str,
        most: usize,
    ) -> Result<Vec<T>, CallError> {
        let first = self.ask(Method::GET, &pages::with_large_pages(path), None)?;
        self.in_time(self.patience.list, self.all_pages(None, first, most)).await
    }

    async fn all_pages<T: DeserializeOwned>(
        &self,
        repository: Option<&RepositoryName>,
        first: Ask,
        most: usize,
    ) -> Result<Vec<T>, CallError> {
        let (mut ask, mut all) = (first, Vec::new());
        for _ in 0..pages::MOST_PAGES {
            let answer = match repository {
                Some(repository) => self.authorised(repository, &ask).await?,
                None => self.exchange(&ask, &self.lasting()?).await?,
            };
            all.extend(read::<Vec<T>>(&answer)?);
            match pages::next(&answer.headers, &self.api) {
                Some(next) if all.len() < most => ask.url = next,
                _ => break,
            }
        }
        all.truncate(most);
        Ok(all)
    }

    /// With the token of the repository; once more with a new one when GitHub does not know it any longer.
    async fn authorised(&self, repository: &RepositoryName, ask: &Ask) -> Result<Answer, CallError> {
        let bearer = self.bearer(repository).await?;
        match self.exchange(ask, &bearer).await {
            Err(CallError::Refused { status: 401, .. }) if self.forget(repository, &bearer).await => {
                self.exchange(ask, &self.bearer(repository).await?).await
            }
            other => other,
        }
    }

    /// Asks until there is an answer to take, or none to hope for. A redirect is one.
    async fn attempts(&self, ask: &Ask, bearer: &Bearer) -> Result<Answer, CallError> {
        for attempt in 1_u32.. {
            self.limits.pass(bearer.caller, ask.resource, self.patience.wait).await?;
            let outcome = self.wire.send(ask, &bearer.token).await;
            let status = outcome.as_ref().map_or(0, |answer| answer.status.as_u16());
            tracing::debug!(method = %ask.method, path = ask.url.path(), status, attempt, "called GitHub");
            if let Ok(answer) = &outcome {
                self.limits.note(bearer.caller, ask.resource, &answer.headers);
            }
            match verdict(ask, &outcome, attempt, &self.patience) {
                Verdict::Take => return outcome.map_err(|_| CallError::transient("GitHub did not answer")),
                Verdict::GiveUp(error) => return Err(error),
                Verdict::Again(pause) => tokio::time::sleep(pause).await,
                Verdict::Limited { rest, everywhere, last } => {
                    tracing::warn!(path = ask.url.path(), seconds = rest.as_secs(), "GitHub wants us to call less");
                    self.limits.rest(bearer.caller, ask.resource, rest, everywhere);
                    if last {
                        let why = "GitHub takes no more calls from us for now".to_owned();
                        return Err(CallError::Transient { why, after: Some(rest) });
                    }
                }
            }
        }
        unreachable!("the last attempt is never followed by another")
    }

    fn ask(&self, method: Method, path: &str, body: Option<Vec<u8>>) -> Result<Ask, CallError> {
        let url = address(&format!("{}{path}", self.config.api_url))?;
        // A POST makes something; each of the others says how it should be.
        let repeatable = method != Method::POST;
        Ok(Ask { method, url, body, resource: Resource::Rest, repeatable })
    }

    async fn in_time<T>(
        &self,
        longest: Duration,
        call: impl Future<Output = Result<T, CallError>>,
    ) -> Result<T, CallError> {
        let late = |_| CallError::transient(format!("GitHub did not answer within {} seconds", longest.as_secs()));
        tokio::time::timeout(longest, Box::pin(call)).await.map_err(late)?
    }
}

/// A text as one part of a path or a value in a query: a branch, a login.
pub(crate) fn escaped(text: &str) -> String {
    use std::fmt::Write as _;
    text.bytes().fold(String::with_capacity(text.len()), |mut all, byte| {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            all.push(char::from(byte));
        } else {
            write!(all, "%{byte:02X}").expect("a string takes everything");
        }
        all
    })
}

fn address(text: &str) -> Result<Url, CallError> {
    Url::parse(text).map_err(|error| CallError::Refused { status: 400, message: error::plain(&error.to_string()) })
}

fn written(body: Option<&(impl Serialize + Sync)>) -> Result<Option<Vec<u8>>, CallError> {
    let unwritable =
        |error: serde_json::Error| CallError::Refused { status: 400, message: error::plain(&error.to_string()) };
    body.map(serde_json::to_vec).transpose().map_err(unwritable)
}

fn read<T: DeserializeOwned>(answer: &Answer) -> Result<T, CallError> {
    let body: &[u8] = if answer.body.is_empty() { b"null" } else { &answer.body };
    serde_json::from_slice(body).map_err(|error| error::unreadable(answer.status.as_u16(), &error))
}
