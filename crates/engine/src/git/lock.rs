//! One lock per repository around what changes it.
//!
//! git's own locks make neighbours fail instead of wait: of thirty parallel `worktree add` some collide on a half-made
//! entry or on `config.lock`. The lock is a file in the repository's common folder, so that every Hedgerow on the
//! machine, whatever its home, waits for the others; the kernel drops it when its holder dies.

use std::fs::{File, OpenOptions, TryLockError};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::OFlags;
use tokio::time::{Instant, sleep};

use super::{GitError, GitResult, remains};

/// Longest wait: a neighbour may be checking out a very large tree.
const PATIENCE: Duration = Duration::from_mins(10);

#[derive(Debug, Clone, Copy)]
pub enum LockKind {
    /// Around changes of worktrees, branches and configuration.
    Change,
    /// Around fetching, so that neighbours can share one fetch.
    Fetch,
}

/// Held until dropped.
#[derive(Debug)]
pub struct RepoLock {
    file: File,
}

impl RepoLock {
    pub async fn acquire(common_dir: &Path, kind: LockKind) -> GitResult<Self> {
        let name = match kind {
            LockKind::Change => "hedgerow.lock",
            LockKind::Fetch => "hedgerow-fetch.lock",
        };
        let lock = Self::acquire_file(common_dir.join(name)).await?;
        // Whoever held it before may have died, and its git with it or not.
        remains::tidy(common_dir).await;
        Ok(lock)
    }

    async fn acquire_file(path: PathBuf) -> GitResult<Self> {
        // Whoever can write in the repository could lay a link here; the note would then overwrite what it points to.
        let no_link = i32::try_from(OFlags::NOFOLLOW.bits()).expect("flags of open(2) fit an int");
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false).custom_flags(no_link);
        let file = options.open(&path).map_err(GitError::io(format!("opening the lock {}", path.display())))?;
        let started = Instant::now();
        let mut pause = Duration::from_millis(1);
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Self { file }),
                Err(TryLockError::WouldBlock) if started.elapsed() > PATIENCE => {
                    return Err(GitError::Locked { path, seconds: PATIENCE.as_secs() });
                }
                Err(TryLockError::WouldBlock) => sleep(pause).await,
                Err(TryLockError::Error(source)) => {
                    return Err(GitError::Io { what: format!("taking the lock {}", path.display()), source });
                }
            }
            pause = (pause * 2).min(Duration::from_millis(20));
        }
    }

    /// What the last holder left, for those who come after.
    pub(crate) fn note(&self) -> String {
        use std::io::{Read as _, Seek as _};
        let mut text = String::new();
        let mut file = &self.file;
        let read = file.rewind().and_then(|()| file.take(256).read_to_string(&mut text));
        if read.is_ok() { text } else { String::new() }
    }

    pub(crate) fn leave_note(&self, text: &str) {
        use std::io::{Seek as _, Write as _};
        let mut file = &self.file;
        // Only an optimisation hangs on it: a lost note costs one fetch.
        let _ = file.rewind().and_then(|()| file.set_len(0)).and_then(|()| file.write_all(text.as_bytes()));
    }
}
