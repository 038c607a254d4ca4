//! What is said about the lines of a pull request.

use super::issue::Reaction;

#[derive(Debug, Clone)]
pub(crate) struct Review {
    pub(crate) id: u64,
    pub(crate) author: u64,
    pub(crate) body: String,
    /// As REST has it: `APPROVED`, `CHANGES_REQUESTED`, `COMMENTED`.
    pub(crate) state: &'static str,
    pub(crate) submitted_at: i64,
    pub(crate) commit: String,
    pub(crate) reactions: Vec<Reaction>,
}

#[derive(Debug, Clone)]
pub(crate) struct ReviewComment {
    pub(crate) id: u64,
    pub(crate) review: u64,
    pub(crate) thread: u64,
    pub(crate) author: u64,
    pub(crate) path: String,
    pub(crate) line: u64,
    pub(crate) body: String,
    pub(crate) hunk: String,
    pub(crate) reply_to: Option<u64>,
    pub(crate) created_at: i64,
    pub(crate) updated_at: i64,
    /// When it was last changed, and by whom.
    pub(crate) edited: Option<(i64, u64)>,
    pub(crate) commit: String,
    pub(crate) reactions: Vec<Reaction>,
}

/// Comments that answer each other, beside one line.
#[derive(Debug, Clone)]
pub(crate) struct Thread {
    pub(crate) id: u64,
    pub(crate) is_resolved: bool,
    pub(crate) is_outdated: bool,
}
