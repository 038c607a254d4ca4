//! Out of the trash, never over something that exists.

use hedgerow_core::environment::{Actor, NamedWork, Resolution, Trash};
use hedgerow_core::provider::Note;
use hedgerow_core::{BranchName, Codebase, Environment, Kind, Lease, State, UserError, Work};

use crate::engine::{Engine, Resolved};
use crate::failure::{Failure, Outcome};
use crate::steps;
use crate::store::{NewEvent, Scope, StoreError, Taken};

/// So many branches beside one that is taken are tried.
const MOST_RESTORES: usize = 100;
/// What a branch beside an old one keeps of its name.
const LONGEST_STEM: usize = 220;

/// Whether an environment from the trash can be on a branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fits {
    /// It is where the environment left it, or not there at all.
    AsItIs,
    /// It is free, and somewhere else.
    Moved,
    Taken,
}

impl Engine {
    /// Brings an environment back from the trash, by work, branch or id; the newest when there are several.
    pub async fn restore(&self, codebase: &Codebase, name: &str, by: &Actor) -> Outcome<Resolved> {
        if let Some(environment) = self.store.find(codebase.id, name, Scope::Trashed).await? {
            return self.restore_environment(codebase, &environment, by).await;
        }
        if let Some(environment) = self.store.find(codebase.id, name, Scope::Saved).await? {
            return self.restore_saved(codebase, &environment, by).await;
        }
        let error = UserError::new(Kind::NotFound, format!("there is no `{name}` in the trash of `{}`", codebase.name));
        Err(error.hint("`hedgerow env trash` lists what is there").into())
    }

    /// 1. Where to: its old path and branch, or others when those are taken.
    /// 2. The row is live again, in state `removing`: should we die now, the next start puts it back into the trash,
    ///    where it is safe.
    /// 3. The move.
    /// 4. The row is active.
    pub(crate) async fn restore_environment(
        &self,
        codebase: &Codebase,
        old: &Environment,
        by: &Actor,
    ) -> Outcome<Resolved> {
        let Some(trash) = old.trash.clone() else {
            return Err(anyhow::anyhow!("the environment {} is in the trash without a place there", old.id).into());
        };
        if std::fs::symlink_metadata(&trash.path).is_err() {
            let error = UserError::new(Kind::NotFound, format!("`{}` is not in the trash any more", old.name()));
            return Err(error.hint(format!("it was at {}; its disk may be away", trash.path.display())).into());
        }
        let held = self.lease(old).await?;
        // Whoever had the lease before may have restored it.
        let restored = match self.store.environment(old.id).await? {
            Some(now) if now.state == State::Trashed => {
                self.restore_leased(&held.lease, codebase, &now, &trash, by).await
            }
            _ => {
                let error = UserError::new(Kind::NotFound, format!("`{}` is not in the trash any more", old.name()));
                Err(error.hint("`hedgerow env list` shows what there is").into())
            }
        };
        self.release(held).await?;
        restored
    }

    async fn restore_leased(
        &self,
        lease: &Lease,
        codebase: &Codebase,
        old: &Environment,
        trash: &Trash,
        by: &Actor,
    ) -> Outcome<Resolved> {
        let mut notes = Vec::new();
        let branch = self.free_branch(codebase, old, trash).await?;
        if branch != old.branch {
            notes.push(Note::RestoredOnBranch { branch: branch.clone(), instead_of: old.branch.clone() });
        }
        self.drop_taken_works(codebase, old, &branch, by).await?;
        let coming = Environment {
            state: State::Removing,
            generation: old.generation + 1,
            branch_made: old.branch_made || branch != old.branch,
            branch,
            ..old.clone()
        };
        let coming = self.claim_place(codebase, old, coming, by).await?;
        steps::reached("restore written down");
        if coming.path != old.path {
            notes.push(Note::RestoredElsewhere { path: coming.path.clone() });
        }
        // A branch beside its own has to be made, also for a HEAD that is on none.
        let branch_deleted = trash.branch_deleted || coming.branch != old.branch;
        let wanted = Trash { branch_deleted, ..trash.clone() };
        if let Err(error) = self.provider.restore(lease, codebase, &coming, &wanted).await {
            self.give_up(lease, codebase, &coming, trash, &error.to_string(), by).await?;
            return Err(error.into());
        }
        let now = self.clock.now();
        let active = Environment { state: State::Active, trash: None, last_activity_at: now, ..coming };
        let event = NewEvent::new(now, by, "environment-restored").shas(None, trash.head.clone());
        self.store.save(&active, (State::Removing, active.generation), &event).await?;
        steps::reached("row active again");
        let environment = self.store.environment(active.id).await?.unwrap_or(active);
        Ok(Resolved { environment, resolution: Resolution::Restored, as_of: Some(trash.at), notes })
    }

    /// Its own branch if it is free and where it was left; otherwise a new one beside it.
    pub(crate) async fn free_branch(
        &self,
        codebase: &Codebase,
        old: &Environment,
        trash: &Trash,
    ) -> Outcome<BranchName> {
        // Whatever ends by moving the branch (a stopped rebase) must not do so under someone else's feet.
        let own = self.branch_fits(codebase, &old.branch, trash).await?;
        if own == Fits::AsItIs || (own == Fits::Moved && trash.was_detached) {
            return Ok(old.branch.clone());
        }
        for attempt in 1..MOST_RESTORES {
            let number = if attempt == 1 { String::new() } else { format!("-{attempt}") };
            // Room for the suffix in the longest name there can be.
            let stem = old.branch.as_str();
            let stem = &stem[..stem.floor_char_boundary(LONGEST_STEM)];
            let beside = format!("{stem}-restored-{}{number}", old.id.short());
            let beside = BranchName::parse(&beside).map_err(|error| Failure::Internal(error.into()))?;
            if self.branch_fits(codebase, &beside, trash).await? == Fits::AsItIs {
                return Ok(beside);
            }
        }
        Err(anyhow::anyhow!("every branch beside `{}` is taken", old.branch).into())
    }

    async fn branch_fits(&self, codebase: &Codebase, branch: &BranchName, trash: &Trash) -> Outcome<Fits> {
        let now = self.provider.branch(codebase, branch).await?;
        let in_use = now.held_by.is_some_and(|path| path != trash.path);
        if in_use || self.store.live_by_branch(codebase.id, branch).await?.is_some() {
            return Ok(Fits::Taken);
        }
        let untouched = now.tip.is_none() || (now.tip == trash.head && !trash.was_detached);
        Ok(if untouched { Fits::AsItIs } else { Fits::Moved })
    }

    /// Works that another environment has by now stay there; this one is then known by its branch.
    async fn drop_taken_works(
        &self,
        codebase: &Codebase,
        old: &Environment,
        branch: &BranchName,
        by: &Actor,
    ) -> Outcome<()> {
        let works = self.free_works(codebase, old, branch).await?;
        if works == old.works {
            return Ok(());
        }
        let event = NewEvent::new(self.clock.now(), by, "works-dropped").detail("another environment has them");
        self.store.set_works(old.id, &works, &event).await?;
        steps::reached("taken works dropped");
        Ok(())
    }

    /// Those of its works that nobody else has by now; when there is none, the branch is its work.
    pub(crate) async fn free_works(
        &self,
        codebase: &Codebase,
        old: &Environment,
        branch: &BranchName,
    ) -> Outcome<Vec<NamedWork>> {
        let mut works = Vec::new();
        for named in &old.works {
            let taken = self.store.live_by_work(codebase.id, &named.work).await?.is_some()
                || self.store.work_name_taken(codebase.id, &named.name, &named.work).await?;
            if !taken {
                works.push(named.clone());
            }
        }
        if works.is_empty() && !old.works.is_empty() {
            let work = Work::Task(branch.to_string());
            works.push(NamedWork { name: work.to_string(), work });
        }
        Ok(works)
    }

    /// Claims the old path, or the next free one.
    async fn claim_place(
        &self,
        codebase: &Codebase,
        old: &Environment,
        coming: Environment,
        by: &Actor,
    ) -> Outcome<Environment> {
        let mut places = Vec::new();
        if std::fs::symlink_metadata(&old.path).is_err() {
            places.push(old.path.clone());
        }
        places.extend(self.provider.places(codebase, &coming.branch, old.id));
        for path in places {
            let coming = Environment { path, ..coming.clone() };
            let event = NewEvent::new(self.clock.now(), by, "environment-restoring");
            match self.store.save(&coming, (State::Trashed, old.generation), &event).await {
                Ok(()) => return Ok(coming),
                Err(StoreError::Taken(Taken::Path)) => {}
                Err(error) => return Err(error.into()),
            }
        }
        let error = UserError::new(Kind::Protected, format!("there is no free place for `{}`", old.name()));
        Err(error.hint(format!("move what is at {} away", old.path.display())).into())
    }

    /// The move failed. Whatever part of it was done is undone by going to the trash again.
    async fn give_up(
        &self,
        lease: &Lease,
        codebase: &Codebase,
        coming: &Environment,
        trash: &Trash,
        why: &str,
        by: &Actor,
    ) -> Outcome<()> {
        if std::fs::symlink_metadata(&trash.path).is_err() {
            tracing::warn!(environment = %coming.id, why, "a restore stopped half-way; it is carried back to the trash");
            return self.carry_on_leased(lease, codebase, coming).await;
        }
        let back = Environment { state: State::Trashed, ..coming.clone() };
        let event = NewEvent::new(self.clock.now(), by, "restore-failed").detail(why.to_owned());
        Ok(self.store.save(&back, (State::Removing, coming.generation), &event).await?)
    }
}
