//! The token checker: plants unique tokens wherever an environment can hold work, and looks for them afterwards.
//!
//! A token counts as back only when it is the same, byte for byte, and in its role: staged content in the index, an
//! ignored file still ignored, a stopped rebase still stopped. What is expected is written down from what was planted,
//! never read back from git, so that a checker and a remover cannot be wrong in the same way.

mod fact;
mod files;
mod history;
mod inside;
mod kind;
mod operations;
mod place;

use std::fmt;
use std::path::{Path, PathBuf};

pub use self::kind::Kind;
use self::operations::Operation;
use self::place::Place;
use crate::git::git;
use crate::repo::TestRepo;
use fact::Fact;

/// Kinds that can be in one environment together. States such as a rebase and a merge exclude each other.
#[derive(Debug, Clone, Copy)]
pub struct Plan {
    pub name: &'static str,
    /// In the order in which they are planted.
    pub kinds: &'static [Kind],
    /// The branch is on the remote in the end, so that a removal lets the local one go. Needs a repository with an
    /// origin.
    pub pushed: bool,
}

impl Plan {
    /// Between them they have every kind.
    pub const ALL: [Self; 7] =
        [Self::BUSY, Self::PUSHED, Self::DETACHED, Self::REBASING, Self::MERGING, Self::BISECTING, Self::PICKING];

    /// A branch in the middle of a day's work.
    pub const BUSY: Self = Self {
        name: "busy",
        kinds: &[
            Kind::Committed,
            Kind::Reflog,
            Kind::Stash,
            Kind::LineEndings,
            Kind::Submodule,
            Kind::Nested,
            Kind::Modes,
            Kind::Hidden,
            Kind::Staged,
            Kind::Unstaged,
            Kind::Deleted,
            Kind::IntentToAdd,
            Kind::Untracked,
            Kind::OddNames,
            Kind::Ignored,
        ],
        pushed: false,
    };

    /// Everything committed is on the remote: to `git status` there is nothing to keep.
    pub const PUSHED: Self = Self {
        name: "pushed",
        kinds: &[Kind::Reflog, Kind::BranchLog, Kind::Hidden, Kind::LineEndings, Kind::Ignored],
        pushed: true,
    };

    pub const DETACHED: Self = Self {
        name: "detached",
        kinds: &[Kind::Committed, Kind::Detached, Kind::Reflog, Kind::Staged, Kind::Untracked, Kind::Ignored],
        pushed: false,
    };

    pub const REBASING: Self = Self {
        name: "rebasing",
        kinds: &[Kind::Committed, Kind::Reflog, Kind::Rebase, Kind::Nested, Kind::Untracked, Kind::Ignored],
        pushed: false,
    };

    pub const MERGING: Self = Self {
        name: "merging",
        kinds: &[Kind::Committed, Kind::Merge, Kind::Unstaged, Kind::Hidden, Kind::Untracked, Kind::Ignored],
        pushed: false,
    };

    pub const BISECTING: Self = Self {
        name: "bisecting",
        kinds: &[Kind::Committed, Kind::Reflog, Kind::Bisect, Kind::Untracked, Kind::Ignored],
        pushed: false,
    };

    pub const PICKING: Self = Self {
        name: "picking",
        kinds: &[Kind::Committed, Kind::Stash, Kind::CherryPick, Kind::Untracked, Kind::Ignored],
        pushed: false,
    };
}

/// Plants tokens.
#[derive(Debug)]
pub struct Tokens;

/// What was planted, and how to recognise it.
#[derive(Debug, Clone)]
pub struct Planted {
    facts: Vec<(Kind, Fact)>,
    operations: Vec<(Kind, Operation)>,
}

/// A token that is not back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loss {
    pub kind: Kind,
    pub what: String,
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind, self.what)
    }
}

impl Tokens {
    /// Plants the kinds of a plan in an environment: a linked worktree of `repo`, on its branch and clean.
    pub fn plant(plan: Plan, repo: &TestRepo, environment: &Path) -> Planted {
        let place = Place::furnish(repo, environment);
        let mut planted = Planted { facts: Vec::new(), operations: Vec::new() };
        for kind in plan.kinds {
            let crop = kind.plant(&place);
            planted.facts.extend(crop.facts.into_iter().map(|fact| (*kind, fact)));
            planted.operations.extend(crop.operation.map(|operation| (*kind, operation)));
        }
        if plan.pushed {
            git(environment, &["push", "--quiet", "origin", &place.branch]);
        }
        planted
    }
}

impl Planted {
    /// What is not there, or not in its role, in the environment that is at this path now.
    pub fn missing(&self, at: &Path) -> Vec<Loss> {
        let losses = self.facts.iter().filter_map(|(kind, fact)| Some((kind, fact.is_broken(at)?)));
        losses.map(|(kind, what)| Loss { kind: *kind, what }).collect()
    }

    /// Carries on with what was stopped (a rebase, a merge, a bisect, a cherry-pick) to its end. Comes last: the
    /// environment is another one afterwards.
    pub fn operation_continues(&self, at: &Path) -> Vec<Loss> {
        // The one that was begun last is the one to finish first.
        let ends = self.operations.iter().rev().filter_map(|(kind, operation)| Some((kind, operation.end(at).err()?)));
        ends.map(|(kind, what)| Loss { kind: *kind, what }).collect()
    }

    /// The files that hold tokens, below the environment, with their kinds.
    pub fn files(&self) -> impl Iterator<Item = (Kind, PathBuf)> {
        self.facts.iter().filter_map(|(kind, fact)| Some((*kind, fact.file()?.to_owned())))
    }
}

/// Lets git collect everything that nothing needs, at once: what is kept only by luck is gone after this.
pub fn nothing_collected(repo: &TestRepo) {
    repo.git(&["reflog", "expire", "--expire=now", "--expire-unreachable=now", "--all"]);
    repo.git(&["gc", "--quiet", "--prune=now"]);
}
