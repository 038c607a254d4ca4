//! Who moved a branch: the worktree that is on it writes each of its moves into the log of its own HEAD, which a run in
//! another worktree's view cannot write.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::isolation::ownership::admin_folders;
use crate::isolation::plain_file::read_plain;

/// The log of a HEAD, by the git folder that it is in, and how long it is.
pub(super) type Lengths = BTreeMap<PathBuf, u64>;

/// What the logs of other worktrees say about a commit that a branch is at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Word {
    /// A worktree other than the run's brought it there.
    Theirs,
    /// The worktree that is on it keeps no log.
    Unknown,
    Nobodys,
}

/// The git folders of all worktrees but one: the main checkout's is the common folder itself.
fn others<'a>(common_dir: &'a Path, own: &'a Path) -> impl Iterator<Item = PathBuf> + use<'a> {
    let linked = admin_folders(common_dir).into_iter().filter(move |folder| folder != own);
    std::iter::once(common_dir.to_owned()).chain(linked)
}

/// The branch that a worktree is on.
pub(super) fn branch_of(git_folder: &Path) -> Option<String> {
    let text = String::from_utf8(read_plain(&git_folder.join("HEAD")).ok()?).ok()?;
    Some(text.trim_end().strip_prefix("ref: ")?.to_owned())
}

/// The other worktree that is on a branch.
pub(super) fn holder(branch: &str, common_dir: &Path, own: &Path) -> Option<PathBuf> {
    others(common_dir, own).find(|folder| branch_of(folder).as_deref() == Some(branch))
}

pub(super) fn lengths(common_dir: &Path, own: &Path) -> Lengths {
    let folders = others(common_dir, own).chain([own.to_owned()]);
    folders.filter_map(|folder| Some((folder.clone(), fs::metadata(log(&folder)).ok()?.len()))).collect()
}

/// Whether the HEAD of a worktree has been moved since.
pub(super) fn has_moved(git_folder: &Path, since: &Lengths) -> bool {
    let now = fs::metadata(log(git_folder)).map(|log| log.len()).ok();
    now != since.get(git_folder).copied()
}

/// Who brought a branch to an object. Whoever is on it says so with their last entry; a branch that nobody is on may have
/// been left by a worktree that was there meanwhile.
pub(super) fn word(branch: &str, object: &str, common_dir: &Path, own: &Path, since: &Lengths) -> Word {
    if let Some(holder) = holder(branch, common_dir, own) {
        return match read_plain(&log(&holder)) {
            Ok(text) if String::from_utf8_lossy(&text).lines().last().and_then(to) == Some(object) => Word::Theirs,
            Ok(_) => Word::Nobodys,
            Err(_) => Word::Unknown,
        };
    }
    let was_there = |folder: &PathBuf| added(folder, since).lines().any(|line| to(line) == Some(object));
    if others(common_dir, own).any(|folder| was_there(&folder)) { Word::Theirs } else { Word::Nobodys }
}

/// Branches that a worktree was put on since.
pub(super) fn visited(own: &Path, since: &Lengths) -> Vec<String> {
    let added = added(own, since);
    let names = added.lines().filter_map(|line| line.split_once("\tcheckout: moving from ")?.1.rsplit(" to ").next());
    names.map(|name| format!("refs/heads/{name}")).collect()
}

/// What was added to a log; all of it when it was written anew.
fn added(git_folder: &Path, since: &Lengths) -> String {
    let text = read_plain(&log(git_folder)).unwrap_or_default();
    let from = since.get(git_folder).and_then(|length| usize::try_from(*length).ok()).unwrap_or(0);
    String::from_utf8_lossy(text.get(from..).unwrap_or(&text)).into_owned()
}

/// `from to who <mail> time zone TAB message`
fn to(line: &str) -> Option<&str> {
    line.split(' ').nth(1)
}

fn log(git_folder: &Path) -> PathBuf {
    git_folder.join("logs/HEAD")
}
