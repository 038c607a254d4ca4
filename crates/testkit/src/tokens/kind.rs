//! The kinds of places where an environment holds work.

use std::fmt;

use super::place::{Crop, Place};
use super::{files, history, inside, operations};

/// One kind of place. Most of them `git worktree remove` deletes without a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Commits on the branch that no remote has.
    Committed,
    /// Content of the index that neither HEAD nor the file has.
    Staged,
    /// A changed file that git tracks.
    Unstaged,
    /// Files, a link, a program and a folder that git does not know, under difficult names.
    Untracked,
    /// Files that `.gitignore` or `info/exclude` hide.
    Ignored,
    /// Edits that git was told not to look at.
    Hidden,
    /// Commits on no branch.
    Detached,
    /// A stopped interactive rebase: an amended commit, a rest to do, changes in the autostash.
    Rebase,
    /// A conflicted merge with edits between its markers.
    Merge,
    /// Commits, staged and untracked files in a submodule.
    Submodule,
    /// Repositories in untracked and ignored folders, with all a repository can hold.
    Nested,
    /// A commit that was amended away: only the worktree's reflog names it.
    Reflog,
    /// A commit that only the branch's own reflog names.
    BranchLog,
    /// A stash; all worktrees share them.
    Stash,
    /// Files whose bytes are not what a checkout would write.
    LineEndings,
    /// Permissions that git does not record.
    Modes,
    /// Names that git or another system would refuse.
    OddNames,
    /// A tracked file that was deleted.
    Deleted,
    /// A file that is announced to the index.
    IntentToAdd,
    /// A bisect in progress.
    Bisect,
    /// A cherry-pick of several commits that stopped at the first.
    CherryPick,
}

impl Kind {
    pub const ALL: [Self; 21] = [
        Self::Committed,
        Self::Staged,
        Self::Unstaged,
        Self::Untracked,
        Self::Ignored,
        Self::Hidden,
        Self::Detached,
        Self::Rebase,
        Self::Merge,
        Self::Submodule,
        Self::Nested,
        Self::Reflog,
        Self::BranchLog,
        Self::Stash,
        Self::LineEndings,
        Self::Modes,
        Self::OddNames,
        Self::Deleted,
        Self::IntentToAdd,
        Self::Bisect,
        Self::CherryPick,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Committed => "committed",
            Self::Staged => "staged",
            Self::Unstaged => "unstaged",
            Self::Untracked => "untracked",
            Self::Ignored => "ignored",
            Self::Hidden => "hidden",
            Self::Detached => "detached",
            Self::Rebase => "rebase",
            Self::Merge => "merge",
            Self::Submodule => "submodule",
            Self::Nested => "nested",
            Self::Reflog => "reflog",
            Self::BranchLog => "branch-log",
            Self::Stash => "stash",
            Self::LineEndings => "line-endings",
            Self::Modes => "modes",
            Self::OddNames => "odd-names",
            Self::Deleted => "deleted",
            Self::IntentToAdd => "intent-to-add",
            Self::Bisect => "bisect",
            Self::CherryPick => "cherry-pick",
        }
    }

    pub(super) fn plant(self, place: &Place) -> Crop {
        match self {
            Self::Committed => history::committed(place),
            Self::Staged => files::staged(place),
            Self::Unstaged => files::unstaged(place),
            Self::Untracked => files::untracked(place),
            Self::Ignored => files::ignored(place),
            Self::Hidden => files::hidden(place),
            Self::Detached => history::detached(place),
            Self::Rebase => operations::rebase(place),
            Self::Merge => operations::merge(place),
            Self::Submodule => inside::submodule(place),
            Self::Nested => inside::nested(place),
            Self::Reflog => history::reflog(place),
            Self::BranchLog => history::branch_log(place),
            Self::Stash => history::stash(place),
            Self::LineEndings => files::line_endings(place),
            Self::Modes => files::modes(place),
            Self::OddNames => files::odd_names(place),
            Self::Deleted => files::deleted(place),
            Self::IntentToAdd => files::intent_to_add(place),
            Self::Bisect => operations::bisect(place),
            Self::CherryPick => operations::cherry_pick(place),
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
