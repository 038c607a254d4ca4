//! What a run must leave alone although it could reach it: others' branches, tags and stashes, shared settings and hooks,
//! the main checkout's HEAD, and the links of its own worktree. Looked at before a run and after it; what the run changed
//! is put back, and reported either way.
//!
//! People and other runs work in the same repository at the same time, and undoing *their* work would be worse than what
//! this guards against. So a change is put down to the run only where nobody else shows for it (`owners`), refs
//! change by compare-and-swap, and whatever is put back, what it had become is kept: objects below
//! `refs/hedgerow/undone/<run>/`, files in `undone/<run>/` of Hedgerow's home. Where it cannot be told, nothing is undone
//! and the finding says so.
//!
//! Stashes are shared by all worktrees. Entries say which branch they were made on, so those of the environment's own
//! branch are its own, to pop and drop. An entry of another branch that went away is put back on top, unless the worktree
//! that is on that branch was at work meanwhile: then it was theirs to take.
//!
//! What was there before is also a file in Hedgerow's home, so that the next start looks when this one dies in between.

mod files;
mod logs;
mod owners;
mod refs;
mod stash;
mod tracking;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use hedgerow_core::environment::Actor;
use hedgerow_core::{BranchName, Codebase, CodebaseId, CommitSha, Environment, EnvironmentId, RunId, Timestamp};
use serde::{Deserialize, Serialize};

use crate::engine::Engine;
use crate::explain::Trouble;
use crate::failure::Outcome;
use crate::git::watched::Targets;
use crate::isolation::make_private;
use crate::isolation::ownership::linked;
use crate::replies;
use crate::store::NewEvent;
use files::Watched;
use owners::Lengths;
use stash::Stashed;

/// What is watched for one run, as it was before.
#[derive(Debug, Serialize, Deserialize)]
pub struct Tripwire {
    #[serde(with = "as_text")]
    run: RunId,
    #[serde(with = "as_text")]
    environment: EnvironmentId,
    #[serde(with = "as_text")]
    codebase: CodebaseId,
    /// Whether the run sees the repository through a view in which the guarded paths cannot be written.
    is_view: bool,
    armed_at: i64,
    /// By the clock that files are stamped with.
    began: SystemTime,
    common_dir: PathBuf,
    place: PathBuf,
    admin: PathBuf,
    /// Branches that are the run's to move.
    own: Vec<String>,
    refs: Targets,
    /// What was known of the branches of remotes.
    #[serde(default)]
    tracking: Targets,
    stash: Vec<Stashed>,
    /// Logs of refs that are neither files nor folders.
    odd_logs: Vec<PathBuf>,
    /// How long the log of each worktree's HEAD was.
    logs: Lengths,
    files: Vec<Watched>,
}

/// A thing that changed and is not the run's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    pub what: What,
    pub done: Done,
    /// What it was, and what it had become, where these are objects.
    pub objects: (Option<String>, Option<String>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum What {
    /// Full names of refs.
    Moved(String),
    Gone(String),
    Made(String),
    /// Keys of the repository's configuration.
    Settings(Vec<String>),
    /// A file of the repository's git folder, named from there.
    File(String),
    /// What ties the environment to its repository.
    Link(String),
    /// HEAD of the main checkout.
    Head,
    /// A stopped operation, such as a rebase, appeared in the main checkout.
    Operation(String),
    /// Its message.
    Stash(String),
}

/// What became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Done {
    /// It is as it was. What it had become is kept, for refs under this name.
    PutBack {
        kept: Option<String>,
    },
    /// It cannot be told who did it.
    Left,
    Failed(String),
}

impl Found {
    fn new(what: What, done: Done) -> Self {
        Self { what, done, objects: (None, None) }
    }
}

impl Engine {
    /// Looks before a run. For one who holds the environment's lease.
    pub async fn arm(
        &self,
        run: RunId,
        environment: &Environment,
        codebase: &Codebase,
        is_view: bool,
    ) -> Outcome<Tripwire> {
        let repo = self.git.open(codebase).await?;
        let common_dir = repo.common_dir().to_owned();
        let links = linked(&environment.path, &common_dir).map_err(Trouble::links(&environment.path))?;
        let refs = repo.watched_refs(environment.id).await?;
        let tracking = repo.tracking_refs().await?;
        let mut own = self.own_branches(environment.id);
        own.push(environment.branch.full_ref());
        // Where an earlier run left its HEAD, unless that is somebody else's branch.
        let is_free = |name: &String| {
            let base = environment.base.as_ref().map(BranchName::full_ref);
            base.as_ref() != Some(name) && owners::holder(name, &common_dir, &links.admin).is_none()
        };
        own.extend(owners::branch_of(&links.admin).filter(is_free));
        let tripwire = Tripwire {
            run,
            environment: environment.id,
            codebase: codebase.id,
            is_view,
            armed_at: self.clock.now().as_millis(),
            began: SystemTime::now(),
            stash: stash::entries(&common_dir),
            odd_logs: logs::odd(&common_dir),
            logs: owners::lengths(&common_dir, &links.admin),
            files: files::watched(&common_dir, &environment.path, &links.admin, is_view),
            place: environment.path.clone(),
            admin: links.admin,
            common_dir,
            own,
            refs,
            tracking,
        };
        self.keep_tripwire(&tripwire).map_err(Trouble::folder(&self.tripwires()))?;
        Ok(tripwire)
    }

    /// Looks after a run, when nothing of it is at work any more: puts back what is not the run's, writes it down, and
    /// says what was found. What cannot be looked at is told in the log.
    pub async fn spring(&self, tripwire: Tripwire, by: &Actor) -> Vec<Found> {
        let mut found = self.spring_files(&tripwire).await;
        found.extend(tripwire.clear_logs());
        match self.spring_refs(&tripwire).await {
            Ok(more) => found.extend(more),
            Err(error) => {
                tracing::error!(run = %tripwire.run, ?error, "what a run did to refs could not be looked at");
                found.push(Found::new(What::File("refs".to_owned()), Done::Failed(self.keep_account(&tripwire))));
            }
        }
        match self.spring_tracking(&tripwire).await {
            Ok(more) => found.extend(more),
            Err(error) => {
                tracing::error!(run = %tripwire.run, ?error, "what a run did to what is known of remotes could not be looked at");
            }
        }
        for one in &found {
            let said = replies::overstepped(one);
            tracing::warn!(run = %tripwire.run, environment = %tripwire.environment, "{said}");
            let sha = |object: &Option<String>| object.as_deref().and_then(|object| CommitSha::parse(object).ok());
            let event =
                NewEvent::new(self.clock.now(), by, "run-overstepped").of(tripwire.codebase, tripwire.environment);
            let event = event.shas(sha(&one.objects.0), sha(&one.objects.1)).detail(said);
            if let Err(error) = self.store.record(&event).await {
                tracing::error!(run = %tripwire.run, %error, "what a run did could not be written down");
            }
        }
        let _ = fs::remove_file(self.tripwire_of(tripwire.run));
        found
    }

    /// Where all refs were before the run, for a person to put back what cannot be done here.
    fn keep_account(&self, tripwire: &Tripwire) -> String {
        let account = self.aside(tripwire.run).join("before.json");
        let written = make_private(&self.aside(tripwire.run))
            .and_then(|()| fs::write(&account, serde_json::to_vec_pretty(tripwire).unwrap_or_default()));
        match written {
            Ok(()) => format!("git cannot read them; `{}` has where they were", account.display()),
            Err(error) => format!("git cannot read them, and where they were cannot be written down: {error}"),
        }
    }

    /// The same for a run whose server died.
    pub(crate) async fn spring_left(&self, run: RunId, by: &Actor) -> Vec<Found> {
        let (state, taken) = (self.tripwire_of(run), self.tripwires().join(format!("{run}-left")));
        // Of several who find it one looks. Whoever looked before may have died over it.
        if fs::rename(&state, &taken).is_err() && !taken.exists() {
            return Vec::new();
        }
        let read = fs::read(&taken).map_err(anyhow::Error::new);
        let found = match read.and_then(|text| Ok(serde_json::from_slice::<Tripwire>(&text)?)) {
            Ok(tripwire) => self.spring(tripwire, by).await,
            Err(error) => {
                tracing::error!(%run, %error, "what was watched for a run cannot be read");
                Vec::new()
            }
        };
        let _ = fs::remove_file(taken);
        found
    }

    fn tripwires(&self) -> PathBuf {
        self.settings.home.join("tripwires")
    }

    fn tripwire_of(&self, run: RunId) -> PathBuf {
        self.tripwires().join(run.to_string())
    }

    fn keep_tripwire(&self, tripwire: &Tripwire) -> std::io::Result<()> {
        make_private(&self.tripwires())?;
        let staged = tempfile::NamedTempFile::new_in(self.tripwires())?;
        serde_json::to_writer(staged.as_file(), tripwire)?;
        staged.persist(self.tripwire_of(tripwire.run)).map_err(|error| error.error)?;
        Ok(())
    }

    /// Where files that a run had left are kept.
    fn aside(&self, run: RunId) -> PathBuf {
        self.settings.home.join("undone").join(run.to_string())
    }

    /// Branches that earlier runs in this environment made and worked on.
    fn own_branches(&self, id: EnvironmentId) -> Vec<String> {
        let text = fs::read_to_string(self.tripwires().join(format!("{id}-own"))).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    fn add_own_branches(&self, id: EnvironmentId, new: &[String]) {
        let mut all = self.own_branches(id);
        all.extend(new.iter().filter(|name| !all.contains(name)).cloned().collect::<Vec<_>>());
        if let Err(error) = fs::write(self.tripwires().join(format!("{id}-own")), all.join("\n")) {
            tracing::warn!(environment = %id, %error, "the branches that a run made could not be written down");
        }
    }
}

impl Tripwire {
    fn armed_at(&self) -> Timestamp {
        Timestamp::from_millis(self.armed_at)
    }

    /// A path of the git folder as people read it.
    fn shown(&self, path: &Path) -> String {
        path.strip_prefix(&self.common_dir).unwrap_or(path).display().to_string()
    }
}

/// Ids as the text they are written as.
mod as_text {
    use std::fmt::Display;
    use std::str::FromStr;

    use serde::de::Error as _;
    use serde::{Deserialize as _, Deserializer, Serializer};

    pub(super) fn serialize<T: Display, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(value)
    }

    pub(super) fn deserialize<'d, T: FromStr<Err: Display>, D: Deserializer<'d>>(from: D) -> Result<T, D::Error> {
        String::deserialize(from)?.parse().map_err(D::Error::custom)
    }
}
