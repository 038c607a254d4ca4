//! Bringing the base's news into an environment: a fast-forward where that will do, else a merge, or nothing at all.
//!
//! The merge is made beside the files, as objects; the environment then moves to it in one step. So a conflict has
//! touched nothing, and neither a hook nor a setting of the repository has a say.

use hedgerow_core::provider::{News, NoProgress, Note, ProviderError};
use hedgerow_core::{BranchName, Codebase, CommitSha, Environment, Kind, UserError};

use super::inspect::operation;
use super::worktree::WorktreeProvider;
use crate::explain::Trouble;
use crate::git::merge::MergeCommit;
use crate::git::{GitError, LockKind, Repo, RepoLock};

impl WorktreeProvider {
    pub(super) async fn bring_in_base(
        &self,
        codebase: &Codebase,
        environment: &Environment,
    ) -> Result<(News, Vec<Note>), ProviderError> {
        let name = environment.name();
        let cannot = |why: &str, way_out: &str| {
            UserError::new(Kind::Protected, format!("`{name}` cannot be brought up to date: {why}")).hint(way_out)
        };
        let repo = self.require_repo(codebase).await?;
        let worktree = repo.worktree(&environment.path).await?;
        let Some(base) = &environment.base else {
            return Err(cannot("its base is not known", "merge what you want in it by hand").into());
        };
        if let Some(operation) = operation(&environment.path, repo.common_dir()) {
            let why = format!("a {} is in progress", operation.as_str());
            return Err(cannot(&why, "finish or abort it, then try again").into());
        }
        if !worktree.status(true).await?.is_clean() {
            return Err(cannot("it has uncommitted changes", "commit or discard them, then try again").into());
        }
        let (Some(here), Some(branch)) = worktree.head().await? else {
            return Err(cannot("it is on no branch", "switch to a branch in it, then try again").into());
        };
        let (tip, notes) = self.fetched_base(codebase, environment, &repo, base).await?;
        let Some(tip) = tip else {
            return Err(Trouble::NoSuchBranch { branch: base.clone() }.into());
        };
        let news = match self.joined(&worktree, base, &tip, (&branch, &here)).await? {
            Joined::Has => News::UpToDate,
            Joined::Conflicts(files) => News::Conflicts(files),
            Joined::At { to, is_merge } => {
                let _lock = RepoLock::acquire(repo.common_dir(), LockKind::Change).await.map_err(Trouble::from)?;
                if worktree.head().await? != (Some(here.clone()), Some(branch.clone())) {
                    return Err(Trouble::MovedOn { name: name.to_owned() }.into());
                }
                worktree.move_along(&branch, &to).await.map_err(|error| match error {
                    // All that was committed is known to fit, so it is a file that git does not look at.
                    GitError::Failed { .. } if !error.is_disk_trouble() => {
                        let way_out = format!("move away what git ignores and `{base}` has by now, then try again");
                        ProviderError::from(cannot("a file that git ignores is in the way", &way_out))
                    }
                    other => other.into(),
                })?;
                if is_merge { News::Merged { from: here, to } } else { News::Forwarded { from: here, to } }
            }
        };
        Ok((news, notes))
    }

    /// Where the base is: on the remote, freshly fetched when that is possible, else here.
    async fn fetched_base(
        &self,
        codebase: &Codebase,
        environment: &Environment,
        repo: &Repo,
        base: &BranchName,
    ) -> Result<(Option<CommitSha>, Vec<Note>), Trouble> {
        let mut notes = Vec::new();
        if let Some(remote) = repo.remote(self.configured_remote(codebase)) {
            match repo.fetch_branches(remote, &[base], &NoProgress).await {
                Ok(()) => {}
                Err(error) if error.is_missing_ref() => {}
                Err(error) => notes.push(Note::Offline { remote: remote.to_owned(), why: error.reason() }),
            }
        }
        Ok((self.tips_of_base(codebase, environment).await?.pop(), notes))
    }

    /// The commit that holds both, made if there is none yet. No ref and no file is touched.
    async fn joined(
        &self,
        worktree: &Repo,
        base: &BranchName,
        tip: &CommitSha,
        (branch, here): (&BranchName, &CommitSha),
    ) -> Result<Joined, Trouble> {
        if worktree.is_ancestor(tip, here).await? {
            return Ok(Joined::Has);
        }
        if worktree.is_ancestor(here, tip).await? {
            return Ok(Joined::At { to: tip.clone(), is_merge: false });
        }
        let message = format!("Merge {base} into {branch}");
        match worktree.merge_commit(here, tip, &message).await? {
            MergeCommit::Made(to) => Ok(Joined::At { to, is_merge: true }),
            MergeCommit::Conflicts(files) => Ok(Joined::Conflicts(files)),
        }
    }
}

/// An environment's head and its base in one commit.
enum Joined {
    /// The head has everything already.
    Has,
    At {
        to: CommitSha,
        is_merge: bool,
    },
    Conflicts(Vec<String>),
}
