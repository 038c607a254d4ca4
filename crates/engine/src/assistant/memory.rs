//! What an agent remembers of a session: its own file in its own home. We keep a copy of it after each turn, and put it
//! back where the agent looks for it when it works somewhere else.
//!
//! The home is the agent's: whatever is in it may be a link by now, or something that never ends. So no link is followed,
//! and nothing but a file of limited length is read.

use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, mkdirat, openat, renameat, statat, unlinkat};
use rustix::io::Errno;
use tokio::task::spawn_blocking;

use super::dialogue::Driver;
use crate::isolation::plain_file::read_plain_at;

/// Longest memory of a session that we keep.
const LONGEST: u64 = 32 << 20;

/// Where the memory of one turn is looked for.
#[derive(Debug)]
pub(super) struct Memory {
    /// The agent's home; `None` when it does not outlive the turn.
    home: Option<PathBuf>,
    folder: PathBuf,
}

impl Memory {
    pub(super) fn new(home: Option<PathBuf>, folder: PathBuf) -> Self {
        Self { home, folder }
    }

    /// Puts what was kept back into the agent's home, unless the agent knows as much there: a conversation may have been
    /// elsewhere meanwhile, and a turn that was cut short may not have been kept. Not for an async thread.
    pub(super) fn remind(&self, driver: &dyn Driver, session: Option<&str>, kept: Option<&[u8]>) {
        let (Some(home), Some(session), Some(kept)) = (&self.home, session, kept) else { return };
        let Some(file) = driver.memory(home, session, &self.folder) else { return };
        let Ok(below) = file.strip_prefix(home) else { return };
        // It starts anew then, and says so.
        if let Err(error) = write(home, below, kept) {
            tracing::warn!(session, %error, "an assistant's memory could not be put back");
        }
    }

    /// What the agent remembers of the session now.
    pub(super) async fn recalled(self, driver: &Arc<dyn Driver>, session: Option<String>) -> Option<Vec<u8>> {
        let (home, session, driver) = (self.home?, session?, Arc::clone(driver));
        let read = spawn_blocking(move || {
            let file = driver.memory(&home, &session, &self.folder)?;
            read(&home, file.strip_prefix(&home).ok()?).ok()
        });
        read.await.ok().flatten()
    }
}

/// Publishes a file below a folder whole, unless there is one that is as long: sessions only grow.
fn write(home: &Path, below: &Path, bytes: &[u8]) -> io::Result<()> {
    let (parent, name) = parent(home, below, true)?;
    match statat(&parent, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(there) if FileType::from_raw_mode(there.st_mode) != FileType::RegularFile => {
            return Err(Errno::EXIST.into());
        }
        Ok(there) if usize::try_from(there.st_size).is_ok_and(|length| length >= bytes.len()) => return Ok(()),
        Ok(_) | Err(_) => {}
    }
    let new = format!(".{}.hedgerow", name.display());
    let _ = unlinkat(&parent, &new, AtFlags::empty());
    let make = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut file = File::from(openat(&parent, &new, make, Mode::from_raw_mode(0o600))?);
    file.write_all(bytes)?;
    Ok(renameat(&parent, &new, &parent, name)?)
}

fn read(home: &Path, below: &Path) -> io::Result<Vec<u8>> {
    let (parent, name) = parent(home, below, false)?;
    read_plain_at(parent.as_fd(), name, LONGEST)
}

/// The folder of a file below `home`, reached without a link.
pub(crate) fn parent<'a>(home: &Path, below: &'a Path, make: bool) -> io::Result<(OwnedFd, &'a Path)> {
    let name = below.file_name().ok_or(Errno::INVAL)?;
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let enter = |from: BorrowedFd<'_>, name: &Path| openat(from, name, flags, Mode::empty());
    let mut folder = enter(CWD, home)?;
    for step in below.parent().unwrap_or(Path::new("")).components() {
        let Component::Normal(step) = step else { return Err(Errno::INVAL.into()) };
        if make {
            match mkdirat(folder.as_fd(), step, Mode::from_raw_mode(0o700)) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(error) => return Err(error.into()),
            }
        }
        folder = enter(folder.as_fd(), Path::new(step))?;
    }
    Ok((folder, Path::new(name)))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    #[test]
    fn a_memory_is_put_where_it_is_looked_for_and_read_again() {
        let home = tempfile::tempdir().expect("a folder");
        let below = Path::new(".agent/sessions/1.jsonl");
        write(home.path(), below, b"said").expect("it can be written");
        let mode = fs::metadata(home.path().join(below)).expect("it is there").permissions().mode();
        assert_eq!(
            (read(home.path(), below).expect("it can be read").as_slice(), mode & 0o777),
            (b"said".as_slice(), 0o600)
        );

        write(home.path(), below, b"old").expect("there is one already");
        assert_eq!(read(home.path(), below).expect("it can be read"), b"said", "the agent's own is the newer one");
        write(home.path(), below, b"said more elsewhere").expect("it can be written");
        assert_eq!(read(home.path(), below).expect("it can be read"), b"said more elsewhere");
    }

    #[test]
    fn no_link_of_the_agent_is_followed() {
        let (home, other) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
        fs::write(other.path().join("secret"), "secret").expect("a file");
        symlink(other.path(), home.path().join("away")).expect("a link");
        symlink(other.path().join("secret"), home.path().join("file")).expect("a link");
        // A pipe that nobody writes to.
        #[cfg(target_os = "linux")]
        rustix::fs::mkfifoat(CWD, home.path().join("pipe"), Mode::from_raw_mode(0o600)).expect("a pipe");
        for below in ["away/secret", "file", "pipe", "../x", "missing"] {
            assert!(read(home.path(), Path::new(below)).is_err(), "{below}");
        }
        for below in ["away/new", "file"] {
            assert!(write(home.path(), Path::new(below), b"x").is_err(), "{below}");
        }
        assert_eq!(fs::read_dir(other.path()).expect("it can be listed").count(), 1);
    }
}
