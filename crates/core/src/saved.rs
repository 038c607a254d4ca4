//! What is kept of an environment after its files are gone.

use std::path::PathBuf;

use crate::id::{CodebaseId, EnvironmentId, SavedId, Timestamp};
use crate::words;

/// A saved state: everything of an environment that git alone could not bring back. Its files are in the vault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SavedState {
    pub id: SavedId,
    pub environment: EnvironmentId,
    pub codebase: CodebaseId,
    /// The machine whose vault has it.
    pub node: String,
    pub made_at: Timestamp,
    /// What it takes up in the vault.
    pub bytes: u64,
    /// How many things are not in it.
    pub skipped: u64,
    /// The folder in the trash that it was made from, until that is deleted.
    pub remains: Option<PathBuf>,
    /// Milliseconds that cleanup has seen pass since it was made.
    pub aged: u64,
    /// When its files were deleted from the vault.
    pub expired_at: Option<Timestamp>,
}

words! {
    /// Why something is not in a saved state.
    SkippedBecause as "reason to skip" {
        /// A folder that tools fill again by themselves.
        Cache = "cache",
        /// An ignored file above the size for one file.
        TooLarge = "too-large",
        /// Ignored files above the size for all of them.
        TooMuch = "too-much",
        /// A socket, a pipe or a device.
        NoFile = "no-file",
        /// A filter such as LFS keeps its content elsewhere, and brings it back on checkout.
        Filter = "filter",
    }
}

impl SkippedBecause {
    /// For people.
    pub const fn phrase(self) -> &'static str {
        match self {
            Self::Cache => "a cache, which tools fill again",
            Self::TooLarge => "ignored, and larger than 50 MB",
            Self::TooMuch => "ignored, and beyond 500 MB in all",
            Self::NoFile => "a socket, pipe or device",
            Self::Filter => "kept elsewhere by its filter",
        }
    }
}

/// One thing that is not in a saved state.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Skipped {
    /// Below the environment's folder; bytes that are no text are spelled out.
    pub path: String,
    pub because: SkippedBecause,
    pub bytes: u64,
}

/// What a provider reports of a saved state it has made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Saved {
    pub bytes: u64,
    pub skipped: Vec<Skipped>,
}

/// What a saved state says about itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    /// When the environment went to the trash.
    pub left_at: Timestamp,
    pub branch: String,
    pub head: Option<crate::CommitSha>,
    /// Whether HEAD was on no branch.
    pub was_detached: bool,
    /// Where the branch was, if there was one.
    pub branch_tip: Option<crate::CommitSha>,
    /// Files in the archive, and objects in the pack.
    pub files: u64,
    pub objects: u64,
    pub skipped: Vec<Skipped>,
}
