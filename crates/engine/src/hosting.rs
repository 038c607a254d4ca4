//! Codebases of a forge's repository: found by their remotes, and cloned when somebody first asks about one that is not
//! here.

use std::path::Path;
use std::time::Duration;

use hedgerow_core::branch::short_hash;
use hedgerow_core::environment::Actor;
use hedgerow_core::platform::{PlatformError, PlatformKind};
use hedgerow_core::provider::NoProgress;
use hedgerow_core::{Codebase, Kind, RepositoryName, UserError};
use tokio::time::{Instant, sleep, timeout};

use crate::engine::{Engine, Source};
use crate::failure::{Failure, Outcome};
use crate::journal::Busy;
use crate::remote_url::without_credentials;

/// How often to look whether a neighbour has finished cloning the same.
const AGAIN: Duration = Duration::from_millis(100);
/// Longer than any forge takes to answer.
const LONGEST_ASK: Duration = Duration::from_secs(90);
/// Longest to wait for a neighbour.
const PATIENCE: Duration = Duration::from_hours(1);

impl Engine {
    /// The codebases whose remote is this repository, by name. A remote that was given another address since it was
    /// written down counts as what it is now, and a name that the repository had before is a name of it.
    pub(crate) async fn codebases_of(
        &self,
        forge: PlatformKind,
        repository: &RepositoryName,
    ) -> Outcome<Vec<Codebase>> {
        let mut all = self.codebases().await?;
        let is_known = all.iter().any(|codebase| self.is_recorded_as(codebase, forge, repository));
        for codebase in &mut all {
            if !is_known || self.is_recorded_as(codebase, forge, repository) {
                self.look_at_remote(codebase).await?;
            }
        }
        if !all.iter().any(|codebase| self.is_recorded_as(codebase, forge, repository)) {
            self.ask_for_old_names(&all, forge, repository).await?;
        }
        all.retain(|codebase| self.is_recorded_as(codebase, forge, repository));
        Ok(all)
    }

    /// Whether a codebase is of this repository, by its remote as it is now.
    pub(crate) async fn is_of(
        &self,
        codebase: &mut Codebase,
        forge: PlatformKind,
        repository: &RepositoryName,
    ) -> Outcome<bool> {
        self.look_at_remote(codebase).await?;
        if !self.is_recorded_as(codebase, forge, repository) {
            self.ask_for_old_names(std::slice::from_ref(codebase), forge, repository).await?;
        }
        Ok(self.is_recorded_as(codebase, forge, repository))
    }

    fn is_recorded_as(&self, codebase: &Codebase, forge: PlatformKind, repository: &RepositoryName) -> bool {
        let hosted = self.settings.forges.of_codebase(codebase);
        hosted.is_some_and(|hosted| hosted.forge.platform() == forge && hosted.repository == *repository)
    }

    /// Writes down the present address of its remote. What cannot be read now stays as it was.
    async fn look_at_remote(&self, codebase: &mut Codebase) -> Outcome<()> {
        let repo = match self.git.open_untrusted(&codebase.path).await {
            Ok(repo) => repo,
            Err(error) => {
                tracing::debug!(codebase = %codebase.name, %error, "the remote of a codebase cannot be looked at");
                return Ok(());
            }
        };
        let configured = codebase.remote_name.as_deref().or(self.settings.remote.as_deref());
        let remote = repo.remote(configured).and_then(|remote| repo.remote_url(remote)).map(without_credentials);
        if remote.is_some() && remote != codebase.remote {
            self.store.set_remote(codebase.id, remote.as_deref()).await?;
            codebase.remote = remote;
        }
        Ok(())
    }

    /// Has the forge find out whose remotes bear an old name of the repository. While it cannot say, nothing is known: taken
    /// for a new repository, one that was renamed would be cloned a second time. What it will not say counts as another.
    async fn ask_for_old_names(
        &self,
        all: &[Codebase],
        forge: PlatformKind,
        repository: &RepositoryName,
    ) -> Outcome<()> {
        let Some(forge) = self.settings.forges.of(forge) else { return Ok(()) };
        let remotes = all.iter().filter_map(|codebase| codebase.remote.as_deref());
        let remotes: Vec<&str> = remotes.filter(|remote| forge.repository(remote).is_some()).collect();
        if remotes.is_empty() {
            return Ok(());
        }
        let asked = timeout(LONGEST_ASK, forge.learn_names(&remotes, repository)).await;
        let why = match asked {
            Ok(Ok(())) => return Ok(()),
            Ok(Err(error @ PlatformError::Refused(_))) => {
                tracing::warn!(%repository, %error, "its old names are not known");
                return Ok(());
            }
            Ok(Err(PlatformError::Transient(why))) => why,
            Err(_) => "no answer in time".to_owned(),
        };
        let what = format!("which of my clones `{repository}` is cannot be found out now: {why}");
        Err(UserError::new(Kind::Failed, what).hint("ask again in a while").into())
    }

    /// Whether a repository that is not here is cloned when somebody asks about it.
    pub(crate) fn clones(&self, forge: PlatformKind) -> bool {
        self.settings.forges.of(forge).is_some_and(|forge| forge.clones())
    }

    /// Clones a repository of a forge; whoever else asks for the same meanwhile gets that one.
    pub(crate) async fn clone_hosted(
        &self,
        forge: PlatformKind,
        repository: &RepositoryName,
        by: &Actor,
    ) -> Outcome<Codebase> {
        let Some(url) = self.settings.forges.of(forge).map(|forge| forge.clone_url(repository)) else {
            return Err(not_here(repository).into());
        };
        let _alone = self.alone(&format!("clone-{}", short_hash(&repository.to_string().to_lowercase(), 16))).await?;
        if let Some(known) = self.codebases_of(forge, repository).await?.into_iter().next() {
            return Ok(known);
        }
        let place = self.place_of_clone(&url);
        let source = if !place.exists() {
            Source::Url(url)
        } else if self.is_clone_of(&place, forge, repository).await {
            // Cloned before, and forgotten, or never written down.
            Source::Path(place)
        } else {
            let what = format!("something else is where `{repository}` would be cloned to");
            return Err(UserError::new(Kind::Failed, what).hint(ADD_IT).into());
        };
        match self.add_codebase(&source, None, by, &NoProgress).await {
            Ok(added) => Ok(added.codebase),
            // A neighbour that we could not see may have been faster.
            Err(error) => match self.codebases_of(forge, repository).await?.into_iter().next() {
                Some(known) => Ok(known),
                None => Err(cannot_clone(repository, error)),
            },
        }
    }

    async fn is_clone_of(&self, place: &Path, forge: PlatformKind, repository: &RepositoryName) -> bool {
        let Ok(repo) = self.git.open_untrusted(place).await else { return false };
        let remote = repo.remote(self.settings.remote.as_deref()).and_then(|remote| repo.remote_url(remote));
        let hosted = remote.and_then(|remote| self.settings.forges.hosted(remote));
        hosted.is_some_and(|hosted| hosted.forge.platform() == forge && hosted.repository == *repository)
    }

    /// Waits until nobody else on this machine is at this.
    async fn alone(&self, name: &str) -> Outcome<Busy> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(alone) = self.try_lock(name)? {
                return Ok(alone);
            }
            if Instant::now() > deadline {
                let error = UserError::new(Kind::Busy, "somebody else has been cloning it for an hour");
                return Err(error.hint("ask again later").into());
            }
            sleep(AGAIN).await;
        }
    }
}

const ADD_IT: &str = "whoever runs me can add it: `hedgerow codebase add <url>`";

/// Nobody has added it, and it is not cloned by itself.
pub(crate) fn not_here(repository: &RepositoryName) -> UserError {
    UserError::new(Kind::NotFound, format!("I have no clone of `{repository}`")).hint(ADD_IT)
}

fn cannot_clone(repository: &RepositoryName, error: Failure) -> Failure {
    let error = match error {
        Failure::User(error) => error,
        internal @ Failure::Internal(_) => return internal,
    };
    let mut told = UserError::new(error.kind, format!("`{repository}` could not be cloned: {}", error.message));
    told.hints = error.hints;
    told.hint("see that I may read it, then ask again").hint(ADD_IT).into()
}
