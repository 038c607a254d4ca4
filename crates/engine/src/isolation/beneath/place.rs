//! Putting files in place and taking them away without a moment in which somebody's writing is lost.
//!
//! A look and a rename are two steps, and anybody may write between them. So the file that has to go is moved aside first,
//! where nobody looks for it, and looked at there: if it is not the one it should be, it goes back.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use rustix::fs::{AtFlags, Mode, OFlags, RenameFlags, openat, renameat, renameat_with, symlinkat, unlinkat};
use rustix::io::Errno;

use super::{Beneath, Stamp, is_blocked};

/// A file to be put in place.
#[derive(Debug)]
pub(in crate::isolation) enum New<'a> {
    File { from: &'a Path, executable: bool },
    Link(&'a [u8]),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::isolation) enum Placed {
    Done,
    /// Something else is there than was expected; it stays.
    InTheWay,
}

/// A folder, and a name in it.
type At<'a> = (&'a OwnedFd, &'a OsStr);

impl Beneath {
    /// Puts a new file in place of one that still has this stamp; of none, when there was none. The file comes into being
    /// beside, under the name `beside`, and is whole when it appears.
    pub(in crate::isolation) fn place(
        &self,
        new: &New<'_>,
        path: &[u8],
        instead_of: Option<&Stamp>,
        beside: &str,
    ) -> io::Result<Placed> {
        let (folder, name) = match self.parent(path, true) {
            Err(error) if is_blocked(&error) => return Ok(Placed::InTheWay),
            other => other?,
        };
        self.make(new, beside)?;
        if self.stamp(path)?.as_ref() != instead_of {
            return self.give_up(beside);
        }
        match instead_of {
            Some(stamp) => self.exchange(beside, (&folder, name), stamp),
            None => match move_to_free((&self.root, OsStr::new(beside)), (&folder, name)) {
                Err(error) if is_blocked(&error) => self.give_up(beside),
                other => other.map(|()| Placed::Done),
            },
        }
    }

    /// Deletes a file that still has this stamp, and the folders that are empty then.
    pub(in crate::isolation) fn remove(&self, path: &[u8], stamp: &Stamp, beside: &str) -> io::Result<Placed> {
        if self.stamp(path)?.as_ref() != Some(stamp) {
            return Ok(Placed::InTheWay);
        }
        let (folder, name) = self.parent(path, false)?;
        let _ = unlinkat(&self.root, beside, AtFlags::empty());
        let placed = self.take_away((&folder, name), stamp, beside)?;
        if placed == Placed::Done {
            self.remove_empty_above(path);
        }
        Ok(placed)
    }

    /// The new file, under the name it has until it is in place.
    fn make(&self, new: &New<'_>, beside: &str) -> io::Result<()> {
        let _ = unlinkat(&self.root, beside, AtFlags::empty());
        match new {
            New::Link(target) => symlinkat(OsStr::from_bytes(target), &self.root, beside)?,
            New::File { from, executable } => {
                let mode = if *executable { 0o777 } else { 0o666 };
                let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                let mut file = File::from(openat(&self.root, beside, flags, Mode::from_raw_mode(mode))?);
                io::copy(&mut File::open(from)?, &mut file)?;
            }
        }
        Ok(())
    }

    /// The new file and the old one change places, in one step. The old one goes if nobody has written to it.
    fn exchange(&self, beside: &str, (folder, name): At<'_>, stamp: &Stamp) -> io::Result<Placed> {
        let own = self.stamp(beside.as_bytes())?;
        let exchange = || renameat_with(&self.root, beside, folder, name, RenameFlags::EXCHANGE);
        match exchange() {
            Ok(()) => {}
            Err(Errno::NOENT) => return self.give_up(beside),
            // It was looked at just now; there is no better way here.
            Err(error) if is_beyond(error) => {
                return match renameat(&self.root, beside, folder, name).map_err(io::Error::from) {
                    Err(error) if is_blocked(&error) => self.give_up(beside),
                    other => other.map(|()| Placed::Done),
                };
            }
            Err(error) => return Err(error.into()),
        }
        let out = self.stamp(beside.as_bytes())?;
        if out.is_some_and(|out| out.is_unwritten(stamp)) {
            unlinkat(&self.root, beside, AtFlags::empty())?;
            return Ok(Placed::Done);
        }
        exchange().map_err(|_| self.set_aside(beside, name))?;
        match (self.stamp(beside.as_bytes())?, own) {
            (Some(back), Some(own)) if back.is_unwritten(&own) => self.give_up(beside),
            _ => Err(self.set_aside(beside, name)),
        }
    }

    /// Moves a file to the name `beside`, and deletes it there if nobody has written to it.
    fn take_away(&self, from: At<'_>, stamp: &Stamp, beside: &str) -> io::Result<Placed> {
        let aside = (&self.root, OsStr::new(beside));
        match renameat(from.0, from.1, aside.0, aside.1) {
            Ok(()) => {}
            Err(Errno::NOENT) => return Ok(Placed::InTheWay),
            Err(error) if is_beyond(error) => {
                unlinkat(from.0, from.1, AtFlags::empty())?;
                return Ok(Placed::Done);
            }
            Err(error) => return Err(error.into()),
        }
        if self.stamp(beside.as_bytes())?.is_some_and(|out| out.is_unwritten(stamp)) {
            unlinkat(&self.root, beside, AtFlags::empty())?;
            return Ok(Placed::Done);
        }
        move_to_free(aside, from).map_err(|_| self.set_aside(beside, from.1))?;
        Ok(Placed::InTheWay)
    }

    /// The new file goes; what is at its place stays.
    fn give_up(&self, beside: &str) -> io::Result<Placed> {
        unlinkat(&self.root, beside, AtFlags::empty())?;
        Ok(Placed::InTheWay)
    }

    /// Two wrote at the same moment, and only one can have the name. What the other wrote gets one that nothing deletes.
    fn set_aside(&self, beside: &str, name: &OsStr) -> io::Error {
        let number = self.stamp(beside.as_bytes()).ok().flatten().map_or(0, |stamp| stamp.fields[6]);
        let kept = format!("{beside}-kept-{number}");
        let moved = move_to_free((&self.root, OsStr::new(beside)), (&self.root, OsStr::new(&kept)));
        let kept = moved.map_or(beside, |()| kept.as_str());
        let name = name.to_string_lossy();
        io::Error::other(format!("`{name}` was written to at the same moment; what was in it is in `{kept}`"))
    }
}

/// Renames to where nothing is.
fn move_to_free(from: At<'_>, to: At<'_>) -> io::Result<()> {
    let (from_folder, to_folder) = (from.0.as_fd(), to.0.as_fd());
    match renameat_with(from_folder, from.1, to_folder, to.1, RenameFlags::NOREPLACE) {
        // Some file systems cannot promise it in one step; it was looked at just now.
        Err(error) if is_beyond(error) => Ok(renameat(from_folder, from.1, to_folder, to.1)?),
        other => Ok(other?),
    }
}

/// The file system cannot do this kind of rename.
fn is_beyond(error: Errno) -> bool {
    [Errno::INVAL, Errno::NOSYS, Errno::OPNOTSUPP, Errno::XDEV].contains(&error)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const BESIDE: &str = ".beside";

    /// A folder with a file in it, and the stamp that the file had before somebody wrote to it.
    fn written_since(how: fn(&Path)) -> (tempfile::TempDir, Beneath, Stamp) {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("a.txt");
        fs::write(&file, "as it was\n").expect("a file");
        let beneath = Beneath::open(folder.path()).expect("it opens");
        let stamp = beneath.stamp(b"a.txt").expect("it is there").expect("it is there");
        how(&file);
        (folder, beneath, stamp)
    }

    fn new(folder: &Path, beneath: &Beneath) {
        let from = folder.join("new");
        fs::write(&from, "new\n").expect("a file");
        beneath.make(&New::File { from: &from, executable: false }, BESIDE).expect("it is made");
        fs::remove_file(from).expect("it was there");
    }

    /// What a file becomes between the look at it and the rename.
    const HOW: [fn(&Path); 4] = [
        |file| fs::write(file, "written at the last moment\n").expect("it is written"),
        |file| {
            // As editors save.
            let other = file.with_extension("saved");
            fs::write(&other, "as it is\n").expect("a file");
            fs::rename(other, file).expect("it is replaced");
        },
        |file| {
            fs::remove_file(file).expect("it was there");
            fs::create_dir(file).expect("a folder");
            fs::write(file.join("inner"), "inner\n").expect("a file");
        },
        |file| {
            fs::remove_file(file).expect("it was there");
            std::os::unix::fs::symlink("elsewhere", file).expect("a link");
        },
    ];

    /// Every name with its content, or what else it is.
    fn picture(folder: &Path) -> Vec<String> {
        let mut all: Vec<String> = fs::read_dir(folder)
            .expect("a folder")
            .map(|entry| entry.expect("an entry").path())
            .map(|path| match fs::symlink_metadata(&path).expect("it is there").file_type() {
                kind if kind.is_dir() => format!("{} {:?}", path.display(), picture(&path)),
                kind if kind.is_symlink() => format!("{} -> {:?}", path.display(), fs::read_link(&path)),
                _ => format!("{} {:?}", path.display(), fs::read_to_string(&path)),
            })
            .collect();
        all.sort();
        all
    }

    #[test]
    fn what_is_written_between_the_look_and_the_exchange_stays() {
        for how in HOW {
            let (folder, beneath, stamp) = written_since(how);
            let before = picture(folder.path());
            new(folder.path(), &beneath);
            let placed = beneath.exchange(BESIDE, (&beneath.root, OsStr::new("a.txt")), &stamp);
            assert_eq!(placed.expect("it is put back"), Placed::InTheWay);
            assert_eq!(picture(folder.path()), before);
        }
    }

    #[test]
    fn what_is_written_between_the_look_and_the_deletion_stays() {
        for how in HOW {
            let (folder, beneath, stamp) = written_since(how);
            let before = picture(folder.path());
            let placed = beneath.take_away((&beneath.root, OsStr::new("a.txt")), &stamp, BESIDE);
            assert_eq!(placed.expect("it is put back"), Placed::InTheWay);
            assert_eq!(picture(folder.path()), before);
        }
    }

    #[test]
    fn what_nobody_wrote_to_is_replaced_and_deleted() {
        let (folder, beneath, stamp) = written_since(|_| {});
        new(folder.path(), &beneath);
        let at = (&beneath.root, OsStr::new("a.txt"));
        assert_eq!(beneath.exchange(BESIDE, at, &stamp).expect("exchanged"), Placed::Done);
        assert_eq!(fs::read_to_string(folder.path().join("a.txt")).expect("a file"), "new\n");
        let stamp = beneath.stamp(b"a.txt").expect("it is there").expect("it is there");
        assert_eq!(beneath.take_away(at, &stamp, BESIDE).expect("deleted"), Placed::Done);
        assert_eq!(picture(folder.path()), Vec::<String>::new());
    }
}
