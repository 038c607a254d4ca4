//! Files below a folder, reached step by step and never through a symbolic link: whoever works in an environment can
//! lay one at any time, and must not lead us out of it.

mod place;

use std::ffi::OsStr;
use std::fmt;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::str::FromStr;

pub(super) use place::{New, Placed};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, RawMode, Stat, mkdirat, openat, readlinkat, statat, unlinkat};

/// What tells an untouched file from one that was written: kind and mode, size, both times, and which file it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp {
    fields: [i128; 7],
}

/// What git writes for files of each kind that it keeps.
const KINDS: [(FileType, &str); 2] = [(FileType::RegularFile, "100644"), (FileType::Symlink, "120000")];

impl Stamp {
    pub(super) fn of(stat: &Stat) -> Self {
        let times = [
            i128::from(stat.st_mtime),
            i128::from(stat.st_mtime_nsec),
            i128::from(stat.st_ctime),
            i128::from(stat.st_ctime_nsec),
        ];
        let [modified, modified_ns, changed, changed_ns] = times;
        let (mode, size, ino) = (i128::from(stat.st_mode), i128::from(stat.st_size), i128::from(stat.st_ino));
        Self { fields: [mode, size, modified, modified_ns, changed, changed_ns, ino] }
    }

    /// Whether it is the same file with the same content, wherever it was moved: that changes nothing but the last time.
    fn is_unwritten(&self, since: &Self) -> bool {
        let but_changed = |stamp: &Self| {
            let [mode, size, modified, modified_ns, _, _, ino] = stamp.fields;
            [mode, size, modified, modified_ns, ino]
        };
        but_changed(self) == but_changed(since)
    }

    /// When the system last changed anything about the file.
    pub(super) const fn changed(&self) -> (i128, i128) {
        (self.fields[4], self.fields[5])
    }

    /// The mode git gives such a file; `None` for what git does not keep.
    pub(super) fn git_mode(&self) -> Option<&'static str> {
        let mode = RawMode::try_from(self.fields[0]).unwrap_or_default();
        let kind = FileType::from_raw_mode(mode);
        let found = KINDS.iter().find(|(known, _)| *known == kind).map(|(_, mode)| *mode);
        if kind == FileType::RegularFile && mode & 0o100 != 0 { Some("100755") } else { found }
    }
}

impl fmt::Display for Stamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.fields.map(|field| field.to_string()).join(" "))
    }
}

impl FromStr for Stamp {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let fields: Option<Vec<i128>> = text.split(' ').map(|field| field.parse().ok()).collect();
        Ok(Self { fields: fields.and_then(|fields| fields.try_into().ok()).ok_or(())? })
    }
}

/// What is found at a path.
#[derive(Debug)]
pub(super) enum Content {
    File(File, Stamp),
    Link(Vec<u8>, Stamp),
    /// A folder, pipe or the like.
    Other,
}

/// A folder whose files are reached.
#[derive(Debug)]
pub(super) struct Beneath {
    root: OwnedFd,
}

const FOLDER: OFlags = OFlags::DIRECTORY.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

impl Beneath {
    pub(super) fn open(root: &Path) -> io::Result<Self> {
        Ok(Self { root: openat(CWD, root, FOLDER, Mode::empty())? })
    }

    /// The folder a path is in, and its last name. Folders on the way are made if wanted.
    fn parent<'p>(&self, path: &'p [u8], make: bool) -> io::Result<(OwnedFd, &'p OsStr)> {
        let mut names = path.split(|byte| *byte == b'/');
        let last = names.next_back().filter(|name| is_plain(name)).ok_or_else(|| bad(path))?;
        let mut folder = self.root.try_clone()?;
        for name in names {
            if !is_plain(name) {
                return Err(bad(path));
            }
            let name = OsStr::from_bytes(name);
            if make {
                match mkdirat(&folder, name, Mode::from_raw_mode(0o777)) {
                    Err(error) if error != rustix::io::Errno::EXIST => return Err(error.into()),
                    _ => {}
                }
            }
            folder = openat(&folder, name, FOLDER, Mode::empty())?;
        }
        Ok((folder, OsStr::from_bytes(last)))
    }

    /// `None` when there is nothing at the path, nor a way to it.
    pub(super) fn stamp(&self, path: &[u8]) -> io::Result<Option<Stamp>> {
        let found = self
            .parent(path, false)
            .and_then(|(folder, name)| Ok(Stamp::of(&statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW)?)));
        or_nothing(found)
    }

    /// Opens what is at a path; `None` when there is nothing.
    pub(super) fn read(&self, path: &[u8]) -> io::Result<Option<Content>> {
        or_nothing(self.parent(path, false).and_then(|(folder, name)| {
            let stat = statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
            match FileType::from_raw_mode(stat.st_mode) {
                FileType::Symlink => {
                    let target = readlinkat(&folder, name, Vec::new())?;
                    Ok(Content::Link(target.into_bytes(), Stamp::of(&stat)))
                }
                FileType::RegularFile => {
                    // A pipe that has come in its place must not hold us up.
                    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
                    let file = openat(&folder, name, flags, Mode::empty())?;
                    let stat = rustix::fs::fstat(&file)?;
                    if FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile {
                        Ok(Content::File(file.into(), Stamp::of(&stat)))
                    } else {
                        Ok(Content::Other)
                    }
                }
                _ => Ok(Content::Other),
            }
        }))
    }

    /// Folders above a path that hold nothing any more go.
    pub(super) fn remove_empty_above(&self, path: &[u8]) {
        let mut rest = path;
        while let Some(slash) = rest.iter().rposition(|byte| *byte == b'/') {
            rest = &rest[..slash];
            let removed = self
                .parent(rest, false)
                .and_then(|(folder, name)| unlinkat(&folder, name, AtFlags::REMOVEDIR).map_err(io::Error::from));
            if removed.is_err() {
                break;
            }
        }
    }
}

fn is_plain(name: &[u8]) -> bool {
    !name.is_empty() && name != b"." && name != b".." && !name.eq_ignore_ascii_case(b".git")
}

fn bad(path: &[u8]) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, format!("`{}` is no path of a file", path.escape_ascii()))
}

/// Something that is no folder is where a folder should be, or the other way round.
fn is_blocked(error: &io::Error) -> bool {
    use io::ErrorKind::{AlreadyExists, DirectoryNotEmpty, IsADirectory, NotADirectory};
    let is_link = rustix::io::Errno::from_io_error(error) == Some(rustix::io::Errno::LOOP);
    is_link || matches!(error.kind(), AlreadyExists | DirectoryNotEmpty | IsADirectory | NotADirectory)
}

fn or_nothing<T>(found: io::Result<T>) -> io::Result<Option<T>> {
    match found {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.kind() == io::ErrorKind::NotFound || is_blocked(&error) => Ok(None),
        Err(error) => Err(error),
    }
}
