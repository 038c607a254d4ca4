//! Lock files that a killed git left behind. git never takes them away by itself: it says that another process seems to be
//! running, and fails.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Older than any git that is still at it should be.
const STALE: Duration = Duration::from_mins(10);
/// Refs are folders in folders; deeper than this nobody names a branch.
const DEEPEST: usize = 16;

/// Stale lock files of a repository, those of its worktrees' entries not included.
pub(super) fn of_repository(common_dir: &Path) -> Vec<PathBuf> {
    let mut found = locks_in(common_dir);
    // Ours, which the kernel frees.
    found.retain(|path| !path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("hedgerow")));
    found.extend(locks_in(&common_dir.join("objects/info")));
    walk(&common_dir.join("refs"), 0, &mut found);
    found
}

/// Stale lock files in the entry of a worktree.
pub(super) fn of_entry(admin: &Path) -> Vec<PathBuf> {
    let mut found = locks_in(admin);
    walk(&admin.join("refs"), 0, &mut found);
    found
}

fn walk(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) {
    found.extend(locks_in(folder));
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.filter_map(Result::ok).filter(|_| depth < DEEPEST) {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            walk(&entry.path(), depth + 1, found);
        }
    }
}

fn locks_in(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let mut locks: Vec<_> =
        paths.filter(|path| path.extension().is_some_and(|end| end == "lock") && is_stale(path)).collect();
    locks.sort();
    locks
}

/// Asked of the machine, not of our own clock: it is the machine that stamps files.
pub(super) fn is_stale(path: &Path) -> bool {
    let Ok(found) = fs::symlink_metadata(path) else { return false };
    found.is_file() && found.modified().is_ok_and(|changed| changed.elapsed().is_ok_and(|age| age >= STALE))
}

/// Whether a git of this machine stands in this folder: a person's `git commit -a` keeps its lock while they write.
pub(super) fn is_git_inside(folder: &Path) -> bool {
    let Ok(processes) = fs::read_dir("/proc") else { return false };
    let folder = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    processes.filter_map(|process| Some(process.ok()?.path())).any(|process| {
        fs::read_link(process.join("cwd")).is_ok_and(|place| place.starts_with(&folder))
            && fs::read_to_string(process.join("comm")).is_ok_and(|name| name.starts_with("git"))
    })
}
