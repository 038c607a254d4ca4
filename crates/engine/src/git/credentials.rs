//! What opens a remote on a forge, shown to that remote alone.
//!
//! The forge gives a credential for one repository. git learns of it through the settings of one call: a helper of one
//! line, bound to the very URL of the remote, that prints two variables of that call. So it is in no file, no URL, no
//! argument and no answer, and a redirect to another place finds no helper there.

use std::time::Duration;

use hedgerow_core::Secret;
use hedgerow_core::platform::{Credential, PlatformError};
use tokio::time::timeout;

use super::call::{Call, Setting};
use super::hazards::{Config, Scope};
use super::{Git, GitError, GitResult, Repo};
use crate::remote_url::without_credentials;

/// Answers only when asked: what git wants stored or erased is none of its business. The printing is the shell's own, so
/// that no other program is told.
const HELPER: &str = "!f() { if test \"$1\" = get; then \
                      printf 'username=%s\\npassword=%s\\n' \"$HEDGEROW_GIT_USERNAME\" \"$HEDGEROW_GIT_PASSWORD\"; fi; }; f";
const USERNAME: &str = "HEDGEROW_GIT_USERNAME";
const PASSWORD: &str = "HEDGEROW_GIT_PASSWORD";

/// Longer than any forge takes to answer.
const PATIENCE: Duration = Duration::from_secs(90);

/// What a remote is opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    Read,
    Write,
}

/// What opens one remote, for one call.
pub(super) struct Opening {
    /// The remote's URL, without any credential.
    url: String,
    username: String,
    password: Secret,
}

impl Opening {
    fn settings(&self) -> [Setting; 3] {
        let helper = format!("credential.{}.helper", self.url);
        [
            // An empty helper clears the list: nobody else is asked for it, and nobody is told it to keep.
            (helper.clone(), String::new()),
            (helper, HELPER.to_owned()),
            ("credential.interactive".to_owned(), "false".to_owned()),
        ]
    }
}

impl Call<'_> {
    /// The same call, able to open that remote. Goes last: what comes later counts.
    pub(super) fn opened(self, opening: Option<Opening>) -> Self {
        let Some(opening) = opening else { return self };
        self.settings(opening.settings())
            .env(USERNAME, opening.username)
            .env(PASSWORD, opening.password.reveal())
            .hiding(opening.password)
    }
}

impl Git {
    /// What opens a remote of this URL, if a forge knows it. What the forge refuses is read without, for it may be public;
    /// nothing is written there as somebody else.
    pub(super) async fn opening(&self, url: &str, what_for: Access) -> GitResult<Option<Opening>> {
        let Some(hosted) = self.forges.hosted(url).filter(|_| is_http(url)) else { return Ok(None) };
        let repository = &hosted.repository;
        let asked = timeout(PATIENCE, hosted.forge.credential(repository)).await;
        let no_answer = |why: String| GitError::NoCredential { repository: repository.to_string(), why };
        let Credential { url: of, username, password } = match asked {
            Ok(Ok(credential)) => credential,
            Ok(Err(PlatformError::Refused(why))) if what_for == Access::Write => {
                return Err(GitError::NotLetIn { repository: repository.to_string(), why });
            }
            Ok(Err(PlatformError::Refused(why))) => {
                tracing::warn!(%repository, %why, "the forge gives no credential; git goes on without one");
                return Ok(None);
            }
            Ok(Err(PlatformError::Transient(why))) => return Err(no_answer(why)),
            Err(_) => return Err(no_answer("no answer in time".to_owned())),
        };
        let url = without_credentials(url);
        if origin(&url).is_none() || origin(&url) != origin(&of) {
            tracing::warn!(%repository, "the remote is reached another way than the forge's own; no credential is shown to it");
            return Ok(None);
        }
        Ok(Some(Opening { url, username, password }))
    }
}

impl Repo {
    /// What opens a remote of the repository for reading.
    pub(super) async fn opening(&self, remote: &str) -> GitResult<Option<Opening>> {
        match self.remote_url(remote) {
            Some(url) => self.opening_of(url, Access::Read).await,
            None => Ok(None),
        }
    }

    /// The same by its URL. Not where the repository itself says through whom, and how unguarded, it is reached, unless a
    /// person has looked at that.
    pub(super) async fn opening_of(&self, url: &str, what_for: Access) -> GitResult<Option<Opening>> {
        if !self.is_trusted() && is_unguarded(self.config()) {
            tracing::warn!(
                "the repository's own settings change how remotes are reached; no credential is shown to them"
            );
            return Ok(None);
        }
        self.git().opening(url, what_for).await
    }

    /// What git may need while it writes files: of a partial clone it fetches what is missing. It may all be there, so
    /// that a forge that does not answer is no obstacle.
    pub(super) async fn opening_of_promises(&self) -> Option<Opening> {
        let promised = self.config().entries().iter().find_map(|entry| {
            let name = entry.key.strip_prefix("remote.")?.strip_suffix(".promisor")?;
            (entry.value == "true").then(|| name.to_owned())
        });
        let remote = promised.as_deref().or(self.config().value("extensions.partialclone"))?;
        let opening = self.opening(remote).await;
        opening.inspect_err(|error| tracing::warn!(%error, "files are written without a credential")).ok().flatten()
    }
}

fn is_http(url: &str) -> bool {
    url.starts_with("https://") || url.starts_with("http://")
}

/// Scheme, host and port.
fn origin(url: &str) -> Option<String> {
    let (scheme, rest) = url.split_once("://")?;
    let host = rest.split('/').next().filter(|host| !host.is_empty() && !host.contains('@'))?;
    let default = if scheme == "https" { ":443" } else { ":80" };
    Some(format!("{scheme}://{}", host.strip_suffix(default).unwrap_or(host)).to_ascii_lowercase())
}

/// Whether the repository's own configuration decides through whom, or how unchecked, a connection is made.
fn is_unguarded(config: &Config) -> bool {
    let own = config.entries().iter().filter(|entry| entry.scope != Scope::Trusted);
    own.map(|entry| (entry.key.split('.').next(), entry.key.rsplit('.').next())).any(|key| {
        matches!(
            key,
            (
                Some("http"),
                Some(
                    "proxy"
                        | "sslverify"
                        | "curloptresolve"
                        | "sslcainfo"
                        | "sslcapath"
                        | "proxysslcainfo"
                        | "sslbackend"
                        | "followredirects"
                )
            ) | (Some("remote"), Some("proxy"))
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_credential_belongs_to_scheme_host_and_port() {
        let same = ["https://github.com/a/b", "https://GitHub.com:443/x", "https://github.com"];
        assert!(same.iter().all(|url| origin(url) == origin("https://github.com/acme/shop.git")));
        for other in
            ["http://github.com/a/b", "https://github.com:8443/a", "https://github.com.evil/a", "git@github.com:a/b"]
        {
            assert_ne!(origin(other), origin("https://github.com/acme/shop.git"), "{other}");
        }
        assert_eq!(origin("https:///a"), None);
    }

    #[tokio::test]
    async fn what_git_says_is_told_without_the_secret() {
        let folder = tempfile::tempdir().expect("a folder");
        let program = folder.path().join("git");
        // A file that this process has open for writing while a neighbour forks cannot be run.
        let script =
            "printf '#!/bin/sh\\necho \"fatal: ($HEDGEROW_GIT_PASSWORD)\" >&2\\nexit 1\\n' > \"$0\"; chmod +x \"$0\"";
        let written = std::process::Command::new("sh").args(["-c", script]).arg(&program).status();
        assert!(written.expect("a shell").success());
        let (url, username) = ("https://example.com/a/b".to_owned(), "alice".to_owned());
        let opening = Opening { url, username, password: Secret::new("s3cret") };
        let git = Git::new(program, Vec::new());
        let failed = git.call(folder.path()).arg("fetch").opened(Some(opening)).write().await;
        let told = failed.expect_err("it fails").to_string();
        assert!(told.ends_with("fatal: (***)"), "{told}");
    }
}
