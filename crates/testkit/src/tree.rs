//! A folder, written down: every name with its kind, mode, time and content, so that two moments can be compared.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

/// Everything below a folder, nothing followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tree(BTreeMap<PathBuf, Entry>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Entry {
    kind: &'static str,
    mode: u32,
    modified: Option<(i64, i64)>,
    /// The bytes of a file, the target of a link.
    content: Vec<u8>,
    /// The first name of the same file, where a file has several.
    same_as: Option<PathBuf>,
}

impl Tree {
    /// # Panics
    /// When something in it cannot be read.
    pub fn of(folder: &Path) -> Self {
        let mut entries = BTreeMap::new();
        let mut seen = HashMap::new();
        walk(folder, Path::new(""), &mut entries, &mut seen);
        Self(entries)
    }

    /// Names, kinds and contents only: for what git rewrites in passing.
    #[must_use]
    pub fn without_times(mut self) -> Self {
        for entry in self.0.values_mut() {
            entry.modified = None;
        }
        self
    }

    #[must_use]
    pub fn without(mut self, name: &str) -> Self {
        self.0.remove(Path::new(name));
        self
    }

    /// Without a folder and everything in it.
    #[must_use]
    pub fn without_below(mut self, name: &str) -> Self {
        self.0.retain(|path, _| !path.starts_with(name));
        self
    }

    pub fn has(&self, name: &str) -> bool {
        self.0.contains_key(Path::new(name))
    }

    /// What is not the same, one line each; empty when all is.
    pub fn differences(&self, later: &Self) -> Vec<String> {
        let names = self.0.keys().chain(later.0.keys().filter(|name| !self.0.contains_key(*name)));
        names.filter_map(|name| difference(name, self.0.get(name), later.0.get(name))).collect()
    }
}

fn difference(name: &Path, before: Option<&Entry>, after: Option<&Entry>) -> Option<String> {
    let name = name.display();
    match (before, after) {
        (Some(before), Some(after)) if before == after => None,
        (Some(before), Some(after)) if before.content != after.content => Some(format!(
            "`{name}` was {:?}, is {:?}",
            String::from_utf8_lossy(&before.content),
            String::from_utf8_lossy(&after.content)
        )),
        (Some(before), Some(after)) => Some(format!("`{name}` was {before:?}, is {after:?}")),
        (Some(_), None) => Some(format!("`{name}` is gone")),
        (None, _) => Some(format!("`{name}` is new")),
    }
}

fn walk(root: &Path, name: &Path, entries: &mut BTreeMap<PathBuf, Entry>, seen: &mut HashMap<(u64, u64), PathBuf>) {
    let path = root.join(name);
    let metadata = fs::symlink_metadata(&path).expect("it was listed just now");
    let kind = metadata.file_type();
    let (word, content) = if kind.is_dir() {
        ("folder", Vec::new())
    } else if kind.is_symlink() {
        ("link", fs::read_link(&path).expect("a link has a target").into_os_string().into_encoded_bytes())
    } else if kind.is_file() {
        ("file", fs::read(&path).expect("a readable file"))
    } else if kind.is_fifo() {
        ("pipe", Vec::new())
    } else {
        ("special", Vec::new())
    };
    let shared = !kind.is_dir() && metadata.nlink() > 1;
    let same_as =
        shared.then(|| seen.entry((metadata.dev(), metadata.ino())).or_insert_with(|| name.to_owned()).clone());
    let modified = Some((metadata.mtime(), metadata.mtime_nsec()));
    entries.insert(name.to_owned(), Entry { kind: word, mode: metadata.mode(), modified, content, same_as });
    if kind.is_dir() {
        let mut names: Vec<_> =
            fs::read_dir(&path).expect("a readable folder").map(|entry| entry.expect("an entry").file_name()).collect();
        names.sort();
        for inner in names {
            walk(root, &name.join(inner), entries, seen);
        }
    }
}
