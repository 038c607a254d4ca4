//! What going back to a checkpoint asks of git: content, as it should be on disk, and changes of the index and of HEAD.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use hedgerow_core::CommitSha;
use hedgerow_core::provider::NoProgress;

use super::blobs::Taker;
use super::look::{Entry, TreePath};
use super::refs::unexpected;
use super::{GitResult, Repo};

/// In the log of every ref that an undo moves.
const WHY: &str = "hedgerow: undo";

/// What the index shall have at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cell {
    Nothing,
    Entry(Entry),
    /// Stages 1 to 3.
    Conflict([Option<Entry>; 3]),
}

impl Repo {
    /// Writes files of a tree below `folder` as a checkout would, conversions and all. `index` is a file for git to use.
    pub async fn check_out_to(&self, tree: &str, paths: &[&TreePath], index: &Path, folder: &Path) -> GitResult<()> {
        if paths.is_empty() {
            return Ok(());
        }
        let call = self.call().env("GIT_INDEX_FILE", index);
        call.args(["read-tree", tree]).write().await?;
        let mut prefix = std::ffi::OsString::from("--prefix=");
        prefix.push(folder);
        prefix.push("/");
        let call = self.call().env("GIT_INDEX_FILE", index).args(["checkout-index", "--quiet", "-z", "--stdin"]);
        call.arg(prefix).stdin(listed(paths)).long(&NoProgress).await.map(drop)
    }

    /// Writes blobs byte for byte into `folder`, each under its own name.
    pub async fn write_blobs(&self, objects: &BTreeSet<String>, folder: &Path) -> GitResult<()> {
        if objects.is_empty() {
            return Ok(());
        }
        let mut files = Files { folder, open: None, written: 0 };
        self.blobs(objects.iter().map(String::as_str), &mut files).await?;
        if files.written == objects.len() {
            Ok(())
        } else {
            Err(unexpected("cat-file", "fewer objects than were asked for"))
        }
    }

    /// The names that the content of these files has as blobs, byte for byte. Nothing is stored.
    pub async fn hash_files(&self, paths: &[PathBuf]) -> GitResult<Vec<String>> {
        use std::os::unix::ffi::OsStrExt as _;
        if paths.is_empty() {
            return Ok(Vec::new());
        }
        let mut asked = Vec::new();
        for path in paths {
            asked.push(b'"');
            for byte in path.as_os_str().as_bytes() {
                match byte {
                    b'"' | b'\\' => asked.extend([b'\\', *byte]),
                    b'\n' => asked.extend(b"\\n"),
                    _ => asked.push(*byte),
                }
            }
            asked.extend(b"\"\n");
        }
        let call = self.call().args(["hash-object", "--no-filters", "--stdin-paths"]);
        let out = call.stdin(asked).long(&NoProgress).await?;
        let names: Vec<String> = String::from_utf8_lossy(&out).lines().map(str::to_owned).collect();
        if names.len() == paths.len() { Ok(names) } else { Err(unexpected("hash-object", "another number of names")) }
    }

    /// Which of these paths git ignores by the rules in force now, tracked or not.
    pub async fn ignored_among(&self, paths: &[&TreePath]) -> GitResult<BTreeSet<TreePath>> {
        if paths.is_empty() {
            return Ok(BTreeSet::new());
        }
        // This one does not take paths as they are; with a dot in front none of them can be a pattern.
        let asked: Vec<u8> = paths.iter().flat_map(|path| [b"./", path.as_slice(), b"\0"].concat()).collect();
        let call = self.call().env("GIT_LITERAL_PATHSPECS", "0");
        let answer = call.args(["check-ignore", "-z", "--stdin", "--no-index"]).stdin(asked).answer().await?;
        if answer.status.code() == Some(1) {
            return Ok(BTreeSet::new());
        }
        let out = answer.require_success("check-ignore")?;
        let ignored = out.split(|byte| *byte == 0).filter(|path| !path.is_empty());
        Ok(ignored.map(|path| path.strip_prefix(b"./").unwrap_or(path).to_vec()).collect())
    }

    /// Changes paths of the index, all at once.
    pub async fn set_cells(&self, cells: &BTreeMap<TreePath, Cell>, zero: &str) -> GitResult<()> {
        if cells.is_empty() {
            return Ok(());
        }
        let mut text = Vec::new();
        let mut line = |start: String, path: &TreePath| {
            text.extend(start.bytes());
            text.push(b'\t');
            text.extend(path);
            text.push(0);
        };
        for path in cells.keys() {
            line(format!("0 {zero}"), path);
        }
        for (path, cell) in cells {
            match cell {
                Cell::Nothing => {}
                Cell::Entry(entry) => line(format!("{} {}", entry.mode, entry.object), path),
                Cell::Conflict(stages) => {
                    for (stage, entry) in (1..).zip(stages) {
                        if let Some(entry) = entry {
                            line(format!("{} {} {stage}", entry.mode, entry.object), path);
                        }
                    }
                }
            }
        }
        self.call().args(["update-index", "-z", "--index-info"]).stdin(text).write().await.map(drop)
    }

    /// Sets or clears a mark of entries: an option of `update-index`.
    pub async fn mark_entries(&self, option: &str, paths: &[&TreePath]) -> GitResult<()> {
        if paths.is_empty() {
            return Ok(());
        }
        self.call().args(["update-index", option, "-z", "--stdin"]).stdin(listed(paths)).write().await.map(drop)
    }

    /// Enters files into the index without their content, as `git add --intent-to-add` does.
    pub async fn intend_to_add(&self, paths: &[&TreePath]) -> GitResult<()> {
        if paths.is_empty() {
            return Ok(());
        }
        let args = ["add", "--intent-to-add", "--force", "--pathspec-from-file=-", "--pathspec-file-nul"];
        self.call().args(args).stdin(listed(paths)).write().await.map(drop)
    }

    /// Lets the index know which files are as it says. That some are not is no failure.
    pub async fn refresh_index(&self) -> GitResult<()> {
        self.call().args(["update-index", "-q", "--refresh"]).answer().await.map(drop)
    }

    /// Moves a ref, or makes it; fails unless it is where it should be.
    pub async fn set_ref_back(&self, name: &str, from: Option<&CommitSha>, to: &CommitSha) -> GitResult<()> {
        match from {
            Some(from) => self.move_ref(name, from, to, WHY).await,
            None => self.create_ref(name, to, WHY).await,
        }
    }

    /// Puts HEAD itself at a commit, on no branch; fails unless it is where it should be.
    pub async fn detach_head_back(&self, from: Option<&CommitSha>, to: &CommitSha) -> GitResult<()> {
        let args = ["update-ref", "--no-deref", "-m", WHY, "HEAD", to.as_str()];
        self.call().args(args).args(from.map(CommitSha::as_str)).write().await.map(drop)
    }

    /// Puts HEAD on a branch, by its full name.
    pub async fn attach_head_back(&self, branch: &str) -> GitResult<()> {
        self.call().args(["symbolic-ref", "-m", WHY, "HEAD", branch]).write().await.map(drop)
    }

    /// Makes a worktree's own refs what they were: both as name and commit.
    pub async fn set_own_refs(
        &self,
        now: &BTreeMap<String, CommitSha>,
        then: &BTreeMap<String, CommitSha>,
    ) -> GitResult<()> {
        let gone = now.iter().filter(|(name, _)| !then.contains_key(*name));
        let gone = gone.map(|(name, sha)| format!("delete {name} {sha}\n"));
        let set = then.iter().map(|(name, sha)| format!("update {name} {sha}\n"));
        self.update_refs(gone.chain(set).collect()).await
    }
}

fn listed(paths: &[&TreePath]) -> Vec<u8> {
    paths.iter().flat_map(|path| path.iter().copied().chain([0])).collect()
}

/// Writes each blob to a file of its own name.
struct Files<'a> {
    folder: &'a Path,
    open: Option<File>,
    written: usize,
}

impl Taker for Files<'_> {
    fn begin(&mut self, object: &str) -> io::Result<()> {
        self.open = Some(File::create_new(self.folder.join(object))?);
        Ok(())
    }

    fn more(&mut self, piece: &[u8]) -> io::Result<()> {
        self.open.as_mut().map_or(Ok(()), |file| file.write_all(piece))
    }

    fn end(&mut self) -> io::Result<()> {
        self.written += 1;
        self.open = None;
        Ok(())
    }
}
