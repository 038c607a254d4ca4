//! Issues and pull requests, which are issues with something more, and what is said below them.

use super::reviews::{Review, ReviewComment, Thread};

#[derive(Debug, Clone)]
pub(crate) struct Issue {
    pub(crate) id: u64,
    pub(crate) number: u64,
    pub(crate) title: String,
    pub(crate) body: Option<String>,
    /// The id of a user, as in all that follow.
    pub(crate) author: u64,
    pub(crate) is_open: bool,
    pub(crate) state_reason: Option<&'static str>,
    pub(crate) is_locked: bool,
    pub(crate) labels: Vec<(u64, String)>,
    pub(crate) created_at: i64,
    pub(crate) updated_at: i64,
    pub(crate) closed_at: Option<i64>,
    pub(crate) closed_by: Option<u64>,
    pub(crate) comments: Vec<Comment>,
    /// When its text was last changed, and by whom.
    pub(crate) edited: Option<(i64, u64)>,
    /// When it got another title, and which it had.
    pub(crate) renames: Vec<(i64, String)>,
    pub(crate) reactions: Vec<Reaction>,
    pub(crate) pull: Option<Pull>,
    pub(crate) gone: Option<Gone>,
    /// When it came here from another repository.
    pub(crate) transferred_at: Option<i64>,
}

/// Why an issue is no longer there.
#[derive(Debug, Clone)]
pub(crate) enum Gone {
    Deleted,
    /// To a repository by its id, under a new number.
    Transferred(u64, u64),
}

#[derive(Debug, Clone)]
pub(crate) struct Comment {
    pub(crate) id: u64,
    pub(crate) author: u64,
    pub(crate) body: String,
    pub(crate) created_at: i64,
    pub(crate) updated_at: i64,
    /// When it was last changed, and by whom.
    pub(crate) edited: Option<(i64, u64)>,
    pub(crate) reactions: Vec<Reaction>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Reaction {
    pub(crate) id: u64,
    pub(crate) who: u64,
    /// As REST has it: `eyes`, `+1`.
    pub(crate) content: String,
    pub(crate) created_at: i64,
}

/// What a pull request has besides.
#[derive(Debug, Clone)]
pub(crate) struct Pull {
    pub(crate) id: u64,
    /// The repository of its head; `None` when it is gone.
    pub(crate) head_repository: Option<u64>,
    pub(crate) head_branch: String,
    pub(crate) head: String,
    pub(crate) base_branch: String,
    pub(crate) base: String,
    pub(crate) is_draft: bool,
    pub(crate) merge: Option<Merge>,
    pub(crate) reviewers: Vec<u64>,
    pub(crate) reviews: Vec<Review>,
    pub(crate) review_comments: Vec<ReviewComment>,
    pub(crate) threads: Vec<Thread>,
    /// Issues that were linked by hand.
    pub(crate) linked: Vec<u64>,
}

#[derive(Debug, Clone)]
pub(crate) struct Merge {
    pub(crate) at: i64,
    pub(crate) by: u64,
    pub(crate) sha: String,
}

impl Issue {
    pub(crate) fn comment(&self, id: u64) -> Option<&Comment> {
        self.comments.iter().find(|comment| comment.id == id)
    }

    pub(crate) fn pull(&self) -> &Pull {
        self.pull.as_ref().expect("it was found as a pull request")
    }

    pub(crate) fn pull_mut(&mut self) -> &mut Pull {
        self.pull.as_mut().expect("it was found as a pull request")
    }

    pub(crate) fn is_merged(&self) -> bool {
        self.pull.as_ref().is_some_and(|pull| pull.merge.is_some())
    }

    pub(crate) fn text(&self) -> &str {
        self.body.as_deref().unwrap_or_default()
    }
}
