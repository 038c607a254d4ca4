//! Out of an archive onto the disk: into folders that this very unpacking has made or found real, never through a link.

use std::collections::HashSet;
use std::fs::{self, OpenOptions, Permissions};
use std::io::{self, Read};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _, symlink};
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::archive::{Entry, Kind};

/// Unpacks entries below one folder.
#[derive(Debug)]
pub(crate) struct Unpack {
    root: PathBuf,
    /// Folders below the root that are known to be real.
    real: HashSet<PathBuf>,
    /// What folders look like in the end: while they are filled they must be writable.
    folders: Vec<(PathBuf, u32)>,
    /// Whether what is there may be replaced.
    replaces: bool,
}

impl Unpack {
    pub(crate) fn new(root: &Path) -> Self {
        Self { root: root.to_owned(), real: HashSet::new(), folders: Vec::new(), replaces: false }
    }

    /// Files that are there already give way.
    pub(crate) fn replacing(root: &Path) -> Self {
        Self { replaces: true, ..Self::new(root) }
    }

    /// Puts one entry at `name` below the root.
    pub(crate) fn put(&mut self, name: &Path, entry: &Entry, content: &mut dyn Read) -> io::Result<()> {
        if name.components().any(|part| !matches!(part, Component::Normal(_))) {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "a name that leads elsewhere"));
        }
        if entry.kind == Kind::Folder {
            self.folder(name)?;
            self.folders.push((self.root.join(name), entry.mode));
            return Ok(());
        }
        let path = self.free(name)?;
        if entry.kind == Kind::Link {
            let mut target = Vec::new();
            content.read_to_end(&mut target)?;
            return link(&target, &path);
        }
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
        io::copy(content, &mut file)?;
        file.set_permissions(Permissions::from_mode(entry.mode))?;
        file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(entry.mtime))
    }

    /// A place for something new at `name`, with the folders above it.
    pub(crate) fn free(&mut self, name: &Path) -> io::Result<PathBuf> {
        self.folder(name.parent().unwrap_or(Path::new("")))?;
        let path = self.root.join(name);
        if self.replaces && fs::symlink_metadata(&path).is_ok_and(|found| !found.is_dir()) {
            fs::remove_file(&path)?;
        }
        Ok(path)
    }

    fn folder(&mut self, name: &Path) -> io::Result<()> {
        if name.as_os_str().is_empty() || self.real.contains(name) {
            return Ok(());
        }
        self.folder(name.parent().unwrap_or(Path::new("")))?;
        let path = self.root.join(name);
        match fs::create_dir(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && fs::symlink_metadata(&path)?.is_dir() => {}
            other => other?,
        }
        self.real.insert(name.to_owned());
        Ok(())
    }

    /// Folders get their own permissions, the innermost first.
    pub(crate) fn finish(self) -> io::Result<()> {
        for (path, mode) in self.folders.iter().rev() {
            fs::set_permissions(path, Permissions::from_mode(*mode))?;
        }
        Ok(())
    }
}

pub(crate) fn link(target: &[u8], path: &Path) -> io::Result<()> {
    use std::os::unix::ffi::OsStrExt as _;
    symlink(std::ffi::OsStr::from_bytes(target), path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file() -> Entry {
        Entry { name: PathBuf::new(), kind: Kind::File, mode: 0o644, mtime: 0, size: 1 }
    }

    #[test]
    fn nothing_is_written_through_a_link_or_outside() {
        let folder = tempfile::tempdir().expect("a folder");
        let (inside, outside) = (folder.path().join("in"), folder.path().join("out"));
        fs::create_dir(&inside).expect("a folder");
        fs::create_dir(&outside).expect("a folder");
        let mut unpack = Unpack::new(&inside);
        let away = Entry { kind: Kind::Link, ..file() };
        let target = outside.as_os_str().as_encoded_bytes().to_owned();
        unpack.put(Path::new("way"), &away, &mut &target[..]).expect("a link is a link");
        assert!(unpack.put(Path::new("way/x"), &file(), &mut &b"x"[..]).is_err());
        assert!(unpack.put(Path::new("../x"), &file(), &mut &b"x"[..]).is_err());
        assert!(unpack.put(Path::new("/x"), &file(), &mut &b"x"[..]).is_err());
        assert_eq!(fs::read_dir(&outside).expect("reads").count(), 0);
    }

    #[test]
    fn nothing_is_written_over() {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("x"), "mine").expect("a file");
        let put = |mut unpack: Unpack| unpack.put(Path::new("x"), &file(), &mut &b"y"[..]);
        assert!(put(Unpack::new(folder.path())).is_err());
        assert_eq!(fs::read(folder.path().join("x")).expect("reads"), b"mine");
        put(Unpack::replacing(folder.path())).expect("is replaced");
        assert_eq!(fs::read(folder.path().join("x")).expect("reads"), b"y");
    }
}
