//! Purging the trash: what git could not bring back is saved and verified, then the files go.

use std::path::Path;

use hedgerow_core::environment::{Actor, Tenant, Trash};
use hedgerow_core::saved::{SavedState, Skipped};
use hedgerow_core::{Codebase, Environment, Kind, Lease, SavedId, State, UserError};

use crate::disk::Disk;
use crate::engine::{Engine, Swept, SweptOutcome};
use crate::explain::Trouble;
use crate::failure::{Failure, Outcome};
use crate::isolation::Base;
use crate::lease::Held;
use crate::steps;
use crate::store::NewEvent;
use crate::vault::Vault;

/// Purging for want of space goes on until there is this much more, so that it does not begin again at once.
const ENOUGH_ABOVE_LOW_PERCENT: u64 = 5;

/// An environment whose files are gone, and what is kept of it.
#[derive(Debug, Clone)]
pub struct Purged {
    pub saved: SavedState,
    pub skipped: Vec<Skipped>,
}

impl Engine {
    /// Deletes an environment from the trash, after everything that git could not bring back is in the vault.
    ///
    /// 1. The lease: nobody restores it meanwhile.
    /// 2. The saved state, complete and read back.
    /// 3. In the store, the saved state takes the environment's place. Should we die before this, nothing has happened;
    ///    after it, only files are left to delete, and the next start does so.
    /// 4. The files go.
    pub async fn purge(&self, environment: &Environment, by: &Actor) -> Outcome<Purged> {
        let codebase = self.codebase_of(environment).await?;
        let held = self.lease(environment).await?;
        let purged = match self.store.environment(environment.id).await? {
            Some(now) if now.state == State::Trashed => self.purge_leased(&held, &codebase, &now, by).await,
            _ => Err(Trouble::NotTrashed { name: environment.name().to_owned() }.into()),
        };
        self.release(held).await?;
        purged
    }

    async fn purge_leased(
        &self,
        held: &Held,
        codebase: &Codebase,
        environment: &Environment,
        by: &Actor,
    ) -> Outcome<Purged> {
        let Some(Trash { path, head, .. }) = environment.trash.clone() else {
            return Err(anyhow::anyhow!("{} is in the trash without a place there", environment.id).into());
        };
        if std::fs::symlink_metadata(&path).is_err() {
            return Err(not_there(environment, &path).into());
        }
        let vault = Vault::new(&self.settings.home);
        let (saved, skipped) = self.save(held, codebase, environment, &path, &vault).await?;
        let event = NewEvent::new(self.clock.now(), by, "environment-saved").shas(head, None);
        let event = event.detail(format!("{} bytes in the vault, {} skipped", saved.bytes, saved.skipped));
        self.store.replace_by_saved(environment, &saved, &event).await?;
        steps::reached("saved state written down");
        if let Err(error) = self.drop_twins(codebase, &saved, &vault).await {
            tracing::warn!(environment = %environment.id, %error, "an earlier attempt to save it stays in the vault");
        }
        self.delete_remains(&held.lease, codebase, environment, &saved, by).await?;
        Ok(Purged { saved: SavedState { remains: None, ..saved }, skipped })
    }

    /// A new saved state in the vault. After an error nothing of it is left.
    async fn save(
        &self,
        held: &Held,
        codebase: &Codebase,
        environment: &Environment,
        remains: &Path,
        vault: &Vault,
    ) -> Outcome<(SavedState, Vec<Skipped>)> {
        let id = SavedId::new();
        self.tidy(codebase, environment, vault).await.map_err(|error| unsaved(environment, error))?;
        let place = vault.begin(environment.id, id).map_err(Trouble::folder(vault.path()));
        let place = place.map_err(|error| unsaved(environment, error.into()))?;
        let made = match self.provider.save(&held.lease, codebase, environment, id, &place).await {
            Ok(saved) => vault
                .publish(environment.id, id)
                .map_err(Trouble::folder(&place))
                .map(|()| saved)
                .map_err(Failure::from),
            Err(error) => Err(error.into()),
        };
        let saved = match made {
            Ok(saved) => saved,
            Err(error) => {
                // What is in the way of saving may be in the way of tidying up; the next attempt does it.
                let _ = self.tidy(codebase, environment, vault).await;
                return Err(unsaved(environment, error));
            }
        };
        steps::reached("saved state published");
        let state = SavedState {
            id,
            environment: environment.id,
            codebase: environment.codebase,
            node: self.settings.node.clone(),
            made_at: self.clock.now(),
            bytes: saved.bytes,
            skipped: saved.skipped.len() as u64,
            remains: Some(remains.to_owned()),
            aged: 0,
            expired_at: None,
        };
        Ok((state, saved.skipped))
    }

    /// Deletes what earlier attempts began in the vault. The folder goes last: by it the refs are found.
    async fn tidy(&self, codebase: &Codebase, environment: &Environment, vault: &Vault) -> Outcome<()> {
        let in_vault = |error| Failure::from(Trouble::folder(vault.path())(error));
        for begun in vault.begun(environment.id).map_err(in_vault)? {
            self.provider.release(codebase, begun).await?;
            vault.delete(environment.id, begun).map_err(in_vault)?;
        }
        Ok(())
    }

    /// A saved state that was finished and never written down is deleted if the new one holds the very same. If it holds
    /// more, it may be the only whole copy: it stays, and `doctor` tells of it.
    async fn drop_twins(&self, codebase: &Codebase, saved: &SavedState, vault: &Vault) -> Outcome<()> {
        let known: Vec<SavedId> = self.store.saved_of(saved.environment).await?.iter().map(|saved| saved.id).collect();
        let in_vault = |error| Failure::from(Trouble::folder(vault.path())(error));
        for twin in vault.twins(saved.environment, saved.id).map_err(in_vault)? {
            if !known.contains(&twin) {
                self.provider.release(codebase, twin).await?;
                vault.delete(saved.environment, twin).map_err(in_vault)?;
            }
        }
        Ok(())
    }

    async fn delete_remains(
        &self,
        lease: &Lease,
        codebase: &Codebase,
        environment: &Environment,
        saved: &SavedState,
        by: &Actor,
    ) -> Outcome<()> {
        if let Some(remains) = &saved.remains {
            self.provider.purge(lease, codebase, environment, remains).await?;
        }
        let event = NewEvent::new(self.clock.now(), by, "environment-purged");
        self.store.nothing_remains(saved, &event).await?;
        // Caches, and what sessions remember, of which the store has its own copy.
        if let Err(error) = std::fs::remove_dir_all(self.agents_home_of(Tenant::Environment(environment.id)))
            && error.kind() != std::io::ErrorKind::NotFound
        {
            tracing::warn!(environment = %environment.id, %error, "the agents' home of it could not be deleted");
        }
        steps::reached("purged");
        Ok(())
    }

    /// A purge whose maker died: before the saved state was written down, what was begun in the vault goes; after it,
    /// what is left of the files.
    pub(crate) async fn settle_purges(&self) -> Outcome<()> {
        for saved in self.store.saved_with_remains(&self.settings.node).await? {
            let Some(_busy) = self.try_busy(saved.environment)? else { continue };
            if let Err(error) = self.settle_purge(&saved).await {
                tracing::warn!(environment = %saved.environment, %error, "the rest of a purge could not be deleted yet");
            }
        }
        let vault = Vault::new(&self.settings.home);
        for id in vault.beginnings() {
            let Some(_busy) = self.try_busy(id)? else { continue };
            if let Some(environment) = self.store.environment(id).await?
                && let Some(codebase) = self.store.codebase(environment.codebase).await?
                && let Err(error) = self.tidy(&codebase, &environment, &vault).await
            {
                tracing::warn!(environment = %id, %error, "what a dead purge began in the vault could not be tidied yet");
            }
        }
        Ok(())
    }

    async fn settle_purge(&self, saved: &SavedState) -> Outcome<()> {
        let Some(environment) = self.store.environment(saved.environment).await? else { return Ok(()) };
        let codebase = self.codebase_of(&environment).await?;
        let Some(lease) = self.lease_to_settle(&environment).await? else { return Ok(()) };
        let done = self.delete_remains(&lease, &codebase, &environment, saved, &Actor::automation()).await;
        self.store.release_lease(environment.id, lease.epoch()).await?;
        done
    }

    /// Purges what has been in the trash of this machine for its time; the oldest sooner when the disk runs short.
    /// One that cannot be saved stays, and never stops the rest.
    pub async fn purge_due(&self, dry_run: bool) -> Outcome<Vec<Swept>> {
        let mut report = Vec::new();
        if !Base::new(&self.settings.worktrees).is_there() {
            return Ok(report);
        }
        let mut trashed = self.store.in_state(&self.settings.node, State::Trashed).await?;
        trashed.sort_by_key(|environment| environment.trash.as_ref().map(|trash| trash.at));
        let low = u64::from(self.settings.low_space_percent);
        let enough = low + ENOUGH_ABOVE_LOW_PERCENT;
        let (mut is_short, mut free) = (self.is_space_below(low), self.free_bytes());
        for environment in trashed {
            let Some(trash) = &environment.trash else { continue };
            let days = self.clock.now().seconds_since(trash.at) / SECONDS_PER_DAY;
            let is_due = days >= i64::from(self.settings.trash_keep_days);
            // What is on another disk would free nothing on this one.
            let would_help = trash.path.starts_with(&self.settings.worktrees);
            let because = match (is_due, is_short && would_help) {
                (true, _) => format!("in the trash for {days} days"),
                (false, true) => "the disk runs short".to_owned(),
                (false, false) => continue,
            };
            let (outcome, because) = if dry_run {
                (SweptOutcome::WouldPurge, because)
            } else {
                match self.purge_one(&environment).await {
                    Ok(Some(purged)) => (SweptOutcome::Purged, format!("{because}; {}", kept(&purged))),
                    Ok(None) => (SweptOutcome::Forgotten, "its folder was gone from the trash".to_owned()),
                    Err(error) => (SweptOutcome::Failed, error.to_string()),
                }
            };
            report.push(Swept::of(&environment, outcome, because));
            if is_short && !dry_run {
                let freed = self.free_bytes().saturating_sub(free);
                // Where purging frees nothing, something else fills the disk.
                is_short = freed > 0 && self.is_space_below(enough);
                free = self.free_bytes();
            }
        }
        Ok(report)
    }

    /// `None` when somebody has deleted it from the trash; then the row becomes history.
    async fn purge_one(&self, environment: &Environment) -> Outcome<Option<Purged>> {
        let by = Actor::automation();
        let is_gone = environment.trash.as_ref().is_some_and(|trash| {
            std::fs::symlink_metadata(&trash.path).is_err() && trash.path.parent().is_some_and(Path::is_dir)
        });
        if !is_gone {
            return self.purge(environment, &by).await.map(Some);
        }
        let codebase = self.codebase_of(environment).await?;
        let held = self.lease(environment).await?;
        let forgotten = self.forget_leased(&held.lease, &codebase, environment, &by).await;
        self.release(held).await?;
        forgotten.map(|()| None)
    }

    fn free_bytes(&self) -> u64 {
        Disk::at(&self.settings.worktrees).map_or(0, |disk| disk.free_bytes)
    }

    fn is_space_below(&self, percent: u64) -> bool {
        Disk::at(&self.settings.worktrees).is_some_and(|disk| disk.free_percent() < percent)
    }
}

const SECONDS_PER_DAY: i64 = 24 * 60 * 60;

fn kept(purged: &Purged) -> String {
    match purged.skipped.len() {
        0 => "saved in the vault".to_owned(),
        many => format!("saved in the vault without {many} things, which its manifest names"),
    }
}

fn not_there(environment: &Environment, path: &Path) -> UserError {
    let name = environment.name();
    UserError::new(Kind::NotFound, format!("`{name}` is not in the trash any more"))
        .hint(format!("it was at {}; its disk may be away", path.display()))
}

/// Nothing was deleted, and that is the first thing to say.
fn unsaved(environment: &Environment, failure: Failure) -> Failure {
    match failure {
        Failure::User(error) => {
            let message = format!(
                "`{}` stays in the trash, because it could not be saved: {}",
                environment.name(),
                error.message
            );
            UserError { message, ..error }.into()
        }
        internal @ Failure::Internal(_) => internal,
    }
}
