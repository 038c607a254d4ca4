//! The vault: saved states as files, in a folder of Hedgerow's home that nobody else can enter.
//!
//! ```text
//! <home>/vault/<environment id>/<saved id>/manifest.json    what it is, with hashes of the rest
//!                                          files.tar.zst    files and git's own records of them
//!                                          objects/pack/    commits that no remote has
//! ```
//! A saved state is written under a passing name, synced, read back, and only then renamed to its own.

pub(crate) mod archive;
pub(crate) mod manifest;
pub(crate) mod unpack;

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use hedgerow_core::{EnvironmentId, SavedId};

use crate::isolation::make_private;

pub(crate) use manifest::Manifest;

/// Goes before the name of a saved state that is not finished, or not wanted any more.
const PASSING: &str = ".passing-";

/// Where saved states are.
#[derive(Debug, Clone)]
pub(crate) struct Vault {
    path: PathBuf,
}

impl Vault {
    pub(crate) fn new(home: &Path) -> Self {
        Self { path: home.join("vault") }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The folder of a saved state.
    pub(crate) fn place(&self, environment: EnvironmentId, saved: SavedId) -> PathBuf {
        self.path.join(environment.to_string()).join(saved.to_string())
    }

    /// Where one is being made.
    pub(crate) fn begin(&self, environment: EnvironmentId, saved: SavedId) -> io::Result<PathBuf> {
        let parent = self.path.join(environment.to_string());
        make_private(&parent)?;
        Ok(parent.join(format!("{PASSING}{saved}")))
    }

    /// What was made is complete: it gets its name, and the name is on disk when this returns.
    pub(crate) fn publish(&self, environment: EnvironmentId, saved: SavedId) -> io::Result<()> {
        let place = self.place(environment, saved);
        fs::rename(self.begin(environment, saved)?, &place)?;
        let parent = place.parent().unwrap_or(&self.path);
        sync_folder(parent)?;
        sync_folder(&self.path)?;
        // The vault itself may be new.
        self.path.parent().map_or(Ok(()), sync_folder)
    }

    /// Everything that has the place of a saved state, whoever put it there. What is being made is not among them.
    pub(crate) fn folders(&self) -> Vec<PathBuf> {
        let inside =
            |path: &Path| fs::read_dir(path).into_iter().flatten().filter_map(Result::ok).map(|entry| entry.path());
        let is_passing =
            |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(PASSING));
        let mut folders: Vec<_> = inside(&self.path).flat_map(|it| inside(&it)).filter(|it| !is_passing(it)).collect();
        folders.sort();
        folders
    }

    /// Deletes a saved state. Its name goes first, so that a half-deleted one is never taken for one.
    pub(crate) fn delete(&self, environment: EnvironmentId, saved: SavedId) -> io::Result<()> {
        let going = self.begin(environment, saved)?;
        match fs::rename(self.place(environment, saved), &going) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        absent_is_fine(fs::remove_dir_all(going))?;
        let _ = fs::remove_dir(self.path.join(environment.to_string()));
        Ok(())
    }

    /// What was begun for an environment and never finished. Asked under the environment's lease.
    pub(crate) fn begun(&self, environment: EnvironmentId) -> io::Result<Vec<SavedId>> {
        let names = self.names(environment)?.into_iter();
        Ok(names.filter_map(|name| name.strip_prefix(PASSING)?.parse().ok()).collect())
    }

    /// Environments for which something was begun.
    pub(crate) fn beginnings(&self) -> Vec<EnvironmentId> {
        let entries = fs::read_dir(&self.path).into_iter().flatten().filter_map(Result::ok);
        let ids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        ids.filter(|id| self.begun(*id).is_ok_and(|begun| !begun.is_empty())).collect()
    }

    /// Finished saved states of an environment that hold the very same as this one.
    pub(crate) fn twins(&self, environment: EnvironmentId, saved: SavedId) -> io::Result<Vec<SavedId>> {
        let content = |id| {
            let manifest = Manifest::read(&self.place(environment, id)).ok()?;
            Some((manifest.archive.sha256, manifest.pack.map(|pack| pack.sha256), manifest.needs))
        };
        let same = |id: &SavedId| *id != saved && content(*id).is_some_and(|it| content(saved) == Some(it));
        Ok(self.names(environment)?.into_iter().filter_map(|name| name.parse().ok()).filter(same).collect())
    }

    fn names(&self, environment: EnvironmentId) -> io::Result<Vec<String>> {
        match fs::read_dir(self.path.join(environment.to_string())) {
            Ok(entries) => entries.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned())).collect(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }
}

fn absent_is_fine(done: io::Result<()>) -> io::Result<()> {
    match done {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

/// A rename is on disk only when its folder is.
pub(crate) fn sync_folder(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}
