//! Who runs on this machine, read from `/proc`: what a server or an agent left behind has nowhere to hide.

use std::fs;
use std::time::{Duration, Instant};

const GLANCE: Duration = Duration::from_millis(20);

struct Process {
    pid: u32,
    parent: u32,
    is_zombie: bool,
    words: String,
}

/// Everybody who can be read; they come and go meanwhile.
fn everybody() -> Vec<Process> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| process(entry.file_name().to_str()?.parse().ok()?)).collect()
}

fn process(pid: u32) -> Option<Process> {
    let status = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name of the program is in brackets, and may hold brackets.
    let mut fields = status.rsplit_once(')')?.1.split_whitespace();
    let is_zombie = fields.next()? == "Z";
    let parent = fields.next()?.parse().ok()?;
    let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    Some(Process { pid, parent, is_zombie, words: String::from_utf8_lossy(&words).replace('\0', " ") })
}

/// Those with all of these in their command lines.
pub(crate) fn with_words(words: &[&str]) -> Vec<u32> {
    let all = everybody().into_iter();
    all.filter(|one| words.iter().all(|word| one.words.contains(word))).map(|one| one.pid).collect()
}

pub(crate) fn children_of(parent: u32) -> Vec<u32> {
    everybody().into_iter().filter(|one| one.parent == parent).map(|one| one.pid).collect()
}

/// Descendants of a process, however far, with a word in their command lines.
pub(crate) fn below(ancestor: u32, word: &str) -> Vec<u32> {
    let all = everybody();
    let mut family = vec![ancestor];
    let mut seen = 0;
    while let Some(parent) = family.get(seen).copied() {
        family.extend(all.iter().filter(|one| one.parent == parent).map(|one| one.pid));
        seen += 1;
    }
    let is_meant = |one: &&Process| one.words.contains(word) && family[1..].contains(&one.pid);
    all.iter().filter(is_meant).map(|one| one.pid).collect()
}

/// Children that ended and were not asked how.
pub(crate) fn zombies_of(parent: u32) -> Vec<u32> {
    everybody().into_iter().filter(|one| one.is_zombie && one.parent == parent).map(|one| one.pid).collect()
}

/// Waits until something is so.
///
/// # Panics
/// When it is not in time.
pub(crate) async fn comes(patience: Duration, what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + patience;
    while !is_so() {
        assert!(Instant::now() < deadline, "{what} did not come in {patience:?}");
        tokio::time::sleep(GLANCE).await;
    }
}
