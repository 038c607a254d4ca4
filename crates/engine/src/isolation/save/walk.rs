//! Everything that is in a folder, each thing once, with what tells whether it changes meanwhile.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use super::super::mounts::{mounted, require_none_below};
use crate::explain::Trouble;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Folder,
    File,
    Link,
    /// A socket, a pipe, a device.
    Other,
}

/// One thing in a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Seen {
    /// Below the folder that was walked.
    pub(super) path: PathBuf,
    pub(super) kind: Kind,
    /// Permissions.
    pub(super) mode: u32,
    pub(super) size: u64,
    pub(super) mtime: i64,
    /// It is part of a repository inside the folder.
    pub(super) in_repository: bool,
    /// Differs as soon as anybody changes or replaces it.
    stamp: (u64, i64, i64, i64),
}

#[cfg(test)]
impl Seen {
    pub(super) fn new(path: PathBuf, kind: Kind, mode: u32, size: u64, in_repository: bool) -> Self {
        Self { path, kind, mode, size, mtime: 0, in_repository, stamp: (0, 0, 0, 0) }
    }
}

/// Everything below `root`, folders before what is in them. Without the `.git` of the folder itself. What cannot be read
/// is an error, and so is whatever is mounted inside: it is not ours to save, and not ours to delete.
pub(super) fn walk(root: &Path) -> Result<Vec<Seen>, Trouble> {
    require_none_below(root)?;
    let device = fs::symlink_metadata(root).map_err(Trouble::folder(root))?.dev();
    let mut seen = Vec::new();
    let mut folders = vec![(PathBuf::new(), false)];
    while let Some((folder, in_repository)) = folders.pop() {
        let here = root.join(&folder);
        let names = names(&here).map_err(Trouble::folder(&here))?;
        let is_top = folder.as_os_str().is_empty();
        let in_repository = in_repository || (!is_top && is_repository(&names));
        for name in names {
            if is_top && name == ".git" {
                continue;
            }
            let path = folder.join(&name);
            let whole = root.join(&path);
            let found = fs::symlink_metadata(&whole).map_err(Trouble::folder(&whole))?;
            if found.dev() != device {
                return Err(Trouble::folder(&whole)(mounted()));
            }
            let kind = match found.file_type() {
                kind if kind.is_dir() => Kind::Folder,
                kind if kind.is_file() => Kind::File,
                kind if kind.is_symlink() => Kind::Link,
                _ => Kind::Other,
            };
            if kind == Kind::Folder {
                folders.push((path.clone(), in_repository));
            }
            seen.push(Seen {
                path,
                kind,
                mode: found.mode() & 0o7777,
                size: if kind == Kind::Folder { 0 } else { found.size() },
                mtime: found.mtime(),
                in_repository,
                stamp: (found.ino(), found.mtime_nsec(), found.ctime(), found.ctime_nsec()),
            });
        }
    }
    seen.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(seen)
}

fn names(folder: &Path) -> io::Result<BTreeSet<std::ffi::OsString>> {
    fs::read_dir(folder)?.map(|entry| Ok(entry?.file_name())).collect()
}

/// A checkout with its own `.git`, or a bare repository.
fn is_repository(names: &BTreeSet<std::ffi::OsString>) -> bool {
    let has = |name: &str| names.contains(OsStr::new(name));
    has(".git") || (has("HEAD") && has("objects") && has("refs"))
}
