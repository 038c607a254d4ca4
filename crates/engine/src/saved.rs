//! Saved states in the vault: bringing one back, checking them, and letting them go when their time is over.

use hedgerow_core::environment::{Actor, Resolution, Trash, TrashedBecause};
use hedgerow_core::provider::{Intent, NoProgress, Note, Start};
use hedgerow_core::saved::{Account, SavedState};
use hedgerow_core::{BranchName, Codebase, Environment, EnvironmentId, Kind, State, UserError};

use crate::engine::{Engine, Resolved, Swept, SweptOutcome};
use crate::explain::Trouble;
use crate::failure::{Failure, Outcome};
use crate::journal::{Busy, CREATING, plan_of};
use crate::steps;
use crate::store::{Inserted, NewEvent};
use crate::vault::Vault;

const MILLIS_PER_DAY: u64 = 24 * 60 * 60 * 1000;

/// What became of checking a saved state.
#[derive(Debug)]
pub struct Verified {
    pub environment: Environment,
    pub saved: SavedState,
    pub outcome: Outcome<Account>,
}

impl Engine {
    /// What the vault holds of a codebase, or of all, newest first.
    pub async fn saved(&self, codebase: Option<&Codebase>) -> Outcome<Vec<(Environment, SavedState)>> {
        let codebases = match codebase {
            Some(codebase) => vec![codebase.clone()],
            None => self.codebases().await?,
        };
        let mut found = Vec::new();
        for codebase in codebases {
            for saved in self.store.saved_of_codebase(codebase.id).await? {
                if let Some(environment) = self.store.environment(saved.environment).await? {
                    found.push((environment, saved));
                }
            }
        }
        Ok(found)
    }

    /// Reads saved states of this machine through, and compares them with what they say about themselves.
    pub async fn verify_saved(&self, codebase: Option<&Codebase>) -> Outcome<Vec<Verified>> {
        let mut verified = Vec::new();
        for (environment, saved) in self.saved(codebase).await? {
            if saved.node == self.settings.node {
                let outcome = self.account(&environment, &saved).await;
                verified.push(Verified { environment, saved, outcome });
            }
        }
        Ok(verified)
    }

    async fn account(&self, environment: &Environment, saved: &SavedState) -> Outcome<Account> {
        let codebase = self.codebase_of(environment).await?;
        let place = Vault::new(&self.settings.home).place(environment.id, saved.id);
        Ok(self.provider.verify(&codebase, &place).await?)
    }

    pub(crate) async fn diff_of_saved(
        &self,
        codebase: &Codebase,
        environment: &Environment,
        stat: bool,
    ) -> Outcome<Vec<u8>> {
        let newest = self.store.saved_of(environment.id).await?.into_iter().next();
        let Some(saved) = newest else {
            return Err(Trouble::NotTrashed { name: environment.name().to_owned() }.into());
        };
        let place = Vault::new(&self.settings.home).place(environment.id, saved.id);
        Ok(self.provider.diff_of_saved(codebase, environment, &place, stat).await?)
    }

    /// Makes an environment again from its newest saved state. A new one: the old branch, path and works if they are
    /// free, others beside them if not.
    ///
    /// 1. The saved state is read through.
    /// 2. The intent is written, as for any creation; should we die, the next start takes it back.
    /// 3. The worktree is made and filled.
    /// 4. The row is active. The saved state stays as long as it would have.
    pub(crate) async fn restore_saved(&self, codebase: &Codebase, old: &Environment, by: &Actor) -> Outcome<Resolved> {
        // While it is read nobody lets go of it.
        let held = self.lease(old).await?;
        let restored = self.rebuild(codebase, old, by).await;
        self.release(held).await?;
        restored
    }

    async fn rebuild(&self, codebase: &Codebase, old: &Environment, by: &Actor) -> Outcome<Resolved> {
        let newest = self.store.saved_of(old.id).await?.into_iter().next();
        let Some(saved) = newest else { return Err(Trouble::NotTrashed { name: old.name().to_owned() }.into()) };
        if saved.node != self.settings.node {
            let error = UserError::new(Kind::NotFound, format!("`{}` is saved on `{}`", old.name(), saved.node));
            return Err(error.hint("restore it there").into());
        }
        self.require_base().await?;
        let account = self.account(old, &saved).await?;
        let place = Vault::new(&self.settings.home).place(old.id, saved.id);
        let trash = Trash {
            path: place.clone(),
            at: account.left_at,
            because: TrashedBecause::Asked,
            head: account.head.clone(),
            was_detached: account.was_detached,
            branch_deleted: true,
        };
        let branch = self.free_branch(codebase, old, &trash).await?;
        let start = self.start_of(codebase, &branch, &account).await?;
        let (environment, _busy) = self.claim_again(codebase, old, &branch, &start, by).await?;
        steps::reached("restore written down");
        let plan = plan_of(&environment, start);
        let intent = Intent {
            id: environment.id,
            generation: environment.generation,
            codebase: codebase.clone(),
            path: environment.path.clone(),
            plan,
            is_fork: environment.is_fork,
        };
        let mut notes = match self.provider.rebuild(&intent, &place, &NoProgress).await {
            Ok(notes) => notes,
            Err(error) => {
                self.take_back_failed(&environment, &intent, by, &error.to_string()).await?;
                return Err(error.into());
            }
        };
        let now = self.clock.now();
        let active = Environment { state: State::Active, last_activity_at: now, ..environment };
        let event = NewEvent::new(now, by, "environment-restored").shas(None, account.head.clone());
        let event = event.detail(format!("from the saved state {} of {}", saved.id, old.id));
        self.store.save(&active, (State::Creating, active.generation), &event).await?;
        steps::reached("row active");
        self.take_checkpoints_along(codebase, old, &active).await;
        if branch != old.branch {
            notes.push(Note::RestoredOnBranch { branch, instead_of: old.branch.clone() });
        }
        if active.path != old.path {
            notes.push(Note::RestoredElsewhere { path: active.path.clone() });
        }
        if !account.skipped.is_empty() {
            notes.push(Note::NotSaved { what: account.skipped });
        }
        Ok(Resolved { environment: active, resolution: Resolution::Restored, as_of: Some(account.left_at), notes })
    }

    /// What could be undone in the old one can be in the new one. Without them it is an environment all the same.
    async fn take_checkpoints_along(&self, codebase: &Codebase, old: &Environment, new: &Environment) {
        let moved = async {
            self.provider.move_checkpoints(codebase, old.id, new.id).await?;
            Ok::<_, Failure>(self.store.move_checkpoints(old.id, new.id).await?)
        };
        if let Err(error) = moved.await {
            tracing::warn!(environment = %new.id, %error, "the checkpoints of a restored environment stay behind");
        }
    }

    /// The branch as it is, or made again where it was.
    async fn start_of(&self, codebase: &Codebase, branch: &BranchName, account: &Account) -> Outcome<Start> {
        if let Some(at) = self.provider.branch(codebase, branch).await?.tip {
            return Ok(Start::Existing { at, forward_to: None, upstream: None });
        }
        let was_on_branch = account.branch_tip.as_ref().filter(|_| account.was_detached);
        let at = was_on_branch.or(account.head.as_ref()).cloned();
        let at = at.ok_or_else(|| anyhow::anyhow!("a saved state names no commit"))?;
        Ok(Start::New { at, upstream: None })
    }

    /// Writes the intent of a new environment with what the old one was.
    async fn claim_again(
        &self,
        codebase: &Codebase,
        old: &Environment,
        branch: &BranchName,
        start: &Start,
        by: &Actor,
    ) -> Outcome<(Environment, Busy)> {
        let id = EnvironmentId::new();
        let Some(busy) = self.try_busy(id)? else {
            return Err(anyhow::anyhow!("the lock of a new id is taken").into());
        };
        let draft = Environment {
            works: self.free_works(codebase, old, branch).await?,
            branch_made: start.makes_branch() || (old.branch_made && *branch == old.branch),
            is_fork: old.is_fork,
            base: old.base.clone(),
            base_sha: old.base_sha.clone(),
            pinned_at: old.pinned_at,
            pr: old.pr.clone(),
            pushed_sha: old.pushed_sha.clone().filter(|_| *branch == old.branch),
            description: old.description.clone(),
            keywords: old.keywords.clone(),
            ..self.draft(codebase, id, branch.clone(), by)
        };
        let mut paths = Vec::new();
        if std::fs::symlink_metadata(&old.path).is_err() && old.path.starts_with(&self.settings.worktrees) {
            paths.push(old.path.clone());
        }
        paths.extend(self.provider.places(codebase, branch, id));
        let event = NewEvent::new(self.clock.now(), by, CREATING).shas(None, Some(start.commit().clone()));
        match self.store.insert(&draft, &paths, None, &event).await? {
            Inserted::Written(environment) => Ok((environment, busy)),
            _ => {
                let error =
                    UserError::new(Kind::Busy, format!("somebody took the place of `{}` meanwhile", old.name()));
                Err(error.hint("try again").into())
            }
        }
    }

    /// Lets go of saved states that were kept for their time. Only time that rounds of cleanup have seen pass counts:
    /// a clock that jumps ahead ends nothing.
    pub async fn expire_saved(&self, watched_millis: u64, dry_run: bool) -> Outcome<Vec<Swept>> {
        let mut report = Vec::new();
        if !dry_run {
            self.store.age_saved(&self.settings.node, watched_millis).await?;
            steps::reached("saved states aged");
        }
        let limit = u64::from(self.settings.vault_keep_days) * MILLIS_PER_DAY;
        for saved in self.store.saved_here(&self.settings.node).await? {
            if saved.aged < limit || saved.remains.is_some() {
                continue;
            }
            let Some(environment) = self.store.environment(saved.environment).await? else { continue };
            let because = format!("kept in the vault for {} days", saved.aged / MILLIS_PER_DAY);
            let expired = if dry_run { Ok(SweptOutcome::WouldExpire) } else { self.expire(&environment, &saved).await };
            let (outcome, because) = match expired {
                Ok(outcome) => (outcome, because),
                Err(error) => (SweptOutcome::Failed, error.to_string()),
            };
            report.push(Swept::of(&environment, outcome, because));
        }
        Ok(report)
    }

    async fn expire(&self, environment: &Environment, saved: &SavedState) -> Outcome<SweptOutcome> {
        let held = self.lease(environment).await?;
        let expired = self.expire_leased(environment, saved).await;
        self.release(held).await?;
        expired.map(|()| SweptOutcome::Expired)
    }

    async fn expire_leased(&self, environment: &Environment, saved: &SavedState) -> Outcome<()> {
        let kept = self.store.saved_of(environment.id).await?;
        if !kept.iter().any(|kept| kept.id == saved.id) {
            return Ok(());
        }
        let vault = Vault::new(&self.settings.home);
        vault.delete(environment.id, saved.id).map_err(Trouble::folder(vault.path()))?;
        steps::reached("saved state deleted");
        let codebase = self.codebase_of(environment).await?;
        let mut released = self.provider.release(&codebase, saved.id).await.map_err(Failure::from);
        if kept.len() == 1 {
            released = released.and(self.forget_checkpoints(&codebase, environment).await);
        }
        if let Err(error) = released {
            tracing::info!(codebase = %codebase.name, %error, "refs of an expired saved state stay behind");
        }
        steps::reached("what it built on let go of");
        let now = self.clock.now();
        let event = NewEvent::new(now, &Actor::automation(), "saved-state-expired");
        self.store.expire(saved, now, &event).await?;
        steps::reached("saved state expired");
        Ok(())
    }
}
