//! Moving an environment that has nothing of its own: to a pull request's new head, or onto another branch.

use hedgerow_core::provider::{Advance, Head, NoProgress, Plan, Start};
use hedgerow_core::{Codebase, Environment};

use super::inspect::operation;
use super::worktree::WorktreeProvider;
use crate::explain::Trouble;
use crate::git::{GitError, LockKind, RepoLock};

impl WorktreeProvider {
    /// Follows a head that has moved. Own commits, changes or an operation in progress keep the environment where it is.
    pub(super) async fn follow(
        &self,
        codebase: &Codebase,
        environment: &Environment,
        head: &Head,
    ) -> Result<Advance, Trouble> {
        let repo = self.require_repo(codebase).await?;
        let worktree = repo.worktree(&environment.path).await?;
        let (Some(here), on) = worktree.head().await? else { return Ok(Advance::Kept) };
        if here == head.sha {
            return Ok(Advance::Unchanged);
        }
        // What someone else made is not ours to move, and changes are reason enough to stay: no need to fetch.
        let unfinished = operation(&environment.path, repo.common_dir()).is_some();
        let elsewhere = on.as_ref() != Some(&environment.branch);
        if elsewhere || environment.is_adopted() || unfinished || !worktree.status(true).await?.is_clean() {
            return Ok(Advance::Kept);
        }
        let remote = repo.remote(self.configured_remote(codebase));
        if let (Some(remote), Some(branch)) = (remote, &head.branch)
            && !repo.has_commit(&head.sha).await?
        {
            // The usual remote-tracking ref comes along; if the commit does not, it is asked for by name.
            let _ = repo.fetch_branches(remote, &[branch], &NoProgress).await;
        }
        self.fetch_pull_request(&repo, remote, head.number, Some(&head.sha), &NoProgress).await?;
        if head.placed_at.as_ref() != Some(&here) && !repo.is_ancestor(&here, &head.sha).await? {
            return Ok(Advance::Kept);
        }
        let _lock = RepoLock::acquire(repo.common_dir(), LockKind::Change).await?;
        if worktree.head().await? != (Some(here.clone()), on) {
            return Ok(Advance::Kept);
        }
        match worktree.move_along(&environment.branch, &head.sha).await {
            Ok(()) => {}
            // A file is in the way, perhaps one that git ignores: it is worth more than the news.
            Err(GitError::Failed { .. }) => return Ok(Advance::Kept),
            Err(error) => return Err(error.into()),
        }
        Ok(Advance::Moved { from: here, to: head.sha.clone() })
    }

    /// Puts a fresh environment onto the branch of a plan, and lets go of the branch it was made with.
    pub(super) async fn change_branch(
        &self,
        codebase: &Codebase,
        environment: &Environment,
        plan: &Plan,
    ) -> Result<(), Trouble> {
        let repo = self.require_repo(codebase).await?;
        let worktree = repo.worktree(&environment.path).await?;
        let _lock = RepoLock::acquire(repo.common_dir(), LockKind::Change).await?;
        let (Start::New { upstream, .. } | Start::Existing { upstream, .. }) = &plan.start;
        match &plan.start {
            Start::New { at, .. } => worktree.switch_new(&plan.branch, at).await?,
            Start::Existing { at, forward_to, .. } => {
                if let Some(to) = forward_to {
                    repo.move_ref(&plan.branch.full_ref(), at, to, "hedgerow: fast-forward").await?;
                }
                worktree.switch(&plan.branch).await?;
            }
        }
        if let Some(upstream) = upstream {
            repo.set_upstream(&plan.branch, &upstream.remote, &upstream.branch).await?;
        }
        if let (true, Some(base)) = (environment.branch_made, &environment.base_sha)
            && repo.branch_tip(&environment.branch).await?.as_ref() == Some(base)
        {
            repo.delete_ref(&environment.branch.full_ref(), base).await?;
        }
        Ok(())
    }
}
