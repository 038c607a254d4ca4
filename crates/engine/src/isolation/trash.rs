//! Into the trash and back: renames, so that everything git does not know about comes along.
//!
//! `git worktree remove` deletes ignored files, commits on a detached HEAD, a stopped rebase and a submodule's objects
//! without a word. A rename keeps all of it, costs the same at any size, and is undone by another rename.

pub(super) mod operations;
mod submodules;

pub(super) use operations::branch_of;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use hedgerow_core::environment::Trash;
use hedgerow_core::{Codebase, CommitSha, Environment};

use super::base::make_private;
use super::ownership::{admin_of, link, linked, lock_reason, read_marker};
use super::worktree::WorktreeProvider;
use crate::explain::Trouble;
use crate::git::{LockKind, Repo, RepoLock};

impl WorktreeProvider {
    /// Where an environment goes: the base's trash, or, for an adopted one on another disk, a trash beside it.
    pub(super) fn trash_for(&self, environment: &Environment) -> PathBuf {
        let usual = self.base.trash_place(environment.id);
        // A base that is not made yet will be on the disk of the folder above it.
        let device =
            |path: &Path| path.ancestors().find_map(|path| rustix::fs::stat(path).ok()).map(|stat| stat.st_dev);
        let parent = environment.path.parent().unwrap_or(&environment.path);
        if self.base.holds(&environment.path) || device(parent) == device(self.base.path()) {
            return usual;
        }
        parent.join(".hedgerow-trash").join(environment.id.to_string())
    }

    /// 1. The folder is renamed into the trash.
    /// 2. git is told where it is now.
    /// 3. An operation in progress steps aside and HEAD is detached, which frees the branch.
    /// 4. The branch goes if that was decided, only if it is still where it was.
    ///
    /// Each step looks whether it is done already, so that an interrupted removal can simply be done again.
    pub(super) async fn move_to_trash(
        &self,
        codebase: &Codebase,
        environment: &Environment,
        trash: &Trash,
    ) -> Result<(), Trouble> {
        let repo = self.git.open(codebase).await?;
        let _lock = RepoLock::acquire(repo.common_dir(), LockKind::Change).await?;
        let admin = if fs::symlink_metadata(&trash.path).is_ok() {
            require_ours(&repo, environment, &trash.path)?
        } else {
            let admin = require_ours(&repo, environment, &environment.path)?;
            require_unchanged(&repo, environment, trash).await?;
            // A restore that stopped right after its move: git still knows it in the trash.
            if !is_known_at(&admin, &trash.path) {
                linked(&environment.path, repo.common_dir()).map_err(Trouble::links(&environment.path))?;
            }
            let parent = trash.path.parent().unwrap_or(&trash.path);
            make_private(parent).map_err(Trouble::folder(parent))?;
            rename_into_place(&environment.path, &trash.path)?;
            admin
        };
        link(&trash.path, &admin).map_err(Trouble::folder(&trash.path))?;
        submodules::relink(&admin, &environment.path, &trash.path)?;
        if !admin.join("locked").exists() {
            // An adopted worktree may be unlocked; in the trash nothing may sweep it away.
            repo.lock_worktree(&trash.path, &lock_reason(environment.id)).await?;
        }
        operations::step_aside(&admin)?;
        operations::keep_objects(&repo, &admin, environment.id).await?;
        if let Some(head) = &trash.head {
            if !trash.was_detached {
                repo.worktree(&trash.path).await?.detach_head(head).await?;
            }
            if trash.branch_deleted {
                delete_branch(&repo, &admin, environment, head).await?;
            }
        }
        Ok(())
    }

    /// The same steps backwards. The branch must be free and where the environment left it, or not there at all.
    pub(super) async fn move_back(
        &self,
        codebase: &Codebase,
        environment: &Environment,
        trash: &Trash,
    ) -> Result<(), Trouble> {
        let repo = self.git.open(codebase).await?;
        let _lock = RepoLock::acquire(repo.common_dir(), LockKind::Change).await?;
        let admin = if fs::symlink_metadata(&trash.path).is_err() {
            require_ours(&repo, environment, &environment.path)?
        } else {
            let admin = require_ours(&repo, environment, &trash.path)?;
            let parent = environment.path.parent().unwrap_or(&environment.path);
            make_private(parent).map_err(Trouble::folder(parent))?;
            rename_into_place(&trash.path, &environment.path)?;
            admin
        };
        link(&environment.path, &admin).map_err(Trouble::folder(&environment.path))?;
        submodules::relink(&admin, &trash.path, &environment.path)?;
        if trash.was_detached && trash.branch_deleted {
            operations::lead_to(&repo, &admin, &environment.branch).await?;
        }
        if let Some(head) = trash.head.as_ref().filter(|_| !trash.was_detached || trash.branch_deleted) {
            remake_branch(&repo, &admin, environment, head).await?;
        }
        if !trash.was_detached {
            repo.worktree(&environment.path).await?.attach_head(&environment.branch).await?;
        }
        operations::step_back(&admin)?;
        operations::let_go_of_objects(&repo, environment.id).await?;
        if environment.is_adopted() {
            // The lock that the trash needed goes; one that somebody else set stays.
            repo.unlock_worktree(&environment.path, &admin, &lock_reason(environment.id)).await?;
        }
        Ok(())
    }
}

/// The admin folder of the worktree at `path`, provided that it is this environment: it carries our marker or, when it is an
/// adopted one, nobody's.
fn require_ours(repo: &Repo, environment: &Environment, path: &Path) -> Result<PathBuf, Trouble> {
    let admin = admin_of(path, repo.common_dir()).map_err(Trouble::links(path))?;
    let ours = match read_marker(&admin) {
        Some(id) => id == environment.id,
        None => environment.is_adopted(),
    };
    if ours { Ok(admin) } else { Err(Trouble::links(path)("it is another environment".to_owned())) }
}

/// HEAD is still what it was when the removal was decided; whoever moved it since is working there. A HEAD that is detached
/// at the same commit is one that we detached: by a removal or restore that stopped half-way.
async fn require_unchanged(repo: &Repo, environment: &Environment, trash: &Trash) -> Result<(), Trouble> {
    let (head, branch) = repo.worktree(&environment.path).await?.head().await?;
    let same_branch = branch.is_none_or(|branch| !trash.was_detached && branch == environment.branch);
    if head == trash.head && same_branch {
        Ok(())
    } else {
        Err(Trouble::MovedOn { name: environment.name().to_owned() })
    }
}

fn is_known_at(admin: &Path, path: &Path) -> bool {
    fs::read_to_string(admin.join("gitdir")).is_ok_and(|text| Path::new(text.trim_end()) == path.join(".git"))
}

/// In the admin folder: the settings of a branch that was deleted, such as where it pushes to.
const BRANCH_SETTINGS: &str = "hedgerow-branch";

/// git deletes it only where it was left. One that moved on, or is gone already, is no failure.
async fn delete_branch(repo: &Repo, admin: &Path, environment: &Environment, head: &CommitSha) -> Result<(), Trouble> {
    let branch = &environment.branch;
    let settings = repo.branch_settings(branch).into_iter();
    let settings: Vec<String> = settings.map(|(key, value)| format!("{key}\0{value}\0")).collect();
    if !settings.is_empty() {
        let file = admin.join(BRANCH_SETTINGS);
        fs::write(&file, settings.concat()).map_err(Trouble::folder(&file))?;
    }
    if repo.is_held(branch).await? {
        return Ok(());
    }
    match repo.delete_ref(&branch.full_ref(), head).await {
        Ok(()) => Ok(repo.forget_upstream(branch).await?),
        Err(error) if repo.branch_tip(branch).await?.as_ref() == Some(head) => Err(error.into()),
        Err(_) => Ok(()),
    }
}

/// Makes the branch again, with the settings it had, unless it is there.
async fn remake_branch(repo: &Repo, admin: &Path, environment: &Environment, head: &CommitSha) -> Result<(), Trouble> {
    let branch = &environment.branch;
    if repo.branch_tip(branch).await?.is_none() {
        repo.create_ref(&branch.full_ref(), head, "hedgerow: out of the trash").await?;
    }
    let file = admin.join(BRANCH_SETTINGS);
    let Ok(text) = fs::read_to_string(&file) else { return Ok(()) };
    let fields: Vec<&str> = text.split('\0').collect();
    for pair in fields.chunks_exact(2).filter(|pair| pair[0].starts_with(&format!("branch.{branch}."))) {
        repo.set_branch_setting(pair[0], pair[1]).await?;
    }
    fs::remove_file(&file).map_err(Trouble::folder(&file))
}

/// Renames without ever replacing anything.
fn rename_into_place(from: &Path, to: &Path) -> Result<(), Trouble> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    let done = renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE).map_err(io::Error::from);
    match done {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
            Err(Trouble::OtherDisk { path: from.to_owned() })
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(Trouble::PathTaken { path: to.to_owned() }),
        // Some file systems cannot promise it in one step; then look first.
        Err(error) if error.kind() == io::ErrorKind::InvalidInput && fs::symlink_metadata(to).is_err() => {
            fs::rename(from, to).map_err(Trouble::folder(from))
        }
        Err(error) => Err(Trouble::folder(from)(error)),
    }
}
