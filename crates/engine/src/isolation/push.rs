//! From a worktree to its remote: what there is to push, and the push.

use hedgerow_core::provider::{NoProgress, Outgoing, ProviderError, Push, Pushed, Rejection};
use hedgerow_core::{BranchName, Codebase, CommitSha, Environment, Kind, UserError};

use super::worktree::WorktreeProvider;
use crate::explain::Trouble;
use crate::git::Repo;
use crate::git::push::Told;
use crate::remote_url::without_credentials;

/// More subjects than anybody reads.
const MOST_SUBJECTS: usize = 50;

impl WorktreeProvider {
    pub(super) async fn what_goes_out(
        &self,
        codebase: &Codebase,
        environment: &Environment,
    ) -> Result<Outgoing, ProviderError> {
        let name = environment.name();
        let cannot = |why: String, way_out: String| {
            UserError::new(Kind::Protected, format!("`{name}` cannot be pushed: {why}")).hint(way_out)
        };
        let repo = self.require_repo(codebase).await?;
        let Some(remote) = repo.remote(self.configured_remote(codebase)).map(str::to_owned) else {
            return Err(cannot("its repository has no remote".into(), "`git remote add origin <url>`".into()).into());
        };
        let worktree = repo.worktree(&environment.path).await?;
        let own = &environment.branch;
        let (Some(head), Some(branch)) = worktree.head().await? else {
            return Err(cannot("it is on no branch".into(), format!("switch to `{own}` in it")).into());
        };
        if branch != *own {
            let why = format!("it is on `{branch}`, and not on its own branch");
            return Err(cannot(why, format!("bring the work to `{own}`, and switch to that in it")).into());
        }
        let default_branch = default_branch(&repo, &remote).await?;
        // What somebody else made has no base that we know of; it is meant for where all the work goes.
        let base = environment.base.clone().or_else(|| default_branch.clone());
        let based = Environment { base, ..environment.clone() };
        let Some(base) = self.fetched_tip(codebase, &based, &repo, &remote).await? else {
            let way_out = "push it by hand: `git push`".to_owned();
            return Err(cannot("its base is not known".into(), way_out).into());
        };
        let (commits, subjects) = repo.own_commits(&head, &base, MOST_SUBJECTS).await?;
        let url = repo.remote_url(&remote).unwrap_or_default();
        Ok(Outgoing {
            url: if url.starts_with("http") { without_credentials(url) } else { url.to_owned() },
            upstream: repo.upstream(&branch, &remote),
            is_dirty: !worktree.status(true).await?.is_clean(),
            remote,
            head,
            branch,
            default_branch,
            commits,
            subjects,
        })
    }

    /// Where the base is, on the remote if it is there. An old answer will do: what counts is what is pushed.
    async fn fetched_tip(
        &self,
        codebase: &Codebase,
        environment: &Environment,
        repo: &Repo,
        remote: &str,
    ) -> Result<Option<CommitSha>, Trouble> {
        if let Some(base) = &environment.base
            && let Err(error) = repo.fetch_branches(remote, &[base], &NoProgress).await
        {
            tracing::debug!(%error, "the base could not be fetched before a push");
        }
        Ok(self.tips_of_base(codebase, environment).await?.pop())
    }

    pub(super) async fn push_out(&self, codebase: &Codebase, push: &Push) -> Result<Pushed, ProviderError> {
        let repo = self.require_repo(codebase).await?;
        if let Some(setting) = repo.redirect_of(&push.url).filter(|_| !repo.is_trusted()) {
            let why = format!("`{setting}` of the repository would send the push elsewhere");
            return Err(UserError::new(Kind::Protected, why).hint("remove that setting, then try again").into());
        }
        let (head, target) = (&push.head, &push.target);
        let there = match repo.fetch_branches(&push.remote, &[target], &NoProgress).await {
            Ok(()) => repo.remote_tip(&push.remote, target).await?,
            Err(error) if error.is_missing_ref() => None,
            Err(error) => return Err(error.into()),
        };
        let is_forward = match &there {
            Some(there) if there == head => return Ok(Pushed::UpToDate),
            Some(there) => repo.is_ancestor(there, head).await?,
            None => true,
        };
        let replaced = there.as_ref().filter(|there| !is_forward && push.replaces.as_ref() == Some(there));
        if !is_forward && replaced.is_none() {
            return Ok(Pushed::Rejected(Rejection::NotAForward));
        }
        match repo.push_branch(&push.url, head, target, replaced, &NoProgress).await? {
            Told::Rejected(rejection) => return Ok(Pushed::Rejected(rejection)),
            Told::Taken => {}
        }
        if let Err(error) = repo.note_pushed(&push.remote, target, head).await {
            // The next fetch says it again.
            tracing::debug!(%error, "where the branch is now could not be noted");
        }
        let commits = match &there {
            Some(there) => Some(repo.ahead_behind(head, there).await?.0),
            None => None,
        };
        Ok(Pushed::Moved { from: there, to: head.clone(), commits })
    }
}

/// The remote's own word, else what it said last.
async fn default_branch(repo: &Repo, remote: &str) -> Result<Option<BranchName>, Trouble> {
    match repo.fetch_remote_head(remote, &NoProgress).await {
        Ok(Some(head)) => Ok(Some(head)),
        Ok(None) | Err(_) => Ok(repo.remote_head(remote).await?),
    }
}
