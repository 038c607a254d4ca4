//! Small files that steer git for everyone: shared settings, hooks, the main checkout's HEAD; and those that tie a worktree
//! to its repository.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::{Deserialize, Serialize};

use super::owners::has_moved;
use super::{Done, Found, Tripwire, What};
use crate::engine::Engine;
use crate::git::hazards::can_run;
use crate::git::watched::Settings;
use crate::isolation::plain_file::read_plain_itself;

/// Files of more bytes are none that anybody writes by hand; a change of one is only reported.
const LARGEST: u64 = 512 << 10;
/// Most files of one folder.
const MOST: usize = 200;
/// Whole folders of them.
const FOLDERS: [&str; 2] = ["hooks", "info"];
/// What a stopped operation leaves in a git folder.
const OPERATIONS: [&str; 6] =
    ["rebase-merge", "rebase-apply", "sequencer", "MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD"];

/// A file that is watched.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Watched {
    path: PathBuf,
    role: Role,
    was: Seen,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum Role {
    /// Read by everyone's git, and written by nobody in passing.
    Shared,
    /// The repository's own settings. Those of branches are written in passing.
    Settings,
    /// Settings of this worktree alone. Which files are checked out is its own business.
    OwnSettings,
    Head,
    /// Whether history ends somewhere. A fetch may move that end, and must not make one.
    Shallow,
    /// Ties the worktree to its repository.
    Link,
    /// Belongs to an operation in the main checkout.
    Operation,
}

/// What is found at a path.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Seen {
    Nothing,
    File {
        /// As base64.
        bytes: String,
        mode: u32,
        inode: u64,
        /// When it was made, where the file system knows: numbers are given to the next file.
        made: Option<SystemTime>,
    },
    Folder,
    /// A link, or a file too large to be kept.
    Other(String),
}

impl Seen {
    fn at(path: &Path) -> Self {
        let Ok(about) = fs::symlink_metadata(path) else { return Self::Nothing };
        let mode = about.permissions().mode() & 0o7777;
        if about.is_file()
            && about.len() <= LARGEST
            && let Ok(bytes) = read_plain_itself(path)
        {
            return Self::File { bytes: BASE64.encode(bytes), mode, inode: about.ino(), made: about.created().ok() };
        }
        if about.is_dir() {
            return Self::Folder;
        }
        let link = fs::read_link(path).unwrap_or_default();
        Self::Other(format!("{:o} {} {}", about.mode(), about.len(), link.display()))
    }

    fn bytes(&self) -> Option<Vec<u8>> {
        match self {
            Self::File { bytes, .. } => BASE64.decode(bytes).ok(),
            _ => None,
        }
    }

    /// Whether it means the same to git.
    fn is_like(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::File { bytes, mode, .. }, Self::File { bytes: others, mode: other, .. }) => {
                (bytes, mode) == (others, other)
            }
            _ => self == other,
        }
    }

    /// Whether it was written in place. A guard of a view goes when another file takes the place of the guarded one.
    fn is_same_file(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::File { inode, made, .. }, Self::File { inode: other, made: then, .. }) => {
                (inode, made) == (other, then)
            }
            _ => false,
        }
    }
}

/// The files to watch. A view keeps whole folders safe by itself.
pub(super) fn watched(common_dir: &Path, place: &Path, admin: &Path, is_view: bool) -> Vec<Watched> {
    // A common folder that names another one: git would take its settings, refs and hooks from there.
    let shared = ["config.worktree", "commondir", "objects/info/alternates"].map(|name| (name, Role::Shared));
    let rest = [("config", Role::Settings), ("HEAD", Role::Head), ("shallow", Role::Shallow)];
    let operations = OPERATIONS.map(|name| (name, Role::Operation));
    let top = shared.into_iter().chain(rest).chain(operations).map(|(name, role)| (common_dir.join(name), role));
    let links = ["gitdir", "commondir", "locked", "hedgerow"].map(|name| (admin.join(name), Role::Link));
    let own = [(place.join(".git"), Role::Link), (admin.join("config.worktree"), Role::OwnSettings)];
    let folders = if is_view { Vec::new() } else { in_folders(common_dir) };
    let folders = FOLDERS.iter().filter(|_| !is_view).map(|name| common_dir.join(name)).chain(folders);
    let folders = folders.map(|path| (path, Role::Shared));
    let all = top.chain(links).chain(own).chain(folders);
    all.map(|(path, role)| Watched { was: Seen::at(&path), path, role }).collect()
}

/// What is in the folders that steer git. Not git's own samples, nor the list that `gc` writes.
fn in_folders(common_dir: &Path) -> Vec<PathBuf> {
    let mut paths = Vec::new();
    for folder in FOLDERS.map(|name| common_dir.join(name)) {
        if Seen::at(&folder) != Seen::Folder {
            continue;
        }
        let entries = fs::read_dir(&folder).into_iter().flatten().flatten().map(|entry| entry.path());
        let is_plain =
            |path: &PathBuf| path.extension().is_none_or(|end| end != "sample") && !path.ends_with("info/refs");
        paths.extend(entries.filter(is_plain).take(MOST));
    }
    paths
}

impl Engine {
    /// First of all, and without asking the repository: it may not even open as the run left it.
    pub(super) async fn spring_files(&self, tripwire: &Tripwire) -> Vec<Found> {
        let mut found = Vec::new();
        let known: BTreeSet<&Path> = tripwire.files.iter().map(|file| file.path.as_path()).collect();
        let folders = if tripwire.is_view { Vec::new() } else { in_folders(&tripwire.common_dir) };
        let new = folders.into_iter().filter(|path| !known.contains(path.as_path()));
        let new: Vec<Watched> = new.map(|path| Watched { path, role: Role::Shared, was: Seen::Nothing }).collect();
        for file in tripwire.files.iter().chain(&new) {
            let now = Seen::at(&file.path);
            if file.was.is_like(&now) {
                continue;
            }
            found.extend(self.judge_file(tripwire, file, &now).await);
        }
        found
    }

    async fn judge_file(&self, tripwire: &Tripwire, file: &Watched, now: &Seen) -> Option<Found> {
        let shown = tripwire.shown(&file.path);
        let is_guarded = tripwire.is_view && file.was.is_same_file(now);
        let has_moved = || has_moved(&tripwire.common_dir, &tripwire.logs);
        match file.role {
            Role::Link => {
                let name = file.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                Some(Found::new(What::Link(name), self.put_file_back(tripwire, file)))
            }
            Role::OwnSettings => self.judge_settings(tripwire, file, now).await,
            _ if is_guarded => None,
            Role::Settings => self.judge_settings(tripwire, file, now).await,
            Role::Shallow if file.was != Seen::Nothing => None,
            Role::Head if has_moved() => None,
            Role::Head => Some(Found::new(What::Head, self.put_file_back(tripwire, file))),
            Role::Operation if file.was == Seen::Nothing && !has_moved() => {
                Some(Found::new(What::Operation(shown), Done::Left))
            }
            Role::Operation => None,
            Role::Shared | Role::Shallow => Some(Found::new(What::File(shown), self.put_file_back(tripwire, file))),
        }
    }

    /// Setting by setting, so that what others wrote meanwhile stays: Hedgerow itself writes where branches push to. A file
    /// that git cannot read any more is put back whole.
    async fn judge_settings(&self, tripwire: &Tripwire, file: &Watched, now: &Seen) -> Option<Found> {
        let neutral = &self.settings.home;
        let read = async |seen: &Seen| match (seen, seen.bytes()) {
            (Seen::Nothing, _) => Some(Settings::new()),
            (_, Some(bytes)) => self.git.settings_in(neutral, &bytes).await.ok().flatten(),
            _ => None,
        };
        let (Some(was), Some(is)) = (read(&file.was).await, read(now).await) else {
            let what = What::File(tripwire.shown(&file.path));
            return Some(Found::new(what, self.put_file_back(tripwire, file)));
        };
        let keys: BTreeSet<&String> = was.keys().chain(is.keys()).collect();
        let is_changed = |key: &&String| was.get(*key) != is.get(*key) && !is_free(key, file.role);
        let keys: Vec<String> = keys.into_iter().filter(is_changed).cloned().collect();
        if keys.is_empty() {
            return None;
        }
        let in_a_view = tripwire.is_view && file.role == Role::Settings;
        if in_a_view && !keys.iter().any(|key| can_run(key)) {
            // Only after somebody else had replaced the file could the run have written it, too.
            return Some(Found::new(What::Settings(keys), Done::Left));
        }
        // What can run programs is not left to chance.
        let keys: Vec<String> = keys.into_iter().filter(|key| !in_a_view || can_run(key)).collect();
        let done = match self.reset_settings(tripwire, file, &keys, &was).await {
            Ok(()) => Done::PutBack { kept: None },
            Err(why) => Done::Failed(why),
        };
        Some(Found::new(What::Settings(keys), done))
    }

    async fn reset_settings(
        &self,
        tripwire: &Tripwire,
        file: &Watched,
        keys: &[String],
        was: &Settings,
    ) -> Result<(), String> {
        self.copy_aside(tripwire, &file.path).map_err(|error| error.to_string())?;
        for key in keys {
            let values = was.get(key).map(Vec::as_slice).unwrap_or_default();
            let reset = self.git.reset_setting(&self.settings.home, &file.path, key, values).await;
            reset.map_err(|error| error.reason())?;
        }
        let now = Seen::at(&file.path).bytes().unwrap_or_default();
        let now = self.git.settings_in(&self.settings.home, &now).await.ok().flatten().unwrap_or_default();
        match keys.iter().find(|key| now.get(*key) != was.get(*key)) {
            Some(key) => Err(format!("`{key}` cannot be changed")),
            None => Ok(()),
        }
    }

    fn put_file_back(&self, tripwire: &Tripwire, file: &Watched) -> Done {
        let restored = self.copy_aside(tripwire, &file.path).and_then(|()| match &file.was {
            Seen::Nothing => remove(&file.path),
            Seen::Folder => remove(&file.path).and_then(|()| fs::create_dir_all(&file.path)),
            Seen::File { mode, .. } => write(&file.path, &file.was.bytes().unwrap_or_default(), *mode),
            Seen::Other(_) => Err(io::Error::other("it was no ordinary file")),
        });
        match restored {
            Ok(()) => Done::PutBack { kept: None },
            Err(error) => Done::Failed(error.to_string()),
        }
    }

    /// Keeps what a run had made of a file. A link is kept as the words it consists of.
    fn copy_aside(&self, tripwire: &Tripwire, path: &Path) -> io::Result<()> {
        let Ok(about) = fs::symlink_metadata(path) else { return Ok(()) };
        let folder = self.aside(tripwire.run);
        crate::isolation::make_private(&folder)?;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let free = (0..MOST).map(|number| folder.join(format!("{number}-{name}"))).find(|place| !place.exists());
        let place = free.ok_or_else(|| io::Error::other("too much was put aside"))?;
        if about.is_symlink() {
            fs::write(place, fs::read_link(path)?.as_os_str().as_encoded_bytes())
        } else if about.is_file() {
            fs::copy(path, place).map(drop)
        } else {
            fs::rename(path, place)
        }
    }
}

/// Settings that are written in passing: by `git push -u` and by Hedgerow, or for files that are left out of a checkout.
fn is_free(key: &str, role: Role) -> bool {
    let sparse = ["core.sparsecheckout", "core.sparsecheckoutcone", "index.sparse"];
    key.starts_with("branch.") || (role == Role::OwnSettings && sparse.contains(&key))
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Writes a file in one step, into a folder that is one: a link in its place would lead us elsewhere.
fn write(path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    let folder = path.parent().unwrap_or(path);
    if Seen::at(folder) != Seen::Folder {
        return Err(io::Error::other("its folder is no folder any more"));
    }
    let staged = tempfile::NamedTempFile::new_in(folder)?;
    fs::write(staged.path(), bytes)?;
    fs::set_permissions(staged.path(), fs::Permissions::from_mode(mode))?;
    staged.persist(path).map_err(|error| error.error)?;
    Ok(())
}
