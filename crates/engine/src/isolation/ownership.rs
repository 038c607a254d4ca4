//! Is this folder the worktree it should be? Asked before reuse, adoption and removal; answered from files alone.
//!
//! A linked worktree and its repository point at each other: the `.git` file names the admin folder, the admin folder's
//! `gitdir` names the `.git` file, and its `commondir` the repository. All three must agree, and the marker must carry the
//! environment's id. A copy of a worktree, another clone's worktree or a plain clone fails one of these.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use hedgerow_core::{Codebase, EnvironmentId};

use super::plain_file::read_plain;

/// In the admin folder: which environment this is.
const MARKER: &str = "hedgerow";

/// A worktree whose links agree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Linked {
    /// `<common folder>/worktrees/<name>`
    pub admin: PathBuf,
    pub marker: Option<EnvironmentId>,
    /// The reason it is locked, if it is.
    pub lock: Option<String>,
}

/// The lock reason of an environment.
pub fn lock_reason(id: EnvironmentId) -> String {
    format!("hedgerow:{id}")
}

/// The admin folder that a worktree's `.git` names, provided it is one of this repository's. Half of the check: good
/// enough between a rename and git's being told of it.
pub fn admin_of(path: &Path, common_dir: &Path) -> Result<PathBuf, String> {
    let dot_git = path.join(".git");
    let kind = fs::symlink_metadata(&dot_git).map_err(|_| "it has no `.git`".to_owned())?;
    if !kind.is_file() {
        return Err("it is a repository of its own, not a linked worktree".to_owned());
    }
    let text = read_line(&dot_git).map_err(|error| format!("its `.git` cannot be read: {error}"))?;
    let target = text.strip_prefix("gitdir: ").ok_or("its `.git` file is damaged")?;
    let admin =
        fs::canonicalize(path.join(target)).map_err(|_| "the repository it points to is not there".to_owned())?;
    let common = fs::canonicalize(common_dir).map_err(|error| format!("the repository cannot be read: {error}"))?;
    if admin.parent() != Some(&common.join("worktrees")) {
        return Err("it belongs to another repository".to_owned());
    }
    Ok(admin)
}

/// Follows the links of a worktree of the repository with this common folder. The error says what does not agree.
pub fn linked(path: &Path, common_dir: &Path) -> Result<Linked, String> {
    let admin = admin_of(path, common_dir)?;
    let back = read_line(&admin.join("gitdir")).map_err(|_| "its admin folder is damaged".to_owned())?;
    let back = admin.join(back);
    let same = match (fs::canonicalize(&back), fs::canonicalize(path.join(".git"))) {
        (Ok(back), Ok(here)) => back == here,
        _ => false,
    };
    if !same {
        return Err("the repository knows it under another path".to_owned());
    }
    let commondir = read_line(&admin.join("commondir")).map_err(|_| "its admin folder is damaged".to_owned())?;
    if fs::canonicalize(admin.join(commondir)).ok() != fs::canonicalize(common_dir).ok() {
        return Err("its admin folder belongs to another repository".to_owned());
    }
    Ok(Linked { marker: read_marker(&admin), lock: read_lock(&admin), admin })
}

/// Makes a worktree and its admin folder name each other, after a move. Only these two files are touched:
/// `git worktree repair` would also re-point every other worktree the repository lists, and in a copied repository those
/// are the original's.
pub fn link(path: &Path, admin: &Path) -> io::Result<()> {
    write_if_new(&path.join(".git"), &format!("gitdir: {}\n", admin.display()))?;
    write_if_new(&admin.join("gitdir"), &format!("{}\n", path.join(".git").display()))
}

fn write_if_new(file: &Path, text: &str) -> io::Result<()> {
    if fs::read_to_string(file).is_ok_and(|now| now == text) {
        return Ok(());
    }
    let staged = tempfile::NamedTempFile::new_in(file.parent().unwrap_or(file))?;
    fs::write(staged.path(), text)?;
    fs::set_permissions(staged.path(), fs::Permissions::from_mode(0o644))?;
    staged.persist(file).map_err(|error| error.error)?;
    Ok(())
}

/// Writes the marker of an environment into its admin folder.
pub fn write_marker(admin: &Path, id: EnvironmentId, generation: u64) -> io::Result<()> {
    let staged = tempfile::NamedTempFile::new_in(admin)?;
    fs::write(staged.path(), format!("{id} {generation}\n"))?;
    staged.persist(admin.join(MARKER)).map_err(|error| error.error)?;
    Ok(())
}

/// The environment an admin folder belongs to.
pub fn read_marker(admin: &Path) -> Option<EnvironmentId> {
    let text = read_line(&admin.join(MARKER)).ok()?;
    text.split(' ').next()?.parse().ok()
}

/// The generation that the marker was written in.
pub fn marked_generation(admin: &Path) -> Option<u64> {
    let text = read_line(&admin.join(MARKER)).ok()?;
    text.split(' ').nth(1)?.parse().ok()
}

/// The reason that an admin folder is locked for, if it is.
pub fn read_lock(admin: &Path) -> Option<String> {
    read_line(&admin.join("locked")).ok()
}

/// The folder that all worktrees of a codebase's repository share, from files alone.
pub fn common_dir(codebase: &Codebase) -> PathBuf {
    let dot_git = codebase.path.join(".git");
    if dot_git.is_dir() {
        return dot_git;
    }
    // A submodule's checkout has a file there; a bare repository is its own git folder.
    let pointed = fs::read_to_string(&dot_git).ok();
    let target = pointed.as_deref().and_then(|text| text.trim_end().strip_prefix("gitdir: "));
    target.map_or_else(|| codebase.path.clone(), |target| codebase.path.join(target))
}

/// The folders in which a repository keeps its worktrees' entries, in the order of their names.
pub fn admin_folders(common_dir: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(common_dir.join("worktrees")) else { return Vec::new() };
    let folders = entries.filter_map(Result::ok).filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let mut folders: Vec<_> = folders.map(|entry| entry.path()).collect();
    folders.sort();
    folders
}

/// The worktree that an admin folder names, wherever it is.
pub fn worktree_of(admin: &Path) -> Option<PathBuf> {
    let text = read_line(&admin.join("gitdir")).ok().filter(|text| !text.is_empty())?;
    Some(admin.join(text).parent()?.to_owned())
}

/// Admin folders that carry the lock of this environment, whatever else is missing from them.
pub fn admin_folders_of(id: EnvironmentId, common_dir: &Path) -> Vec<PathBuf> {
    let reason = lock_reason(id);
    let folders = admin_folders(common_dir).into_iter();
    folders.filter(|folder| read_lock(folder).is_some_and(|text| text == reason)).collect()
}

fn read_line(path: &Path) -> io::Result<String> {
    let text = String::from_utf8(read_plain(path)?).map_err(io::Error::other)?;
    Ok(text.trim_end_matches('\n').to_owned())
}
