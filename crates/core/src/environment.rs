//! The isolated place of one or more works.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use crate::branch::BranchName;
use crate::id::{CodebaseId, ConversationId, EnvironmentId, Timestamp};
use crate::platform::{Checks, WorkState};
use crate::sha::CommitSha;
use crate::work::Work;

/// Text that names no value of a closed set.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{value}` is not a known {what}")]
pub struct UnknownWord {
    pub what: &'static str,
    pub value: String,
}

/// A closed set of words that is stored as text: the enum, its spelling and its parser from one list.
#[macro_export]
macro_rules! words {
    ($(#[$doc:meta])* $name:ident as $what:literal { $($(#[$vdoc:meta])* $variant:ident = $text:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $name { $($(#[$vdoc])* $variant),+ }

        impl $name {
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text),+ }
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl ::std::str::FromStr for $name {
            type Err = $crate::environment::UnknownWord;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                match text {
                    $($text => Ok(Self::$variant),)+
                    _ => Err($crate::environment::UnknownWord { what: $what, value: text.to_owned() }),
                }
            }
        }

        impl ::serde::Serialize for $name {
            fn serialize<S: ::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }
    };
}

words! {
    /// Where an environment is in its life.
    State as "state" {
        /// An intent is written down; git may be half-way.
        Creating = "creating",
        Active = "active",
        /// Its init script failed; the files are there and it can be tried again.
        Failed = "failed",
        Suspended = "suspended",
        /// An intent to remove is written down.
        Removing = "removing",
        /// In the trash, whole.
        Trashed = "trashed",
        Destroyed = "destroyed",
        /// Its disk is away.
        Unreachable = "unreachable",
        /// Parked untouched; a person must look.
        Broken = "broken",
    }
}

impl State {
    /// Whether the environment still occupies its work, branch and path, and counts towards the limit.
    pub const fn is_live(self) -> bool {
        !matches!(self, Self::Trashed | Self::Destroyed)
    }

    /// Whether work can be done in it now.
    pub const fn is_usable(self) -> bool {
        matches!(self, Self::Active | Self::Failed)
    }
}

words! {
    /// How an environment was found that someone else had made.
    AdoptedFrom as "kind of adoption" {
        /// It stood at the very path Hedgerow would have used.
        Path = "path",
        Branch = "branch",
        /// Listed in another tool's worktree registry.
        Skill = "skill",
    }
}

words! {
    /// How a request got its environment.
    Resolution as "resolution" {
        Kept = "kept",
        Reused = "reused",
        Shared = "shared",
        Adopted = "adopted",
        Restored = "restored",
        Created = "created",
    }
}

words! {
    /// What makes environments.
    ProviderKind as "provider" {
        Worktree = "worktree",
    }
}

words! {
    /// The init script's last outcome.
    InitState as "init state" {
        Running = "running",
        Success = "success",
        Failed = "failed",
        Interrupted = "interrupted",
    }
}

words! {
    /// Why an environment is in the trash. Decides whether it is brought back on its own.
    TrashedBecause as "reason for the trash" {
        /// A person asked.
        Asked = "asked",
        Merged = "merged",
        Stale = "stale",
        Closed = "closed",
        Orphan = "orphan",
        /// A restore or a create that lost its place.
        Superseded = "superseded",
    }
}

/// Who did something: a platform and a person on it, such as `terminal:alice`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Actor {
    pub platform: String,
    pub person: String,
}

impl Actor {
    pub fn new(platform: impl Into<String>, person: impl Into<String>) -> Self {
        Self { platform: platform.into(), person: person.into() }
    }

    /// Hedgerow itself: the timer, start-up, making room.
    pub fn automation() -> Self {
        Self::new("hedgerow", "automation")
    }
}

impl fmt::Display for Actor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.platform, self.person)
    }
}

impl FromStr for Actor {
    type Err = UnknownWord;

    fn from_str(text: &str) -> Result<Self, UnknownWord> {
        text.split_once(':')
            .map(|(platform, person)| Self::new(platform, person))
            .ok_or_else(|| UnknownWord { what: "actor", value: text.to_owned() })
    }
}

/// Whose a place is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Tenant {
    Environment(EnvironmentId),
    /// An empty folder for a conversation without a codebase, where the assistant may only talk.
    Scratch(ConversationId),
}

/// The coordinates of an environment or a scratch folder, and how to start a program there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    pub of: Tenant,
    /// Raised whenever the environment moves, so that a late act on an old place is noticed.
    pub generation: u64,
    pub path: PathBuf,
    pub branch: Option<BranchName>,
    pub exec: Exec,
}

/// How a program is started in a place. One file reads this.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Exec {
    /// As an ordinary process of this machine.
    Host,
}

/// A pull request as last seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PullRequestInfo {
    pub number: u64,
    pub url: Option<String>,
    pub title: Option<String>,
    pub state: Option<String>,
    pub created_at: Option<Timestamp>,
    /// Where its head is; of a merged one, where it was merged.
    pub head: Option<CommitSha>,
    pub checks: Option<Checks>,
    pub seen_at: Option<Timestamp>,
}

impl PullRequestInfo {
    /// A number, of which nothing else is known yet.
    pub const fn numbered(number: u64) -> Self {
        Self { number, url: None, title: None, state: None, created_at: None, head: None, checks: None, seen_at: None }
    }

    /// The head it was merged at, if it was.
    pub fn merged_at(&self) -> Option<&CommitSha> {
        let is_merged = self.state.as_deref() == WorkState::Merged.word();
        self.head.as_ref().filter(|_| is_merged)
    }
}

/// What is known about the init script of an environment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Init {
    pub state: Option<InitState>,
    pub error: Option<String>,
}

/// Where a trashed environment is and what it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trash {
    pub path: PathBuf,
    pub at: Timestamp,
    pub because: TrashedBecause,
    /// The commit its HEAD was at.
    pub head: Option<CommitSha>,
    /// Whether HEAD was detached already when it went to the trash.
    pub was_detached: bool,
    /// The branch was deleted with it; restore makes it again at `head`.
    pub branch_deleted: bool,
}

/// The isolated place of one or more works. The store's row, whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Environment {
    pub id: EnvironmentId,
    pub codebase: CodebaseId,
    pub works: Vec<NamedWork>,
    pub provider: ProviderKind,
    /// The machine it is on.
    pub node: String,
    pub path: PathBuf,
    pub branch: BranchName,
    /// Whether Hedgerow made the branch. Only such a branch may ever be deleted.
    pub branch_made: bool,
    /// Whether its content is a stranger's: a pull request from a fork. Once it was, it stays so.
    pub is_fork: bool,
    /// The branch it was made from.
    pub base: Option<BranchName>,
    pub base_sha: Option<CommitSha>,
    pub state: State,
    pub generation: u64,
    pub adopted_from: Option<AdoptedFrom>,
    pub migrated_at: Option<Timestamp>,
    pub pinned_at: Option<Timestamp>,
    /// First port of its block of ten.
    pub port: Option<u16>,
    pub init: Init,
    pub pr: Option<PullRequestInfo>,
    /// The commit that we pushed last. Only what we pushed ourselves is ever replaced.
    pub pushed_sha: Option<CommitSha>,
    pub description: Option<String>,
    pub keywords: Vec<String>,
    pub created_at: Timestamp,
    pub created_by: Actor,
    pub last_activity_at: Timestamp,
    pub trash: Option<Trash>,
    /// What went wrong last, for `failed` and `broken`.
    pub last_error: Option<String>,
}

/// How many ports an environment's block has.
pub const PORTS_PER_ENVIRONMENT: u16 = 10;

impl Environment {
    /// A row of which only the beginnings are known: in state `creating`, by whom and when.
    pub fn new(
        id: EnvironmentId,
        codebase: CodebaseId,
        branch: BranchName,
        path: PathBuf,
        by: Actor,
        now: Timestamp,
    ) -> Self {
        Self {
            id,
            codebase,
            works: Vec::new(),
            provider: ProviderKind::Worktree,
            node: String::new(),
            path,
            branch,
            branch_made: false,
            is_fork: false,
            base: None,
            base_sha: None,
            state: State::Creating,
            generation: 1,
            adopted_from: None,
            migrated_at: None,
            pinned_at: None,
            port: None,
            init: Init::default(),
            pr: None,
            pushed_sha: None,
            description: None,
            keywords: Vec::new(),
            created_at: now,
            created_by: by,
            last_activity_at: now,
            trash: None,
            last_error: None,
        }
    }

    pub fn place(&self) -> Place {
        Place {
            of: Tenant::Environment(self.id),
            generation: self.generation,
            path: self.path.clone(),
            branch: Some(self.branch.clone()),
            exec: Exec::Host,
        }
    }

    pub fn is_adopted(&self) -> bool {
        self.adopted_from.is_some()
    }

    /// What people call it: its first work, else its branch.
    pub fn name(&self) -> &str {
        self.works.first().map_or(self.branch.as_str(), |work| &work.name)
    }

    pub fn is_at(&self, path: &Path) -> bool {
        self.path == path
    }

    pub fn holds(&self, work: &Work) -> bool {
        self.works.iter().any(|named| named.work == *work)
    }

    /// Numbers of the issues (or pull requests) among its works.
    pub fn related_issues(&self) -> Vec<u64> {
        self.works.iter().filter_map(|named| if let Work::Issue(n) = named.work { Some(n) } else { None }).collect()
    }

    pub fn related_prs(&self) -> Vec<u64> {
        let mut numbers: Vec<u64> = self
            .works
            .iter()
            .filter_map(|named| match named.work {
                Work::PullRequest(n) | Work::Review(n) => Some(n),
                _ => None,
            })
            .collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers
    }
}

/// A work under the name it got: `issue-42`, or `thread-` and 8 (or, if taken, 16) digits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedWork {
    pub work: Work,
    pub name: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_survives_being_stored() {
        for state in State::ALL {
            assert_eq!(state.as_str().parse::<State>().as_ref(), Ok(state));
        }
        for because in TrashedBecause::ALL {
            assert_eq!(because.as_str().parse::<TrashedBecause>().as_ref(), Ok(because));
        }
        assert!("Active".parse::<State>().is_err());
    }

    #[test]
    fn only_trashed_and_destroyed_environments_give_up_their_place() {
        let gone: Vec<_> = State::ALL.iter().filter(|state| !state.is_live()).collect();
        assert_eq!(gone, [&State::Trashed, &State::Destroyed]);
    }
}
