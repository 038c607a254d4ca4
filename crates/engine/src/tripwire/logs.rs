//! The logs of refs. git writes into them wherever they lead, so whoever plants a link there has our own git, or a
//! person's, write into a file of the user.

use std::fs;
use std::path::{Path, PathBuf};

use super::{Done, Found, Tripwire, What};

/// Most entries that are looked at; nobody has as many branches.
const MOST: usize = 200_000;

/// Everything among the logs that is neither a file nor a folder.
pub(super) fn odd(common_dir: &Path) -> Vec<PathBuf> {
    let (mut odd, mut folders, mut seen) = (Vec::new(), vec![common_dir.to_owned()], 0);
    while let Some(folder) = folders.pop() {
        let entries: Vec<PathBuf> = if folder == common_dir {
            vec![common_dir.join("logs")]
        } else {
            fs::read_dir(&folder).into_iter().flatten().flatten().take(MOST).map(|entry| entry.path()).collect()
        };
        for path in entries {
            seen += 1;
            match fs::symlink_metadata(&path) {
                Ok(about) if about.is_dir() => folders.push(path),
                Ok(about) if about.is_file() => {}
                Ok(_) => odd.push(path),
                Err(_) => {}
            }
        }
        if seen > MOST {
            break;
        }
    }
    odd
}

impl Tripwire {
    /// Takes away what a run has put there, before anything is written. A link or a pipe holds nothing of its own.
    pub(super) fn clear_logs(&self) -> Vec<Found> {
        let new = odd(&self.common_dir).into_iter().filter(|path| !self.odd_logs.contains(path));
        new.map(|path| {
            let done = match fs::remove_file(&path) {
                Ok(()) => Done::PutBack { kept: None },
                Err(error) => Done::Failed(error.to_string()),
            };
            Found::new(What::File(self.shown(&path)), done)
        })
        .collect()
    }
}
