//! What a platform knows that helps to choose the environment. Advice, never orders.

use crate::branch::BranchName;
use crate::sha::CommitSha;
use crate::work::Work;

/// All optional: a platform leaves out what it does not know.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hints {
    /// What is being worked on. Without it the work is the conversation itself.
    pub work: Option<Work>,
    pub pr_branch: Option<BranchName>,
    pub pr_head: Option<CommitSha>,
    pub is_fork: bool,
    /// The issues a pull request closes.
    pub linked_issues: Vec<u64>,
    /// The pull requests that close an issue.
    pub linked_prs: Vec<u64>,
    pub base_branch: Option<BranchName>,
    /// Tried for adoption, and names a new branch.
    pub suggested_branch: Option<BranchName>,
    /// Kept with the environment.
    pub description: Option<String>,
}
