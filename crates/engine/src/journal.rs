//! Intents: what is about to be done is written down first, so that whoever comes after a crash can settle it.
//!
//! A row in state `creating` or `removing` *is* the intent. Its maker holds a lock file while it works; the kernel drops
//! that lock when the maker dies. A row whose lock is free is unfinished business: a creation is taken back, a removal
//! is carried on.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use hedgerow_core::environment::Actor;
use hedgerow_core::provider::{Intent, Plan, Start};
use hedgerow_core::work::Origin;
use hedgerow_core::{Codebase, Environment, EnvironmentId, State};

use crate::engine::Engine;
use crate::explain::Trouble;
use crate::failure::Outcome;
use crate::git::tidy_if_any;
use crate::isolation::Base;
use crate::isolation::ownership::common_dir;
use crate::reconcile::Reconciled;
use crate::steps;
use crate::store::NewEvent;

/// Event of a written creation: its shas are the commit the branch was at (when it existed) and begins at.
pub(crate) const CREATING: &str = "environment-creating";

/// A lock whose name goes just as we take it is taken anew.
const ATTEMPTS: usize = 8;

/// Held while an intent is being carried out.
#[derive(Debug)]
pub(crate) struct Busy {
    path: PathBuf,
    _file: File,
}

impl Drop for Busy {
    fn drop(&mut self) {
        // The name goes while the lock is still held; who opened it meanwhile notices, see `try_busy`.
        let _ = std::fs::remove_file(&self.path);
    }
}

impl Engine {
    /// Beside the environments, not in the home: whoever shares a base and a store must see each other's locks. While the
    /// base is away nothing is put in its place; what can be done then (to an adopted environment) is locked in the home.
    fn lock_path(&self, name: &str) -> PathBuf {
        let base = Base::new(&self.settings.worktrees);
        let folder = if base.is_there() { base.path().join(".locks") } else { self.settings.home.join("locks") };
        folder.join(name)
    }

    /// Marks an environment as being worked on by this process. `None` when another one is.
    pub(crate) fn try_busy(&self, id: EnvironmentId) -> Outcome<Option<Busy>> {
        self.try_lock(&id.to_string())
    }

    /// A lock of this machine by its name. It ends with its holder, however that ends.
    pub(crate) fn try_lock(&self, name: &str) -> Outcome<Option<Busy>> {
        let path = self.lock_path(name);
        let folder = path.parent().unwrap_or(&self.settings.worktrees);
        crate::isolation::make_private(folder).map_err(Trouble::folder(folder))?;
        Ok(try_lock(&path).map_err(Trouble::folder(&path))?)
    }

    /// Settles every intent on this machine whose maker is gone, and looks whether a disk that was away is back.
    /// Idempotent; called before anything else is done. Three queries when there is nothing to do.
    pub(crate) async fn settle(&self) -> Outcome<()> {
        let (away, unfinished): (Vec<_>, Vec<_>) = self
            .store
            .unsettled(&self.settings.node)
            .await?
            .into_iter()
            .partition(|environment| environment.state == State::Unreachable);
        for environment in unfinished {
            // A creation below another base is watched over by whoever works there.
            let ours = environment.state == State::Removing || environment.path.starts_with(&self.settings.worktrees);
            if ours
                && let Some(_busy) = self.try_busy(environment.id)?
                && let Err(error) = self.settle_one(environment.id).await
            {
                tracing::warn!(environment = %environment.id, %error, "unfinished business could not be settled");
            }
        }
        for codebase in self.codebases().await? {
            if let Err(error) = tidy_if_any(&common_dir(&codebase)).await {
                tracing::warn!(codebase = %codebase.name, %error, "what a git that died left could not be tidied yet");
            }
        }
        self.settle_purges().await?;
        self.look_at(away, &mut Reconciled::default()).await
    }

    async fn settle_one(&self, id: EnvironmentId) -> Outcome<()> {
        let Some(environment) = self.store.environment(id).await? else { return Ok(()) };
        let Some(codebase) = self.store.codebase(environment.codebase).await? else { return Ok(()) };
        match environment.state {
            State::Creating => self.take_back(&codebase, &environment).await,
            State::Removing => self.carry_on_removal(&codebase, &environment).await,
            _ => Ok(()),
        }
    }

    async fn take_back(&self, codebase: &Codebase, environment: &Environment) -> Outcome<()> {
        let intent = self.intent_of(codebase, environment).await?;
        if self.provider.was_touched(&intent).await? {
            // It looked finished to someone, and they began. So it is.
            let active = Environment { state: State::Active, ..environment.clone() };
            let event = NewEvent::new(self.clock.now(), &Actor::automation(), "environment-created")
                .shas(None, intent.plan.start.placed().cloned());
            let event = event.detail("its maker was gone, and someone had begun to work in it");
            return Ok(self.store.save(&active, (State::Creating, active.generation), &event).await?);
        }
        self.provider.undo(&intent).await?;
        let event = NewEvent::new(self.clock.now(), &Actor::automation(), "creation-taken-back");
        self.bury(environment, &event.detail("its maker was gone")).await
    }

    /// The row becomes history.
    pub(crate) async fn bury(&self, environment: &Environment, event: &NewEvent) -> Outcome<()> {
        let gone = Environment { state: State::Destroyed, trash: None, ..environment.clone() };
        self.store.save(&gone, (environment.state, environment.generation), event).await?;
        steps::reached("row is history");
        Ok(())
    }

    /// The intent as it was written down.
    async fn intent_of(&self, codebase: &Codebase, environment: &Environment) -> Outcome<Intent> {
        let events = self.store.events_of(environment.id).await?;
        let written = events.iter().rev().find(|event| event.what == CREATING);
        let (was_at, begins_at) = written.map_or((None, None), |event| (event.old_sha.clone(), event.new_sha.clone()));
        let at = begins_at.or_else(|| environment.base_sha.clone());
        let at = at.ok_or_else(|| anyhow::anyhow!("the intent of {} names no commit", environment.id))?;
        let start = if environment.branch_made {
            Start::New { at, upstream: None }
        } else {
            let forward_to = was_at.is_some().then(|| at.clone());
            Start::Existing { at: was_at.unwrap_or(at), forward_to, upstream: None }
        };
        let plan = plan_of(environment, start);
        Ok(Intent {
            id: environment.id,
            generation: environment.generation,
            codebase: codebase.clone(),
            path: environment.path.clone(),
            plan,
            is_fork: environment.is_fork,
        })
    }
}

/// Takes a lock file, making it if needed. `None` when someone else has it.
pub(crate) fn try_lock(path: &Path) -> std::io::Result<Option<Busy>> {
    for _ in 0..ATTEMPTS {
        let file = open_lock(path)?;
        if file.try_lock().is_err() {
            return Ok(None);
        }
        // Its last holder may have removed the name between our opening and locking it; then ours is nobody's lock.
        if std::fs::metadata(path).is_ok_and(|named| same_file(&named, &file)) {
            return Ok(Some(Busy { path: path.to_owned(), _file: file }));
        }
    }
    Ok(None)
}

/// What an intent was about, as far as its row tells.
pub(crate) fn plan_of(environment: &Environment, start: Start) -> Plan {
    Plan {
        branch: environment.branch.clone(),
        start,
        base: environment.base.clone(),
        base_sha: environment.base_sha.clone(),
        notes: Vec::new(),
        origin: Origin::Named,
    }
}

fn open_lock(path: &Path) -> std::io::Result<File> {
    OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(path)
}

fn same_file(named: &std::fs::Metadata, file: &File) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    file.metadata().is_ok_and(|open| open.ino() == named.ino() && open.dev() == named.dev())
}
