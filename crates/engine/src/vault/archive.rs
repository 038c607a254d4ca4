//! The archive of a saved state: a `tar.zst` that any system's own tools can open.
//!
//! What is read back is compared with what was read from disk, entry by entry, by one hash over all of them: names,
//! kinds, permissions and contents.

use std::fs::File;
use std::io::{self, BufReader, Read, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};
use tar::{Builder, EntryType, Header};
use zstd::{Decoder, Encoder};

use super::manifest::hex;

/// Quick, and small enough: most of what is saved is source text.
const LEVEL: i32 = 2;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Folder,
    File,
    Link,
}

/// One thing in an archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) name: PathBuf,
    pub(crate) kind: Kind,
    /// Permissions.
    pub(crate) mode: u32,
    /// Seconds since 1970.
    pub(crate) mtime: u64,
    pub(crate) size: u64,
}

/// How many entries there are, and the hash over all of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Contents {
    pub(crate) entries: u64,
    pub(crate) sha256: String,
}

/// Hashes what goes through it.
#[derive(Default)]
struct Tally {
    hash: Sha256,
    entries: u64,
}

impl Tally {
    fn begin(&mut self, entry: &Entry) {
        let kind = match entry.kind {
            Kind::Folder => 0u8,
            Kind::File => 1,
            Kind::Link => 2,
        };
        let name = entry.name.as_os_str().as_bytes();
        self.hash.update((name.len() as u64).to_le_bytes());
        self.hash.update(name);
        self.hash.update([kind]);
        self.hash.update(entry.mode.to_le_bytes());
        self.hash.update(entry.size.to_le_bytes());
        self.entries += 1;
    }

    fn end(self) -> Contents {
        Contents { entries: self.entries, sha256: hex(&self.hash.finalize()) }
    }
}

/// Reads from `inner` and hashes on the way.
struct Heard<'a, R> {
    inner: R,
    hash: &'a mut Sha256,
}

impl<R: Read> Read for Heard<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.hash.update(&buffer[..count]);
        Ok(count)
    }
}

/// Writes an archive.
pub(crate) struct Writer {
    tar: Builder<Encoder<'static, File>>,
    tally: Tally,
}

impl Writer {
    pub(crate) fn create(path: &Path) -> io::Result<Self> {
        let mut encoder = Encoder::new(File::create_new(path)?, LEVEL)?;
        encoder.include_checksum(true)?;
        let mut tar = Builder::new(encoder);
        tar.follow_symlinks(false);
        Ok(Self { tar, tally: Tally::default() })
    }

    /// Adds one thing. The content of a file must be exactly as long as the entry says; of a link, it is its target.
    pub(crate) fn add(&mut self, entry: &Entry, content: impl Read) -> io::Result<()> {
        self.tally.begin(entry);
        let mut header = Header::new_gnu();
        header.set_mode(entry.mode);
        header.set_mtime(entry.mtime);
        match entry.kind {
            Kind::Folder => {
                header.set_entry_type(EntryType::Directory);
                header.set_size(0);
                self.tar.append_data(&mut header, &entry.name, io::empty())
            }
            Kind::Link => {
                let mut target = Vec::new();
                Heard { inner: content, hash: &mut self.tally.hash }.read_to_end(&mut target)?;
                header.set_entry_type(EntryType::Symlink);
                header.set_size(0);
                self.link_target(&mut header, &target)?;
                self.tar.append_data(&mut header, &entry.name, io::empty())
            }
            Kind::File => {
                header.set_entry_type(EntryType::Regular);
                header.set_size(entry.size);
                let mut exact = Exact { inner: content, left: entry.size };
                self.tar.append_data(
                    &mut header,
                    &entry.name,
                    Heard { inner: &mut exact, hash: &mut self.tally.hash },
                )?;
                exact.require_end()
            }
        }
    }

    /// The target as it is, byte for byte. One that does not fit into the header goes before it, as GNU tar does it.
    fn link_target(&mut self, header: &mut Header, target: &[u8]) -> io::Result<()> {
        if header.set_link_name_literal(target).is_ok() {
            return Ok(());
        }
        let mut before = Header::new_gnu();
        before.as_gnu_mut().expect("it was made so").name[..13].clone_from_slice(b"././@LongLink");
        before.set_mode(0o644);
        before.set_entry_type(EntryType::GNULongLink);
        before.set_size(target.len() as u64 + 1);
        before.set_cksum();
        self.tar.append(&before, target.chain(&b"\0"[..]))
    }

    /// Everything is on disk when this returns.
    pub(crate) fn finish(self) -> io::Result<Contents> {
        let mut file = self.tar.into_inner()?.finish()?;
        file.flush()?;
        file.sync_all()?;
        Ok(self.tally.end())
    }
}

/// Reads as much as was promised: a file that changes while it is saved is an error, not a shorter file.
struct Exact<R> {
    inner: R,
    left: u64,
}

impl<R: Read> Read for Exact<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let most = usize::try_from(self.left).unwrap_or(usize::MAX).min(buffer.len());
        if most == 0 {
            return Ok(0);
        }
        let count = self.inner.read(&mut buffer[..most])?;
        if count == 0 {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "it became shorter while it was saved"));
        }
        self.left -= count as u64;
        Ok(count)
    }
}

impl<R: Read> Exact<R> {
    fn require_end(mut self) -> io::Result<()> {
        match self.inner.read(&mut [0])? {
            0 => Ok(()),
            _ => Err(io::Error::other("it became longer while it was saved")),
        }
    }
}

/// Reads an archive from beginning to end, handing each entry over with its content (of a link: its target).
pub(crate) fn read(path: &Path, mut each: impl FnMut(&Entry, &mut dyn Read) -> io::Result<()>) -> io::Result<Contents> {
    let decoder = Decoder::new(BufReader::new(File::open(path)?))?;
    let mut archive = tar::Archive::new(decoder);
    let mut tally = Tally::default();
    for found in archive.entries()? {
        let mut found = found?;
        let (entry, target) = describe(&found)?;
        tally.begin(&entry);
        match target {
            Some(target) => {
                tally.hash.update(&target);
                each(&entry, &mut &target[..])?;
            }
            None => {
                let mut heard = Heard { inner: &mut found, hash: &mut tally.hash };
                each(&entry, &mut heard)?;
                // What nobody wanted counts as well.
                io::copy(&mut heard, &mut io::sink())?;
            }
        }
    }
    // The end of the compressed stream carries its checksum.
    io::copy(&mut archive.into_inner(), &mut io::sink())?;
    Ok(tally.end())
}

fn describe<R: Read>(found: &tar::Entry<'_, R>) -> io::Result<(Entry, Option<Vec<u8>>)> {
    let header = found.header();
    let damaged = || io::Error::new(io::ErrorKind::InvalidData, "an entry of an unknown kind");
    let name = PathBuf::from(std::ffi::OsStr::from_bytes(&found.path_bytes()));
    let mut entry = Entry { name, kind: Kind::File, mode: header.mode()?, mtime: header.mtime()?, size: found.size() };
    match header.entry_type() {
        EntryType::Regular => Ok((entry, None)),
        EntryType::Directory => {
            entry.kind = Kind::Folder;
            // A folder's name ends in `/` here.
            entry.name = entry.name.components().collect();
            Ok((entry, None))
        }
        EntryType::Symlink => {
            let target = found.link_name_bytes().ok_or_else(damaged)?.into_owned();
            entry.kind = Kind::Link;
            entry.size = target.len() as u64;
            Ok((entry, Some(target)))
        }
        _ => Err(damaged()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(name: &[u8], kind: Kind, size: u64) -> Entry {
        Entry { name: PathBuf::from(std::ffi::OsStr::from_bytes(name)), kind, mode: 0o640, mtime: 1_000, size }
    }

    #[test]
    fn what_is_read_back_is_what_was_written_whatever_its_name() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.tar.zst");
        let long = [b"files/".as_slice(), &b"n".repeat(180), b"/", &b"m".repeat(200)].concat();
        let link = b"../".repeat(60);
        let mut writer = Writer::create(&path).expect("begins");
        let written = [
            (entry(b"files", Kind::Folder, 0), &b""[..]),
            (entry(b"files/a b\xff\nc", Kind::File, 5), b"hello"),
            (entry(&long, Kind::File, 0), b""),
            (entry(b"files/link", Kind::Link, link.len() as u64), &link),
            (entry(b"files/odd", Kind::Link, 10), b"a//./b/../"),
        ];
        for (entry, content) in &written {
            writer.add(entry, *content).expect("is added");
        }
        let sealed = writer.finish().expect("ends");
        let mut found = Vec::new();
        let contents = read(&path, |entry, content| {
            let mut bytes = Vec::new();
            content.read_to_end(&mut bytes)?;
            found.push((entry.clone(), bytes));
            Ok(())
        })
        .expect("reads");
        assert_eq!(contents, sealed);
        assert_eq!(contents.entries, 5);
        for ((entry, content), (back, bytes)) in written.iter().zip(&found) {
            assert_eq!((entry, *content), (back, &bytes[..]));
        }
        // Nobody has to look at a content for it to count.
        assert_eq!(read(&path, |_, _| Ok(())).expect("reads"), sealed);
    }

    #[test]
    fn a_file_that_changes_its_length_meanwhile_is_an_error() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut writer = Writer::create(&folder.path().join("a")).expect("begins");
        assert!(writer.add(&entry(b"x", Kind::File, 3), &b"ab"[..]).is_err());
        let mut writer = Writer::create(&folder.path().join("b")).expect("begins");
        assert!(writer.add(&entry(b"x", Kind::File, 1), &b"ab"[..]).is_err());
    }

    #[test]
    fn a_byte_that_turns_is_noticed() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.tar.zst");
        let mut writer = Writer::create(&path).expect("begins");
        let content: Vec<u8> = (0..40_000u32).flat_map(u32::to_le_bytes).collect();
        writer.add(&entry(b"x", Kind::File, content.len() as u64), &content[..]).expect("is added");
        let sealed = writer.finish().expect("ends");
        let mut bytes = std::fs::read(&path).expect("reads");
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        std::fs::write(&path, bytes).expect("writes");
        assert!(read(&path, |_, _| Ok(())).map_or(true, |contents| contents != sealed));
    }
}
