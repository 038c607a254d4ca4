//! What GitHub says about how it is set up: who we are there, what we may, and where its deliveries go.
//!
//! It looks and changes nothing. Each call has a few seconds; when GitHub does not answer, the rest is left out and said to be.

use std::collections::BTreeMap;
use std::future::Future;
use std::time::Duration;

use hedgerow_core::RepositoryName;
use reqwest::Method;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::client::{CallError, escaped};
use super::manifest::{EVENTS, PERMISSIONS};
use super::webhook::PATH;
use super::{GitHub, Identity};

/// Longest wait for one answer.
const PATIENCE: Duration = Duration::from_secs(10);
/// Most hooks of a repository that are looked at.
const MOST_HOOKS: usize = 100;

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// `github`, or `github acme/shop`.
    pub what: String,
    pub standing: Standing,
    pub detail: String,
    /// What to do about it; only fine things need none.
    pub hint: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    Fine,
    Warning,
    Problem,
}

impl Found {
    fn fine(what: &str, detail: impl Into<String>) -> Self {
        Self { what: what.to_owned(), standing: Standing::Fine, detail: detail.into(), hint: None }
    }

    fn warning(what: &str, detail: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { standing: Standing::Warning, hint: Some(hint.into()), ..Self::fine(what, detail) }
    }

    fn problem(what: &str, detail: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { standing: Standing::Problem, ..Self::warning(what, detail, hint) }
    }
}

/// Nothing more can be asked now.
struct Silent(Found);

type Looked<T> = Result<T, Silent>;

const HERE: &str = "github";

/// What an App, or its installation somewhere, may do and is told of.
#[derive(Deserialize)]
struct Granted {
    #[serde(default)]
    permissions: BTreeMap<String, String>,
    #[serde(default)]
    events: Vec<String>,
    slug: Option<String>,
    html_url: Option<String>,
    suspended_at: Option<String>,
}

#[derive(Deserialize)]
struct Account {
    id: u64,
    #[serde(rename = "type", default)]
    kind: String,
}

#[derive(Deserialize)]
struct Repository {
    #[serde(default)]
    permissions: BTreeMap<String, bool>,
    #[serde(default)]
    archived: bool,
}

#[derive(Deserialize)]
struct Hook {
    #[serde(default)]
    active: bool,
    #[serde(default)]
    events: Vec<String>,
    config: Place,
    last_response: Option<Response>,
}

#[derive(Deserialize)]
struct Place {
    url: Option<String>,
}

#[derive(Deserialize)]
struct Response {
    code: Option<u16>,
}

#[derive(Deserialize)]
struct Delivered {
    #[serde(default)]
    status_code: u16,
}

impl GitHub {
    /// Looks at everything, for these repositories.
    pub async fn checkup(&self, repositories: &[RepositoryName]) -> Vec<Found> {
        let mut found = Vec::new();
        if let Err(Silent(last)) = self.look(repositories, &mut found).await {
            found.push(last);
        }
        found
    }

    async fn look(&self, repositories: &[RepositoryName], found: &mut Vec<Found>) -> Looked<()> {
        if self.config.webhook_secrets.is_empty() {
            found.push(Found::warning(
                HERE,
                "no webhook secret is set, so no delivery is accepted; mentions are found only by looking for them",
                "set GITHUB_WEBHOOK_SECRET, and the same secret at GitHub",
            ));
        }
        let me = match answer(HERE, self.client.who()).await? {
            Ok(me) => me,
            Err(error) => {
                found.push(self.not_us(&error));
                return Ok(());
            }
        };
        match &self.config.identity {
            Identity::Token(_) => {
                found.push(Found::fine(HERE, format!("{} is there; we are `{}`", self.config.api_url, me.login)));
                found.extend(self.look_at_name(me.id).await?);
            }
            Identity::App { .. } => {
                let detail = format!("{} is there; we are the App `{}`", self.config.api_url, me.login);
                found.push(Found::fine(HERE, detail));
                found.extend(self.look_at_app().await?);
            }
        }
        for repository in repositories {
            let what = format!("github {repository}");
            match &self.config.identity {
                Identity::Token(_) => found.extend(self.look_with_token(&what, repository).await?),
                Identity::App { .. } => found.extend(self.look_at_installation(&what, repository).await?),
            }
        }
        Ok(())
    }

    fn not_us(&self, error: &CallError) -> Found {
        let hint = match (error, &self.config.identity) {
            (CallError::Refused { status: 401, .. }, Identity::Token(_)) => {
                "the token is wrong, or has expired: make a new one and set GITHUB_TOKEN".to_owned()
            }
            (CallError::Refused { status: 401, .. }, Identity::App { .. }) => {
                "GITHUB_APP_ID and the private key must be of the same App; a clock that is minutes off does the same"
                    .to_owned()
            }
            _ => format!("see whether GITHUB_API_URL ({}) is the address of the API", self.config.api_url),
        };
        Found::problem(HERE, format!("GitHub does not know us: {error}"), hint)
    }

    /// Whether somebody else has the name that people mention.
    async fn look_at_name(&self, us: Option<u64>) -> Looked<Option<Found>> {
        let name = &self.config.bot_name;
        let path = format!("/users/{}", escaped(name));
        Ok(match answer(HERE, self.ourselves::<Account>(&path)).await? {
            Ok(account) if account.kind == "User" && Some(account.id) != us => Some(Found::warning(
                HERE,
                format!("`@{name}` is the account of somebody else, who is told of every mention"),
                "choose a name that nobody has with HEDGEROW_BOT_NAME",
            )),
            _ => None,
        })
    }

    async fn look_at_app(&self) -> Looked<Vec<Found>> {
        let mut found = Vec::new();
        if let Ok(app) = answer(HERE, self.ourselves::<Granted>("/app")).await? {
            // GitHub Enterprise has it in another place.
            let page = app.html_url.or_else(|| app.slug.map(|slug| format!("{}/apps/{slug}", self.config.web_url)));
            let place = page.unwrap_or_else(|| self.config.web_url.clone());
            let hint =
                format!("change them in the App's settings (from {place}), then accept them where it is installed");
            found.extend(lacking(HERE, "the App", &app.permissions, &app.events, &hint));
        }
        let hook = answer(HERE, self.ourselves::<Place>("/app/hook/config")).await?;
        found.push(match hook.ok().and_then(|hook| hook.url) {
            Some(url) if url.ends_with(PATH) => deliveries_go_to(HERE, &url),
            Some(url) => Found::problem(
                HERE,
                format!("deliveries go to {url}, which is no path of ours"),
                format!("set the webhook URL in the App's settings; it ends with {PATH}"),
            ),
            None => Found::problem(
                HERE,
                "the App has no webhook",
                "`hedgerow github setup` says its URL; set it in the App's settings and make it active",
            ),
        });
        if let Ok(newest) = answer(HERE, self.ourselves::<Vec<Delivered>>("/app/hook/deliveries?per_page=1")).await? {
            found.extend(newest.first().and_then(|newest| unanswered(HERE, newest.status_code)));
        }
        Ok(found)
    }

    async fn look_at_installation(&self, what: &str, repository: &RepositoryName) -> Looked<Vec<Found>> {
        let path = format!("/repos/{repository}/installation");
        let installed = match answer(what, self.ourselves::<Granted>(&path)).await? {
            Ok(installed) => installed,
            Err(CallError::NotFound(_)) => {
                let hint = "install the App there, or add the repository to its installation";
                return Ok(vec![Found::problem(what, "the App is not installed on it", hint)]);
            }
            Err(error) => return Ok(vec![not_seen(what, &error)]),
        };
        if installed.suspended_at.is_some() {
            let hint = "unsuspend it in the settings of the account that has the repository";
            return Ok(vec![Found::problem(what, "the App's installation is suspended", hint)]);
        }
        let place = installed.html_url.unwrap_or_else(|| self.config.web_url.clone());
        let hint = format!("somebody who owns it accepts the App's new permissions at {place}");
        let lacks = lacking(what, "the installation", &installed.permissions, &installed.events, &hint);
        Ok(if lacks.is_empty() { vec![Found::fine(what, "the App is installed, with all it needs")] } else { lacks })
    }

    async fn look_with_token(&self, what: &str, repository: &RepositoryName) -> Looked<Vec<Found>> {
        let seen = match answer(what, self.client.get::<Repository>(repository, "")).await? {
            Ok(seen) => seen,
            Err(CallError::NotFound(_)) => {
                let hint = "give the token access to it, or `hedgerow codebase remove` it";
                return Ok(vec![Found::problem(what, "it is not there, or not for the token", hint)]);
            }
            Err(error) => return Ok(vec![not_seen(what, &error)]),
        };
        let may_push = seen.permissions.get("push").copied().unwrap_or_default();
        let mut found = vec![match (seen.archived, may_push) {
            (true, _) => {
                Found::warning(what, "it is archived: nothing can be pushed", "unarchive it, or forget it here")
            }
            (false, true) => Found::fine(what, "the token may push to it"),
            (false, false) => Found::problem(
                what,
                "the token may not push to it",
                "give the token `Contents: write`, and its account write permission on the repository",
            ),
        }];
        found.extend(self.look_at_hooks(what, repository).await?);
        Ok(found)
    }

    async fn look_at_hooks(&self, what: &str, repository: &RepositoryName) -> Looked<Vec<Found>> {
        let hooks = answer(what, self.client.list::<Hook>(repository, "/hooks", MOST_HOOKS)).await?;
        let Ok(hooks) = hooks else {
            // Not everybody may look, and nobody has to.
            return Ok(vec![Found::fine(what, "its webhooks are not for this token to see")]);
        };
        let ours = |hook: &&Hook| hook.active && hook.config.url.as_deref().is_some_and(|url| url.ends_with(PATH));
        let Some(hook) = hooks.iter().find(ours) else {
            return Ok(vec![Found::warning(
                what,
                format!("it has no webhook that ends with {PATH}; mentions are found only by looking for them"),
                "`hedgerow github setup` says what to add there",
            )]);
        };
        let url = hook.config.url.as_deref().unwrap_or_default();
        let mut found = vec![deliveries_go_to(what, url)];
        let is_told = |event: &str| hook.events.iter().any(|told| told == event || told == "*");
        let untold: Vec<_> = EVENTS.iter().map(|event| event.name).filter(|event| !is_told(event)).collect();
        if !untold.is_empty() {
            let detail = format!("its webhook does not tell of {}", listed(&untold));
            found.push(Found::warning(what, detail, "add these events to it, in the repository's settings"));
        }
        found.extend(hook.last_response.as_ref().and_then(|last| unanswered(what, last.code.unwrap_or(200))));
        Ok(found)
    }

    async fn ourselves<T: DeserializeOwned>(&self, path: &str) -> Result<T, CallError> {
        self.client.call_as_ourselves(Method::GET, path, None::<&Value>).await
    }
}

/// What GitHub answered, if it did.
async fn answer<T>(what: &str, call: impl Future<Output = Result<T, CallError>>) -> Looked<Result<T, CallError>> {
    let silent = |why: String| {
        let detail = format!("GitHub cannot be asked: {why}; what it says is not checked");
        Silent(Found::warning(what, detail, "try again when it can be reached"))
    };
    match tokio::time::timeout(PATIENCE, call).await {
        Err(_) => Err(silent(format!("no answer within {} seconds", PATIENCE.as_secs()))),
        Ok(Err(CallError::Transient { why, .. })) => Err(silent(why)),
        Ok(other) => Ok(other),
    }
}

/// What is needed and not there.
fn lacking(what: &str, who: &str, permissions: &BTreeMap<String, String>, events: &[String], hint: &str) -> Vec<Found> {
    let is_given = |name: &str, level: &str| match permissions.get(name).map(String::as_str) {
        Some("write" | "admin") => true,
        Some("read") => level == "read",
        _ => false,
    };
    let missing: Vec<String> = PERMISSIONS
        .iter()
        .filter(|needed| !is_given(needed.name, needed.level))
        .map(|needed| format!("{}: {}", needed.name, needed.level))
        .collect();
    let untold: Vec<_> =
        EVENTS.iter().map(|event| event.name).filter(|event| !events.iter().any(|told| told == event)).collect();
    let mut found = Vec::new();
    if !missing.is_empty() {
        found.push(Found::problem(what, format!("{who} lacks the permissions {}", listed(&missing)), hint));
    }
    if !untold.is_empty() {
        found.push(Found::problem(what, format!("{who} is not told of {}", listed(&untold)), hint));
    }
    found
}

fn deliveries_go_to(what: &str, url: &str) -> Found {
    Found::fine(what, format!("deliveries go to {url}"))
}

/// GitHub's newest delivery did not go well.
fn unanswered(what: &str, status: u16) -> Option<Found> {
    // Zero is one that is under way, or that nobody answered.
    if status == 0 || (200..300).contains(&status) {
        return None;
    }
    let detail = format!("its newest delivery was answered with {status}");
    let hint = match status {
        401 | 403 => "the webhook secret at GitHub and GITHUB_WEBHOOK_SECRET must be the same",
        _ => "see whether GitHub reaches the server at that URL; the deliveries are listed in the webhook's settings",
    };
    Some(Found::warning(what, detail, hint))
}

fn not_seen(what: &str, error: &CallError) -> Found {
    Found::problem(
        what,
        format!("GitHub does not show it to us: {error}"),
        "see what the token or the App may do there",
    )
}

fn listed<T: AsRef<str>>(words: &[T]) -> String {
    words.iter().map(|word| format!("`{}`", word.as_ref())).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::github::client::tests::server::{Said, Server};
    use crate::github::client::tests::{app, config};

    fn given(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(name, level)| ((*name).to_owned(), (*level).to_owned())).collect()
    }

    #[test]
    fn what_is_needed_and_not_given_is_named() {
        let all: Vec<String> = EVENTS.iter().map(|event| event.name.to_owned()).collect();
        let enough = PERMISSIONS.map(|needed| (needed.name, needed.level));
        assert_eq!(lacking("x", "the App", &given(&enough), &all, "hint"), []);
        let more = PERMISSIONS.map(|needed| (needed.name, "admin"));
        assert_eq!(lacking("x", "the App", &given(&more), &all, "hint"), []);
        let less = given(&[("contents", "read"), ("issues", "write"), ("metadata", "read"), ("checks", "read")]);
        let found = lacking("x", "the App", &less, &all[1..], "hint");
        let details: Vec<_> = found.iter().map(|found| found.detail.as_str()).collect();
        assert_eq!(
            details,
            [
                "the App lacks the permissions `contents: write`, `pull_requests: write`, `statuses: read`",
                "the App is not told of `issues`",
            ]
        );
        assert!(found.iter().all(|found| found.standing == Standing::Problem && found.hint.as_deref() == Some("hint")));
    }

    #[tokio::test]
    async fn the_page_of_an_app_is_where_github_says() {
        let page = "https://ghe.example/github-apps/hedgerow";
        let server = Server::start(move |seen, _| match seen.target.as_str() {
            "/app" => Said::json(200, &json!({ "slug": "hedgerow", "html_url": page })),
            _ => Said::json(404, &json!({})),
        })
        .await;
        let github = GitHub::new(config(&server.url, app())).expect("the settings are good");
        let found = github.checkup(&[]).await;
        let lacks = found.iter().find(|found| found.detail.contains("lacks the permissions")).expect("it lacks them");
        assert!(lacks.hint.as_deref().is_some_and(|hint| hint.contains(&format!("(from {page})"))), "{lacks:?}");
    }

    #[test]
    fn a_delivery_that_went_wrong_says_what_to_look_at() {
        for (status, is_wrong) in [(0, false), (200, false), (202, false), (401, true), (404, true), (502, true)] {
            assert_eq!(unanswered("x", status).is_some(), is_wrong, "{status}");
        }
        assert!(unanswered("x", 401).and_then(|found| found.hint).is_some_and(|hint| hint.contains("secret")));
    }
}
