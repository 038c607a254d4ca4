//! Into the trash and back: renames, so that everything git does not know about comes along.
//!
//! `git worktree remove` deletes ignored files, commits on a detached HEAD, a stopped rebase and a submodule's objects
//! without a word. A rename keeps all of it, costs the same at any size, and is undone by another rename.

mod logs;
pub(super) mod operations;
mod submodules;

pub(super) use operations::branch_of;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use hedgerow_core::environment::Trash;
use hedgerow_core::{BranchName, Codebase, CommitSha, Environment};

use super::base::make_private;
use super::mounts::worktrees_below;
use super::ownership::{admin_of, link, linked, lock_reason, read_marker};
use super::worktree::WorktreeProvider;
use crate::explain::Trouble;
use crate::git::{LockKind, Repo, RepoLock};
use crate::steps;

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

    /// 1. What only the environment's own files name is kept: refs on the objects, copies of the logs.
    /// 2. The folder is renamed into the trash.
    /// 3. git is told where it is now.
    /// 4. An operation in progress steps aside and HEAD is detached, which frees the branch.
    /// 5. The branch goes if that was decided, only if it is still where it was.
    ///
    /// Each step looks whether it is done already, so that an interrupted removal can simply be done again. The first one
    /// writes the most: where there is no room or no right to write, nothing has moved yet.
    pub(super) async fn move_to_trash(
        &self,
        codebase: &Codebase,
        environment: &Environment,
        trash: &Trash,
    ) -> Result<(), Trouble> {
        let repo = self.git.open(codebase).await?;
        let _lock = RepoLock::acquire(repo.common_dir(), LockKind::Change).await?;
        let is_moved = fs::symlink_metadata(&trash.path).is_ok();
        let admin = require_ours(&repo, environment, if is_moved { &trash.path } else { &environment.path })?;
        if !is_moved {
            if self.base.holds(&trash.path) && !self.base.is_there() {
                return Err(Trouble::BaseAway { path: self.base.path().to_owned() });
            }
            if let Some(inside) = worktrees_below(repo.common_dir(), &admin, &[&environment.path]).pop() {
                return Err(Trouble::WorktreeInside { path: inside });
            }
            require_unchanged(&repo, environment, trash).await?;
            // A restore that stopped right after its move: git still knows it in the trash.
            if !is_known_at(&admin, &trash.path) {
                linked(&environment.path, repo.common_dir()).map_err(Trouble::links(&environment.path))?;
            }
        }
        let going = trash.branch_deleted.then_some(&environment.branch);
        logs::copy(&repo, &admin, going)?;
        operations::keep_objects(&repo, &admin, environment.id, going).await?;
        steps::reached("objects kept");
        let moved =
            if is_moved { Ok(()) } else { relocate(&environment.path, &trash.path, &admin, "folder in the trash") };
        if let Err(error) = moved {
            // It stays, so nothing has to be kept for it; should this fail, the next restore does it.
            let _ = logs::forget(&admin);
            let _ = operations::let_go_of_objects(&repo, environment.id).await;
            return Err(error);
        }
        link(&trash.path, &admin).map_err(Trouble::folder(&trash.path))?;
        steps::reached("known in the trash");
        submodules::relink(&admin, &environment.path, &trash.path)?;
        steps::reached("linked in the trash");
        if !admin.join("locked").exists() {
            // An adopted worktree may be unlocked; in the trash nothing may sweep it away.
            repo.lock_worktree(&trash.path, &lock_reason(environment.id)).await?;
            steps::reached("locked in the trash");
        }
        operations::step_aside(&admin)?;
        steps::reached("operation aside");
        if let Some(head) = &trash.head {
            if !trash.was_detached {
                repo.worktree(&trash.path).await?.detach_head(head).await?;
                steps::reached("branch freed");
            }
            if trash.branch_deleted {
                delete_branch(&repo, &admin, environment, head).await?;
                steps::reached("branch deleted");
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
            relocate(&trash.path, &environment.path, &admin, "folder out of the trash")?;
            admin
        };
        link(&environment.path, &admin).map_err(Trouble::folder(&environment.path))?;
        steps::reached("known out of the trash");
        let place = Coming { path: &environment.path, branch: &environment.branch, from: &trash.path };
        come_back(&repo, &admin, &place, trash).await?;
        operations::let_go_of_objects(&repo, environment.id).await?;
        steps::reached("objects let go of");
        if environment.is_adopted() {
            // The lock that the trash needed goes; one that somebody else set stays.
            repo.unlock_worktree(&environment.path, &admin, &lock_reason(environment.id)).await?;
            steps::reached("unlocked");
        }
        Ok(())
    }
}

/// Renames the folder and tells git, or neither.
fn relocate(from: &Path, to: &Path, admin: &Path, step: &'static str) -> Result<(), Trouble> {
    let parent = to.parent().unwrap_or(to);
    make_private(parent).map_err(Trouble::folder(parent))?;
    rename_into_place(from, to)?;
    steps::reached(step);
    link(to, admin).map_err(|error| {
        // Whoever looks finds it where it was; should this fail too, the next start puts it right.
        let _ = rename_into_place(to, from);
        Trouble::folder(admin)(error)
    })
}

/// Where an environment comes back to, and from.
pub(super) struct Coming<'a> {
    pub(super) path: &'a Path,
    pub(super) branch: &'a BranchName,
    pub(super) from: &'a Path,
}

/// Files and records are in place; submodules, the branch and a stopped operation follow. Safe to repeat.
pub(super) async fn come_back(repo: &Repo, admin: &Path, to: &Coming<'_>, trash: &Trash) -> Result<(), Trouble> {
    submodules::relink(admin, to.from, to.path)?;
    steps::reached("linked out of the trash");
    if trash.was_detached && trash.branch_deleted {
        operations::lead_to(repo, admin, to.branch).await?;
        steps::reached("operation led to its branch");
    }
    if let Some(head) = trash.head.as_ref().filter(|_| !trash.was_detached || trash.branch_deleted) {
        remake_branch(repo, admin, to.branch, head).await?;
        steps::reached("branch made again");
    }
    if !trash.was_detached {
        repo.worktree(to.path).await?.attach_head(to.branch).await?;
        steps::reached("on its branch again");
    }
    operations::step_back(admin)?;
    steps::reached("operation back");
    logs::put_back_head(admin)?;
    steps::reached("log back");
    Ok(())
}

/// The admin folder of the worktree at `path`, provided that it is this environment: it carries our marker or, when it is an
/// adopted one, nobody's.
pub(super) fn require_ours(repo: &Repo, environment: &Environment, path: &Path) -> Result<PathBuf, Trouble> {
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
    let mut settings = repo.branch_settings(branch);
    // Where they are kept already, a restore has stopped half-way: it had put back only some of them.
    let kept = kept_settings(admin, branch).unwrap_or_default().into_iter();
    let kept: Vec<_> = kept.filter(|(kept, _)| settings.iter().all(|(key, _)| key != kept)).collect();
    settings.extend(kept);
    if !settings.is_empty() {
        let settings: Vec<String> = settings.iter().map(|(key, value)| format!("{key}\0{value}\0")).collect();
        keep_settings(admin, &settings.concat()).map_err(Trouble::folder(admin))?;
        steps::reached("settings of the branch kept");
    }
    if repo.is_held(branch).await? {
        return Ok(());
    }
    match repo.delete_ref(&branch.full_ref(), head).await {
        Ok(()) => {
            steps::reached("branch gone, its settings not yet");
            Ok(repo.forget_upstream(branch).await?)
        }
        Err(error) if repo.branch_tip(branch).await?.as_ref() == Some(head) => Err(error.into()),
        Err(_) => Ok(()),
    }
}

/// Makes the branch again, with the settings it had, unless it is there.
async fn remake_branch(repo: &Repo, admin: &Path, branch: &BranchName, head: &CommitSha) -> Result<(), Trouble> {
    if repo.branch_tip(branch).await?.is_none() {
        repo.create_ref(&branch.full_ref(), head, "hedgerow: out of the trash").await?;
        steps::reached("branch made again, its settings not yet");
    }
    logs::put_back_branch(repo, admin, branch)?;
    let Some(kept) = kept_settings(admin, branch) else { return Ok(()) };
    for (key, value) in kept {
        repo.set_branch_setting(&key, &value).await?;
    }
    let file = admin.join(BRANCH_SETTINGS);
    fs::remove_file(&file).map_err(Trouble::folder(&file))
}

fn kept_settings(admin: &Path, branch: &BranchName) -> Option<Vec<(String, String)>> {
    let text = fs::read_to_string(admin.join(BRANCH_SETTINGS)).ok()?;
    let fields: Vec<&str> = text.split('\0').collect();
    let pairs = fields.chunks_exact(2).filter(|pair| pair[0].starts_with(&format!("branch.{branch}.")));
    Some(pairs.map(|pair| (pair[0].to_owned(), pair[1].to_owned())).collect())
}

/// All of them or, should we die, those that were kept before.
fn keep_settings(admin: &Path, settings: &str) -> io::Result<()> {
    let staged = tempfile::NamedTempFile::new_in(admin)?;
    fs::write(staged.path(), settings)?;
    staged.persist(admin.join(BRANCH_SETTINGS)).map(drop).map_err(|error| error.error)
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
