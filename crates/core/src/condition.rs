//! What is found where an environment should be: facts, from git and from the disk, for others to judge.

use crate::branch::BranchName;
use crate::environment::{Environment, InitState, State};
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

impl Presence {
    /// The state that an environment turns to because of what was found in its place, and what is to be said about it.
    ///
    /// `None` when its state says so already, and while an act is under way: that ends in a state of its own. What is gone
    /// stays as it is, because letting go of it is a decision; only that it is away, or something else, is no longer true.
    pub fn turns(&self, environment: &Environment) -> Option<(State, Option<String>)> {
        let looked_after = [State::Active, State::Failed, State::Unreachable, State::Broken];
        if !looked_after.contains(&environment.state) {
            return None;
        }
        let (state, why) = match self {
            Self::Unreachable(why) => (State::Unreachable, Some(why.clone())),
            Self::Foreign(why) => (State::Broken, Some(why.clone())),
            Self::Here | Self::Missing if environment.state.is_usable() => return None,
            Self::Here | Self::Missing if environment.init.state == Some(InitState::Failed) => {
                (State::Failed, environment.init.error.clone())
            }
            Self::Here | Self::Missing => (State::Active, None),
        };
        (state != environment.state).then_some((state, why))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::environment::{Actor, Init};
    use crate::id::{CodebaseId, EnvironmentId};

    fn environment(state: State, init: Option<InitState>) -> Environment {
        let branch = BranchName::parse("issue-42").expect("a name");
        let (id, codebase, now) = (EnvironmentId::new(), CodebaseId::new(), Timestamp::from_millis(0));
        let new = Environment::new(id, codebase, branch, "/w".into(), Actor::automation(), now);
        Environment { state, init: Init { state: init, error: Some("exit 1".to_owned()) }, ..new }
    }

    #[test]
    fn a_state_follows_what_is_found_and_comes_back_to_what_it_was() {
        let away = Presence::Unreachable("no disk".to_owned());
        let foreign = Presence::Foreign("no marker".to_owned());
        let active = environment(State::Active, None);
        assert_eq!(away.turns(&active), Some((State::Unreachable, Some("no disk".to_owned()))));
        assert_eq!(foreign.turns(&active), Some((State::Broken, Some("no marker".to_owned()))));
        for found in [Presence::Here, Presence::Missing] {
            assert_eq!(found.turns(&active), None);
            assert_eq!(found.turns(&environment(State::Unreachable, None)), Some((State::Active, None)));
            let failed = environment(State::Broken, Some(InitState::Failed));
            assert_eq!(found.turns(&failed), Some((State::Failed, Some("exit 1".to_owned()))));
        }
        assert_eq!(away.turns(&environment(State::Unreachable, None)), None);
    }

    #[test]
    fn an_act_under_way_is_not_interfered_with() {
        for state in [State::Creating, State::Removing, State::Trashed, State::Destroyed, State::Suspended] {
            for found in [Presence::Here, Presence::Missing, Presence::Foreign(String::new())] {
                assert_eq!(found.turns(&environment(state, None)), None, "{state}");
            }
        }
    }
}
