//! Worktrees of the repository that no row knows: ours by their marker, or somebody else's.

use hedgerow_core::cleanup::{Removal, may_remove};
use hedgerow_core::environment::{Actor, TrashedBecause};
use hedgerow_core::provider::Found;
use hedgerow_core::{BranchName, Codebase, Environment, EnvironmentId, State};

use super::reason_of;
use crate::engine::{Engine, Known, Swept, SweptOutcome};
use crate::failure::Outcome;
use crate::lease::Held;
use crate::remove::Order;

const STRAY: &str = "made by Hedgerow, but not in its store";

impl Engine {
    /// Every git worktree of the repository, those unknown to Hedgerow without an environment.
    pub async fn worktrees(&self, codebase: &Codebase) -> Outcome<Vec<Known>> {
        let mut known = Vec::new();
        let environments = self.store.live(codebase.id).await?;
        let trashed = self.store.trashed(codebase.id).await?;
        for found in self.provider.list(codebase).await? {
            if found.is_main {
                continue;
            }
            let is_it = |environment: &&Environment| environment.path == found.path;
            let in_trash =
                |environment: &&Environment| environment.trash.as_ref().is_some_and(|trash| trash.path == found.path);
            let environment = environments.iter().find(is_it).or_else(|| trashed.iter().find(in_trash)).cloned();
            known.push(Known { found, environment });
        }
        Ok(known)
    }

    /// Worktrees that carry our marker but have no row go to the trash, or are environments again if they hold work;
    /// without our marker they are only listed.
    pub(super) async fn sweep_orphans(&self, codebase: &Codebase, dry_run: bool, by: &Actor) -> Outcome<Vec<Swept>> {
        let mut report = Vec::new();
        for known in self.worktrees(codebase).await? {
            if known.environment.is_some() {
                continue;
            }
            let found = known.found;
            let line = self.sweep_orphan(codebase, &found, dry_run, by).await;
            let (outcome, because) = line.unwrap_or_else(|error| (SweptOutcome::Failed, reason_of(&error)));
            report.push(Swept {
                codebase: codebase.id,
                name: found.branch.as_ref().map_or_else(|| "(detached)".to_owned(), ToString::to_string),
                branch: found.branch.as_ref().map(ToString::to_string),
                path: found.path,
                outcome,
                because,
            });
        }
        Ok(report)
    }

    async fn sweep_orphan(
        &self,
        codebase: &Codebase,
        found: &Found,
        dry_run: bool,
        by: &Actor,
    ) -> Outcome<(SweptOutcome, String)> {
        if found.missing {
            // Who made it cannot be told any more; git's own entry of it does no harm.
            return Ok((SweptOutcome::Listed, "its folder is gone".to_owned()));
        }
        let Some(id) = self.orphan_of_ours(found).await? else {
            return Ok((SweptOutcome::Listed, "not made by Hedgerow".to_owned()));
        };
        if let Some(why) = self.why_no_cleanup() {
            return Ok((SweptOutcome::Kept, why));
        }
        let Some(branch) = found.branch.clone() else {
            return Ok((SweptOutcome::Kept, format!("{STRAY}; it is on no branch")));
        };
        if dry_run {
            return self.look_at_orphan(codebase, found, (id, branch), by).await;
        }
        // Taken over first, then removed like any other: what must not be removed is an environment again.
        let environment = self.take_over(codebase, found, by).await?;
        let held = self.lease(&environment).await?;
        let line = self.settle_orphan(&held, codebase, &environment, by).await;
        self.release(held).await?;
        line
    }

    /// The id of an orphan that is ours to deal with.
    async fn orphan_of_ours(&self, found: &Found) -> Outcome<Option<EnvironmentId>> {
        let Some(id) = found.marker else { return Ok(None) };
        let ours = match self.store.environment(id).await? {
            Some(row) => row.state == State::Destroyed,
            None => found.is_below_base,
        };
        Ok(ours.then_some(id))
    }

    /// What would become of an orphan.
    async fn look_at_orphan(
        &self,
        codebase: &Codebase,
        found: &Found,
        (id, branch): (EnvironmentId, BranchName),
        by: &Actor,
    ) -> Outcome<(SweptOutcome, String)> {
        let draft = Environment { path: found.path.clone(), ..self.draft(codebase, id, branch, by) };
        let condition = self.provider.inspect(codebase, std::slice::from_ref(&draft)).await.remove(0);
        Ok(match may_remove(&condition, &self.usage(&draft).await?, false) {
            Ok(_) => (SweptOutcome::WouldRemove, STRAY.to_owned()),
            Err(refusal) => (SweptOutcome::Kept, format!("{STRAY}; to be taken over: {}", refusal.phrase())),
        })
    }

    async fn settle_orphan(
        &self,
        held: &Held,
        codebase: &Codebase,
        environment: &Environment,
        by: &Actor,
    ) -> Outcome<(SweptOutcome, String)> {
        let name = environment.name();
        let condition = self.provider.inspect(codebase, std::slice::from_ref(environment)).await.remove(0);
        let usage = self.usage(environment).await?;
        match may_remove(&condition, &usage, false) {
            Ok(Removal::Trash) => {
                let order = Order { because: TrashedBecause::Orphan, merged: false, by };
                self.put_in_trash(held, codebase, environment, &condition, &order).await?;
                Ok((SweptOutcome::Removed, format!("{STRAY}; restore it as `{name}`")))
            }
            Ok(Removal::Forget) => {
                self.forget_gone(held, codebase, environment, by).await?;
                Ok((SweptOutcome::Forgotten, "its folder was gone".to_owned()))
            }
            Ok(Removal::LetGo) => Ok((SweptOutcome::TakenOver, format!("{STRAY}; it is the environment `{name}`"))),
            Err(refusal) => {
                Ok((SweptOutcome::TakenOver, format!("{STRAY}; it is the environment `{name}`: {}", refusal.phrase())))
            }
        }
    }
}
