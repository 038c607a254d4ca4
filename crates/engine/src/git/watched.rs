//! Refs and settings that a run must leave as they are: reading them, and putting them back by compare-and-swap.

use std::collections::BTreeMap;
use std::path::Path;

use hedgerow_core::provider::NoProgress;
use hedgerow_core::{EnvironmentId, RunId};
use serde::{Deserialize, Serialize};

use super::checkpoints::checkpoints_of;
use super::{Git, GitResult, Repo};

/// What a ref is: the object it leads to, and the ref that it stands for, if it is only another name for one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Target {
    pub object: String,
    pub alias_of: Option<String>,
}

/// Refs by their full names.
pub type Targets = BTreeMap<String, Target>;

/// Settings by their keys, each with all its values.
pub type Settings = BTreeMap<String, Vec<String>>;

impl Repo {
    /// Every branch, tag, replacement, the last stash, and the checkpoints of an environment. One call however many.
    pub async fn watched_refs(&self, id: EnvironmentId) -> GitResult<Targets> {
        let own = checkpoints_of(id);
        self.targets(&["refs/heads/", "refs/tags/", "refs/replace/", "refs/stash", own.as_str()]).await
    }

    /// What is known of the branches of remotes.
    pub async fn tracking_refs(&self) -> GitResult<Targets> {
        self.targets(&["refs/remotes/"]).await
    }

    async fn targets(&self, patterns: &[&str]) -> GitResult<Targets> {
        let call = self.call().args(["for-each-ref", "--format=%(objectname) %(refname)%00%(symref)"]).args(patterns);
        let out = call.read().await?;
        let line = |line: &str| {
            let (object, rest) = line.split_once(' ')?;
            let (name, alias_of) = rest.split_once('\0')?;
            let alias_of = Some(alias_of.to_owned()).filter(|name| !name.is_empty());
            Some((name.to_owned(), Target { object: object.to_owned(), alias_of }))
        };
        Ok(String::from_utf8_lossy(&out).lines().filter_map(line).collect())
    }

    /// What one ref is now.
    pub async fn target(&self, name: &str) -> GitResult<Option<String>> {
        let args = ["rev-parse", "--verify", "--quiet", "--end-of-options", name];
        let answer = self.call().args(args).answer().await?;
        let object = String::from_utf8_lossy(&answer.stdout).trim().to_owned();
        Ok(answer.status.success().then_some(object))
    }

    /// Makes a ref what it was, if it is still what was seen; `None` is a ref that is not there. What the ref itself is, and
    /// not what it stands for.
    pub async fn swap_ref(&self, name: &str, seen: Option<&str>, was: Option<&str>, why: &str) -> GitResult<()> {
        let none = "0".repeat(seen.or(was).map_or(40, str::len));
        let to = was.unwrap_or(&none);
        let args = ["update-ref", "--no-deref", "--create-reflog", "-m", why, "--end-of-options", name, to];
        self.call().args(args).arg(seen.unwrap_or(&none)).write().await.map(drop)
    }

    /// The branches that a remote has, and where they are.
    pub async fn remote_heads(&self, remote: &str) -> GitResult<BTreeMap<String, String>> {
        let call = self.call().args(["ls-remote", "--quiet", "--heads"]).args(self.upload_pack(remote));
        let call = call.args(["--end-of-options", remote]).opened(self.opening(remote).await?);
        let out = call.long(&NoProgress).await?;
        let text = String::from_utf8_lossy(&out);
        let head = |line: &str| {
            let (object, name) = line.split_once('\t')?;
            Some((name.strip_prefix("refs/heads/")?.to_owned(), object.to_owned()))
        };
        Ok(text.lines().filter_map(head).collect())
    }

    /// Makes a ref another name for a ref.
    pub async fn set_alias(&self, name: &str, of: &str) -> GitResult<()> {
        self.call().args(["symbolic-ref", "--end-of-options", name, of]).write().await.map(drop)
    }

    /// Takes away a ref that is another name for one, and not what it stands for.
    pub async fn remove_alias(&self, name: &str) -> GitResult<()> {
        self.call().args(["symbolic-ref", "--delete", "--end-of-options", name]).write().await.map(drop)
    }

    /// Holds on to an object that a ref led to during a run.
    pub async fn keep_undone(&self, run: RunId, number: usize, object: &str) -> GitResult<String> {
        let name = format!("refs/hedgerow/undone/{run}/{number}");
        self.call().args(["update-ref", "--end-of-options", &name, object]).write().await?;
        Ok(name)
    }
}

impl Git {
    /// The settings in the text of a configuration file; `None` when git cannot read it.
    ///
    /// Asked from a folder that is no repository: the one that the file belongs to may not open any more.
    pub async fn settings_in(&self, neutral: &Path, text: &[u8]) -> GitResult<Option<Settings>> {
        if text.is_empty() {
            return Ok(Some(Settings::new()));
        }
        let call = self.call(neutral).args(["config", "--file", "-", "--no-includes", "--list", "-z"]);
        let answer = call.stdin(text).answer().await?;
        if !answer.status.success() {
            return Ok(None);
        }
        let mut settings = Settings::new();
        for entry in answer.stdout.split(|byte| *byte == 0).filter(|entry| !entry.is_empty()) {
            let entry = String::from_utf8_lossy(entry);
            let (key, value) = entry.split_once('\n').unwrap_or((&entry, "true"));
            settings.entry(key.to_owned()).or_default().push(value.to_owned());
        }
        Ok(Some(settings))
    }

    /// Gives a setting of a configuration file exactly these values. git's own lock keeps neighbours out meanwhile.
    pub async fn reset_setting(&self, neutral: &Path, file: &Path, key: &str, values: &[String]) -> GitResult<()> {
        let edit = || self.call(neutral).args(["config", "--file"]).arg(file);
        // Not having it is fine; what else went wrong is found when the file is read again.
        let _ = edit().args(["--unset-all", "--end-of-options", key]).write().await;
        for value in values {
            edit().args(["--add", "--end-of-options", key, value]).write().await?;
        }
        Ok(())
    }
}
