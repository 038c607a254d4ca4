//! What git has in the index of a worktree, and what it says about the files beside it: path by path, as bytes.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use super::call::Call;
use super::look::TreePath;
use super::merge::Scratch;
use super::refs::unexpected;
use super::{GitResult, Repo};

/// One entry of the index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexEntry {
    pub path: TreePath,
    /// `100644`, `100755`, `120000` or `160000`, as the octal number that it is.
    pub mode: u32,
    pub object: String,
    /// 0, or 1 to 3 in a conflict.
    pub stage: u8,
    /// git was told not to look at the file (assume-unchanged, skip-worktree).
    pub is_hidden: bool,
}

/// A symbolic link.
pub const LINK: u32 = 0o120_000;
/// A commit of another repository: a submodule.
pub const COMMIT: u32 = 0o160_000;

impl Repo {
    /// Settings may make git trust less than it could see; here it looks at everything.
    fn careful(&self) -> Call<'_> {
        let all = [("core.trustctime", "true"), ("core.checkStat", "default"), ("core.fileMode", "true")];
        all.into_iter().fold(self.call(), |call, (key, value)| call.config(key, value))
    }

    /// Every entry of the index of this worktree, or of a copy of one.
    pub async fn index(&self, copy: Option<&Path>) -> GitResult<Vec<IndexEntry>> {
        let mut entries = Vec::new();
        let mut damaged = None;
        let call = self.careful().args(["ls-files", "--stage", "-v", "-z"]);
        let call = copy.into_iter().fold(call, |call, copy| call.env("GIT_INDEX_FILE", copy));
        call.records_of_all_files(|record| match entry(record) {
            Some(entry) => entries.push(entry),
            None => damaged = Some(String::from_utf8_lossy(record).into_owned()),
        })
        .await?;
        damaged.map_or(Ok(entries), |record| Err(unexpected("ls-files", &record)))
    }

    /// Tracked files that differ from the index, as far as git looks. May name some that do not.
    pub async fn changed_files(&self) -> GitResult<HashSet<TreePath>> {
        paths(self.careful().args(["diff-files", "--name-only", "--ignore-submodules=all", "-z"])).await
    }

    /// Files that are neither tracked nor ignored; a repository inside is one entry that ends in `/`.
    pub async fn untracked_files(&self) -> GitResult<HashSet<TreePath>> {
        paths(self.careful().args(["ls-files", "--others", "--exclude-standard", "-z"])).await
    }

    /// Objects that are staged and not in HEAD.
    pub async fn staged_objects(&self) -> GitResult<Vec<String>> {
        if self.commit("HEAD").await?.is_none() {
            return Ok(self.index(None).await?.into_iter().map(|entry| entry.object).collect());
        }
        let mut objects = Vec::new();
        let args = ["diff-index", "--cached", "--raw", "--no-abbrev", "--no-renames", "--ignore-submodules=all", "-z"];
        let call = self.careful().args(args).arg("HEAD");
        call.records_of_all_files(|record| {
            objects.extend(["100644", "100755", "120000"].iter().find_map(|mode| new_object(record, mode)));
        })
        .await?;
        Ok(objects)
    }

    /// How large each of these objects is. One that is not here is not in the answer.
    pub async fn sizes(&self, objects: &[&str]) -> GitResult<HashMap<String, u64>> {
        let mut sizes = HashMap::new();
        let call = self.call().args(["cat-file", "--batch-check=%(objectname) %(objectsize)", "--buffer"]);
        let mut rest = Vec::new();
        let each = |piece: &[u8]| {
            rest.extend(piece);
            while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = rest.drain(..=end).collect();
                let line = String::from_utf8_lossy(&line);
                if let Some((object, size)) = line.trim_end().split_once(' ')
                    && let Ok(size) = size.parse()
                {
                    sizes.insert(object.to_owned(), size);
                }
            }
            Ok(())
        };
        call.stdin(lines(objects.iter().map(|object| object.as_bytes()))).pieces(each).await?;
        Ok(sizes)
    }

    /// Which of these paths may have other bytes on disk than in git, of a length that says nothing: those with a filter,
    /// also one that nobody has set up by now, and those in another encoding.
    pub async fn converted(&self, paths: &[&[u8]]) -> GitResult<HashSet<TreePath>> {
        let mut input = Vec::new();
        for path in paths {
            input.extend(*path);
            input.push(0);
        }
        let mut fields: Vec<TreePath> = Vec::new();
        let mut converted = HashSet::new();
        // `path NUL attribute NUL value NUL`
        let each = |field: &[u8]| {
            fields.push(field.to_owned());
            if let [path, _, value] = &fields[..] {
                if value != b"unspecified" && value != b"unset" {
                    converted.insert(path.clone());
                }
                fields.clear();
            }
        };
        let call = self.call().args(["check-attr", "-z", "--stdin", "filter", "working-tree-encoding"]);
        call.stdin(input).records_of_all_files(each).await?;
        Ok(converted)
    }

    /// Trees that the index may remember and HEAD does not have: without them a restored index would name what is not
    /// there. What is in conflict is in none of them.
    pub async fn index_trees(&self, entries: &[IndexEntry]) -> GitResult<Vec<String>> {
        if entries.is_empty() {
            return Ok(Vec::new());
        }
        let scratch = Scratch::new()?;
        let copy = scratch.path().join("index");
        self.copy_index(&copy).await?;
        let on_copy = || self.call().config("core.splitIndex", "false").env("GIT_INDEX_FILE", &copy);
        let zero = "0".repeat(entries[0].object.len());
        let conflicts = entries.iter().filter(|entry| entry.stage > 0).fold(Vec::new(), |mut text, entry| {
            text.extend(format!("0 {zero}\t").bytes());
            text.extend(&entry.path);
            text.push(0);
            text
        });
        if !conflicts.is_empty() {
            on_copy().args(["update-index", "-z", "--index-info"]).stdin(conflicts).write().await?;
        }
        let tree = on_copy().args(["write-tree", "--missing-ok"]).write().await?;
        let tree = String::from_utf8_lossy(&tree).trim_end().to_owned();
        let of_head = self.call().args(["rev-parse", "--verify", "--end-of-options", "HEAD^{tree}"]).read().await?;
        if String::from_utf8_lossy(&of_head).trim_end() == tree {
            return Ok(Vec::new());
        }
        let mut trees = vec![tree.clone()];
        let args = ["diff-tree", "-r", "-t", "--raw", "--no-abbrev", "--no-renames", "-z", "HEAD"];
        self.call()
            .args(args)
            .arg(&tree)
            .records_of_all_files(|record| trees.extend(new_object(record, "040000")))
            .await?;
        Ok(trees)
    }
}

fn lines<'a>(items: impl Iterator<Item = &'a [u8]>) -> Vec<u8> {
    items.fold(Vec::new(), |mut text, item| {
        text.extend(item);
        text.push(b'\n');
        text
    })
}

async fn paths(call: Call<'_>) -> GitResult<HashSet<TreePath>> {
    let mut paths = HashSet::new();
    call.records_of_all_files(|record| {
        paths.insert(record.to_owned());
    })
    .await?;
    Ok(paths)
}

/// The new object of a raw difference, `:old-mode new-mode old-object new-object status`, if it has this mode. The path
/// is a record of its own.
fn new_object(record: &[u8], mode: &str) -> Option<String> {
    let line = std::str::from_utf8(record.strip_prefix(b":")?).ok()?;
    let [_, new_mode, _, object, _] = line.split(' ').collect::<Vec<_>>()[..] else { return None };
    (new_mode == mode).then(|| object.to_owned())
}

/// `tag mode object stage TAB path`
fn entry(record: &[u8]) -> Option<IndexEntry> {
    let tab = record.iter().position(|byte| *byte == b'\t')?;
    let head = std::str::from_utf8(&record[..tab]).ok()?;
    let [tag, mode, object, stage] = head.split(' ').collect::<Vec<_>>()[..] else { return None };
    Some(IndexEntry {
        path: record[tab + 1..].to_owned(),
        mode: u32::from_str_radix(mode, 8).ok()?,
        object: object.to_owned(),
        stage: stage.parse().ok()?,
        is_hidden: tag == "S" || tag.chars().all(char::is_lowercase),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_of_the_index_is_read_with_what_hides_it() {
        let record = b"h 100755 b90244187207e9e6f69292ffe005c8e491c08708 0\ta b\xff\tc";
        let read = entry(record).expect("reads");
        assert_eq!((read.mode, read.stage, read.is_hidden), (0o100_755, 0, true));
        assert_eq!(read.path, b"a b\xff\tc");
        assert!(!entry(b"H 120000 b9 2\tx").expect("reads").is_hidden);
        assert!(entry(b"S 120000 b9 0\tx").expect("reads").is_hidden);
        assert_eq!(entry(b"H 120000 b9 0"), None);
    }
}
