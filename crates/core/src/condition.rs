//! What is found where an environment should be: facts, from git and from the disk, for others to judge.

use crate::branch::BranchName;
use crate::id::Timestamp;
use crate::sha::CommitSha;

/// An operation of git's that is not finished.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    Rebase,
    Merge,
    CherryPick,
    Revert,
    Bisect,
    Am,
}

impl Operation {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Rebase => "rebase",
            Self::Merge => "merge",
            Self::CherryPick => "cherry-pick",
            Self::Revert => "revert",
            Self::Bisect => "bisect",
            Self::Am => "am",
        }
    }
}

/// What git says about an environment that is there.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Facts {
    pub head: Option<CommitSha>,
    /// `None` when HEAD is detached.
    pub branch: Option<BranchName>,
    pub staged: u64,
    pub unstaged: u64,
    pub untracked: u64,
    pub conflicted: u64,
    pub operation: Option<Operation>,
    /// The branch that the operation goes back to when it ends; HEAD is detached until then.
    pub operation_branch: Option<BranchName>,
    /// Commits that no ref which stays would reach once this environment is gone.
    pub stranded_commits: u64,
    pub ahead: Option<u64>,
    pub behind: Option<u64>,
    pub last_commit_at: Option<Timestamp>,
    /// Newest change of a file git reports as changed.
    pub last_change_at: Option<Timestamp>,
    /// The reason of a lock that is not ours.
    pub foreign_lock: Option<String>,
}

impl Facts {
    pub const fn is_dirty(&self) -> bool {
        self.staged + self.unstaged + self.untracked + self.conflicted > 0
    }
}

/// An environment as it is found on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Condition {
    Present(Box<Facts>),
    /// Verifiably gone: its base folder is there, and it is not.
    Missing,
    /// Its base folder is not there either: the disk may be away.
    Unreachable(String),
    /// Something is there that is not this environment.
    Foreign(String),
    /// git did not answer.
    Unknown(String),
}

/// Whether an environment is where it should be. Cheaper than a [`Condition`]: nothing is asked of git.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Presence {
    Here,
    /// Verifiably gone: its base folder is there, and it is not.
    Missing,
    /// Its base folder is not there either: the disk may be away.
    Unreachable(String),
    /// Something is there that is not this environment.
    Foreign(String),
}
