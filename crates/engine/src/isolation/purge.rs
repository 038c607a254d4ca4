//! The end of an environment's files. Only what lies in the trash, carries our marker and has a saved state is deleted.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use hedgerow_core::{Codebase, Environment};

use super::mounts::{mounted, require_none_below};
use super::ownership::admin_folders_of;
use super::save::apart;
use super::trash::{operations, require_ours};
use super::worktree::WorktreeProvider;
use crate::explain::Trouble;
use crate::git::{LockKind, RepoLock};
use crate::steps;

impl WorktreeProvider {
    /// 1. The files, but for the `.git` that says whose they are: an interrupted deletion finds its way by it.
    /// 2. git's records of the worktree.
    /// 3. The folder.
    /// 4. The refs that held its objects; they are in the saved state, or on a remote.
    pub(super) async fn delete_trashed(
        &self,
        codebase: &Codebase,
        environment: &Environment,
        remains: &Path,
    ) -> Result<(), Trouble> {
        let repo = self.git.open(codebase).await?;
        let _lock = RepoLock::acquire(repo.common_dir(), LockKind::Change).await?;
        let mut admins = admin_folders_of(environment.id, repo.common_dir());
        if fs::symlink_metadata(remains).is_ok() {
            if !is_orphaned(remains, repo.common_dir(), environment) {
                let admin = require_ours(&repo, environment, remains)?;
                if !admins.contains(&admin) {
                    admins.push(admin);
                }
            }
            apart(remains, remains, |remains, _| delete_files(remains)).await?;
            steps::reached("files deleted");
        }
        for admin in admins {
            delete(&admin)?;
        }
        steps::reached("registration deleted");
        if fs::symlink_metadata(remains).is_ok() {
            delete(remains)?;
        }
        operations::let_go_of_objects(&repo, environment.id).await?;
        steps::reached("refs released");
        Ok(())
    }
}

/// An earlier deletion got as far as git's records: what is left is a folder with the environment's name, and in it a
/// `.git` at most that leads to records of this repository which are gone.
fn is_orphaned(remains: &Path, common_dir: &Path, environment: &Environment) -> bool {
    let is_named = remains.file_name().is_some_and(|name| name == environment.id.to_string().as_str());
    let only_link = fs::read_dir(remains)
        .is_ok_and(|entries| entries.filter_map(Result::ok).all(|entry| entry.file_name() == ".git"));
    let link = fs::read_to_string(remains.join(".git")).ok();
    let admin = link.as_deref().and_then(|text| text.trim_end().strip_prefix("gitdir: ")).map(PathBuf::from);
    let is_gone = admin.is_none_or(|admin| {
        admin.parent() == Some(&common_dir.join("worktrees")) && fs::symlink_metadata(&admin).is_err()
    });
    is_named && only_link && is_gone
}

/// Everything in the folder but its `.git`. What is on another disk that is mounted inside is nobody's to delete.
fn delete_files(folder: &Path) -> Result<(), Trouble> {
    let device = fs::symlink_metadata(folder).map_err(Trouble::folder(folder))?.dev();
    require_none_below(folder)?;
    require_one_disk(folder, device)?;
    for entry in fs::read_dir(folder).map_err(Trouble::folder(folder))? {
        let entry = entry.map_err(Trouble::folder(folder))?;
        if entry.file_name() != ".git" {
            delete(&entry.path())?;
        }
    }
    Ok(())
}

fn require_one_disk(folder: &Path, device: u64) -> Result<(), Trouble> {
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let found = fs::symlink_metadata(&folder).map_err(Trouble::folder(&folder))?;
        if found.dev() != device {
            return Err(Trouble::folder(&folder)(mounted()));
        }
        // One that cannot be listed yet is made so; it is about to go.
        let entries = fs::read_dir(&folder).or_else(|_| make_writable(&folder).and_then(|()| fs::read_dir(&folder)));
        for entry in entries.map_err(Trouble::folder(&folder))? {
            let entry = entry.map_err(Trouble::folder(&folder))?;
            if entry.file_type().map_err(Trouble::folder(&folder))?.is_dir() {
                folders.push(entry.path());
            }
        }
    }
    Ok(())
}

/// Deletes a file or a folder; not being there is fine. Folders that forbid it (a tool's read-only cache) are opened up.
fn delete(path: &Path) -> Result<(), Trouble> {
    let is_folder = match fs::symlink_metadata(path) {
        Ok(found) => found.is_dir(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(Trouble::folder(path)(error)),
    };
    let once = || if is_folder { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    let done = match once() {
        Err(error) if is_folder && error.kind() == io::ErrorKind::PermissionDenied => {
            open_up(path).and_then(|()| once())
        }
        other => other,
    };
    match done {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Trouble::folder(path)(error)),
        _ => Ok(()),
    }
}

fn open_up(folder: &Path) -> io::Result<()> {
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        make_writable(&folder)?;
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                folders.push(entry.path());
            }
        }
    }
    Ok(())
}

fn make_writable(folder: &Path) -> io::Result<()> {
    fs::set_permissions(folder, Permissions::from_mode(0o700))
}
