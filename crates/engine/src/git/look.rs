//! Everything git knows of a worktree's changes, path by path: what a checkpoint is made of.

use std::collections::{BTreeMap, BTreeSet};

use hedgerow_core::CommitSha;

use super::refs::unexpected;
use super::{GitResult, Repo};

/// A path inside a worktree, as bytes: it may hold anything but NUL.
pub type TreePath = Vec<u8>;

/// What a tree or the index has at a path.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Entry {
    /// As git writes it: `100644`, `100755`, `120000`, `160000`.
    pub mode: String,
    pub object: String,
}

impl Entry {
    /// `None` for what git writes where there is nothing.
    pub(super) fn new(mode: &str, object: &str) -> Option<Self> {
        let nothing = mode.bytes().all(|digit| digit == b'0');
        (!nothing).then(|| Self { mode: mode.to_owned(), object: object.to_owned() })
    }

    /// A commit of another repository: a submodule.
    pub fn is_link(&self) -> bool {
        self.mode == "160000"
    }
}

/// Marks on entries of the index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Flags {
    pub assume_unchanged: bool,
    pub skip_worktree: bool,
    pub intent_to_add: bool,
}

/// How the index and the files of a worktree differ from HEAD.
#[derive(Debug, Clone, Default)]
pub struct Look {
    pub head: Option<CommitSha>,
    /// The full name of the branch HEAD is on.
    pub branch: Option<String>,
    /// The index where it is not as HEAD; conflicts are not among them.
    pub staged: BTreeMap<TreePath, Option<Entry>>,
    /// Stages 1 to 3.
    pub conflicts: BTreeMap<TreePath, [Option<Entry>; 3]>,
    /// Paths whose content only the file has: changed or unknown to the index.
    pub changed: BTreeSet<TreePath>,
    /// Paths of the index without a file.
    pub missing: BTreeSet<TreePath>,
    pub flags: BTreeMap<TreePath, Flags>,
}

impl Repo {
    /// Looks at the whole worktree. Nothing is locked, refreshed or written.
    pub async fn look(&self) -> GitResult<Look> {
        let args = [
            "status",
            "--porcelain=v2",
            "--branch",
            "--no-ahead-behind",
            "-z",
            "--untracked-files=all",
            "--ignore-submodules=dirty",
            "--no-renames",
        ];
        let (mut look, mut bad) = (Look::default(), None);
        let status = self.call().args(args).records_of_all_files(|record| {
            if look.take(record).is_none() {
                bad = Some(String::from_utf8_lossy(record).into_owned());
            }
        });
        let (status, flagged) = tokio::join!(status, self.flagged());
        status?;
        if let Some(record) = bad {
            return Err(unexpected("status", &record));
        }
        for (path, flags) in flagged? {
            // What git is told not to look at may have been changed all the same.
            look.changed.insert(path.clone());
            let known = look.flags.entry(path).or_default();
            *known = Flags { intent_to_add: known.intent_to_add, ..flags };
        }
        Ok(look)
    }

    /// Entries of the index that `git status` does not compare with their files.
    async fn flagged(&self) -> GitResult<Vec<(TreePath, Flags)>> {
        let mut flagged = Vec::new();
        let each = |record: &[u8]| {
            let [tag, b' ', path @ ..] = record else { return };
            let assume_unchanged = tag.is_ascii_lowercase();
            let skip_worktree = tag.eq_ignore_ascii_case(&b'S');
            if assume_unchanged || skip_worktree {
                flagged.push((path.to_vec(), Flags { assume_unchanged, skip_worktree, intent_to_add: false }));
            }
        };
        self.call().args(["ls-files", "-v", "-z"]).records_of_all_files(each).await?;
        Ok(flagged)
    }
}

impl Look {
    fn take(&mut self, record: &[u8]) -> Option<()> {
        match record.first()? {
            b'#' => self.take_header(std::str::from_utf8(record).ok()?),
            b'1' => self.take_entry(record)?,
            b'u' => self.take_conflict(record)?,
            b'?' => {
                let path = record.get(2..)?;
                // A folder is listed only when it is a repository of its own: that is not entered.
                if path.last() != Some(&b'/') {
                    self.changed.insert(path.to_vec());
                }
            }
            _ => return None,
        }
        Some(())
    }

    fn take_header(&mut self, line: &str) {
        if let Some(sha) = line.strip_prefix("# branch.oid ") {
            self.head = CommitSha::parse(sha).ok();
        } else if let Some(name) = line.strip_prefix("# branch.head ").filter(|name| *name != "(detached)") {
            self.branch = Some(format!("refs/heads/{name}"));
        }
    }

    /// `1 XY sub mH mI mW hH hI path`
    fn take_entry(&mut self, record: &[u8]) -> Option<()> {
        let (fields, path) = fields::<8>(record)?;
        let (in_index, in_worktree) = (fields[1].as_bytes().first()?, fields[1].as_bytes().get(1)?);
        let entry = Entry::new(fields[4], fields[7]);
        let is_link = entry.as_ref().is_some_and(Entry::is_link);
        if *in_index != b'.' {
            self.staged.insert(path.to_vec(), entry);
        }
        match in_worktree {
            b'.' => {}
            b'D' if is_link => {}
            b'D' => drop(self.missing.insert(path.to_vec())),
            _ if fields[5] == "160000" => {}
            _ => drop(self.changed.insert(path.to_vec())),
        }
        if *in_worktree == b'A' {
            self.flags.entry(path.to_vec()).or_default().intent_to_add = true;
        }
        Some(())
    }

    /// `u XY sub m1 m2 m3 mW h1 h2 h3 path`
    fn take_conflict(&mut self, record: &[u8]) -> Option<()> {
        let (fields, path) = fields::<10>(record)?;
        let stage = |nth: usize| Entry::new(fields[3 + nth], fields[7 + nth]);
        self.conflicts.insert(path.to_vec(), [stage(0), stage(1), stage(2)]);
        let into = if fields[6] == "000000" { &mut self.missing } else { &mut self.changed };
        into.insert(path.to_vec());
        Some(())
    }
}

/// The first `N` fields of a record, and the path that follows them.
fn fields<const N: usize>(record: &[u8]) -> Option<([&str; N], &[u8])> {
    let mut parts = record.splitn(N + 1, |byte| *byte == b' ');
    let mut fields = [""; N];
    for field in &mut fields {
        *field = std::str::from_utf8(parts.next()?).ok()?;
    }
    Some((fields, parts.next()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_change_finds_its_place() {
        let (zero, one, two) = ("0".repeat(40), "1".repeat(40), "2".repeat(40));
        let mut look = Look::default();
        for record in [
            format!("# branch.oid {one}"),
            "# branch.head issue-42".to_owned(),
            format!("1 M. N... 100644 100644 100644 {one} {two} staged file"),
            format!("1 D. N... 100644 000000 000000 {one} {zero} dropped"),
            format!("1 .D N... 100644 100644 000000 {one} {one} gone"),
            format!("1 .A N... 000000 000000 100644 {zero} {zero} intended"),
            format!("1 .M S... 160000 160000 160000 {one} {one} submodule"),
            format!("u UU N... 100644 100644 000000 100644 {one} {two} {zero} both"),
            "? new\nfile".to_owned(),
            "? nested/".to_owned(),
        ] {
            look.take(record.as_bytes()).expect("well formed");
        }
        let names = |paths: &BTreeSet<TreePath>| -> Vec<String> {
            paths.iter().map(|path| String::from_utf8_lossy(path).into_owned()).collect()
        };
        assert_eq!(names(&look.changed), ["both", "intended", "new\nfile"]);
        assert_eq!(names(&look.missing), ["gone"]);
        assert_eq!(look.staged[b"staged file".as_slice()].as_ref().map(|entry| entry.object.clone()), Some(two));
        assert_eq!(look.staged[b"dropped".as_slice()], None);
        assert!(look.conflicts[b"both".as_slice()][2].is_none() && look.flags[b"intended".as_slice()].intent_to_add);
        assert_eq!(look.branch.as_deref(), Some("refs/heads/issue-42"));
    }
}
