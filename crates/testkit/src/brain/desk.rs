//! The place where the assistant of the tests sits: nobody else may, and it notices when somebody does.

use std::fs::{File, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::{env, fs, process};

/// Taken, until the process ends, however it does: the system keeps the lock.
#[derive(Debug)]
pub(super) struct Desk {
    _lock: File,
}

/// Why it cannot be taken.
#[derive(Debug)]
pub(super) enum NotAlone {
    /// The process that sits there.
    Overlap(String),
    Trouble(io::Error),
}

impl From<io::Error> for NotAlone {
    fn from(error: io::Error) -> Self {
        Self::Trouble(error)
    }
}

impl Desk {
    pub(super) fn take() -> Result<Self, NotAlone> {
        let folder = admin_folder()?;
        let path = folder.join("fake-assistant.lock");
        let (mut lock, can_write) = match File::options().read(true).write(true).create(true).truncate(false).open(path)
        {
            // Where nothing can be written, the folder itself is the desk.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => (File::open(folder)?, false),
            lock => (lock?, true),
        };
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut holder = String::new();
                if can_write {
                    lock.read_to_string(&mut holder)?;
                }
                return Err(NotAlone::Overlap(holder));
            }
            Err(TryLockError::Error(error)) => return Err(error.into()),
        }
        if can_write {
            lock.set_len(0)?;
            lock.write_all(process::id().to_string().as_bytes())?;
        }
        Ok(Self { _lock: lock })
    }
}

/// git's own folder of this worktree, so that no lock or note of ours is a change in it; else the current folder.
pub(super) fn admin_folder() -> io::Result<PathBuf> {
    let here = env::current_dir()?;
    for folder in here.ancestors() {
        let git = folder.join(".git");
        if git.is_dir() {
            return Ok(git);
        }
        if let Ok(text) = fs::read_to_string(&git)
            && let Some(path) = text.trim_end().strip_prefix("gitdir: ")
        {
            return Ok(folder.join(path));
        }
    }
    Ok(here)
}

/// Adds a line to a file in one write, so that lines of many processes stay whole.
pub(super) fn note(file: Option<&Path>, line: &str) -> io::Result<()> {
    let Some(file) = file else { return Ok(()) };
    File::options().append(true).create(true).open(file)?.write_all(format!("{line}\n").as_bytes())
}
