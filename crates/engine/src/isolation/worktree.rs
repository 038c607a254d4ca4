//! The worktree provider: core's port, answered by the files beside this one.

use std::path::{Path, PathBuf};

use async_trait::async_trait;
use hedgerow_core::checkpoint::{Marked, NewCheckpoint, Rewind, Rewinding};
use hedgerow_core::environment::{ProviderKind, Trash};
use hedgerow_core::provider::{
    Advance, BranchUse, Condition, Found, Head, Intent, News, Note, Outgoing, Plan, Presence, Progress, Provider,
    ProviderError, Push, Pushed, Wish,
};
use hedgerow_core::saved::{Account, Saved};
use hedgerow_core::{BranchName, Codebase, CommitSha, Environment, EnvironmentId, Lease, SavedId};

use super::base::Base;
use super::fill::{Checkout, Fill};
use super::ownership::common_dir;
use crate::explain::Trouble;
use crate::git::hazards::Accepted;
use crate::git::{Git, Repo, Version};
use crate::settings::Settings;

/// Makes environments as linked git worktrees.
pub struct WorktreeProvider {
    pub(super) git: Git,
    pub(super) version: Version,
    pub(super) base: Base,
    pub(super) fill: Box<dyn Fill>,
    pub(super) remote: Option<String>,
    pub(super) pull_ref: String,
    pub(super) skill_registry: Option<PathBuf>,
    pub(super) skill_folder: Option<PathBuf>,
}

impl std::fmt::Debug for WorktreeProvider {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WorktreeProvider").field("base", &self.base).finish_non_exhaustive()
    }
}

impl WorktreeProvider {
    pub fn new(git: Git, version: Version, settings: &Settings) -> Self {
        Self {
            git,
            version,
            base: Base::new(&settings.worktrees),
            fill: Box::new(Checkout),
            remote: settings.remote.clone(),
            pull_ref: settings.pull_ref.clone(),
            skill_registry: settings.skill_registry.clone(),
            skill_folder: settings.skill_folder.clone(),
        }
    }

    /// The repository, provided that what its configuration can run is what was accepted.
    pub(super) async fn require_repo(&self, codebase: &Codebase) -> Result<Repo, Trouble> {
        let repo = self.git.open(codebase).await?;
        let changes = Accepted::parse(&codebase.fingerprint).changes(repo.config());
        if changes.is_empty() {
            return Ok(repo);
        }
        Err(Trouble::ConfigChanged { codebase: codebase.name.clone(), changes })
    }

    /// The remote a person chose, for the codebase or for all.
    pub(super) fn configured_remote<'a>(&'a self, codebase: &'a Codebase) -> Option<&'a str> {
        codebase.remote_name.as_deref().or(self.remote.as_deref())
    }
}

#[async_trait]
impl Provider for WorktreeProvider {
    fn kind(&self) -> ProviderKind {
        ProviderKind::Worktree
    }

    fn places(&self, codebase: &Codebase, branch: &BranchName, id: EnvironmentId) -> Vec<PathBuf> {
        let mut places = self.base.places(&codebase.folder, branch, id);
        places.retain(|place| std::fs::symlink_metadata(place).is_err());
        places
    }

    fn expected_place(&self, codebase: &Codebase, branch: &BranchName) -> PathBuf {
        self.base.path().join(&codebase.folder).join(branch.folder().as_str())
    }

    fn trash_place(&self, environment: &Environment) -> PathBuf {
        self.trash_for(environment)
    }

    async fn plan(&self, wish: &Wish, progress: &dyn Progress) -> Result<Plan, ProviderError> {
        Ok(self.work_out(wish, progress).await?)
    }

    async fn create(&self, intent: &Intent, progress: &dyn Progress) -> Result<Vec<Note>, ProviderError> {
        Ok(self.make(intent, progress).await?)
    }

    async fn was_touched(&self, intent: &Intent) -> Result<bool, ProviderError> {
        Ok(WorktreeProvider::was_touched(self, intent).await?)
    }

    async fn undo(&self, intent: &Intent) -> Result<(), ProviderError> {
        Ok(self.take_back(intent).await?)
    }

    async fn find(&self, codebase: &Codebase, branch: &BranchName) -> Result<Option<Found>, ProviderError> {
        Ok(self.adoptable(codebase, branch).await?)
    }

    async fn at(&self, codebase: &Codebase, path: &Path) -> Result<Option<Found>, ProviderError> {
        Ok(self.all(codebase).await?.into_iter().find(|found| found.path == path))
    }

    async fn list(&self, codebase: &Codebase) -> Result<Vec<Found>, ProviderError> {
        Ok(self.all(codebase).await?)
    }

    fn presence(&self, codebase: &Codebase, environment: &Environment) -> Presence {
        self.check(&common_dir(codebase), environment)
    }

    async fn inspect(&self, codebase: &Codebase, environments: &[Environment]) -> Vec<Condition> {
        self.facts_of(codebase, environments).await
    }

    async fn glance(&self, codebase: &Codebase, environment: &Environment) -> Condition {
        self.quick_look(codebase, environment).await
    }

    async fn is_kept_elsewhere(
        &self,
        codebase: &Codebase,
        environment: &Environment,
        tip: &CommitSha,
    ) -> Result<bool, ProviderError> {
        Ok(self.adds_nothing(codebase, environment, tip).await?)
    }

    async fn base_tips(&self, codebase: &Codebase, environment: &Environment) -> Result<Vec<CommitSha>, ProviderError> {
        Ok(self.tips_of_base(codebase, environment).await?)
    }

    async fn refresh(&self, codebase: &Codebase, bases: &[BranchName]) -> Result<(), ProviderError> {
        Ok(self.fetch_bases(codebase, bases).await?)
    }

    async fn branch(&self, codebase: &Codebase, branch: &BranchName) -> Result<BranchUse, ProviderError> {
        Ok(self.branch_use(codebase, branch).await?)
    }

    async fn forget(&self, _: &Lease, codebase: &Codebase, environment: &Environment) -> Result<(), ProviderError> {
        Ok(self.tidy_up(codebase, environment).await?)
    }

    async fn advance(
        &self,
        _: &Lease,
        codebase: &Codebase,
        environment: &Environment,
        head: &Head,
    ) -> Result<Advance, ProviderError> {
        Ok(self.follow(codebase, environment, head).await?)
    }

    async fn switch(
        &self,
        _: &Lease,
        codebase: &Codebase,
        environment: &Environment,
        plan: &Plan,
    ) -> Result<(), ProviderError> {
        Ok(self.change_branch(codebase, environment, plan).await?)
    }

    async fn sync(
        &self,
        _: &Lease,
        codebase: &Codebase,
        environment: &Environment,
    ) -> Result<(News, Vec<Note>), ProviderError> {
        Ok(self.bring_in_base(codebase, environment).await?)
    }

    async fn outgoing(&self, codebase: &Codebase, environment: &Environment) -> Result<Outgoing, ProviderError> {
        self.what_goes_out(codebase, environment).await
    }

    async fn push(
        &self,
        _: &Lease,
        codebase: &Codebase,
        _: &Environment,
        push: &Push,
    ) -> Result<Pushed, ProviderError> {
        self.push_out(codebase, push).await
    }

    async fn trash(
        &self,
        _: &Lease,
        codebase: &Codebase,
        environment: &Environment,
        trash: &Trash,
    ) -> Result<(), ProviderError> {
        Ok(self.move_to_trash(codebase, environment, trash).await?)
    }

    async fn restore(
        &self,
        _: &Lease,
        codebase: &Codebase,
        environment: &Environment,
        trash: &Trash,
    ) -> Result<(), ProviderError> {
        Ok(self.move_back(codebase, environment, trash).await?)
    }

    async fn save(
        &self,
        _: &Lease,
        codebase: &Codebase,
        environment: &Environment,
        saved: SavedId,
        into: &Path,
    ) -> Result<Saved, ProviderError> {
        Ok(self.save_trashed(codebase, environment, saved, into).await?)
    }

    async fn purge(
        &self,
        _: &Lease,
        codebase: &Codebase,
        environment: &Environment,
        remains: &Path,
    ) -> Result<(), ProviderError> {
        Ok(self.delete_trashed(codebase, environment, remains).await?)
    }

    async fn verify(&self, codebase: &Codebase, from: &Path) -> Result<Account, ProviderError> {
        Ok(self.account_of(codebase, from).await?)
    }

    async fn rebuild(&self, intent: &Intent, from: &Path, progress: &dyn Progress) -> Result<Vec<Note>, ProviderError> {
        Ok(self.make_from(intent, from, progress).await?)
    }

    async fn release(&self, codebase: &Codebase, saved: SavedId) -> Result<(), ProviderError> {
        Ok(self.unpin(codebase, saved).await?)
    }

    async fn diff_of_saved(
        &self,
        codebase: &Codebase,
        environment: &Environment,
        from: &Path,
        stat: bool,
    ) -> Result<Vec<u8>, ProviderError> {
        Ok(self.diff_saved(codebase, environment, from, stat).await?)
    }

    async fn checkpoints(&self, codebase: &Codebase, id: EnvironmentId) -> Result<Vec<Marked>, ProviderError> {
        Ok(self.git.open(codebase).await?.checkpoints(id).await?)
    }

    async fn checkpoint(
        &self,
        _: &Lease,
        codebase: &Codebase,
        environment: &Environment,
        new: &NewCheckpoint,
    ) -> Result<Option<CommitSha>, ProviderError> {
        Ok(self.save_checkpoint(codebase, environment, new).await?)
    }

    async fn rewind(
        &self,
        _: &Lease,
        codebase: &Codebase,
        environment: &Environment,
        rewind: &Rewind,
    ) -> Result<Rewinding, ProviderError> {
        Ok(self.go_back(codebase, environment, rewind).await?)
    }

    async fn forget_checkpoints(
        &self,
        codebase: &Codebase,
        id: EnvironmentId,
        numbers: Option<&[u64]>,
    ) -> Result<(), ProviderError> {
        Ok(self.git.open(codebase).await?.forget_checkpoints(id, numbers).await?)
    }

    async fn move_checkpoints(
        &self,
        codebase: &Codebase,
        from: EnvironmentId,
        to: EnvironmentId,
    ) -> Result<(), ProviderError> {
        Ok(self.git.open(codebase).await?.move_checkpoints(from, to).await?)
    }
}
