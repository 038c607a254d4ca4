//! What a commit has at a path: files as they were committed, whatever a working tree says.

use std::ffi::OsStr;
use std::fs;
use std::io::{Seek as _, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use hedgerow_core::CommitSha;

use super::call::Call;
use super::refs::unexpected;
use super::{GitError, GitResult, Repo};

/// What was committed at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Committed {
    Nothing,
    File(Vec<u8>),
    /// A file of more bytes than were asked for; it is not read.
    Larger {
        bytes: u64,
    },
    /// Not a file: what it is instead, for people. A symbolic link is never followed.
    Other(&'static str),
}

/// A regular file of a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    pub path: Vec<u8>,
    pub object: String,
    pub bytes: u64,
}

impl Repo {
    /// The regular files of a commit at these paths, or below them.
    pub async fn files_at(&self, commit: &CommitSha, paths: &[PathBuf]) -> GitResult<Vec<File>> {
        let (mut files, mut bad) = (Vec::new(), None);
        let call = self.call().args(["ls-tree", "-r", "-l", "-z", "--full-tree", commit.as_str(), "--"]).args(paths);
        let listed = call.records(|record| match TreeEntry::read(record) {
            Ok(entry) if entry.is_instead_of_a_file().is_none() => match entry.size.parse() {
                Ok(bytes) => files.push(File { path: entry.path.to_vec(), object: entry.object.to_owned(), bytes }),
                Err(_) => bad = Some(unexpected("ls-tree", entry.size)),
            },
            Ok(_) => {}
            Err(error) => bad = Some(error),
        });
        listed.await?;
        bad.map_or(Ok(files), Err)
    }

    /// Writes the files of a commit into a file, as a tar archive, and goes back to its beginning.
    pub async fn archive(&self, commit: &CommitSha, mut into: fs::File) -> GitResult<fs::File> {
        self.call().args(["archive", "--format=tar", commit.as_str()]).pieces(|piece| into.write_all(piece)).await?;
        into.rewind().map_err(GitError::io("read the archive of a commit"))?;
        Ok(into)
    }

    /// The file at a path of a commit, byte for byte, if it has at most `cap` bytes.
    pub async fn blob_at(&self, commit: &CommitSha, path: &Path, cap: usize) -> GitResult<Committed> {
        let listed = self.list_tree(commit, path, &["-l"]).read().await?;
        let Some(record) = listed.split(|byte| *byte == 0).find(|record| !record.is_empty()) else {
            return Ok(Committed::Nothing);
        };
        let entry = TreeEntry::read(record)?;
        if let Some(other) = entry.is_instead_of_a_file() {
            return Ok(Committed::Other(other));
        }
        // git writes no number for an object it does not have.
        let bytes: u64 = entry.size.parse().map_err(|_| unexpected("ls-tree", entry.size))?;
        if usize::try_from(bytes).is_ok_and(|bytes| bytes <= cap) {
            return self.call().args(["cat-file", "blob", entry.object]).read().await.map(Committed::File);
        }
        Ok(Committed::Larger { bytes })
    }

    /// The regular files of a commit below a folder, or the file that is there; `None` when there are more than `most`.
    pub async fn regular_files(
        &self,
        commit: &CommitSha,
        folder: &Path,
        most: usize,
    ) -> GitResult<Option<Vec<PathBuf>>> {
        let (mut files, mut count, mut bad) = (Vec::new(), 0, None);
        let call = self.list_tree(commit, folder, &["-r"]);
        let listed = call.records(|record| match TreeEntry::read(record) {
            Ok(entry) if entry.is_instead_of_a_file().is_none() => {
                count += 1;
                if count <= most {
                    files.push(PathBuf::from(OsStr::from_bytes(entry.path)));
                }
            }
            Ok(_) => {}
            Err(error) => bad = Some(error),
        });
        listed.await?;
        match bad {
            Some(error) => Err(error),
            None => Ok((count <= most).then_some(files)),
        }
    }

    fn list_tree(&self, commit: &CommitSha, path: &Path, options: &[&str]) -> Call<'_> {
        let call = self.call().args(["ls-tree", "-z", "--full-tree"]).args(options);
        call.args([commit.as_str(), "--"]).arg(path)
    }
}

/// One record of `ls-tree -z`: `mode kind object [size] TAB path`.
struct TreeEntry<'r> {
    mode: &'r str,
    object: &'r str,
    /// Empty unless it was asked for.
    size: &'r str,
    path: &'r [u8],
}

impl<'r> TreeEntry<'r> {
    fn read(record: &'r [u8]) -> GitResult<Self> {
        let parts = || {
            let tab = record.iter().position(|byte| *byte == b'\t')?;
            let mut facts = std::str::from_utf8(&record[..tab]).ok()?.split_ascii_whitespace();
            let (mode, _kind, object) = (facts.next()?, facts.next()?, facts.next()?);
            let size = facts.next().unwrap_or_default();
            Some(Self { mode, object, size, path: &record[tab + 1..] })
        };
        parts().ok_or_else(|| unexpected("ls-tree", &String::from_utf8_lossy(record)))
    }

    fn is_instead_of_a_file(&self) -> Option<&'static str> {
        match self.mode {
            "120000" => Some("a symbolic link"),
            "160000" => Some("a submodule"),
            "040000" => Some("a folder"),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_taken_apart_whatever_its_path_holds() {
        let entry = TreeEntry::read(b"100644 blob 1111111111111111111111111111111111111111      12\ta\tb \xff")
            .expect("well formed");
        assert_eq!((entry.mode, entry.size, entry.path), ("100644", "12", &b"a\tb \xff"[..]));
        assert_eq!(entry.object, "1".repeat(40));
        assert_eq!(entry.is_instead_of_a_file(), None);
        assert!(TreeEntry::read(b"100644 blob\tx").is_err() && TreeEntry::read(b"").is_err());
    }
}
