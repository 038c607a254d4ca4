//! Reflogs while their environment is in the trash.
//!
//! A commit that was amended away is named by a reflog alone. git shortens the logs of every worktree when it tidies up,
//! and a branch's own log dies with the branch; so both are copied where git does not look, and what only they name gets
//! refs. Coming back, the logs are made whole again.

use std::collections::{BTreeSet, HashSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use hedgerow_core::{BranchName, CommitSha};

use crate::explain::Trouble;
use crate::git::{GitError, Repo};

/// In the admin folder: copies of logs.
pub(super) const COPIES: &str = "hedgerow-logs";
const OF_HEAD: &str = "HEAD";
const OF_BRANCH: &str = "branch";
/// Logs of a worktree's own refs are not nested deeper.
const MAX_DEPTH: usize = 8;

/// Copies the log of HEAD and, if the branch goes, the branch's. Done again, a copy only grows.
pub(super) fn copy(repo: &Repo, admin: &Path, going: Option<&BranchName>) -> Result<(), Trouble> {
    let copies = admin.join(COPIES);
    fs::create_dir_all(&copies).map_err(Trouble::folder(&copies))?;
    add_to(&copies.join(OF_HEAD), &head_log(admin))?;
    going.map_or(Ok(()), |branch| add_to(&copies.join(OF_BRANCH), &branch_log(repo, branch)))
}

/// Puts back into the log of a branch that was made again what its old one held.
pub(super) fn put_back_branch(repo: &Repo, admin: &Path, branch: &BranchName) -> Result<(), Trouble> {
    put_back(&admin.join(COPIES).join(OF_BRANCH), &branch_log(repo, branch))
}

/// Puts back into the log of HEAD what it held, and forgets the copies.
pub(super) fn put_back_head(admin: &Path) -> Result<(), Trouble> {
    put_back(&admin.join(COPIES).join(OF_HEAD), &head_log(admin))?;
    forget(admin)
}

/// Forgets the copies.
pub(super) fn forget(admin: &Path) -> Result<(), Trouble> {
    let copies = admin.join(COPIES);
    match fs::remove_dir_all(&copies) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Trouble::folder(&copies)(error)),
        _ => Ok(()),
    }
}

/// Puts refs below `prefix` on commits that no ref reaches and that these logs name.
pub(super) async fn keep_commits(
    repo: &Repo,
    admin: &Path,
    prefix: &str,
    going: Option<&BranchName>,
) -> Result<(), Trouble> {
    let mut named = BTreeSet::new();
    collect(&admin.join("logs"), 0, &mut named);
    collect(&admin.join(COPIES), 0, &mut named);
    match repo.keep_stranded(prefix, &named, going).await {
        // A history with holes in it: git cannot collect there either, so nothing is lost by going on.
        Err(GitError::Failed { what, stderr, .. }) => {
            tracing::warn!(what, stderr, "commits that only a reflog names could not be looked for");
            Ok(())
        }
        kept => Ok(kept?),
    }
}

fn head_log(admin: &Path) -> PathBuf {
    admin.join("logs").join("HEAD")
}

fn branch_log(repo: &Repo, branch: &BranchName) -> PathBuf {
    repo.common_dir().join("logs").join(branch.full_ref())
}

/// Each line of a log is `<old> <new> <who and when>\t<why>`.
fn collect(folder: &Path, depth: usize, named: &mut BTreeSet<CommitSha>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.filter_map(Result::ok) {
        let path = entry.path();
        if path.is_dir() && depth < MAX_DEPTH {
            collect(&path, depth + 1, named);
            continue;
        }
        let text = fs::read(&path).unwrap_or_default();
        for line in text.split(|byte| *byte == b'\n') {
            let names = line.splitn(3, |byte| *byte == b' ').take(2);
            let names = names.filter_map(|name| CommitSha::parse(std::str::from_utf8(name).ok()?).ok());
            named.extend(names.filter(|name| name.as_str().bytes().any(|digit| digit != b'0')));
        }
    }
}

/// Adds to a copy what a log has meanwhile.
fn add_to(copy: &Path, log: &Path) -> Result<(), Trouble> {
    let Some(now) = read(log)? else { return Ok(()) };
    let before = read(copy)?.unwrap_or_default();
    write_if_new(copy, &before, &joined(&before, &now))
}

fn put_back(copy: &Path, log: &Path) -> Result<(), Trouble> {
    let Some(before) = read(copy)? else { return Ok(()) };
    let now = read(log)?.unwrap_or_default();
    write_if_new(log, &now, &joined(&before, &now))
}

/// The lines of both, oldest first, none twice.
fn joined(before: &[u8], now: &[u8]) -> Vec<u8> {
    if now.starts_with(before) {
        return now.to_owned();
    }
    let known: HashSet<&[u8]> = lines(before).collect();
    let new = lines(now).filter(|line| !known.contains(line));
    lines(before).chain(new).flatten().copied().collect()
}

fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split_inclusive(|byte| *byte == b'\n')
}

fn read(file: &Path) -> Result<Option<Vec<u8>>, Trouble> {
    match fs::read(file) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Trouble::folder(file)(error)),
    }
}

fn write_if_new(file: &Path, now: &[u8], wanted: &[u8]) -> Result<(), Trouble> {
    if now == wanted {
        return Ok(());
    }
    let folder = file.parent().unwrap_or(file);
    let write = || -> io::Result<()> {
        fs::create_dir_all(folder)?;
        let staged = tempfile::NamedTempFile::new_in(folder)?;
        fs::write(staged.path(), wanted)?;
        if let Ok(old) = fs::metadata(file) {
            fs::set_permissions(staged.path(), old.permissions())?;
        }
        staged.persist(file).map(drop).map_err(|error| error.error)
    };
    write().map_err(Trouble::folder(file))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logs_are_joined_without_losing_or_repeating_a_line() {
        assert_eq!(joined(b"a\nb\n", b"a\nb\nc\n"), b"a\nb\nc\n", "it has grown");
        assert_eq!(joined(b"a\nb\n", b"c\n"), b"a\nb\nc\n", "it was emptied, and has grown");
        assert_eq!(joined(b"a\nb\n", b"b\nc\n"), b"a\nb\nc\n", "it was shortened, and has grown");
        assert_eq!(joined(b"a\nb\n", b""), b"a\nb\n", "it was emptied");
        assert_eq!(joined(b"", b"a\n"), b"a\n", "it was not there");
    }

    #[test]
    fn both_sides_of_a_log_count_and_nothing_else_does() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let (none, one, two, three) = ("0".repeat(40), "1".repeat(40), "2".repeat(40), "3".repeat(40));
        let text = format!("{none} {one} A <a@example.org> 1 +0000\tcommit: {three}\n{two} {one} A <a> 2 +0000\tx\n");
        fs::create_dir_all(folder.path().join("refs/worktree")).expect("folders");
        fs::write(folder.path().join("refs/worktree/own"), text).expect("a log");
        let mut named = BTreeSet::new();
        collect(folder.path(), 0, &mut named);
        assert_eq!(named.iter().map(CommitSha::as_str).collect::<Vec<_>>(), [&one, &two]);
    }
}
