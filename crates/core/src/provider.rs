//! What makes and unmakes environments. A provider reports facts and does as told; `cleanup::judge` decides.

use std::path::{Path, PathBuf};

use async_trait::async_trait;

use crate::branch::BranchName;
use crate::checkpoint::{Marked, NewCheckpoint, Rewind, Rewinding};
use crate::codebase::Codebase;
use crate::environment::{AdoptedFrom, Environment, ProviderKind, Trash};
use crate::id::{EnvironmentId, SavedId};
use crate::lease::Lease;
use crate::saved::{Account, Saved};
use crate::sha::CommitSha;
use crate::work::{BranchPlan, Origin};

pub use crate::condition::{Condition, Facts, Operation, Presence};
pub use crate::note::Note;
pub use crate::push::{Outgoing, Push, Pushed, Rejection};

/// What is wanted: an environment of a codebase on a branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wish {
    pub codebase: Codebase,
    pub plan: BranchPlan,
    /// The base a person asked for; otherwise the configured, the remote's or the repository's own.
    pub base: Option<BranchName>,
    /// Whether the content is a stranger's. Then its submodules are left alone.
    pub is_fork: bool,
}

/// How the wish can be met, with everything that had to be fetched in place. Nothing a person sees has changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// The branch the environment will be on; differs from the wish when that one cannot be had.
    pub branch: BranchName,
    pub start: Start,
    pub base: Option<BranchName>,
    pub base_sha: Option<CommitSha>,
    /// What the person should know about it.
    pub notes: Vec<Note>,
    pub origin: Origin,
}

/// How the branch comes to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Start {
    /// A new branch at this commit.
    New { at: CommitSha, upstream: Option<Upstream> },
    /// The branch as it is; fast-forwarded to `forward_to` when that is given, which may be where it is already.
    Existing { at: CommitSha, forward_to: Option<CommitSha>, upstream: Option<Upstream> },
}

impl Start {
    /// The commit the environment begins at.
    pub const fn commit(&self) -> &CommitSha {
        match self {
            Self::New { at, .. } | Self::Existing { at, forward_to: None, .. } => at,
            Self::Existing { forward_to: Some(to), .. } => to,
        }
    }

    /// The commit that we put the branch at. `None` when it stays where somebody else left it: what it holds may be theirs
    /// alone.
    pub const fn placed(&self) -> Option<&CommitSha> {
        match self {
            Self::New { at, .. } => Some(at),
            Self::Existing { forward_to, .. } => forward_to.as_ref(),
        }
    }

    pub const fn makes_branch(&self) -> bool {
        matches!(self, Self::New { .. })
    }
}

/// The remote branch that a push goes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Upstream {
    pub remote: String,
    pub branch: BranchName,
}

/// What was written down before anything was touched: undoing needs nothing else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Intent {
    pub id: EnvironmentId,
    pub generation: u64,
    pub codebase: Codebase,
    pub path: PathBuf,
    pub plan: Plan,
    pub is_fork: bool,
}

/// A worktree that exists, whoever made it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    pub path: PathBuf,
    pub branch: Option<BranchName>,
    pub head: Option<CommitSha>,
    /// The environment its marker names, if it carries ours.
    pub marker: Option<EnvironmentId>,
    pub locked: Option<String>,
    pub missing: bool,
    pub is_main: bool,
    /// It is below our own base; a marker anywhere else is another Hedgerow's.
    pub is_below_base: bool,
    pub adopted_from: AdoptedFrom,
}

#[derive(Debug, thiserror::Error)]
pub enum ProviderError {
    /// The request cannot be met as it stands; the sentence says why and what to do.
    #[error(transparent)]
    User(#[from] crate::error::UserError),
    #[error("{0}")]
    Other(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// Told what is happening while something takes long.
pub trait Progress: Send + Sync {
    /// A step begins, such as `Fetching origin`.
    fn step(&self, what: &str);
    /// How far the present step is, in percent.
    fn percent(&self, percent: u8);
}

/// For callers that do not watch.
#[derive(Debug)]
pub struct NoProgress;

impl Progress for NoProgress {
    fn step(&self, _: &str) {}
    fn percent(&self, _: u8) {}
}

/// Where a pull request's head is now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    pub number: u64,
    /// The head branch, when it is in this very repository.
    pub branch: Option<BranchName>,
    pub sha: CommitSha,
    /// The commit that we put the environment at last; what is beyond it was committed there.
    pub placed_at: Option<CommitSha>,
}

/// A branch, as restore needs to know it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BranchUse {
    /// `None` when there is no such branch.
    pub tip: Option<CommitSha>,
    /// The worktree that has it checked out.
    pub held_by: Option<PathBuf>,
}

/// What became of bringing an environment to a head that has moved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Advance {
    Unchanged,
    Moved {
        from: CommitSha,
        to: CommitSha,
    },
    /// It has work of its own (or git would not), so it was left alone.
    Kept,
}

/// What became of bringing the base's news into an environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum News {
    /// It has everything already.
    UpToDate,
    /// It had nothing of its own that the base lacks, and is where the base is.
    Forwarded { from: CommitSha, to: CommitSha },
    /// A merge brought both together.
    Merged { from: CommitSha, to: CommitSha },
    /// These files would have to be settled by somebody; nothing was changed.
    Conflicts(Vec<String>),
}

/// Makes and unmakes isolated places.
#[async_trait]
pub trait Provider: Send + Sync {
    fn kind(&self) -> ProviderKind;

    /// The folder a branch has when nothing else is in the way.
    fn expected_place(&self, codebase: &Codebase, branch: &BranchName) -> PathBuf;

    /// Folders the environment could be in, best first. Nothing is at any of them now.
    fn places(&self, codebase: &Codebase, branch: &BranchName, id: EnvironmentId) -> Vec<PathBuf>;

    /// Where an environment goes when it is removed.
    fn trash_place(&self, environment: &Environment) -> PathBuf;

    /// Fetches what is needed and decides where the environment begins.
    async fn plan(&self, wish: &Wish, progress: &dyn Progress) -> Result<Plan, ProviderError>;

    /// Does exactly what the intent says. After an error, [`Provider::undo`] takes back what was done.
    async fn create(&self, intent: &Intent, progress: &dyn Progress) -> Result<Vec<Note>, ProviderError>;

    /// Whether somebody has worked in what an interrupted intent left. Then it is not ours to take back.
    async fn was_touched(&self, intent: &Intent) -> Result<bool, ProviderError>;

    /// Takes back whatever part of an intent was done. Harmless when there is nothing to take back.
    async fn undo(&self, intent: &Intent) -> Result<(), ProviderError>;

    /// A worktree on this branch that someone else made and that may be adopted.
    async fn find(&self, codebase: &Codebase, branch: &BranchName) -> Result<Option<Found>, ProviderError>;

    /// The worktree of this codebase at exactly this path, whoever made it.
    async fn at(&self, codebase: &Codebase, path: &Path) -> Result<Option<Found>, ProviderError>;

    /// Every worktree of the codebase, whoever made it.
    async fn list(&self, codebase: &Codebase) -> Result<Vec<Found>, ProviderError>;

    /// Whether the environment is where it should be.
    fn presence(&self, codebase: &Codebase, environment: &Environment) -> Presence;

    /// What state environments are in, in their order.
    async fn inspect(&self, codebase: &Codebase, environments: &[Environment]) -> Vec<Condition>;

    /// The same for one, without asking what has changed in its files: who it is, where its HEAD is, whose lock it has.
    async fn glance(&self, codebase: &Codebase, environment: &Environment) -> Condition;

    /// Whether every commit of `tip` is also in the environment's base or on a remote, so that its branch adds nothing.
    async fn is_kept_elsewhere(
        &self,
        codebase: &Codebase,
        environment: &Environment,
        tip: &CommitSha,
    ) -> Result<bool, ProviderError>;

    /// Where the environment's base is now: the local one, then its remote counterpart.
    async fn base_tips(&self, codebase: &Codebase, environment: &Environment) -> Result<Vec<CommitSha>, ProviderError>;

    /// Brings what is known of the remote's counterparts of these bases up to date.
    async fn refresh(&self, codebase: &Codebase, bases: &[BranchName]) -> Result<(), ProviderError>;

    /// Where the branch is now, and whether a worktree holds it.
    async fn branch(&self, codebase: &Codebase, branch: &BranchName) -> Result<BranchUse, ProviderError>;

    /// Tidies up after an environment whose folder is gone. Commits that only it held are kept under a ref.
    async fn forget(&self, lease: &Lease, codebase: &Codebase, environment: &Environment) -> Result<(), ProviderError>;

    /// Brings an environment to where its pull request's head is now, if nothing of its own is in the way.
    async fn advance(
        &self,
        lease: &Lease,
        codebase: &Codebase,
        environment: &Environment,
        head: &Head,
    ) -> Result<Advance, ProviderError>;

    /// Moves an environment without work of its own onto another branch.
    async fn switch(
        &self,
        lease: &Lease,
        codebase: &Codebase,
        environment: &Environment,
        plan: &Plan,
    ) -> Result<(), ProviderError>;

    /// Brings what is new on the base into a clean environment: all of it, or nothing.
    async fn sync(
        &self,
        lease: &Lease,
        codebase: &Codebase,
        environment: &Environment,
    ) -> Result<(News, Vec<Note>), ProviderError>;

    /// What the environment has that its base lacks, and where that is on the remote. Fetches; changes nothing else.
    async fn outgoing(&self, codebase: &Codebase, environment: &Environment) -> Result<Outgoing, ProviderError>;

    /// Puts a commit of the environment onto a branch of its remote. Safe to repeat.
    async fn push(
        &self,
        lease: &Lease,
        codebase: &Codebase,
        environment: &Environment,
        push: &Push,
    ) -> Result<Pushed, ProviderError>;

    /// Moves the environment into the trash, whole, and frees its branch. Safe to repeat.
    async fn trash(
        &self,
        lease: &Lease,
        codebase: &Codebase,
        environment: &Environment,
        trash: &Trash,
    ) -> Result<(), ProviderError>;

    /// The way back from [`Provider::trash`]: to the path and branch the environment names. Safe to repeat.
    async fn restore(
        &self,
        lease: &Lease,
        codebase: &Codebase,
        environment: &Environment,
        trash: &Trash,
    ) -> Result<(), ProviderError>;

    /// Saves everything of an environment in the trash that git could not bring back, as a new folder `into`, and reads
    /// it all back before it says that it is done. Nothing is deleted; whatever cannot be saved is an error.
    async fn save(
        &self,
        lease: &Lease,
        codebase: &Codebase,
        environment: &Environment,
        saved: SavedId,
        into: &Path,
    ) -> Result<Saved, ProviderError>;

    /// Deletes what is left of an environment in the trash, at `remains`. Its saved state has taken its place. Safe to
    /// repeat.
    async fn purge(
        &self,
        lease: &Lease,
        codebase: &Codebase,
        environment: &Environment,
        remains: &Path,
    ) -> Result<(), ProviderError>;

    /// Reads a saved state through and compares it with what it says about itself.
    async fn verify(&self, codebase: &Codebase, from: &Path) -> Result<Account, ProviderError>;

    /// Does what the intent says, with the content of a saved state. After an error, [`Provider::undo`] takes it back.
    async fn rebuild(&self, intent: &Intent, from: &Path, progress: &dyn Progress) -> Result<Vec<Note>, ProviderError>;

    /// The repository no longer has to keep what a saved state builds on.
    async fn release(&self, codebase: &Codebase, saved: SavedId) -> Result<(), ProviderError>;

    /// What a saved state would bring back, as a patch against its base. Changes nothing.
    async fn diff_of_saved(
        &self,
        codebase: &Codebase,
        environment: &Environment,
        from: &Path,
        stat: bool,
    ) -> Result<Vec<u8>, ProviderError>;

    /// The checkpoints of an environment, wherever it is now, oldest first.
    async fn checkpoints(&self, codebase: &Codebase, id: EnvironmentId) -> Result<Vec<Marked>, ProviderError>;

    /// Saves the state of a live environment. `None` when the newest checkpoint holds it already.
    async fn checkpoint(
        &self,
        lease: &Lease,
        codebase: &Codebase,
        environment: &Environment,
        new: &NewCheckpoint,
    ) -> Result<Option<CommitSha>, ProviderError>;

    /// Goes back to a checkpoint. Safe to repeat.
    async fn rewind(
        &self,
        lease: &Lease,
        codebase: &Codebase,
        environment: &Environment,
        rewind: &Rewind,
    ) -> Result<Rewinding, ProviderError>;

    /// Lets go of some checkpoints of an environment; without numbers, of all.
    async fn forget_checkpoints(
        &self,
        codebase: &Codebase,
        id: EnvironmentId,
        numbers: Option<&[u64]>,
    ) -> Result<(), ProviderError>;

    /// Checkpoints of one environment become those of another, which has none.
    async fn move_checkpoints(
        &self,
        codebase: &Codebase,
        from: EnvironmentId,
        to: EnvironmentId,
    ) -> Result<(), ProviderError>;
}
