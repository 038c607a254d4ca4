//! Remotes: which one, fetching from it, cloning.

use std::path::Path;
use std::time::SystemTime;

use hedgerow_core::provider::Progress;
use hedgerow_core::{BranchName, CommitSha};

use super::credentials::Access;
use super::refs::remote_ref;
use super::{Git, GitResult, LockKind, Repo, RepoLock};

impl Repo {
    /// Names of the repository's remotes, in the order they are configured.
    pub fn remotes(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for entry in self.config().entries() {
            let name = entry.key.strip_prefix("remote.").and_then(|rest| rest.strip_suffix(".url"));
            if let Some(name) = name.filter(|name| !names.contains(name) && is_plain(name)) {
                names.push(name);
            }
        }
        names
    }

    /// The remote to work with: the configured one, else `origin`, else the only one.
    pub fn remote(&self, configured: Option<&str>) -> Option<&str> {
        let names = self.remotes();
        let named = |wanted: &str| names.iter().find(|name| **name == wanted).copied();
        match (configured, names.as_slice()) {
            (Some(wanted), _) => named(wanted),
            (None, [only]) => Some(only),
            (None, _) => named("origin"),
        }
    }

    pub fn remote_url(&self, remote: &str) -> Option<&str> {
        self.config().value(&format!("remote.{remote}.url"))
    }

    /// Brings branches up to date, into their usual remote-tracking refs and nowhere else.
    ///
    /// Neighbours that asked for the same before this fetch began are served by it as well.
    pub async fn fetch_branches(
        &self,
        remote: &str,
        branches: &[&BranchName],
        progress: &dyn Progress,
    ) -> GitResult<()> {
        let specs = branches.iter().map(|branch| format!("+{}:{}", branch.full_ref(), remote_ref(remote, branch)));
        self.fetch_shared(remote, specs.collect(), progress).await
    }

    /// Brings one ref of the remote (or exactly one commit) into a private ref.
    pub async fn fetch_into(&self, remote: &str, source: &str, target: &str, progress: &dyn Progress) -> GitResult<()> {
        self.fetch_shared(remote, vec![format!("+{source}:{target}")], progress).await
    }

    async fn fetch_shared(&self, remote: &str, specs: Vec<String>, progress: &dyn Progress) -> GitResult<()> {
        let asked = stamp();
        let wanted = format!("{remote} {}", specs.join(" "));
        let lock = RepoLock::acquire(self.common_dir(), LockKind::Fetch).await?;
        let note = lock.note();
        if let Some((began, what)) = note.split_once(' ')
            && what == wanted
            && began.parse::<u128>().is_ok_and(|began| began >= asked)
        {
            return Ok(());
        }
        let begins = stamp();
        self.fetch(remote, &specs, progress).await?;
        lock.leave_note(&format!("{begins} {wanted}"));
        Ok(())
    }

    async fn fetch(&self, remote: &str, specs: &[String], progress: &dyn Progress) -> GitResult<()> {
        let call = self.call().args([
            "fetch",
            "--quiet",
            "--progress",
            // Tags and the shared FETCH_HEAD belong to the user.
            "--no-tags",
            "--no-write-fetch-head",
            "--no-auto-maintenance",
            "--no-recurse-submodules",
            // Only what was asked for: a configured refspec may point at the user's own branches, and pruning at tags.
            "--refmap=",
            "--no-prune",
            "--no-prune-tags",
        ]);
        let call = call.args(self.upload_pack(remote)).args(["--end-of-options", remote]);
        call.opened(self.opening(remote).await?).args(specs).long(progress).await.map(drop)
    }

    /// Asks the remote which branch is its HEAD.
    pub async fn fetch_remote_head(&self, remote: &str, progress: &dyn Progress) -> GitResult<Option<BranchName>> {
        let call = self.call().args(["ls-remote", "--quiet", "--symref"]).args(self.upload_pack(remote));
        let out =
            call.opened(self.opening(remote).await?).args(["--end-of-options", remote, "HEAD"]).long(progress).await?;
        let text = String::from_utf8_lossy(&out);
        let line = text.lines().find_map(|line| line.strip_prefix("ref: ")?.strip_suffix("\tHEAD"));
        Ok(line.and_then(|name| BranchName::parse(name.strip_prefix("refs/heads/")?).ok()))
    }

    /// Whether an object is in the repository already.
    pub async fn has_commit(&self, sha: &CommitSha) -> GitResult<bool> {
        Ok(self.commit(sha.as_str()).await?.is_some())
    }
}

impl Git {
    /// Clones into a folder that does not exist yet. Submodules are left for the environments that need them.
    pub async fn clone_repository(&self, url: &str, into: &Path, progress: &dyn Progress) -> GitResult<()> {
        let parent = into.parent().unwrap_or(into);
        let call = self.call(parent).args([
            "clone",
            "--quiet",
            "--progress",
            "--no-recurse-submodules",
            "--end-of-options",
            url,
        ]);
        call.opened(self.opening(url, Access::Read).await?).arg(into).long(progress).await.map(drop)
    }
}

/// Remote names that could be taken for something else are not used.
fn is_plain(name: &str) -> bool {
    !name.is_empty() && !name.starts_with('-') && BranchName::parse(name).is_ok()
}

fn stamp() -> u128 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_nanos())
}
