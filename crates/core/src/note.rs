//! What a person should know beside the answer, as values; the words are the caller's.

use std::path::PathBuf;

use crate::branch::BranchName;
use crate::saved::Skipped;
use crate::sha::CommitSha;

/// Something a person should know about how their environment came to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Note {
    /// The remote could not be reached; the last known state was used.
    Offline {
        remote: String,
        why: String,
    },
    /// The main checkout holds the pull request's branch, so another one was made at the same commit.
    HeadBranchTaken {
        head: BranchName,
        instead: BranchName,
    },
    /// The local branch has commits of its own and was left as it is.
    KeptOwnCommits {
        branch: BranchName,
    },
    FastForwarded {
        branch: BranchName,
        from: CommitSha,
        to: CommitSha,
    },
    /// The branch was there already and is used as it is.
    ExistingBranch {
        branch: BranchName,
    },
    /// The pull request's head has moved and the environment with it.
    MovedHead {
        to: CommitSha,
    },
    /// The head has moved, but the environment has work of its own and was left alone.
    HeadMovedKept {
        to: CommitSha,
    },
    /// Another environment holds the linked work.
    LinkedElsewhere {
        work: String,
        environment: String,
    },
    /// The conversation's earlier environment is no more.
    Lost {
        environment: String,
        why: String,
    },
    /// An earlier environment of this work waits in the trash.
    InTrash {
        name: String,
    },
    /// What was not in the saved state it comes from.
    NotSaved {
        what: Vec<Skipped>,
    },
    /// Submodules could not be filled.
    NoSubmodules {
        why: String,
    },
    /// The repository's own configuration would run programs; they were not run.
    NotRun {
        what: Vec<String>,
    },
    RestoredOnBranch {
        branch: BranchName,
        instead_of: BranchName,
    },
    RestoredElsewhere {
        path: PathBuf,
    },
    /// Merged environments went to the trash to make room.
    MadeRoom {
        names: Vec<String>,
    },
}
