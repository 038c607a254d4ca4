//! The engine as its callers see it: one value that owns the parts, and one method per act.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hedgerow_core::environment::{Actor, Resolution};
use hedgerow_core::provider::{Found, Note, Provider};
use hedgerow_core::{BranchName, Codebase, ConversationId, Environment, EnvironmentId, Hints, Timestamp, Work};

use crate::clock::Clock;
use crate::explain::Trouble;
use crate::failure::Outcome;
use crate::git::{Git, Version};
use crate::isolation::{WorktreeProvider, make_private};
use crate::resolve::limit::Rooms;
use crate::settings::Settings;
use crate::store::{NewEvent, Store};

/// Everything needed to serve codebases on this machine.
#[derive(Clone)]
pub struct Engine {
    pub(crate) settings: Arc<Settings>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) store: Store,
    pub(crate) git: Git,
    pub(crate) version: Version,
    pub(crate) provider: Arc<dyn Provider>,
    pub(crate) rooms: Arc<Rooms>,
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Engine").field("settings", &self.settings).finish_non_exhaustive()
    }
}

/// Where a codebase comes from.
#[derive(Debug, Clone)]
pub enum Source {
    /// A checkout or bare repository on this machine; any folder inside it will do.
    Path(PathBuf),
    /// Somewhere to clone from.
    Url(String),
}

/// A codebase, and whether it was registered just now.
#[derive(Debug, Clone)]
pub struct Registered {
    pub codebase: Codebase,
    pub is_new: bool,
    pub notes: Vec<Note>,
}

/// A request for an environment.
#[derive(Debug, Clone)]
pub struct Request {
    pub codebase: Codebase,
    pub work: Work,
    pub hints: Hints,
    /// The branch a person named; it is used exactly.
    pub branch: Option<BranchName>,
    /// The conversation that asks, and the environment it refers to.
    pub conversation: Option<Asking>,
    pub by: Actor,
    /// Its issue or pull request was reopened: bring it back from the trash.
    pub reopened: bool,
}

/// The conversation a request comes from.
#[derive(Debug, Clone)]
pub struct Asking {
    pub conversation: ConversationId,
    pub environment: Option<EnvironmentId>,
}

/// An environment that a request got.
#[derive(Debug, Clone)]
pub struct Resolved {
    pub environment: Environment,
    pub resolution: Resolution,
    /// When it went to the trash, if it was restored from there.
    pub as_of: Option<Timestamp>,
    pub notes: Vec<Note>,
}

/// What became of a removal.
#[derive(Debug, Clone)]
pub enum Removed {
    /// In the trash; `restore` brings it back.
    Trashed { environment: Environment, branch_deleted: bool },
    /// It was gone from disk already; only our record of it went.
    WasGone { environment: Environment },
    /// It is someone else's: we let go of it, the folder stays.
    LetGo { environment: Environment },
}

/// What a cleanup is asked to look for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sweep {
    Merged,
    Stale,
    Orphans,
}

/// One line of a cleanup's report.
#[derive(Debug, Clone, serde::Serialize)]
pub struct Swept {
    pub name: String,
    pub branch: Option<String>,
    pub path: PathBuf,
    pub outcome: SweptOutcome,
    /// Why, in a few words.
    pub because: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SweptOutcome {
    Removed,
    /// It was gone from disk already; only the record of it went.
    Forgotten,
    /// What a dry run would remove.
    WouldRemove,
    Kept,
    /// Only listed; not ours to touch.
    Listed,
    Failed,
}

/// A worktree of the repository, and the environment it belongs to, if any.
#[derive(Debug, Clone)]
pub struct Known {
    pub found: Found,
    pub environment: Option<Environment>,
}

/// One thing `doctor` looked at.
#[derive(Debug, Clone, serde::Serialize)]
pub struct Finding {
    pub what: String,
    pub level: Level,
    pub detail: String,
    pub hint: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    Fine,
    Warning,
    Problem,
}

/// How much to find out about an environment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// The row only.
    Row,
    /// Dirty, ahead, behind.
    Status,
    /// Also merged, conflicts and disk use.
    Full,
}

impl Engine {
    /// Opens the store (migrating it if needed), checks git, and settles what a crash left unfinished.
    pub async fn open(mut settings: Settings, clock: Arc<dyn Clock>) -> Outcome<Self> {
        make_private(&settings.home).map_err(Trouble::folder(&settings.home))?;
        // git names worktrees by their real paths; ours must be comparable.
        settings.home = real_path(&settings.home);
        settings.worktrees = real_path(&settings.worktrees);
        let git = Git::new(&settings.git, settings.git_env.clone());
        let (version, store) = tokio::join!(git.require_version(), Store::open(&settings.database));
        let (version, store) = (version?, store?);
        let provider = Arc::new(WorktreeProvider::new(git.clone(), version, &settings));
        let settings = Arc::new(settings);
        let engine = Self { settings, clock, store, git, version, provider, rooms: Arc::default() };
        engine.settle().await?;
        Ok(engine)
    }

    pub async fn close(self) {
        self.store.close().await;
    }

    /// The store, for callers that know what they ask for.
    pub const fn store(&self) -> &Store {
        &self.store
    }

    /// Someone worked in it just now.
    pub async fn touch(&self, environment: &Environment) -> Outcome<()> {
        Ok(self.store.touch(environment.id, self.clock.now()).await?)
    }

    pub(crate) async fn codebase_of(&self, environment: &Environment) -> Outcome<Codebase> {
        let codebase = self.store.codebase(environment.codebase).await?;
        codebase.ok_or_else(|| anyhow::anyhow!("the codebase of {} is not in the store", environment.id).into())
    }

    /// Pins (or unpins) an environment: automation leaves a pinned one alone.
    pub async fn pin(&self, environment: &Environment, pinned: bool, by: &Actor) -> Outcome<Environment> {
        let now = self.clock.now();
        let pinned_at = pinned.then(|| environment.pinned_at.unwrap_or(now));
        let changed = Environment { pinned_at, ..environment.clone() };
        let event = NewEvent::new(now, by, if pinned { "environment-pinned" } else { "environment-unpinned" });
        self.store.save(&changed, (environment.state, environment.generation), &event).await?;
        Ok(changed)
    }
}

/// The path with its symbolic links resolved as far as it exists.
fn real_path(path: &Path) -> PathBuf {
    match (std::fs::canonicalize(path), path.parent(), path.file_name()) {
        (Ok(real), ..) => real,
        (Err(_), Some(parent), Some(name)) => real_path(parent).join(name),
        (Err(_), ..) => path.to_owned(),
    }
}
