//! What every verb needs: the engine, a way to answer, who asks and from where.

use std::path::Path;

use hedgerow_core::environment::Actor;
use hedgerow_core::platform::Forge;
use hedgerow_core::provider::Note;
use hedgerow_core::{Codebase, Environment, Kind, RepositoryName, Timestamp, UserError};
use hedgerow_engine::engine::Registered;
use hedgerow_engine::view::View;
use hedgerow_engine::{Clock, Engine, Outcome, SystemClock};

use crate::output::Output;
use crate::settings::Surroundings;
use crate::words;

pub(super) struct Context<'a> {
    pub(super) engine: Engine,
    pub(super) out: &'a Output,
    pub(super) by: Actor,
    pub(super) now: Timestamp,
    /// `--codebase`.
    pub(super) chosen: Option<&'a str>,
    around: &'a Surroundings,
}

impl<'a> Context<'a> {
    pub(super) fn new(engine: Engine, out: &'a Output, around: &'a Surroundings, chosen: Option<&'a str>) -> Self {
        Self { engine, out, by: around.actor(), now: SystemClock.now(), chosen, around }
    }

    /// The codebase named by `--codebase`, else that of the current folder.
    pub(super) async fn codebase(&self) -> Outcome<Codebase> {
        match self.chosen {
            Some(name) => self.engine.require_codebase(name).await,
            None => self.codebase_at(self.around.require_here()?).await,
        }
    }

    /// The codebase a folder belongs to. One that is new is registered, and the person is told.
    pub(super) async fn codebase_at(&self, folder: &Path) -> Outcome<Codebase> {
        let registered = self.engine.codebase_at(folder, &self.by).await?;
        self.tell_registered(&registered);
        Ok(registered.codebase)
    }

    pub(super) fn tell_registered(&self, registered: &Registered) {
        if registered.is_new {
            self.out.note(&words::registered(&registered.codebase));
        }
        self.tell(&registered.notes);
    }

    pub(super) fn tell(&self, notes: &[Note]) {
        for note in notes {
            self.out.note(&words::note(note));
        }
    }

    /// The environment of that name; without one, that of the current folder.
    pub(super) async fn environment(&self, codebase: &Codebase, name: Option<&str>) -> Outcome<Environment> {
        if let Some(name) = name {
            return self.engine.require_environment(codebase, name).await;
        }
        match self.engine.environment_at(codebase, self.around.require_here()?).await? {
            Some(environment) => Ok(environment),
            None => Err(UserError::new(Kind::Usage, "no environment is named, and the current folder is in none")
                .hint("`hedgerow env list` shows them")
                .into()),
        }
    }

    /// Whether the current folder is inside this environment. The way there may go through a symbolic link.
    pub(super) fn is_here(&self, view: &View) -> bool {
        self.is_inside(&view.path)
    }

    pub(super) fn is_inside(&self, folder: &Path) -> bool {
        let Some(here) = &self.around.here else { return false };
        here.starts_with(folder) || folder.canonicalize().is_ok_and(|folder| here.starts_with(folder))
    }

    /// An absolute path, from the current folder.
    pub(super) fn absolute(&self, path: &Path) -> Outcome<std::path::PathBuf> {
        if path.is_absolute() { Ok(path.to_owned()) } else { Ok(self.around.require_here()?.join(path)) }
    }
}

/// The repositories of a forge that codebases are of, each once.
pub(super) async fn hosted(engine: &Engine, forge: &dyn Forge) -> Outcome<Vec<(RepositoryName, Timestamp)>> {
    let mut repositories: Vec<(RepositoryName, Timestamp)> = Vec::new();
    for codebase in engine.codebases().await? {
        let Some(repository) = codebase.remote.as_deref().and_then(|remote| forge.repository(remote)) else { continue };
        match repositories.iter_mut().find(|(known, _)| *known == repository) {
            Some((_, since)) => *since = codebase.created_at.min(*since),
            None => repositories.push((repository, codebase.created_at)),
        }
    }
    Ok(repositories)
}
