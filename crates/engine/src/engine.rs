//! The engine as its callers see it: one value that owns the parts, and one method per act.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hedgerow_core::environment::{Actor, Resolution};
use hedgerow_core::provider::{Found, Note, Provider};
use hedgerow_core::{
    BranchName, Codebase, CodebaseId, ConversationId, Environment, EnvironmentId, Hints, Timestamp, Work,
};

use tokio::sync::Notify;

use crate::clock::Clock;
use crate::disk::Disk;
pub use crate::doctor::{Finding, Level};
use crate::explain::Trouble;
use crate::failure::Outcome;
use crate::gateway::Gateway;
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
    /// Told when somebody asks for the end of a run, so that it need not wait for the next look at the store.
    pub(crate) stop_asked: Arc<Notify>,
    pub(crate) gateway: Option<Arc<Gateway>>,
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
    /// All that the timer does for a codebase: merged, stale, gone, half-made, orphans.
    Scheduled,
}

/// One line of a cleanup's report.
#[derive(Debug, Clone, serde::Serialize)]
pub struct Swept {
    /// Whose it is; a report is of one codebase, and says so itself.
    #[serde(skip)]
    pub codebase: CodebaseId,
    pub name: String,
    pub branch: Option<String>,
    pub path: PathBuf,
    pub outcome: SweptOutcome,
    /// Why, in a few words.
    pub because: String,
}

impl Swept {
    pub(crate) fn of(environment: &Environment, outcome: SweptOutcome, because: String) -> Self {
        Self {
            codebase: environment.codebase,
            name: environment.name().to_owned(),
            branch: Some(environment.branch.to_string()),
            path: environment.path.clone(),
            outcome,
            because,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SweptOutcome {
    Removed,
    /// There was nothing to keep: its folder was gone, or it was never finished. Only the record of it went.
    Forgotten,
    /// An orphan of ours that holds work: it is an environment again.
    TakenOver,
    /// What a dry run would remove.
    WouldRemove,
    /// Gone from the trash; what git could not bring back is in the vault.
    Purged,
    WouldPurge,
    /// Gone from the vault as well.
    Expired,
    WouldExpire,
    Kept,
    /// Only listed; not ours to touch.
    Listed,
    Failed,
}

/// What a round of scheduled cleanup did, or would do, on this machine.
#[derive(Debug, Clone, serde::Serialize)]
pub struct Round {
    pub began_at: Timestamp,
    pub codebases: Vec<Tidied>,
    /// Why nothing at all was done: the disk of the environments is away.
    pub away: Option<String>,
    /// `None` when the system does not say.
    pub disk: Option<Disk>,
    /// Environments of this machine, afterwards.
    pub live: usize,
    pub trashed: usize,
}

impl Round {
    /// Every line of the report.
    pub fn lines(&self) -> impl Iterator<Item = &Swept> {
        self.codebases.iter().flat_map(|tidied| &tidied.report)
    }
}

/// A codebase's part of a round.
#[derive(Debug, Clone, serde::Serialize)]
pub struct Tidied {
    pub codebase: String,
    pub report: Vec<Swept>,
}

/// A worktree of the repository, and the environment it belongs to, if any.
#[derive(Debug, Clone)]
pub struct Known {
    pub found: Found,
    pub environment: Option<Environment>,
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
        let git = Git::new(&settings.git, settings.git_env.clone()).with_forges(settings.forges.clone());
        let (version, store) = tokio::join!(git.require_version(), Store::open(&settings.database));
        let (version, store) = (version?, store?);
        let provider = Arc::new(WorktreeProvider::new(git.clone(), version, &settings));
        let settings = Arc::new(settings);
        let open_gateway = |of: &Arc<_>| Gateway::new(of, store.clone(), Arc::clone(&clock));
        let gateway = settings.gateway.as_ref().map(open_gateway);
        let (rooms, stop_asked) = (Arc::default(), Arc::default());
        let engine = Self { settings, clock, store, git, version, provider, rooms, stop_asked, gateway };
        engine.settle().await?;
        Ok(engine)
    }

    pub async fn close(self) {
        if let Some(gateway) = &self.gateway {
            gateway.settled().await;
        }
        if let Err(error) = self.write_down_mended().await {
            tracing::warn!(%error, "what was mended could not be written down");
        }
        self.store.close().await;
    }

    /// The store, for callers that know what they ask for.
    pub const fn store(&self) -> &Store {
        &self.store
    }

    /// What people should know of what keeps assistants in; `None` when all is as it should be.
    pub fn sandbox_words(&self) -> Option<String> {
        let runs = &self.settings.runs;
        // Where nobody works, nobody has to be kept in.
        if runs.assistants.is_empty() { None } else { crate::replies::sandbox_words(crate::cage::strength(runs)) }
    }

    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The way of agents to the models, where a key is set.
    pub const fn gateway(&self) -> Option<&Arc<Gateway>> {
        self.gateway.as_ref()
    }

    /// What time it is on this machine.
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// What time it is for everyone who shares the store; leases and claims go by it.
    pub async fn store_now(&self) -> Outcome<Timestamp> {
        Ok(self.store.time(self.clock.now()).await?)
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
        self.store.set_pinned(&changed, &event).await?;
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
