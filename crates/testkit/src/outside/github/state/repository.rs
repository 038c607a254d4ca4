//! A repository: a real bare one on disk, and what GitHub knows besides.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use super::issue::Issue;
use super::people::Role;

#[derive(Debug, Clone)]
pub(crate) struct Repository {
    pub(crate) id: u64,
    pub(crate) owner: String,
    pub(crate) name: String,
    pub(crate) is_private: bool,
    pub(crate) default_branch: String,
    pub(crate) fork_of: Option<u64>,
    pub(crate) path: PathBuf,
    pub(crate) roles: BTreeMap<u64, Role>,
    pub(crate) protected: BTreeSet<String>,
    pub(crate) issues: BTreeMap<u64, Issue>,
    /// Where its branches were when we last looked.
    pub(crate) heads: BTreeMap<String, String>,
    pub(crate) checks: Vec<Check>,
    pub(crate) is_deleted: bool,
    pub(crate) created_at: i64,
    pub(crate) pushed_at: i64,
}

/// What somebody found out about a commit.
#[derive(Debug, Clone)]
pub(crate) struct Check {
    pub(crate) id: u64,
    pub(crate) sha: String,
    pub(crate) name: String,
    /// An older commit status, not a check run.
    pub(crate) is_status: bool,
    /// `success`, `failure` …; `None` while it runs.
    pub(crate) conclusion: Option<String>,
    pub(crate) at: i64,
}

impl Repository {
    pub(crate) fn full_name(&self) -> String {
        format!("{}/{}", self.owner, self.name)
    }

    pub(crate) fn next_number(&self) -> u64 {
        self.issues.keys().next_back().map_or(1, |last| last + 1)
    }

    pub(crate) fn is_called(&self, owner: &str, name: &str) -> bool {
        self.owner.eq_ignore_ascii_case(owner) && self.name.eq_ignore_ascii_case(name)
    }
}
