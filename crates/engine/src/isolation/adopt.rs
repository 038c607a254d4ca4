//! Worktrees that someone else made: listing them, and finding the one to adopt for a branch.

use std::fs;
use std::path::{Path, PathBuf};

use hedgerow_core::environment::AdoptedFrom;
use hedgerow_core::provider::Found;
use hedgerow_core::{BranchName, Codebase};

use super::ownership::linked;
use super::worktree::WorktreeProvider;
use crate::explain::Trouble;
use crate::git::Repo;
use crate::git::worktree::Listed;

impl WorktreeProvider {
    pub(super) async fn all(&self, codebase: &Codebase) -> Result<Vec<Found>, Trouble> {
        let repo = self.git.open(codebase).await?;
        let skills = self.skill_worktrees();
        Ok(repo.worktrees().await?.into_iter().map(|listed| self.found(&repo, listed, &skills)).collect())
    }

    /// The worktree on exactly this branch. Failing that, one on the branch's other spelling (`feature/auth` for
    /// `feature-auth`), when it is the only one and no branch of the asked spelling is known here. Never the main checkout,
    /// never one of our own, never one that is not there.
    pub(super) async fn adoptable(&self, codebase: &Codebase, branch: &BranchName) -> Result<Option<Found>, Trouble> {
        let mut candidates = self.all(codebase).await?;
        candidates.retain(|found| !found.is_main && !found.missing && found.marker.is_none());
        if let Some(at) = candidates.iter().position(|found| found.branch.as_ref() == Some(branch)) {
            return Ok(Some(candidates.swap_remove(at)));
        }
        let alike = |found: &Found| found.branch.as_ref().is_some_and(|other| other.dashed() == branch.dashed());
        candidates.retain(alike);
        if candidates.len() != 1 {
            return Ok(None);
        }
        let repo = self.git.open(codebase).await?;
        let on_remote = match repo.remote(self.configured_remote(codebase)) {
            Some(remote) => repo.remote_tip(remote, branch).await?,
            None => None,
        };
        let is_new = on_remote.is_none() && repo.branch_tip(branch).await?.is_none();
        Ok(candidates.pop().filter(|_| is_new))
    }

    /// Worktrees that other tools registered where Claude Code's worktree skill keeps them.
    fn skill_worktrees(&self) -> SkillWorktrees {
        let registry = self.skill_registry.as_deref().and_then(|path| fs::read_to_string(path).ok());
        SkillWorktrees { registry: registry.unwrap_or_default(), folder: self.skill_folder.clone() }
    }
}

struct SkillWorktrees {
    registry: String,
    folder: Option<PathBuf>,
}

impl SkillWorktrees {
    fn lists(&self, path: &Path) -> bool {
        // The registry's shape differs between versions; the quoted path in it is what counts.
        let quoted = format!("\"{}\"", path.display());
        self.registry.contains(&quoted) || self.folder.as_ref().is_some_and(|folder| path.starts_with(folder))
    }
}

impl WorktreeProvider {
    fn found(&self, repo: &Repo, listed: Listed, skills: &SkillWorktrees) -> Found {
        let links = if listed.is_main { None } else { linked(&listed.path, repo.common_dir()).ok() };
        let adopted_from = if skills.lists(&listed.path) { AdoptedFrom::Skill } else { AdoptedFrom::Branch };
        Found {
            missing: !listed.is_main && links.is_none(),
            marker: links.and_then(|links| links.marker),
            path: listed.path.clone(),
            branch: listed.branch,
            head: listed.head,
            locked: listed.locked,
            is_main: listed.is_main,
            is_below_base: self.base.holds(&listed.path),
            adopted_from,
        }
    }
}
