//! Checkpoints: states of a live environment that can be gone back to.

use std::path::PathBuf;

use serde::Serialize;

use crate::branch::BranchName;
use crate::error::UserError;
use crate::id::Timestamp;
use crate::sha::CommitSha;

/// The newest so many are kept.
pub const KEPT: usize = 20;

/// One saved state, as people and the store know it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Checkpoint {
    /// Counted from 1 in each environment, never given twice.
    pub number: u64,
    /// The commit in the repository that holds it.
    pub commit: CommitSha,
    pub made_at: Timestamp,
    pub label: Option<String>,
}

/// What a checkpoint has to do with an undo.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// Nothing: it was asked for.
    Plain,
    /// Made just before going back from one checkpoint to another. As the newest one it says that this was interrupted.
    Before { from: u64, to: u64 },
    /// Made right after: as far as further undos go, this is that earlier checkpoint again.
    After { at: u64 },
}

/// A checkpoint as the provider finds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Marked {
    pub checkpoint: Checkpoint,
    pub mark: Mark,
    /// Equal in two checkpoints when they hold the same state.
    pub state: String,
}

impl Marked {
    /// Where in the row of turns the environment was then.
    pub const fn position(&self) -> u64 {
        match self.mark {
            Mark::After { at } => at,
            Mark::Plain | Mark::Before { .. } => self.checkpoint.number,
        }
    }
}

/// A checkpoint to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewCheckpoint {
    pub number: u64,
    pub at: Timestamp,
    pub label: Option<String>,
    pub mark: Mark,
    /// The newest there is. Files that were not touched since are not read again, and unless the new one is made for an
    /// undo nothing is made at all when nothing has changed.
    pub newest: Option<Marked>,
}

/// Going back: what differs between `from` and `to` becomes as in `to`, except where `now` is neither.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rewind {
    pub from: CommitSha,
    pub to: CommitSha,
    /// The state of this moment, saved.
    pub now: CommitSha,
}

/// What became of going back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rewinding {
    Done(Rewound),
    /// It would undo what nobody asked to undo. Nothing was touched.
    Refused(UserError),
}

/// What went back, and what did not.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rewound {
    /// Files that have their earlier content again.
    pub restored: Vec<PathBuf>,
    /// Files that were not there earlier.
    pub deleted: Vec<PathBuf>,
    /// Paths that would have changed and were left alone.
    pub kept: Vec<Kept>,
    /// How many paths of the index went back.
    pub staged: u64,
    pub head: Option<HeadMove>,
    /// Whether an operation in progress (a rebase, a merge) was taken back or brought back.
    pub operation: bool,
}

impl Rewound {
    /// Whether nothing had to change.
    pub fn is_nothing(&self) -> bool {
        let Self { restored, deleted, kept: _, staged, head, operation } = self;
        restored.is_empty() && deleted.is_empty() && *staged == 0 && head.is_none() && !operation
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    pub path: PathBuf,
    pub because: KeptBecause,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum KeptBecause {
    /// Someone changed it since.
    Changed,
    /// git ignores it; ignored files are no part of a checkpoint.
    Ignored,
    /// Something that is no part of a checkpoint is where it should go.
    InTheWay,
    /// It is a repository of its own.
    Repository,
}

/// HEAD, and its branch, as they went back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeadMove {
    pub from: Option<CommitSha>,
    pub to: CommitSha,
    /// The branch HEAD is on now; `None` when it is detached.
    pub branch: Option<BranchName>,
}
