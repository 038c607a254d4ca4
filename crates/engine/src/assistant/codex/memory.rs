//! Where Codex keeps what it remembers of a thread: `.codex/sessions/<year>/<month>/<day>/rollout-<time>-<id>.jsonl`.

use std::fs;
use std::path::{Path, PathBuf};

/// Year, month, day.
const DEPTH: usize = 3;
/// Most files and folders that are looked at.
const MOST: usize = 100_000;
/// Codex finds a thread by its id, whatever day it is filed under.
const NO_DAY: &str = "2000/01/01/rollout-2000-01-01T00-00-00";

/// The file of a thread, or where it can be put. `None` for what is no name of a thread.
pub(super) fn of(home: &Path, thread: &str) -> Option<PathBuf> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
    if thread.is_empty() || thread.len() > 64 || !thread.chars().all(is_plain) {
        return None;
    }
    let sessions = home.join(".codex/sessions");
    let found = find(&sessions, &format!("-{thread}.jsonl"), DEPTH, &mut { MOST });
    Some(found.unwrap_or_else(|| sessions.join(format!("{NO_DAY}-{thread}.jsonl"))))
}

/// Follows no links: the folder is written by agents.
fn find(folder: &Path, ending: &str, depth: usize, left: &mut usize) -> Option<PathBuf> {
    if !folder.symlink_metadata().is_ok_and(|metadata| metadata.is_dir()) {
        return None;
    }
    let mut entries: Vec<_> = fs::read_dir(folder).ok()?.flatten().collect();
    // The newest first.
    entries.sort_by_key(|entry| std::cmp::Reverse(entry.file_name()));
    for entry in entries {
        *left = left.checked_sub(1)?;
        let Ok(kind) = entry.file_type() else { continue };
        if depth > 0 && kind.is_dir() {
            if let Some(found) = find(&entry.path(), ending, depth - 1, left) {
                return Some(found);
            }
        } else if depth == 0 && kind.is_file() {
            let name = entry.file_name();
            if name.to_str().is_some_and(|name| name.starts_with("rollout-") && name.ends_with(ending)) {
                return Some(entry.path());
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_thread_is_found_by_its_id_or_has_a_place_to_be_put() {
        let home = tempfile::tempdir().expect("a folder");
        let put = of(home.path(), "0a-1b").expect("a place");
        assert_eq!(put, home.path().join(".codex/sessions/2000/01/01/rollout-2000-01-01T00-00-00-0a-1b.jsonl"));
        let day = home.path().join(".codex/sessions/2026/11/15");
        fs::create_dir_all(&day).expect("folders");
        let file = day.join("rollout-2026-11-15T07-44-00-0a-1b.jsonl");
        fs::write(&file, "{}").expect("a file");
        assert_eq!(of(home.path(), "0a-1b"), Some(file));
        assert_eq!(of(home.path(), "0a-1c").map(|path| path.starts_with(&day)), Some(false));
    }

    #[test]
    fn no_name_and_no_link_leads_out() {
        let home = tempfile::tempdir().expect("a folder");
        for evil in ["", "../../x", "a/b", "*", "a.b", &"a".repeat(65)] {
            assert_eq!(of(home.path(), evil), None, "{evil}");
        }
        let elsewhere = home.path().join("elsewhere");
        fs::create_dir_all(elsewhere.join("01/01")).expect("folders");
        fs::write(elsewhere.join("01/01/rollout-x-0a.jsonl"), "secret").expect("a file");
        fs::create_dir_all(home.path().join(".codex/sessions/2027/01/01")).expect("folders");
        symlink(&elsewhere, home.path().join(".codex/sessions/2026")).expect("a link");
        symlink(
            elsewhere.join("01/01/rollout-x-0a.jsonl"),
            home.path().join(".codex/sessions/2027/01/01/rollout-y-0a.jsonl"),
        )
        .expect("a link");
        let put = of(home.path(), "0a").expect("a place");
        assert!(put.ends_with("2000/01/01/rollout-2000-01-01T00-00-00-0a.jsonl"), "{}", put.display());
    }
}
