//! What goes from an environment to its remote: the facts that are looked at before, the push, and what became of it.

use crate::branch::BranchName;
use crate::sha::CommitSha;

/// What an environment has for others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outgoing {
    /// The name of its remote.
    pub remote: String,
    /// The remote's URL, without any credential.
    pub url: String,
    pub head: CommitSha,
    pub branch: BranchName,
    /// The branch of the remote that the repository says it goes to.
    pub upstream: Option<BranchName>,
    /// The branch that others work from: no place to push to.
    pub default_branch: Option<BranchName>,
    /// How many commits the base lacks.
    pub commits: u64,
    /// The subjects of the first of them, oldest first.
    pub subjects: Vec<String>,
    /// Whether there are changes that no commit holds.
    pub is_dirty: bool,
}

/// A commit, and the branch of the remote that it goes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Push {
    pub remote: String,
    pub url: String,
    pub head: CommitSha,
    pub target: BranchName,
    /// What we pushed before and may replace, if the branch is still there and does not lead to the new commit.
    pub replaces: Option<CommitSha>,
}

/// What became of a push.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pushed {
    /// The branch was at that commit already.
    UpToDate,
    Moved {
        /// `None`: the branch is new.
        from: Option<CommitSha>,
        to: CommitSha,
        /// How many commits it brought, where that is known.
        commits: Option<u64>,
    },
    Rejected(Rejection),
}

/// Why a remote did not take a push. Nothing was changed there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rejection {
    /// The branch has commits that are not in the environment, or an older story of the same work.
    NotAForward,
    /// Somebody else moved it meanwhile.
    MovedMeanwhile,
    /// A rule of the remote, in its own words.
    ByTheRemote(String),
}
