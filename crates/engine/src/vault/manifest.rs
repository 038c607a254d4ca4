//! What a saved state says about itself, in a file that a person can read as well.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::Path;

use hedgerow_core::saved::{Account, Skipped, SkippedBecause};
use hedgerow_core::{CommitSha, Timestamp};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

pub(crate) const MANIFEST: &str = "manifest.json";
pub(crate) const ARCHIVE: &str = "files.tar.zst";
/// Laid out like a repository's own, so that git can read from it as it is.
pub(crate) const OBJECTS: &str = "objects";

/// The layout described here.
const VERSION: u32 = 1;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Manifest {
    pub(crate) version: u32,
    pub(crate) environment: String,
    /// For a person who finds it without the store: which repository, which work.
    pub(crate) codebase: String,
    pub(crate) remote: Option<String>,
    pub(crate) works: Vec<String>,
    pub(crate) base: Option<String>,
    /// When it went to the trash, in milliseconds since 1970.
    pub(crate) left_at: i64,
    /// The folder it was saved from: what its submodules still point to.
    pub(crate) path: String,
    pub(crate) branch: String,
    pub(crate) branch_tip: Option<String>,
    pub(crate) head: Option<String>,
    pub(crate) was_detached: bool,
    pub(crate) branch_deleted: bool,
    /// Commits that are not in the pack, and that the repository must have.
    pub(crate) needs: Vec<String>,
    /// The permissions of tracked files that are not in the archive.
    pub(crate) modes: Modes,
    pub(crate) archive: Sealed,
    pub(crate) pack: Option<Sealed>,
    pub(crate) skipped: Vec<Left>,
}

/// Permissions of files that are programs, and of those that are not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Modes {
    pub(crate) plain: u32,
    pub(crate) program: u32,
}

/// A file of the saved state and how to know that it is whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Sealed {
    pub(crate) name: String,
    pub(crate) bytes: u64,
    pub(crate) sha256: String,
    /// Files in an archive, objects in a pack.
    pub(crate) entries: u64,
}

/// Something that is not in the saved state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Left {
    path: String,
    because: String,
    bytes: u64,
}

impl From<&Skipped> for Left {
    fn from(skipped: &Skipped) -> Self {
        Self { path: skipped.path.clone(), because: skipped.because.to_string(), bytes: skipped.bytes }
    }
}

impl Manifest {
    pub(crate) const VERSION: u32 = VERSION;

    /// Writes it, to the disk and not only to memory.
    pub(crate) fn write(&self, folder: &Path) -> io::Result<()> {
        let mut text = serde_json::to_vec_pretty(self)?;
        text.push(b'\n');
        let mut file = File::create_new(folder.join(MANIFEST))?;
        file.write_all(&text)?;
        file.sync_all()
    }

    pub(crate) fn read(folder: &Path) -> io::Result<Self> {
        let text = fs::read(folder.join(MANIFEST))?;
        let manifest: Self = serde_json::from_slice(&text)?;
        if manifest.version == VERSION {
            return Ok(manifest);
        }
        let why = format!("it has the layout {} of a newer Hedgerow; upgrade to read it", manifest.version);
        Err(io::Error::new(io::ErrorKind::Unsupported, why))
    }

    /// The same for people and scripts.
    pub(crate) fn account(&self) -> Account {
        let sha = |text: &Option<String>| text.as_deref().and_then(|text| CommitSha::parse(text).ok());
        let skipped = self.skipped.iter().map(|left| Skipped {
            path: left.path.clone(),
            because: left.because.parse().unwrap_or(SkippedBecause::TooMuch),
            bytes: left.bytes,
        });
        Account {
            left_at: Timestamp::from_millis(self.left_at),
            branch: self.branch.clone(),
            head: sha(&self.head),
            was_detached: self.was_detached,
            branch_tip: sha(&self.branch_tip),
            files: self.archive.entries,
            objects: self.pack.as_ref().map_or(0, |pack| pack.entries),
            skipped: skipped.collect(),
        }
    }
}

impl Sealed {
    /// Seals a file that is written.
    pub(crate) fn of(folder: &Path, name: &str, entries: u64) -> io::Result<Self> {
        let file = File::open(folder.join(name))?;
        file.sync_all()?;
        let (sha256, bytes) = hash(file)?;
        Ok(Self { name: name.to_owned(), bytes, sha256, entries })
    }

    /// Whether the file is, byte for byte, what it was.
    pub(crate) fn check(&self, folder: &Path) -> io::Result<()> {
        let (sha256, bytes) = hash(File::open(folder.join(&self.name))?)?;
        if sha256 == self.sha256 && bytes == self.bytes {
            return Ok(());
        }
        Err(io::Error::new(io::ErrorKind::InvalidData, format!("{} is not what was written", self.name)))
    }
}

fn hash(mut file: File) -> io::Result<(String, u64)> {
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    let mut bytes = 0;
    loop {
        let count = file.read(&mut buffer)?;
        if count == 0 {
            return Ok((hex(&hash.finalize()), bytes));
        }
        hash.update(&buffer[..count]);
        bytes += count as u64;
    }
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("writing to a string cannot fail");
        text
    })
}
