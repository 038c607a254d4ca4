//! Where a new environment begins: base, branch and commit, with whatever has to be fetched for it.

use hedgerow_core::provider::{Note, Plan, Progress, Start, Upstream, Wish};
use hedgerow_core::work::Origin;
use hedgerow_core::{BranchName, CommitSha};

use super::worktree::WorktreeProvider;
use crate::explain::Trouble;
use crate::git::{GitError, Repo};

/// A base to start from.
struct BaseCommit {
    name: Option<BranchName>,
    sha: CommitSha,
}

/// What is being worked out.
struct Planning<'a> {
    provider: &'a WorktreeProvider,
    repo: &'a Repo,
    remote: Option<String>,
    wish: &'a Wish,
    progress: &'a dyn Progress,
    notes: Vec<Note>,
}

impl WorktreeProvider {
    pub(super) async fn work_out(&self, wish: &Wish, progress: &dyn Progress) -> Result<Plan, Trouble> {
        let repo = self.require_repo(&wish.codebase).await?;
        let configured = self.configured_remote(&wish.codebase);
        let remote = repo.remote(configured).map(str::to_owned);
        if let (Some(wanted), None) = (configured, &remote) {
            return Err(Trouble::NoSuchRemote { remote: wanted.to_owned(), codebase: wish.codebase.name.clone() });
        }
        if let Some(blocking) = repo.blocking_branch(&wish.plan.branch).await? {
            return Err(Trouble::BranchBlocked { branch: wish.plan.branch.clone(), by: blocking });
        }
        let planning = Planning { provider: self, repo: &repo, remote, wish, progress, notes: Vec::new() };
        match &wish.plan.origin {
            Origin::Base => planning.generated().await,
            Origin::Named => planning.named().await,
            Origin::PullRequestBranch { instead } => planning.pull_request_branch(instead).await,
            Origin::PullRequestCommit { number, sha } => planning.pull_request_commit(*number, sha.as_ref()).await,
        }
    }

    /// The commit of a pull request, through a private ref: exactly the given one, or what the forge's pull ref says.
    pub(super) async fn fetch_pull_request(
        &self,
        repo: &Repo,
        remote: Option<&str>,
        number: u64,
        sha: Option<&CommitSha>,
        progress: &dyn Progress,
    ) -> Result<CommitSha, Trouble> {
        if let Some(sha) = sha
            && repo.has_commit(sha).await?
        {
            return Ok(sha.clone());
        }
        let remote = remote.ok_or(Trouble::NoRemote { number })?;
        progress.step(&format!("Fetching pull request {number}"));
        let pull_ref = self.pull_ref.replace("{number}", &number.to_string());
        let head = format!("refs/hedgerow/pr/{number}/head");
        let Some(sha) = sha else {
            repo.fetch_into(remote, &pull_ref, &head, progress).await.map_err(Trouble::pull_request(number))?;
            return repo.commit(&head).await?.ok_or(Trouble::NoSuchPullRequest { number });
        };
        let exact = format!("refs/hedgerow/pr/{number}/{sha}");
        let by_sha = repo.fetch_into(remote, sha.as_str(), &exact, progress).await;
        if by_sha.is_err() {
            // Not every server gives out commits by name; the pull ref may still reach it.
            let by_ref = repo.fetch_into(remote, &pull_ref, &head, progress).await;
            if !repo.has_commit(sha).await? {
                let error = by_ref.err().or(by_sha.err());
                return Err(Trouble::NoSuchCommit { sha: sha.clone(), why: error.map(|error| error.reason()) });
            }
        }
        Ok(sha.clone())
    }
}

impl Planning<'_> {
    /// A generated branch: new from the base, or as it is when it exists.
    async fn generated(mut self) -> Result<Plan, Trouble> {
        let branch = self.wish.plan.branch.clone();
        let base = self.base().await?;
        match self.repo.branch_tip(&branch).await? {
            Some(tip) => self.existing(branch, tip, Some(base)).await,
            None => {
                let start = Start::New { at: base.sha.clone(), upstream: None };
                Ok(self.plan(branch, start, base.name, Some(base.sha)))
            }
        }
    }

    /// A branch a person named: the local one, else the remote's, else new from the base.
    async fn named(mut self) -> Result<Plan, Trouble> {
        let branch = self.wish.plan.branch.clone();
        if let Some(tip) = self.repo.branch_tip(&branch).await? {
            let base = self.base().await.ok();
            return self.existing(branch, tip, base).await;
        }
        let base = self.base().await?;
        if let Some((remote, tip)) = self.remote_branch(&branch).await? {
            let upstream = Some(Upstream { remote, branch: branch.clone() });
            let fork = self.fork_of(&tip, Some(&base)).await?;
            return Ok(self.plan(branch, Start::New { at: tip, upstream }, base.name, fork));
        }
        let start = Start::New { at: base.sha.clone(), upstream: None };
        Ok(self.plan(branch, start, base.name, Some(base.sha)))
    }

    /// The pull request's own branch in this repository, so that a push updates the pull request.
    async fn pull_request_branch(mut self, instead: &BranchName) -> Result<Plan, Trouble> {
        let head = self.wish.plan.branch.clone();
        let local = self.repo.branch_tip(&head).await?;
        let Some((remote, tip)) = self.remote_branch(&head).await? else {
            let tip = local.ok_or_else(|| Trouble::NoSuchBranch { branch: head.clone() })?;
            let base = self.base().await.ok();
            return self.existing(head, tip, base).await;
        };
        let upstream = Some(Upstream { remote, branch: head.clone() });
        let base = self.base().await.ok();
        let fork = self.fork_of(&tip, base.as_ref()).await?;
        let base_name = base.and_then(|base| base.name);
        let listed = self.repo.worktrees().await?;
        let holder = listed.iter().find(|worktree| worktree.branch.as_ref() == Some(&head));
        if holder.is_some_and(|holder| holder.is_main) {
            self.notes.push(Note::HeadBranchTaken { head, instead: instead.clone() });
            return self.beside_the_main_checkout(instead.clone(), tip, upstream, (base_name, fork)).await;
        }
        let Some(own) = local else {
            return Ok(self.plan(head, Start::New { at: tip, upstream }, base_name, fork));
        };
        let forward_to = if holder.is_some() {
            None
        } else if own == tip {
            Some(tip.clone())
        } else if self.repo.is_ancestor(&own, &tip).await? {
            self.notes.push(Note::FastForwarded { branch: head.clone(), from: own.clone(), to: tip.clone() });
            Some(tip.clone())
        } else {
            self.notes.push(Note::KeptOwnCommits { branch: head.clone() });
            None
        };
        Ok(self.plan(head, Start::Existing { at: own, forward_to, upstream }, base_name, fork))
    }

    /// The main checkout holds the head branch: another branch at the same commit, pushing to the head.
    async fn beside_the_main_checkout(
        self,
        instead: BranchName,
        tip: CommitSha,
        upstream: Option<Upstream>,
        (base, fork): (Option<BranchName>, Option<CommitSha>),
    ) -> Result<Plan, Trouble> {
        match self.repo.branch_tip(&instead).await? {
            Some(own) => {
                let forward_to = self.repo.is_ancestor(&own, &tip).await?.then(|| tip.clone());
                Ok(self.plan(instead, Start::Existing { at: own, forward_to, upstream }, base, fork))
            }
            None => Ok(self.plan(instead, Start::New { at: tip, upstream }, base, fork)),
        }
    }

    /// A branch at the pull request's commit.
    async fn pull_request_commit(mut self, number: u64, sha: Option<&CommitSha>) -> Result<Plan, Trouble> {
        let remote = self.remote.as_deref();
        let commit = self.provider.fetch_pull_request(self.repo, remote, number, sha, self.progress).await?;
        let branch = self.wish.plan.branch.clone();
        let base = self.base().await.ok();
        let fork = self.fork_of(&commit, base.as_ref()).await?;
        let base = base.and_then(|base| base.name);
        match self.repo.branch_tip(&branch).await? {
            None => Ok(self.plan(branch, Start::New { at: commit, upstream: None }, base, fork)),
            Some(own) if own == commit || self.repo.is_ancestor(&own, &commit).await? => {
                if own != commit {
                    let (from, to) = (own.clone(), commit.clone());
                    self.notes.push(Note::FastForwarded { branch: branch.clone(), from, to });
                }
                let start = Start::Existing { at: own, forward_to: Some(commit), upstream: None };
                Ok(self.plan(branch, start, base, fork))
            }
            // The old branch holds something else and is not ours to move: the asked commit gets a branch of its own.
            Some(_) => {
                let other =
                    BranchName::parse(&format!("{branch}-{}", commit.short())).expect("a branch name and digits");
                let start = match self.repo.branch_tip(&other).await? {
                    Some(own) if own == commit => {
                        Start::Existing { at: own, forward_to: Some(commit.clone()), upstream: None }
                    }
                    Some(_) => return Err(Trouble::BranchTaken { branch: other }),
                    None => Start::New { at: commit.clone(), upstream: None },
                };
                Ok(self.plan(other, start, base, fork))
            }
        }
    }

    async fn existing(mut self, branch: BranchName, tip: CommitSha, base: Option<BaseCommit>) -> Result<Plan, Trouble> {
        let fork = self.fork_of(&tip, base.as_ref()).await?;
        self.notes.push(Note::ExistingBranch { branch: branch.clone() });
        let start = Start::Existing { at: tip, forward_to: None, upstream: None };
        Ok(self.plan(branch, start, base.and_then(|base| base.name), fork))
    }

    /// Where a branch left its base: what came after is its own, whoever committed it.
    async fn fork_of(&self, tip: &CommitSha, base: Option<&BaseCommit>) -> Result<Option<CommitSha>, Trouble> {
        match base {
            Some(base) => Ok(self.repo.merge_base(tip, &base.sha).await?),
            None => Ok(None),
        }
    }

    fn plan(self, branch: BranchName, start: Start, base: Option<BranchName>, base_sha: Option<CommitSha>) -> Plan {
        Plan { branch, start, base, base_sha, notes: self.notes, origin: self.wish.plan.origin.clone() }
    }

    /// The base commit: fetched when there is a remote, else the last known.
    async fn base(&mut self) -> Result<BaseCommit, Trouble> {
        let asked = self.wish.base.clone();
        let configured = asked.clone().or_else(|| self.wish.codebase.base_branch.clone());
        let Some(name) = (match configured {
            Some(name) => Some(name),
            None => self.default_branch().await?,
        }) else {
            // A detached HEAD and no remote: the commit itself is the base.
            let Some(sha) = self.repo.commit("HEAD").await? else {
                self.repo.require_whole_branches().await?;
                return Err(Trouble::EmptyRepository);
            };
            return Ok(BaseCommit { name: None, sha });
        };
        let fetched = self.remote_branch(&name).await?.map(|(_, tip)| tip);
        let sha = match fetched {
            Some(tip) => Some(tip),
            None => self.repo.own_tip(&name).await?,
        };
        match sha {
            Some(sha) => Ok(BaseCommit { name: Some(name), sha }),
            None if asked.is_none() && self.repo.commit("HEAD").await?.is_none() => {
                self.repo.require_whole_branches().await?;
                Err(Trouble::EmptyRepository)
            }
            None => Err(Trouble::NoSuchBranch { branch: name }),
        }
    }

    async fn default_branch(&mut self) -> Result<Option<BranchName>, Trouble> {
        if let Some(remote) = self.remote.clone() {
            if let Some(head) = self.repo.remote_head(&remote).await? {
                return Ok(Some(head));
            }
            match self.repo.fetch_remote_head(&remote, self.progress).await {
                Ok(Some(head)) => return Ok(Some(head)),
                Ok(None) => {}
                Err(error) => self.offline(&remote, &error),
            }
        }
        Ok(self.repo.head_branch().await?)
    }

    /// A branch of the remote, freshly fetched, or as last known when the remote cannot be reached.
    async fn remote_branch(&mut self, branch: &BranchName) -> Result<Option<(String, CommitSha)>, Trouble> {
        let Some(remote) = self.remote.clone() else { return Ok(None) };
        self.progress.step(&format!("Fetching {branch} from {remote}"));
        match self.repo.fetch_branches(&remote, &[branch], self.progress).await {
            Err(error) if error.is_missing_ref() => return Ok(None),
            Err(error) => self.offline(&remote, &error),
            Ok(()) => {}
        }
        Ok(self.repo.remote_tip(&remote, branch).await?.map(|tip| (remote, tip)))
    }

    fn offline(&mut self, remote: &str, error: &GitError) {
        let note = Note::Offline { remote: remote.to_owned(), why: error.reason() };
        if !self.notes.iter().any(|known| matches!(known, Note::Offline { .. })) {
            self.notes.push(note);
        }
    }
}
