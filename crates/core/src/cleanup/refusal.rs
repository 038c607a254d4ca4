//! Why an environment is not removed, in one list for automation and for people.

use super::count;
use crate::error::{Kind, UserError};
use crate::provider::{Facts, Operation};

/// What git reports as changed, in numbers of files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Changes {
    pub staged: u64,
    pub unstaged: u64,
    pub untracked: u64,
    pub conflicted: u64,
}

impl Changes {
    fn of(facts: &Facts) -> Self {
        let Facts { staged, unstaged, untracked, conflicted, .. } = *facts;
        Self { staged, unstaged, untracked, conflicted }
    }
}

impl std::fmt::Display for Changes {
    /// Only what there is: `2 staged, 1 untracked`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let all = [
            (self.staged, "staged"),
            (self.unstaged, "modified"),
            (self.untracked, "untracked"),
            (self.conflicted, "in conflict"),
        ];
        let some: Vec<_> = all.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}")).collect();
        f.write_str(&some.join(", "))
    }
}

/// Why an environment is not removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// A run is active in it.
    Running,
    /// Other conversations refer to it.
    UsedBy(Vec<String>),
    /// Changes that are in no commit.
    Dirty(Changes),
    /// An operation of git's is not finished.
    Operation(Operation),
    /// So many commits would be on no ref.
    Stranded(u64),
    /// Its disk may be away.
    Unreachable(String),
    /// What is there is not this environment.
    Foreign(String),
    /// git did not answer.
    Unknown(String),
    /// Someone else has locked the worktree, for this reason. Not even `--force` overrides it: whoever set the
    /// lock said "not now", and only they can tell when that is over.
    ForeignLock(String),
}

impl Refusal {
    /// Work that git could not bring back by itself.
    pub(super) fn to_lose_work(facts: &Facts) -> Option<Self> {
        // A stopped operation comes first: it explains the changes and conflicts that come with it.
        if let Some(operation) = facts.operation {
            return Some(Self::Operation(operation));
        }
        if facts.is_dirty() {
            return Some(Self::Dirty(Changes::of(facts)));
        }
        (facts.stranded_commits > 0).then_some(Self::Stranded(facts.stranded_commits))
    }

    pub(super) fn to_break_lock(facts: &Facts) -> Option<Self> {
        facts.foreign_lock.clone().map(Self::ForeignLock)
    }

    /// Whether asking again with `--force` would do it.
    pub const fn yields_to_force(&self) -> bool {
        matches!(self, Self::UsedBy(_) | Self::Dirty(_) | Self::Operation(_) | Self::Stranded(_))
    }

    /// A short phrase for reports.
    pub fn phrase(&self) -> String {
        match self {
            Self::Running => "a run is active".to_owned(),
            Self::UsedBy(names) => format!("still used by {}", names.join(", ")),
            Self::Dirty(Changes { conflicted: 1.., .. }) => "unresolved conflicts".to_owned(),
            Self::Dirty(_) => "uncommitted changes".to_owned(),
            Self::Operation(operation) => format!("{} in progress", operation.as_str()),
            Self::Stranded(n) => format!("{} on no branch", count(*n, "commit")),
            Self::Unreachable(why) => format!("unreachable: {why}"),
            Self::Foreign(why) => format!("not this environment: {why}"),
            Self::Unknown(why) => format!("git did not answer: {why}"),
            Self::ForeignLock(reason) if reason.is_empty() => "locked by someone else".to_owned(),
            Self::ForeignLock(reason) => format!("locked by someone else: {reason}"),
        }
    }

    /// The sentence a person gets, with the ways out.
    pub fn explain(&self) -> UserError {
        let cannot = |why: String| UserError::new(Kind::Protected, format!("Cannot remove worktree - {why}."));
        let forced = "use `--force`: it moves the worktree to the trash and can be undone";
        match self {
            Self::Running => UserError::new(Kind::Busy, "Cannot remove worktree - a run is active in it.")
                .hint("wait until it ends, or stop it with `/stop`"),
            Self::UsedBy(names) => cannot(format!("it is still used by {}", names.join(", "))).hint(forced),
            Self::Dirty(Changes { conflicted: 1.., .. }) => {
                cannot("you have unresolved conflicts".to_owned()).hint("resolve and commit them").hint(forced)
            }
            Self::Dirty(changes) => cannot("you have uncommitted changes".to_owned())
                .hint(format!("commit them ({changes})"))
                .hint("discard them")
                .hint(forced),
            Self::Operation(operation) => {
                cannot(self.phrase()).hint(format!("finish or abort the {}", operation.as_str())).hint(forced)
            }
            Self::Stranded(n) => cannot(format!("{} would be on no branch", count(*n, "commit")))
                .hint("make a branch there: `git branch <name>`")
                .hint(forced),
            Self::Unreachable(why) => {
                cannot(format!("it cannot be reached: {why}")).hint("try again when its disk is there")
            }
            Self::Foreign(why) => {
                cannot(format!("what is in its place is not this worktree: {why}")).hint("look at the folder yourself")
            }
            Self::Unknown(why) => cannot(format!("git did not answer: {why}")).hint("run `hedgerow doctor`"),
            Self::ForeignLock(_) => {
                cannot(self.phrase()).hint("unlock it with `git worktree unlock <path>` if that is over")
            }
        }
    }
}
