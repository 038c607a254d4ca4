//! Cleanup on demand: look at each environment, judge it, act. One bad one never stops the rest.

use hedgerow_core::cleanup::{Policy, Usage, Verdict, Want, judge};
use hedgerow_core::environment::{Actor, TrashedBecause};
use hedgerow_core::provider::{Condition, Found};
use hedgerow_core::{BranchName, Codebase, Environment, Kind, State};

use crate::engine::{Engine, Known, Sweep, Swept, SweptOutcome};
use crate::failure::{Failure, Outcome};
use crate::remove::Order;
use crate::store::NewEvent;

impl Engine {
    /// Removes what the sweep is about, as far as the rules allow, and says why the rest stays.
    pub async fn cleanup(&self, codebase: &Codebase, sweep: Sweep, dry_run: bool, by: &Actor) -> Outcome<Vec<Swept>> {
        let want = match sweep {
            Sweep::Merged => Want::Merged,
            Sweep::Stale => Want::Stale,
            Sweep::Orphans => return self.sweep_orphans(codebase, dry_run, by).await,
        };
        let environments = self.store.live(codebase.id).await?;
        if sweep == Sweep::Merged {
            self.fetch_bases(codebase, &environments).await;
        }
        let conditions = self.provider.inspect(codebase, &environments).await;
        let mut report = Vec::with_capacity(environments.len());
        for (environment, condition) in environments.iter().zip(&conditions) {
            let line = self.sweep_one(codebase, environment, condition, want, dry_run, by).await;
            let (outcome, because) = line.unwrap_or_else(|error| (SweptOutcome::Failed, error.to_string()));
            report.push(swept(environment, outcome, because));
        }
        Ok(report)
    }

    async fn sweep_one(
        &self,
        codebase: &Codebase,
        environment: &Environment,
        condition: &Condition,
        want: Want,
        dry_run: bool,
        by: &Actor,
    ) -> Outcome<(SweptOutcome, String)> {
        if !environment.state.is_usable() {
            return Ok((SweptOutcome::Kept, environment.state.to_string()));
        }
        let mut usage = self.usage(environment).await?;
        usage.running = self.store.lease_holder(environment.id, self.clock.now()).await?.is_some();
        if want == Want::Merged {
            usage.verdict = Some(self.verdict(codebase, environment, condition).await);
        }
        let policy = Policy { stale_after_days: self.settings.stale_after_days };
        let base = environment.base.as_ref().map_or("the base", |base| base.as_str());
        match judge(condition, &usage, &policy, want, self.clock.now()) {
            Verdict::Keep(reason) => Ok((SweptOutcome::Kept, reason.phrase())),
            Verdict::Unreachable(why) => Ok((SweptOutcome::Kept, format!("unreachable: {why}"))),
            Verdict::Broken(why) => Ok((SweptOutcome::Kept, format!("needs a look: {why}"))),
            Verdict::Forget if dry_run => Ok((SweptOutcome::WouldRemove, "its folder is gone".to_owned())),
            Verdict::Remove(because) if dry_run => Ok((SweptOutcome::WouldRemove, because.phrase(base))),
            Verdict::Forget => {
                let held = self.lease(environment).await?;
                let gone = self.forget_gone(&held, codebase, environment, by).await;
                self.release(held).await?;
                gone.map(|_| (SweptOutcome::Forgotten, "its folder was gone".to_owned()))
            }
            Verdict::Remove(because) => {
                let held = self.lease(environment).await?;
                let merged = because.trashed() == TrashedBecause::Merged;
                let order = Order { because: because.trashed(), merged, by };
                let judged = (condition, &usage);
                let trashed = self.trash_if_unchanged(&held, codebase, environment, judged, &order).await;
                self.release(held).await?;
                trashed.map(|()| (SweptOutcome::Removed, because.phrase(base)))
            }
        }
    }

    /// Looks once more under the lease: what was judged must still be so.
    async fn trash_if_unchanged(
        &self,
        held: &crate::lease::Held,
        codebase: &Codebase,
        environment: &Environment,
        (condition, usage): (&Condition, &Usage),
        order: &Order<'_>,
    ) -> Outcome<()> {
        let row = self.require_live(environment).await?;
        let users = self.usage(&row).await?.conversations;
        let now = self.provider.inspect(codebase, std::slice::from_ref(environment)).await.remove(0);
        if row != *environment || users != usage.conversations || now != *condition {
            let error = hedgerow_core::UserError::new(Kind::Busy, "it changed while it was looked at");
            return Err(Failure::User(error));
        }
        self.put_in_trash(held, codebase, environment, &now, order).await.map(drop)
    }

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

    /// Worktrees that carry our marker but have no row go to the trash; without our marker they are only listed.
    async fn sweep_orphans(&self, codebase: &Codebase, dry_run: bool, by: &Actor) -> Outcome<Vec<Swept>> {
        let mut report = Vec::new();
        for known in self.worktrees(codebase).await? {
            if known.environment.is_some() {
                continue;
            }
            let found = known.found;
            let ours = match found.marker {
                Some(id) => match self.store.environment(id).await? {
                    Some(row) => row.state == State::Destroyed,
                    None => found.is_below_base,
                },
                None => false,
            };
            let (outcome, because) = if !ours {
                (SweptOutcome::Listed, "not made by Hedgerow".to_owned())
            } else if dry_run {
                (SweptOutcome::WouldRemove, "made by Hedgerow, but not in its store".to_owned())
            } else {
                match self.trash_orphan(codebase, &found, by).await {
                    Ok(name) => (
                        SweptOutcome::Removed,
                        format!("made by Hedgerow, but not in its store; restore it as `{name}`"),
                    ),
                    Err(error) => (SweptOutcome::Failed, error.to_string()),
                }
            };
            report.push(Swept {
                name: found.branch.as_ref().map_or_else(|| "(detached)".to_owned(), ToString::to_string),
                branch: found.branch.as_ref().map(ToString::to_string),
                path: found.path,
                outcome,
                because,
            });
        }
        Ok(report)
    }

    /// Takes an orphan of ours over, then removes it like any other: refused if it holds work.
    async fn trash_orphan(&self, codebase: &Codebase, found: &Found, by: &Actor) -> Outcome<String> {
        let environment = self.take_over(codebase, found, by).await?;
        let conditions = self.provider.inspect(codebase, std::slice::from_ref(&environment)).await;
        let usage = self.usage(&environment).await?;
        if let Err(refusal) = hedgerow_core::cleanup::may_remove(&conditions[0], &usage, false) {
            return Err(refusal.explain().hint(format!("it is an environment again: `{}`", environment.name())).into());
        }
        let held = self.lease(&environment).await?;
        let order = Order { because: TrashedBecause::Orphan, merged: false, by };
        let trashed = self.put_in_trash(&held, codebase, &environment, &conditions[0], &order).await;
        self.release(held).await?;
        trashed.map(|_| environment.name().to_owned())
    }

    /// Brings the bases up to date before asking what is merged. Offline, the last known state has to do.
    async fn fetch_bases(&self, codebase: &Codebase, environments: &[Environment]) {
        let mut bases: Vec<BranchName> =
            environments.iter().filter_map(|environment| environment.base.clone()).collect();
        bases.sort();
        bases.dedup();
        if let Err(error) = self.provider.refresh(codebase, &bases).await {
            let event =
                NewEvent::new(self.clock.now(), &Actor::automation(), "refresh-failed").of_codebase(codebase.id);
            tracing::info!(codebase = %codebase.name, %error, "the remote could not be asked");
            if let Err(error) = self.store.record(&event.detail(error.to_string())).await {
                tracing::warn!(%error, "an event could not be written");
            }
        }
    }
}

fn swept(environment: &Environment, outcome: SweptOutcome, because: String) -> Swept {
    Swept {
        name: environment.name().to_owned(),
        branch: Some(environment.branch.to_string()),
        path: environment.path.clone(),
        outcome,
        because,
    }
}
