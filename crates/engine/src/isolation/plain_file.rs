//! Reading small files that somebody else can swap at any moment: what an agent may write can become a pipe that never
//! ends, a device, or a file without bounds.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::BorrowedFd;
use std::path::Path;

use rustix::fs::{CWD, Mode, OFlags, openat};

/// Longer than any log or link file that git writes in years.
const LARGEST: u64 = 16 << 20;

/// The bytes of an ordinary file, which may be behind links. Anything else is an error, at once.
pub(crate) fn read_plain(path: &Path) -> io::Result<Vec<u8>> {
    read(CWD, path, OFlags::empty(), LARGEST)
}

/// The same for a file that is kept or shown: what a link leads to is not it.
pub(crate) fn read_plain_itself(path: &Path) -> io::Result<Vec<u8>> {
    read(CWD, path, OFlags::NOFOLLOW, LARGEST)
}

/// The same for a file in a folder that is open already.
pub(crate) fn read_plain_at(folder: BorrowedFd<'_>, name: &Path, longest: u64) -> io::Result<Vec<u8>> {
    read(folder, name, OFlags::NOFOLLOW, longest)
}

fn read(from: BorrowedFd<'_>, path: &Path, besides: OFlags, longest: u64) -> io::Result<Vec<u8>> {
    // Without waiting for whoever might write into a pipe.
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | besides;
    let file = File::from(openat(from, path, flags, Mode::empty())?);
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is no ordinary file"));
    }
    let mut bytes = Vec::new();
    file.take(longest + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > longest {
        return Err(io::Error::other("it is larger than it should be"));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::process::Command;

    use super::*;

    #[test]
    fn what_is_no_ordinary_file_is_not_waited_for() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name);
        std::fs::write(path("plain"), "x").expect("a file");
        symlink("plain", path("link")).expect("a link");
        symlink("/dev/zero", path("endless")).expect("a link");
        assert!(Command::new("mkfifo").arg(path("pipe")).status().expect("it starts").success());

        assert_eq!(read_plain(&path("plain")).expect("it is one"), b"x");
        assert_eq!(read_plain(&path("link")).expect("it leads to one"), b"x");
        assert!(read_plain_itself(&path("link")).is_err());
        for odd in ["endless", "pipe", ".", "missing"] {
            assert!(read_plain(&path(odd)).is_err(), "{odd}");
        }
    }
}
