//! The one state of a worktree's entry that breaks its repository for everybody.
//!
//! A git that is killed inside `worktree add` can leave an empty `commondir`. From then on `worktree list`, `worktree add`,
//! `branch` and `gc` fail in the whole repository, whoever calls them. What belongs into the file is always the same, so it
//! is written there; nothing is deleted, and whose entry it is does not matter. An empty or missing `HEAD` or `gitdir`, or a
//! missing `commondir`, spoils only that one worktree and is left alone.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::time::sleep;

use super::Git;

/// A younger one may be in the middle of being written.
const SETTLED: Duration = Duration::from_secs(2);
/// Between two looks at one that is younger.
const PAUSE: Duration = Duration::from_millis(100);
/// So many looks outlast its youth.
const LOOKS: usize = 40;

/// Entries of a repository whose `commondir` is empty.
pub(crate) fn half_made(common_dir: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(common_dir.join("worktrees")) else { return Vec::new() };
    let folders = entries.filter_map(Result::ok).filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let mut found: Vec<_> = folders.map(|entry| entry.path()).filter(|folder| is_empty(folder)).collect();
    found.sort();
    found
}

fn is_empty(admin: &Path) -> bool {
    fs::symlink_metadata(admin.join("commondir")).is_ok_and(|found| found.is_file() && found.len() == 0)
}

/// Asked of the machine, not of our own clock: it is the machine that stamps files.
fn is_settled(admin: &Path) -> bool {
    let changed = fs::symlink_metadata(admin.join("commondir")).and_then(|found| found.modified());
    changed.is_ok_and(|changed| changed.elapsed().is_ok_and(|age| age >= SETTLED))
}

/// In one step: whoever writes it at the same time writes the same.
fn complete(admin: &Path) -> io::Result<()> {
    let staged = tempfile::NamedTempFile::new_in(admin)?;
    fs::write(staged.path(), "../..\n")?;
    fs::set_permissions(staged.path(), fs::Permissions::from_mode(0o644))?;
    staged.persist(admin.join("commondir")).map_err(|error| error.error)?;
    Ok(())
}

impl Git {
    /// Completes what dead gits left half-made in a repository, and says whether there was any.
    pub(crate) fn mend(&self, common_dir: &Path) -> bool {
        let mut any = false;
        for admin in half_made(common_dir).into_iter().filter(|admin| is_settled(admin)) {
            match complete(&admin) {
                Ok(()) => {
                    tracing::warn!(entry = %admin.display(), "git died making this worktree; its entry was mended");
                    any = true;
                    self.mended.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(admin);
                }
                Err(error) => tracing::warn!(entry = %admin.display(), %error, "a half-made entry cannot be mended"),
            }
        }
        any
    }

    /// What was mended since this was last asked.
    pub(crate) fn take_mended(&self) -> Vec<PathBuf> {
        std::mem::take(&mut *self.mended.lock().unwrap_or_else(std::sync::PoisonError::into_inner))
    }

    /// After a call that stumbled over a half-made entry: whether to try it again. Its maker is given the time to finish.
    pub(super) async fn is_worth_another_try(&self, common_dir: &Path, tried: usize) -> bool {
        if tried >= LOOKS {
            return false;
        }
        if !self.mend(common_dir) && !half_made(common_dir).is_empty() {
            sleep(PAUSE).await;
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_empty_file_of_some_age_is_completed() {
        let folder = tempfile::tempdir().expect("a folder");
        let admin = |name: &str, text: &str, age: u64| {
            let admin = folder.path().join("worktrees").join(name);
            fs::create_dir_all(&admin).expect("an entry");
            let file = fs::File::create(admin.join("commondir")).expect("a file");
            fs::write(admin.join("commondir"), text).expect("its text");
            let then = std::time::SystemTime::now() - Duration::from_secs(age);
            file.set_modified(then).expect("its time");
            admin
        };
        let old = admin("old", "", 60);
        admin("fresh", "", 0);
        admin("other", "elsewhere\n", 60);
        let git = Git::new("git", Vec::new());
        assert!(git.mend(folder.path()));
        assert!(!git.mend(folder.path()), "twice is once");
        let read = |name: &str| fs::read_to_string(folder.path().join("worktrees").join(name).join("commondir")).ok();
        assert_eq!(read("old").as_deref(), Some("../..\n"));
        assert_eq!(read("fresh").as_deref(), Some(""));
        assert_eq!(read("other").as_deref(), Some("elsewhere\n"));
        assert_eq!(git.take_mended(), [old]);
        assert!(git.take_mended().is_empty());
    }
}
