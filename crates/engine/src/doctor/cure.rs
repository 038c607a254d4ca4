//! What `doctor --fix` does. Each act writes what belongs there, or takes away what is Hedgerow's own; whatever concerns an
//! environment is done under its lock, so that nobody else is at work on it.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use hedgerow_core::environment::Actor;
use hedgerow_core::{Environment, EnvironmentId, Kind, UserError};

use super::finding::{Cure, Finding};
use super::folders::drop_lock;
use super::git_locks;
use crate::engine::Engine;
use crate::explain::Trouble;
use crate::failure::Outcome;
use crate::git::{LockKind, RepoLock};
use crate::isolation::Base;
use crate::isolation::ownership::{link, lock_reason, write_marker};
use crate::journal::Busy;
use crate::store::NewEvent;

impl Engine {
    pub(super) async fn apply(&self, finding: &Finding) -> Outcome<()> {
        let Some(cure) = &finding.cure else { return Ok(()) };
        match cure {
            // It follows when all else is done.
            Cure::Reconcile => return Ok(()),
            Cure::MakePrivate { path, mode } => {
                fs::set_permissions(path, Permissions::from_mode(*mode)).map_err(Trouble::folder(path))?;
            }
            Cure::WriteSentinel => {
                let base = Base::new(&self.settings.worktrees);
                base.prepare().map_err(Trouble::folder(base.path()))?;
            }
            Cure::Lock { codebase, environment, worktree } => {
                let _alone = self.require_alone(environment.id)?;
                let repo = self.git.open(codebase).await.map_err(Trouble::from)?;
                let lock = RepoLock::acquire(repo.common_dir(), LockKind::Change).await.map_err(Trouble::from)?;
                repo.lock_worktree(worktree, &lock_reason(environment.id)).await.map_err(Trouble::from)?;
                drop(lock);
                self.record_cure(finding, environment).await?;
            }
            Cure::Mark { environment, admin } => {
                let _alone = self.require_alone(environment.id)?;
                write_marker(admin, environment.id, environment.generation).map_err(Trouble::folder(admin))?;
                self.record_cure(finding, environment).await?;
            }
            Cure::Link { environment, admin } => {
                let _alone = self.require_alone(environment.id)?;
                link(&environment.path, admin).map_err(Trouble::folder(admin))?;
                self.record_cure(finding, environment).await?;
            }
            Cure::SetAside { environment, file } => {
                let _alone = self.require_alone(environment.id)?;
                self.require_unused(environment).await?;
                set_aside(file)?;
                self.record_cure(finding, environment).await?;
            }
            Cure::DropLocks(files) => {
                for file in files {
                    drop_lock(file).map_err(Trouble::folder(file))?;
                }
            }
            Cure::EndLease { id, holder } => self.store.end_lease_of(*id, holder).await?,
            Cure::Unpin { codebase, saved } => {
                if !self.is_nobodys(*saved).await? {
                    return Err(UserError::new(Kind::Busy, "something is being purged right now").into());
                }
                self.provider.release(codebase, *saved).await?;
            }
        }
        Ok(())
    }

    fn require_alone(&self, id: EnvironmentId) -> Outcome<Busy> {
        let busy = || UserError::new(Kind::Busy, "someone is at work on it right now");
        self.try_busy(id)?.ok_or_else(|| busy().into())
    }

    /// Nobody has leased it, and no git of a person's is at work in it.
    async fn require_unused(&self, environment: &Environment) -> Outcome<()> {
        let leased = self.store.lease_holder(environment.id, self.store_now().await?).await?.is_some();
        let folder = environment.trash.as_ref().map_or(&environment.path, |trash| &trash.path);
        if leased || git_locks::is_git_inside(folder) {
            return Err(UserError::new(Kind::Busy, "a git is at work in it").into());
        }
        Ok(())
    }

    async fn record_cure(&self, finding: &Finding, environment: &Environment) -> Outcome<()> {
        let event = NewEvent::new(self.clock.now(), &Actor::automation(), "environment-mended");
        let event = event.of(environment.codebase, environment.id).detail(finding.detail.clone());
        Ok(self.store.record(&event).await?)
    }
}

/// Renames a stale lock file of git's, so that whatever is in it stays. Once more it is looked at: git may have come back.
fn set_aside(file: &Path) -> Outcome<()> {
    if !git_locks::is_stale(file) {
        return Err(UserError::new(Kind::Busy, "git is using it by now").into());
    }
    let mut aside = file.as_os_str().to_owned();
    aside.push("-set-aside");
    Ok(fs::rename(file, &aside).map_err(Trouble::folder(file))?)
}
