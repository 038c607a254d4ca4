//! The facts about environments, asked of git each time.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use hedgerow_core::provider::{BranchUse, Condition, Facts, NoProgress, Operation, Presence};
use hedgerow_core::{BranchName, Codebase, CommitSha, Environment, Timestamp};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::ownership::{Linked, linked, lock_reason};
use super::trash::branch_of;
use super::worktree::WorktreeProvider;
use crate::explain::Trouble;
use crate::git::refs::{BranchFacts, remote_ref};
use crate::git::{GitError, GitResult, Repo};

impl WorktreeProvider {
    /// From files alone: is it there, and is it ours?
    pub(super) fn check(&self, common_dir: &Path, environment: &Environment) -> Presence {
        let path = &environment.path;
        if let Err(error) = fs::symlink_metadata(path) {
            if !matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) {
                // It may well be there; we only cannot see it.
                return Presence::Unreachable(format!("{} cannot be looked at: {error}", path.display()));
            }
            let base_is_there =
                if self.base.holds(path) { self.base.is_there() } else { path.parent().is_some_and(Path::is_dir) };
            return if base_is_there {
                Presence::Missing
            } else {
                Presence::Unreachable(format!("the folder above it is not there ({})", parent(path).display()))
            };
        }
        if !common_dir.is_dir() {
            return Presence::Unreachable(format!("its repository is not there ({})", common_dir.display()));
        }
        match linked(path, common_dir) {
            Err(why) => Presence::Foreign(why),
            Ok(links) if environment.is_adopted() || links.marker == Some(environment.id) => Presence::Here,
            Ok(links) if links.marker.is_none() => Presence::Foreign("it does not carry our marker".to_owned()),
            Ok(_) => Presence::Foreign("it is another environment".to_owned()),
        }
    }

    /// All environments at once: one question about all branches, then one `git status` each, as many at a time as
    /// there are processors.
    pub(super) async fn facts_of(&self, codebase: &Codebase, environments: &[Environment]) -> Vec<Condition> {
        let repo = match self.git.open(codebase).await {
            Ok(repo) => Arc::new(repo),
            Err(error) => return vec![Condition::Unknown(error.to_string()); environments.len()],
        };
        let branches = match self.branch_facts(&repo, codebase, environments).await {
            Ok(branches) => branches,
            Err(error) => return vec![Condition::Unknown(error.reason()); environments.len()],
        };
        let branches = Arc::new(branches);
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        let gate = Arc::new(Semaphore::new(cores));
        let mut tasks = JoinSet::new();
        for (index, environment) in environments.iter().enumerate() {
            let presence = self.check(repo.common_dir(), environment);
            let (repo, branches, gate) = (Arc::clone(&repo), Arc::clone(&branches), Arc::clone(&gate));
            let environment = environment.clone();
            tasks.spawn(async move {
                let _turn = gate.acquire().await;
                (index, condition(&repo, &branches, &environment, presence).await)
            });
        }
        let mut conditions = vec![Condition::Unknown("it was not looked at".to_owned()); environments.len()];
        while let Some(done) = tasks.join_next().await {
            if let Ok((index, condition)) = done {
                conditions[index] = condition;
            }
        }
        conditions
    }

    /// Who it is, where its HEAD is, whose lock it has. One git process, whatever the size.
    pub(super) async fn quick_look(&self, codebase: &Codebase, environment: &Environment) -> Condition {
        let repo = match self.git.open(codebase).await {
            Ok(repo) => repo,
            Err(error) => return Condition::Unknown(error.to_string()),
        };
        match self.check(repo.common_dir(), environment) {
            Presence::Missing => Condition::Missing,
            Presence::Unreachable(why) => Condition::Unreachable(why),
            Presence::Foreign(why) => Condition::Foreign(why),
            Presence::Here => {
                let look = async {
                    let (head, branch) = repo.worktree(&environment.path).await?.head().await?;
                    let links = linked(&environment.path, repo.common_dir()).ok();
                    let operation = links.as_ref().and_then(|links| operation_in(&links.admin));
                    let operation_branch = links.as_ref().and_then(|links| branch_of(&links.admin));
                    let foreign_lock = foreign_lock(links, environment);
                    let nothing_else = Facts::default();
                    Ok::<_, GitError>(Facts { head, branch, operation, operation_branch, foreign_lock, ..nothing_else })
                };
                match look.await {
                    Ok(facts) => Condition::Present(Box::new(facts)),
                    Err(error) => Condition::Unknown(error.reason()),
                }
            }
        }
    }

    pub(super) async fn adds_nothing(
        &self,
        codebase: &Codebase,
        environment: &Environment,
        tip: &CommitSha,
    ) -> GitResult<bool> {
        let repo = self.git.open(codebase).await?;
        let base = match &environment.base {
            Some(base) => repo.branch_tip(base).await?,
            None => None,
        };
        repo.is_kept_elsewhere(tip, base.as_ref()).await
    }

    pub(super) async fn tips_of_base(
        &self,
        codebase: &Codebase,
        environment: &Environment,
    ) -> GitResult<Vec<CommitSha>> {
        let Some(base) = &environment.base else { return Ok(Vec::new()) };
        let repo = self.git.open(codebase).await?;
        let mut tips: Vec<CommitSha> = repo.branch_tip(base).await?.into_iter().collect();
        if let Some(remote) = repo.remote(self.configured_remote(codebase)) {
            tips.extend(repo.remote_tip(remote, base).await?);
        }
        tips.dedup();
        Ok(tips)
    }

    /// Fetches the remote's counterparts of these bases; a base that is only here is none of the remote's business.
    pub(super) async fn fetch_bases(&self, codebase: &Codebase, bases: &[BranchName]) -> Result<(), Trouble> {
        let repo = self.require_repo(codebase).await?;
        let Some(remote) = repo.remote(self.configured_remote(codebase)) else { return Ok(()) };
        for base in bases {
            match repo.fetch_branches(remote, &[base], &NoProgress).await {
                Err(error) if error.is_missing_ref() => {}
                other => other?,
            }
        }
        Ok(())
    }

    pub(super) async fn branch_use(&self, codebase: &Codebase, branch: &BranchName) -> GitResult<BranchUse> {
        let repo = self.git.open(codebase).await?;
        let holder = repo.worktrees().await?.into_iter().find(|listed| listed.branch.as_ref() == Some(branch));
        Ok(BranchUse { tip: repo.branch_tip(branch).await?, held_by: holder.map(|listed| listed.path) })
    }

    /// Tip, time, ahead and behind of every branch, against each base in use.
    async fn branch_facts(&self, repo: &Repo, codebase: &Codebase, all: &[Environment]) -> GitResult<AllBranches> {
        let remote = repo.remote(self.configured_remote(codebase)).map(str::to_owned);
        let mut facts = AllBranches::new();
        for environment in all {
            let Some(base) = &environment.base else { continue };
            if facts.contains_key(base) {
                continue;
            }
            let on_remote = match &remote {
                Some(remote) => repo.remote_tip(remote, base).await?.map(|_| remote_ref(remote, base)),
                None => None,
            };
            let against = match on_remote {
                Some(name) => Some(name),
                None => repo.branch_tip(base).await?.map(|_| base.full_ref()),
            };
            if let Some(against) = against {
                facts.insert(base.clone(), repo.branches_against(&against, self.version).await?);
            }
        }
        Ok(facts)
    }
}

/// What git left unfinished in the worktree at `path`.
pub(super) fn operation(path: &Path, common_dir: &Path) -> Option<Operation> {
    linked(path, common_dir).ok().and_then(|links| operation_in(&links.admin))
}

type AllBranches = HashMap<BranchName, HashMap<BranchName, BranchFacts>>;

async fn condition(repo: &Repo, branches: &AllBranches, environment: &Environment, presence: Presence) -> Condition {
    match presence {
        Presence::Missing => Condition::Missing,
        Presence::Unreachable(why) => Condition::Unreachable(why),
        Presence::Foreign(why) => Condition::Foreign(why),
        Presence::Here => match facts(repo, branches, environment).await {
            Ok(facts) => Condition::Present(Box::new(facts)),
            Err(error) => Condition::Unknown(error.reason()),
        },
    }
}

async fn facts(repo: &Repo, branches: &AllBranches, environment: &Environment) -> GitResult<Facts> {
    let links = linked(&environment.path, repo.common_dir()).ok();
    let admin = links.as_ref().map(|links| links.admin.clone());
    let has_submodules = admin.as_ref().is_some_and(|admin| admin.join("modules").is_dir());
    let worktree = repo.worktree(&environment.path).await?;
    let status = worktree.status(has_submodules).await?;
    let known = environment.base.as_ref().and_then(|base| branches.get(base));
    let mut facts = Facts {
        head: status.head.clone(),
        branch: status.branch.clone(),
        staged: status.staged,
        unstaged: status.unstaged,
        untracked: status.untracked,
        conflicted: status.conflicted,
        operation: admin.as_deref().and_then(operation_in),
        operation_branch: admin.as_deref().and_then(branch_of),
        last_change_at: last_change(&environment.path, &status.sample),
        foreign_lock: foreign_lock(links, environment),
        ..Facts::default()
    };
    let own = status
        .branch
        .as_ref()
        .and_then(|branch| known?.get(branch))
        .filter(|own| Some(&own.tip) == status.head.as_ref());
    if let Some(own) = own {
        (facts.ahead, facts.behind) = (Some(own.ahead), Some(own.behind));
        facts.last_commit_at = Some(own.at);
    } else if let Some(head) = &status.head {
        facts.last_commit_at = Some(repo.commit_time(head).await?);
    }
    // A branch that stays keeps its commits; a HEAD without one may be all that holds them.
    if let (None, Some(head)) = (&status.branch, &status.head) {
        facts.stranded_commits = repo.count_stranded(head).await?;
    }
    Ok(facts)
}

fn foreign_lock(links: Option<Linked>, environment: &Environment) -> Option<String> {
    links?.lock.filter(|lock| *lock != lock_reason(environment.id))
}

/// What git left unfinished, read from the admin folder.
fn operation_in(admin: &Path) -> Option<Operation> {
    let has = |name: &str| admin.join(name).exists();
    if has("rebase-merge") {
        Some(Operation::Rebase)
    } else if has("rebase-apply") {
        Some(if has("rebase-apply/applying") { Operation::Am } else { Operation::Rebase })
    } else if has("MERGE_HEAD") {
        Some(Operation::Merge)
    } else if has("CHERRY_PICK_HEAD") {
        Some(Operation::CherryPick)
    } else if has("REVERT_HEAD") {
        Some(Operation::Revert)
    } else if has("BISECT_LOG") {
        Some(Operation::Bisect)
    } else {
        None
    }
}

/// The newest time among some changed files.
fn last_change(path: &Path, sample: &[String]) -> Option<Timestamp> {
    let modified = |name: &String| fs::symlink_metadata(path.join(name)).ok()?.modified().ok();
    let newest = sample.iter().filter_map(modified).max()?;
    let millis = newest.duration_since(UNIX_EPOCH).ok()?.as_millis();
    i64::try_from(millis).ok().map(Timestamp::from_millis)
}

fn parent(path: &Path) -> PathBuf {
    path.parent().unwrap_or(path).to_owned()
}
