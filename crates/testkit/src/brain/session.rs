//! What the assistant of the tests remembers from one turn to the next: a file for each session.

use std::path::PathBuf;
use std::{fs, io};

use hedgerow_core::SessionId;

use super::desk::{admin_folder, note};

#[derive(Debug)]
pub(super) struct Session {
    pub(super) name: String,
    folder: PathBuf,
}

impl Session {
    /// The one to resume, or a new one.
    pub(super) fn open(given: Option<String>, state: Option<PathBuf>) -> io::Result<Self> {
        let folder = state.map_or_else(|| Ok(admin_folder()?.join("fake-assistant")), io::Result::Ok)?;
        Ok(Self { name: given.unwrap_or_else(|| SessionId::new().to_string()), folder })
    }

    pub(super) fn remember(&self, word: &str) -> io::Result<()> {
        fs::create_dir_all(&self.folder)?;
        fs::write(self.file(), word)
    }

    pub(super) fn recall(&self) -> String {
        fs::read_to_string(self.file()).unwrap_or_else(|_| "nothing".to_owned())
    }

    /// Keeps a prompt, so that the session is known from now on.
    pub(super) fn keep(&self, prompt: &str) -> io::Result<()> {
        fs::create_dir_all(&self.folder)?;
        note(Some(&self.history()), &prompt.replace('\n', " "))
    }

    /// All prompts there were; `None` for a session that is not known.
    pub(super) fn past(&self) -> Option<Vec<String>> {
        Some(fs::read_to_string(self.history()).ok()?.lines().map(str::to_owned).collect())
    }

    fn history(&self) -> PathBuf {
        self.folder.join(format!("{}.history", self.name))
    }

    fn file(&self) -> PathBuf {
        self.folder.join(format!("{}.session", self.name))
    }
}
