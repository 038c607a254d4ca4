//! The files git keeps of an operation in progress, as part of a checkpoint.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, Read as _};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use hedgerow_core::CommitSha;

use super::beneath::{Beneath, Content};
use crate::git::look::TreePath;

/// In the admin folder of a worktree. Bisect has more of its own, `BISECT_…`.
const FILES: [&str; 11] = [
    "AUTO_MERGE",
    "CHERRY_PICK_HEAD",
    "MERGE_AUTOSTASH",
    "MERGE_HEAD",
    "MERGE_MODE",
    "MERGE_MSG",
    "MERGE_RR",
    ORIG_HEAD,
    "REBASE_HEAD",
    "REVERT_HEAD",
    "SQUASH_MSG",
];
const FOLDERS: [&str; 3] = ["rebase-apply", "rebase-merge", "sequencer"];

/// Where HEAD was before some command; no operation hangs on it.
pub(super) const ORIG_HEAD: &str = "ORIG_HEAD";

/// Operations keep their files two folders deep at most.
const MAX_DEPTH: usize = 4;

/// Every such file with its content.
pub(super) fn read(admin: &Path) -> io::Result<BTreeMap<TreePath, Vec<u8>>> {
    let beneath = Beneath::open(admin)?;
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(admin)? {
        let name = entry?.file_name();
        let is_file = FILES.iter().any(|file| name == *file) || name.as_bytes().starts_with(b"BISECT_");
        if is_file || FOLDERS.iter().any(|folder| name == *folder) {
            collect(&beneath, admin, name.as_bytes().to_vec(), 0, &mut found)?;
        }
    }
    Ok(found)
}

fn collect(
    beneath: &Beneath,
    admin: &Path,
    path: TreePath,
    depth: usize,
    found: &mut BTreeMap<TreePath, Vec<u8>>,
) -> io::Result<()> {
    match beneath.read(&path)? {
        Some(Content::File(mut file, _)) => {
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes)?;
            found.insert(path, bytes);
        }
        Some(Content::Other) if depth < MAX_DEPTH => {
            let folder = admin.join(std::ffi::OsStr::from_bytes(&path));
            if folder.is_dir() {
                for entry in fs::read_dir(folder)? {
                    let inner = [&path, b"/".as_slice(), entry?.file_name().as_bytes()].concat();
                    collect(beneath, admin, inner, depth + 1, found)?;
                }
            }
        }
        _ => {}
    }
    Ok(())
}

/// Every full object name in these files. Of an operation in progress nothing else may know its commits.
pub(super) fn objects_named<'a>(files: impl IntoIterator<Item = &'a Vec<u8>>) -> BTreeSet<CommitSha> {
    let words = files.into_iter().flat_map(|text| text.split(|byte| !byte.is_ascii_alphanumeric()));
    words.filter_map(|word| CommitSha::parse(std::str::from_utf8(word).ok()?).ok()).collect()
}
