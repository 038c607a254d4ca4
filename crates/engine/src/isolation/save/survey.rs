//! What of a worktree has to be saved: decided from what is on disk and what git knows, without touching either.
//!
//! A file that git can write again, byte for byte, stays out. Everything else goes in. Only ignored files have limits,
//! and whatever a limit keeps out is listed.

use std::collections::{HashMap, HashSet};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use hedgerow_core::saved::{Skipped, SkippedBecause};

use super::walk::{Kind, Seen};
use crate::git::index::{COMMIT, IndexEntry, LINK};
use crate::git::look::TreePath;
use crate::vault::manifest::Modes;

/// No ignored file above this is saved, and no more of them than this in all.
pub(super) const MOST_OF_ONE: u64 = 50 << 20;
pub(super) const MOST_OF_ALL: u64 = 500 << 20;

/// Ignored folders that tools fill again by themselves. So is one with a `CACHEDIR.TAG`.
const CACHES: [&str; 17] = [
    "node_modules",
    "target",
    ".venv",
    "venv",
    "__pycache__",
    ".tox",
    ".nox",
    ".mypy_cache",
    ".pytest_cache",
    ".ruff_cache",
    ".gradle",
    ".next",
    ".nuxt",
    ".turbo",
    ".parcel-cache",
    ".cache",
    ".direnv",
];

/// What git says about a worktree.
#[derive(Debug, Default)]
pub(super) struct Known {
    pub(super) index: Vec<IndexEntry>,
    /// Tracked files whose stamps say that they may have changed.
    pub(super) changed: HashSet<TreePath>,
    pub(super) untracked: HashSet<TreePath>,
    /// Sizes of the objects in the index.
    pub(super) sizes: HashMap<String, u64>,
    /// Paths whose bytes on disk need not be those in git, whatever their length says.
    pub(super) converted: HashSet<TreePath>,
    /// For those in doubt: the object their bytes would be.
    pub(super) raw: HashMap<TreePath, String>,
}

/// What is to be saved.
#[derive(Debug)]
pub(super) struct Survey<'a> {
    pub(super) save: Vec<&'a Seen>,
    /// Tracked paths that git must not write when the environment is made again: changed, or deleted.
    pub(super) changed: Vec<&'a [u8]>,
    pub(super) modes: Modes,
    pub(super) skipped: Vec<Skipped>,
}

/// Tracked files of which only their bytes can tell whether they changed.
pub(super) fn doubtful<'a>(seen: &'a [Seen], known: &Known) -> Vec<&'a [u8]> {
    let hidden = known.index.iter().filter(|entry| entry.is_hidden).map(|entry| &entry.path[..]);
    let doubtful = known.changed.iter().chain(&known.converted).map(|path| &path[..]);
    let doubtful: HashSet<&[u8]> = doubtful.chain(hidden).collect();
    let files = seen.iter().filter(|seen| seen.kind == Kind::File && !seen.in_repository);
    files.map(bytes).filter(|path| doubtful.contains(path)).collect()
}

pub(super) fn survey<'a>(seen: &'a [Seen], known: &'a Known) -> Survey<'a> {
    let mut tracked: HashMap<&[u8], Tracked<'_>> = HashMap::with_capacity(known.index.len());
    for entry in &known.index {
        let tracked = tracked.entry(&entry.path).or_insert(Tracked { entry, is_conflicted: false });
        tracked.is_conflicted |= entry.stage > 0;
    }
    let modes = usual_modes(seen, &tracked);
    let kept = folders_of(known);
    let mut survey = Survey { save: Vec::new(), changed: Vec::new(), modes, skipped: Vec::new() };
    let mut clean: HashSet<&[u8]> = HashSet::new();
    let mut caches = Caches::find(seen, &kept);
    let mut room = MOST_OF_ALL;
    for thing in seen {
        let path = bytes(thing);
        if thing.kind == Kind::Other {
            survey.skip(thing, SkippedBecause::NoFile);
        } else if thing.in_repository || (thing.kind != Kind::Folder && known.untracked.contains(path)) {
            survey.save.push(thing);
        } else if let Some(tracked) = tracked.get(path).filter(|_| thing.kind != Kind::Folder) {
            match tracked.judge(thing, known, modes) {
                Judged::Clean => drop(clean.insert(path)),
                Judged::Changed => survey.save.push(thing),
                Judged::Filtered if thing.size <= MOST_OF_ONE.min(room) => {
                    room -= thing.size;
                    survey.save.push(thing);
                }
                Judged::Filtered => {
                    clean.insert(path);
                    survey.skip(thing, SkippedBecause::Filter);
                }
            }
        } else if caches.hold(thing) {
        } else if thing.kind != Kind::File {
            survey.save.push(thing);
        } else if thing.size > MOST_OF_ONE {
            survey.skip(thing, SkippedBecause::TooLarge);
        } else if thing.size > room {
            survey.skip(thing, SkippedBecause::TooMuch);
        } else {
            room -= thing.size;
            survey.save.push(thing);
        }
    }
    survey.skipped.extend(caches.found);
    let written = |tracked: &&Tracked<'_>| tracked.entry.mode != COMMIT && !clean.contains(&tracked.entry.path[..]);
    survey.changed = tracked.values().filter(written).map(|tracked| &tracked.entry.path[..]).collect();
    survey.changed.sort_unstable();
    survey
}

impl Survey<'_> {
    fn skip(&mut self, thing: &Seen, because: SkippedBecause) {
        self.skipped.push(Skipped { path: shown(&thing.path), because, bytes: thing.size });
    }
}

#[derive(Debug)]
struct Tracked<'a> {
    entry: &'a IndexEntry,
    is_conflicted: bool,
}

enum Judged {
    /// git would write exactly this.
    Clean,
    Changed,
    /// git takes it for unchanged, but its bytes are a filter's.
    Filtered,
}

impl Tracked<'_> {
    fn judge(&self, thing: &Seen, known: &Known, modes: Modes) -> Judged {
        let path = bytes(thing);
        let entry = self.entry;
        let may_differ = entry.is_hidden || known.changed.contains(path);
        if self.is_conflicted || (entry.mode == LINK) != (thing.kind == Kind::Link) {
            return Judged::Changed;
        }
        if thing.kind == Kind::Link {
            return if may_differ { Judged::Changed } else { Judged::Clean };
        }
        if thing.mode != usual(entry, modes) {
            return Judged::Changed;
        }
        let Some(size) = known.sizes.get(&entry.object) else { return Judged::Changed };
        let is_converted = known.converted.contains(path);
        if may_differ || is_converted {
            return match known.raw.get(path).is_some_and(|object| *object == entry.object) {
                true => Judged::Clean,
                false if may_differ => Judged::Changed,
                false => Judged::Filtered,
            };
        }
        // A conversion of line ends changes the length; what is as long is the same.
        if *size == thing.size { Judged::Clean } else { Judged::Changed }
    }
}

const fn is_program(mode: u32) -> bool {
    mode & 0o100 != 0
}

const fn usual(entry: &IndexEntry, modes: Modes) -> u32 {
    if is_program(entry.mode) { modes.program } else { modes.plain }
}

/// The permissions that most tracked files have; those with others are saved.
fn usual_modes(seen: &[Seen], tracked: &HashMap<&[u8], Tracked<'_>>) -> Modes {
    let mut counts: HashMap<u32, usize> = HashMap::new();
    for thing in seen.iter().filter(|thing| thing.kind == Kind::File && tracked.contains_key(bytes(thing))) {
        *counts.entry(thing.mode).or_default() += 1;
    }
    let most = |program: bool, otherwise: u32| {
        let fitting = counts.iter().filter(|(mode, _)| is_program(**mode) == program);
        fitting.max_by_key(|(mode, count)| (**count, **mode)).map_or(otherwise, |(mode, _)| *mode)
    };
    Modes { plain: most(false, 0o644), program: most(true, 0o755) }
}

/// Folders with anything in them that is not ignored.
fn folders_of(known: &Known) -> HashSet<PathBuf> {
    let paths = known.index.iter().map(|entry| &entry.path).chain(&known.untracked);
    let mut folders = HashSet::new();
    for path in paths {
        for folder in Path::new(std::ffi::OsStr::from_bytes(path)).ancestors().skip(1) {
            if !folders.insert(folder.to_owned()) {
                break;
            }
        }
    }
    folders
}

/// Caches: each is one line in the list of what was skipped.
struct Caches {
    roots: Vec<PathBuf>,
    found: Vec<Skipped>,
}

impl Caches {
    fn find(seen: &[Seen], kept: &HashSet<PathBuf>) -> Self {
        let is_tag = |thing: &&Seen| thing.path.ends_with("CACHEDIR.TAG");
        let tagged: HashSet<&Path> = seen.iter().filter(is_tag).filter_map(|thing| thing.path.parent()).collect();
        let mut roots: Vec<PathBuf> = Vec::new();
        for thing in seen.iter().filter(|thing| thing.kind == Kind::Folder && !thing.in_repository) {
            let is_named = thing.path.file_name().is_some_and(|name| CACHES.iter().any(|cache| name == *cache));
            let is_cache = is_named || tagged.contains(&*thing.path);
            let is_inside = roots.last().is_some_and(|root| thing.path.starts_with(root));
            if is_cache && !is_inside && !kept.contains(&thing.path) {
                roots.push(thing.path.clone());
            }
        }
        let line = |root: &PathBuf| Skipped { path: shown(root), because: SkippedBecause::Cache, bytes: 0 };
        Self { found: roots.iter().map(line).collect(), roots }
    }

    /// Whether it is in a cache; then it is counted there.
    fn hold(&mut self, thing: &Seen) -> bool {
        // Sorted like what was walked: only the last root that is not beyond it can hold it.
        let after = self.roots.partition_point(|root| *root <= thing.path);
        let Some(at) = after.checked_sub(1).filter(|at| thing.path.starts_with(&self.roots[*at])) else {
            return false;
        };
        self.found[at].bytes += thing.size;
        true
    }
}

pub(super) fn bytes(thing: &Seen) -> &[u8] {
    thing.path.as_os_str().as_bytes()
}

/// As text; bytes that are none are spelled out.
fn shown(path: &Path) -> String {
    let bytes = path.as_os_str().as_bytes();
    std::str::from_utf8(bytes).map_or_else(|_| bytes.escape_ascii().to_string(), str::to_owned)
}

#[cfg(test)]
mod tests;
