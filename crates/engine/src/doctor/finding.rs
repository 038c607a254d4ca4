//! What `doctor` says about one thing, and what it could do about it.

use std::path::PathBuf;

use hedgerow_core::{Codebase, Environment, EnvironmentId, SavedId};

/// One thing `doctor` looked at.
#[derive(Debug, Clone, serde::Serialize)]
pub struct Finding {
    pub what: String,
    pub level: Level,
    pub detail: String,
    pub hint: Option<String>,
    /// It was so, and has been put right.
    pub fixed: bool,
    #[serde(skip)]
    pub(super) cure: Option<Cure>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    Fine,
    Warning,
    Problem,
}

/// What can be done without a person: nothing that anybody made is deleted or moved by it.
#[derive(Debug, Clone)]
pub(super) enum Cure {
    /// [`crate::Engine::reconcile`] does it.
    Reconcile,
    /// A file or folder of Hedgerow's own becomes its owner's alone.
    MakePrivate { path: PathBuf, mode: u32 },
    /// The base is verifiably ours, only its sentinel is lost.
    WriteSentinel,
    /// Someone unlocked the worktree, which protects it from a stray prune.
    Lock { codebase: Box<Codebase>, environment: Box<Environment>, worktree: PathBuf },
    /// Its lock says whose it is; the marker is lost.
    Mark { environment: Box<Environment>, admin: PathBuf },
    /// The admin folder has lost the way to its worktree, which still knows the way to it.
    Link { environment: Box<Environment>, admin: PathBuf },
    /// A lock file of git's in our own admin folder, left by a git that is gone.
    SetAside { environment: Box<Environment>, file: PathBuf },
    /// Lock files of ours that nobody holds.
    DropLocks(Vec<PathBuf>),
    /// A lease of a process of this machine that is gone.
    EndLease { id: EnvironmentId, holder: String },
    /// Refs on commits that a remote has, for a saved state that was never written down or has expired.
    Unpin { codebase: Box<Codebase>, saved: SavedId },
}

impl Finding {
    pub fn fine(what: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { what: what.into(), level: Level::Fine, detail: detail.into(), hint: None, fixed: false, cure: None }
    }

    pub fn warning(what: impl Into<String>, detail: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { level: Level::Warning, hint: Some(hint.into()), ..Self::fine(what, detail) }
    }

    pub fn problem(what: impl Into<String>, detail: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { level: Level::Problem, ..Self::warning(what, detail, hint) }
    }

    pub(super) fn cured_by(self, cure: Cure) -> Self {
        Self { cure: Some(cure), ..self }
    }

    /// Whether both are about the same thing. Hints may differ from look to look.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.what == other.what && self.detail == other.detail
    }
}
