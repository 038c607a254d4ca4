//! Commits and refs: resolving them, and changing them only by compare-and-swap.

use std::collections::HashMap;

use hedgerow_core::provider::NoProgress;
use hedgerow_core::{BranchName, CommitSha, Timestamp};

use super::hazards::Scope;
use super::{GitError, GitResult, Repo, Version};

/// Refs that die with a worktree, or are our own scaffolding: none of them keeps a commit.
pub(super) const PASSING: [&str; 4] =
    ["--exclude=refs/hedgerow/*", "--exclude=refs/worktree/*", "--exclude=refs/bisect/*", "--exclude=refs/rewritten/*"];

impl Repo {
    /// The commit a revision names, if there is one.
    pub async fn commit(&self, revision: &str) -> GitResult<Option<CommitSha>> {
        let wanted = format!("{revision}^{{commit}}");
        let answer =
            self.call().args(["rev-parse", "--verify", "--quiet", "--end-of-options", &wanted]).answer().await?;
        if !answer.status.success() {
            return Ok(None);
        }
        sha(&answer.stdout, "rev-parse").map(Some)
    }

    pub async fn branch_tip(&self, branch: &BranchName) -> GitResult<Option<CommitSha>> {
        self.commit(&branch.full_ref()).await
    }

    pub async fn remote_tip(&self, remote: &str, branch: &BranchName) -> GitResult<Option<CommitSha>> {
        self.commit(&remote_ref(remote, branch)).await
    }

    /// What a name means without asking a remote: a branch, else a tag.
    pub async fn own_tip(&self, name: &BranchName) -> GitResult<Option<CommitSha>> {
        match self.branch_tip(name).await? {
            Some(tip) => Ok(Some(tip)),
            None => self.commit(&format!("refs/tags/{name}")).await,
        }
    }

    /// The branch HEAD is on; `None` when detached.
    pub async fn head_branch(&self) -> GitResult<Option<BranchName>> {
        self.symbolic("HEAD", "refs/heads/").await
    }

    /// HEAD's commit and branch in one go; no branch when detached, neither before the first commit.
    pub async fn head(&self) -> GitResult<(Option<CommitSha>, Option<BranchName>)> {
        let answer = self.call().args(["rev-parse", "HEAD", "--symbolic-full-name", "HEAD"]).answer().await?;
        if !answer.status.success() {
            return Ok((None, self.head_branch().await?));
        }
        let text = String::from_utf8_lossy(&answer.stdout);
        let mut lines = text.lines();
        let head = sha(lines.next().unwrap_or_default().as_bytes(), "rev-parse")?;
        let branch = lines.next().and_then(|name| name.strip_prefix("refs/heads/"));
        Ok((Some(head), branch.and_then(|name| BranchName::parse(name).ok())))
    }

    /// The branch the remote calls its own HEAD, as last heard.
    pub async fn remote_head(&self, remote: &str) -> GitResult<Option<BranchName>> {
        self.symbolic(&format!("refs/remotes/{remote}/HEAD"), &format!("refs/remotes/{remote}/")).await
    }

    async fn symbolic(&self, name: &str, prefix: &str) -> GitResult<Option<BranchName>> {
        let answer = self.call().args(["symbolic-ref", "--quiet", name]).answer().await?;
        if !answer.status.success() {
            return Ok(None);
        }
        let text = String::from_utf8_lossy(&answer.stdout);
        Ok(text.trim().strip_prefix(prefix).and_then(|name| BranchName::parse(name).ok()))
    }

    pub async fn is_ancestor(&self, ancestor: &CommitSha, of: &CommitSha) -> GitResult<bool> {
        self.call().args(["merge-base", "--is-ancestor", ancestor.as_str(), of.as_str()]).ask().await
    }

    /// The best common ancestor; `None` for unrelated histories.
    pub async fn merge_base(&self, one: &CommitSha, other: &CommitSha) -> GitResult<Option<CommitSha>> {
        let answer = self.call().args(["merge-base", one.as_str(), other.as_str()]).answer().await?;
        match answer.status.code() {
            Some(0) => sha(&answer.stdout, "merge-base").map(Some),
            Some(1) => Ok(None),
            _ => answer.require_success("merge-base").map(|_| None),
        }
    }

    /// Commits that `tip` has and `base` lacks, and the other way round.
    pub async fn ahead_behind(&self, tip: &CommitSha, base: &CommitSha) -> GitResult<(u64, u64)> {
        let range = format!("{tip}...{base}");
        let out = self.call().args(["rev-list", "--left-right", "--count", "--end-of-options", &range]).read().await?;
        let text = String::from_utf8_lossy(&out);
        let mut numbers = text.split_whitespace().map(str::parse::<u64>);
        match (numbers.next(), numbers.next()) {
            (Some(Ok(ahead)), Some(Ok(behind))) => Ok((ahead, behind)),
            _ => Err(unexpected("rev-list --count", &text)),
        }
    }

    /// Commits that would be reached by no ref once the worktree with this HEAD is gone.
    pub async fn count_stranded(&self, head: &CommitSha) -> GitResult<u64> {
        let call = self.call().args(["rev-list", "--count", head.as_str(), "--not"]);
        let out = call.args(PASSING).arg("--glob=refs/*").read().await?;
        let text = String::from_utf8_lossy(&out);
        text.trim().parse().map_err(|_| unexpected("rev-list --count", &text))
    }

    /// Whether everything on `tip` is also in the base, on a remote, or held for a pull request, so that its branch adds
    /// nothing. That the branch began there is not enough: what it began from may be gone.
    pub async fn is_kept_elsewhere(&self, tip: &CommitSha, base: Option<&CommitSha>) -> GitResult<bool> {
        let call = self.call().args(["rev-list", "--max-count=1", tip.as_str(), "--not", "--remotes"]);
        let out = call.arg("--glob=refs/hedgerow/pr/*").args(base.map(CommitSha::as_str)).read().await?;
        Ok(out.is_empty())
    }

    pub async fn commit_time(&self, commit: &CommitSha) -> GitResult<Timestamp> {
        let args = ["show", "--no-patch", "--no-show-signature", "--format=%ct", "--end-of-options", commit.as_str()];
        let out = self.call().args(args).read().await?;
        let text = String::from_utf8_lossy(&out);
        let seconds: i64 = text.trim().parse().map_err(|_| unexpected("show", &text))?;
        Ok(Timestamp::from_millis(seconds.saturating_mul(1000)))
    }

    /// Makes a ref; fails if it exists.
    pub async fn create_ref(&self, name: &str, at: &CommitSha, why: &str) -> GitResult<()> {
        let none = "0".repeat(at.as_str().len());
        self.update_ref(name, at.as_str(), &none, why).await
    }

    /// Moves a ref; fails unless it is still at `from`.
    pub async fn move_ref(&self, name: &str, from: &CommitSha, to: &CommitSha, why: &str) -> GitResult<()> {
        self.update_ref(name, to.as_str(), from.as_str(), why).await
    }

    async fn update_ref(&self, name: &str, to: &str, from: &str, why: &str) -> GitResult<()> {
        let args = ["update-ref", "--create-reflog", "-m", why, "--end-of-options", name, to, from];
        self.call().args(args).write().await.map(drop)
    }

    /// The first entry of a branch's log: why, or for whom, it was made.
    pub async fn made_for(&self, branch: &BranchName) -> GitResult<Option<String>> {
        let full = branch.full_ref();
        let args = ["log", "--walk-reflogs", "--no-show-signature", "--format=%gs", &full, "--"];
        let answer = self.call().args(args).answer().await?;
        let text = String::from_utf8_lossy(&answer.stdout);
        Ok(text.lines().last().map(str::to_owned))
    }

    /// Deletes a ref; fails unless it is still at `at`. The only way anything here deletes a branch.
    pub async fn delete_ref(&self, name: &str, at: &CommitSha) -> GitResult<()> {
        self.call().args(["update-ref", "-d", "--end-of-options", name, at.as_str()]).write().await.map(drop)
    }

    /// Takes HEAD of this worktree off its branch, which leaves files and index as they are and frees the branch.
    pub async fn detach_head(&self, at: &CommitSha) -> GitResult<()> {
        let args = ["update-ref", "--no-deref", "-m", "hedgerow: into the trash", "HEAD", at.as_str()];
        self.call().args(args).write().await.map(drop)
    }

    /// Puts HEAD of this worktree on a branch, which leaves files and index as they are.
    pub async fn attach_head(&self, branch: &BranchName) -> GitResult<()> {
        let full = branch.full_ref();
        self.call().args(["symbolic-ref", "-m", "hedgerow: out of the trash", "HEAD", &full]).write().await.map(drop)
    }

    /// Every branch that one of a prefix's rooms would collide with: `feature` blocks `feature/x` and the other way round.
    pub async fn blocking_branch(&self, branch: &BranchName) -> GitResult<Option<BranchName>> {
        let full = branch.full_ref();
        let below = format!("{full}/");
        let mut patterns = vec![below.clone()];
        let mut parent = full.as_str();
        while let Some((shorter, _)) = parent.rsplit_once('/').filter(|(shorter, _)| shorter.len() > "refs/heads".len())
        {
            patterns.push(shorter.to_owned());
            parent = shorter;
        }
        let call = self.call().args(["for-each-ref", "--format=%(refname)"]).args(&patterns);
        let out = call.read().await?;
        let text = String::from_utf8_lossy(&out);
        let blocks = |name: &&str| name.starts_with(&below) || full.starts_with(&format!("{name}/"));
        Ok(text.lines().find(blocks).and_then(|name| BranchName::parse(name.strip_prefix("refs/heads/")?).ok()))
    }

    /// Every branch with its tip, and how far it is ahead of and behind a base ref; in one process where git can.
    pub async fn branches_against(&self, base: &str, version: Version) -> GitResult<HashMap<BranchName, BranchFacts>> {
        let counts = if version.counts_ahead_behind() { format!(" %(ahead-behind:{base})") } else { String::new() };
        let format = format!("--format=%(refname) %(objectname) %(committerdate:unix){counts}");
        let out = self.call().args(["for-each-ref", &format, "refs/heads/"]).read().await?;
        let mut branches = HashMap::new();
        for line in String::from_utf8_lossy(&out).lines() {
            if let Some((branch, facts)) = branch_line(line) {
                branches.insert(branch, facts);
            }
        }
        if !version.counts_ahead_behind()
            && let Some(base) = self.commit(base).await?
        {
            for facts in branches.values_mut() {
                (facts.ahead, facts.behind) = self.ahead_behind(&facts.tip, &base).await?;
            }
        }
        Ok(branches)
    }

    /// Moves the branch this worktree is on, with index and files. Refuses rather than overwrite a file that has changes
    /// or that git does not track, ignored ones included.
    pub async fn move_along(&self, branch: &BranchName, to: &CommitSha) -> GitResult<()> {
        let args =
            ["checkout", "--quiet", "--no-overwrite-ignore", "--no-track", "-B", branch.as_str(), to.as_str(), "--"];
        self.call().opened(self.opening_of_promises().await).args(args).long(&NoProgress).await.map(drop)
    }

    /// Puts this worktree onto a branch; overwrites nothing either.
    pub async fn switch(&self, branch: &BranchName) -> GitResult<()> {
        let args = ["switch", "--quiet", "--no-guess", "--no-overwrite-ignore", branch.as_str()];
        self.call().opened(self.opening_of_promises().await).args(args).long(&NoProgress).await.map(drop)
    }

    /// Puts this worktree onto a new branch at a commit; overwrites nothing either.
    pub async fn switch_new(&self, branch: &BranchName, at: &CommitSha) -> GitResult<()> {
        let args = ["switch", "--quiet", "--no-track", "--no-overwrite-ignore", "-c", branch.as_str(), at.as_str()];
        self.call().opened(self.opening_of_promises().await).args(args).long(&NoProgress).await.map(drop)
    }

    /// Sets where a branch pulls from and pushes to: both settings, or none.
    pub async fn set_upstream(&self, branch: &BranchName, remote: &str, target: &BranchName) -> GitResult<()> {
        let (remote_key, merge_key) = (format!("branch.{branch}.remote"), format!("branch.{branch}.merge"));
        self.set_branch_setting(&remote_key, remote).await?;
        let Err(error) = self.set_branch_setting(&merge_key, &target.full_ref()).await else { return Ok(()) };
        let _ = match self.config().value(&remote_key) {
            Some(before) => self.set_branch_setting(&remote_key, before).await,
            None => self.call().args(["config", "--local", "--unset-all", &remote_key]).write().await.map(drop),
        };
        Err(error)
    }

    /// The repository's own settings of a branch: where it pulls from, and whatever else.
    pub fn branch_settings(&self, branch: &BranchName) -> Vec<(String, String)> {
        let section = format!("branch.{branch}.");
        let own = self.config().entries().iter().filter(|entry| entry.scope == Scope::Local);
        let own = own.filter(|entry| entry.key.starts_with(&section));
        own.map(|entry| (entry.key.clone(), entry.value.clone())).collect()
    }

    pub async fn set_branch_setting(&self, key: &str, value: &str) -> GitResult<()> {
        let args = ["config", "--local", "--replace-all", "--end-of-options", key, value];
        self.call().args(args).write().await.map(drop)
    }

    /// Forgets what a branch that is gone pulled from. Not having any is fine.
    pub async fn forget_upstream(&self, branch: &BranchName) -> GitResult<()> {
        let section = format!("branch.{branch}");
        if self.config().entries().iter().any(|entry| entry.key.starts_with(&format!("{section}."))) {
            self.call().args(["config", "--local", "--remove-section", "--end-of-options", &section]).write().await?;
        }
        Ok(())
    }

    /// Whether a commit's tree has a file at this path.
    pub async fn has_file(&self, commit: &CommitSha, path: &str) -> GitResult<bool> {
        let object = format!("{commit}:{path}");
        Ok(self.call().args(["cat-file", "-e", "--end-of-options", &object]).answer().await?.status.success())
    }
}

/// One branch as `for-each-ref` tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BranchFacts {
    pub tip: CommitSha,
    pub at: Timestamp,
    pub ahead: u64,
    pub behind: u64,
}

fn branch_line(line: &str) -> Option<(BranchName, BranchFacts)> {
    let mut fields = line.split(' ');
    let branch = BranchName::parse(fields.next()?.strip_prefix("refs/heads/")?).ok()?;
    let tip = CommitSha::parse(fields.next()?).ok()?;
    let at = Timestamp::from_millis(fields.next()?.parse::<i64>().ok()?.saturating_mul(1000));
    let mut count = || fields.next().and_then(|number| number.parse().ok()).unwrap_or(0);
    let (ahead, behind) = (count(), count());
    Some((branch, BranchFacts { tip, at, ahead, behind }))
}

/// `refs/remotes/<remote>/<branch>`
pub fn remote_ref(remote: &str, branch: &BranchName) -> String {
    format!("refs/remotes/{remote}/{branch}")
}

pub(crate) fn sha(bytes: &[u8], what: &str) -> GitResult<CommitSha> {
    let text = String::from_utf8_lossy(bytes);
    CommitSha::parse(text.trim()).map_err(|_| unexpected(what, &text))
}

pub(crate) fn unexpected(what: &str, got: &str) -> GitError {
    GitError::Unexpected { what: what.to_owned(), got: got.chars().take(200).collect() }
}
