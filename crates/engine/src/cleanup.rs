//! Cleanup: look at each environment, judge it, act. One bad one never stops the rest.
//!
//! The timer, a close, a person and the limit all come through here, so that what protects work is asked in one place.

mod orphans;

use hedgerow_core::cleanup::{Policy, Usage, Verdict, Want, judge};
use hedgerow_core::environment::Actor;
use hedgerow_core::provider::Condition;
use hedgerow_core::{BranchName, Codebase, Environment, Kind, State, UserError, merged};

use crate::engine::{Engine, Sweep, Swept, SweptOutcome};
use crate::failure::{Failure, Outcome};
use crate::isolation::Base;
use crate::lease::Held;
use crate::remove::Order;
use crate::store::NewEvent;
use crate::verdicts::Verdicts;

/// How environments are swept: what is looked for, whether only to tell, and on whose behalf.
#[derive(Clone, Copy)]
pub(crate) struct Terms<'a> {
    pub(crate) want: Want,
    pub(crate) dry_run: bool,
    pub(crate) by: &'a Actor,
}

impl Engine {
    /// Removes what the sweep is about, as far as the rules allow, and says why the rest stays.
    pub async fn cleanup(&self, codebase: &Codebase, sweep: Sweep, dry_run: bool, by: &Actor) -> Outcome<Vec<Swept>> {
        let want = match sweep {
            Sweep::Merged => Want::Merged,
            Sweep::Stale => Want::Stale,
            Sweep::Orphans => return self.sweep_orphans(codebase, dry_run, by).await,
            Sweep::Scheduled => return Ok(self.sweep_all(codebase, dry_run, by).await),
        };
        self.sweep_live(codebase, Terms { want, dry_run, by }).await
    }

    /// All that the timer does for one codebase. What goes wrong with a part of it is a line of the report.
    async fn sweep_all(&self, codebase: &Codebase, dry_run: bool, by: &Actor) -> Vec<Swept> {
        let mut report = Vec::new();
        let mut add = |part: Outcome<Vec<Swept>>| match part {
            Ok(lines) => report.extend(lines),
            Err(error) => report.push(trouble(codebase, &error)),
        };
        if !dry_run && self.why_no_cleanup().is_none() {
            add(self.sweep_half_made(codebase).await);
        }
        add(self.sweep_live(codebase, Terms { want: Want::Scheduled, dry_run, by }).await);
        add(self.sweep_orphans(codebase, dry_run, by).await);
        report
    }

    async fn sweep_live(&self, codebase: &Codebase, terms: Terms<'_>) -> Outcome<Vec<Swept>> {
        let environments = self.store.live(codebase.id).await?;
        Ok(self.sweep(codebase, environments, terms).await)
    }

    /// A line for each of these environments of one codebase.
    pub(crate) async fn sweep(
        &self,
        codebase: &Codebase,
        environments: Vec<Environment>,
        terms: Terms<'_>,
    ) -> Vec<Swept> {
        // What another machine has on its disk cannot be seen from here, which is not the same as gone.
        let (environments, elsewhere): (Vec<_>, Vec<_>) =
            environments.into_iter().partition(|environment| environment.node == self.settings.node);
        let elsewhere = elsewhere.iter().map(|environment| {
            Swept::of(environment, SweptOutcome::Kept, format!("on the machine `{}`", environment.node))
        });
        if let Some(why) = self.why_no_cleanup() {
            let kept = environments.iter().map(|environment| Swept::of(environment, SweptOutcome::Kept, why.clone()));
            return kept.chain(elsewhere).collect();
        }
        let mut environments = environments;
        if terms.want != Want::Stale && !environments.is_empty() {
            self.fetch_bases(codebase, &environments).await;
            self.follow_in(codebase, &environments).await;
            self.read_pull_requests(&mut environments).await;
        }
        let conditions = self.provider.inspect(codebase, &environments).await;
        let mut verdicts = Verdicts::new(self, codebase);
        let mut report = Vec::with_capacity(environments.len());
        for (environment, condition) in environments.iter().zip(&conditions) {
            let line = self.sweep_one(codebase, environment, condition, &mut verdicts, terms).await;
            let (outcome, because) = line.unwrap_or_else(|error| (SweptOutcome::Failed, reason_of(&error)));
            report.push(Swept::of(environment, outcome, because));
        }
        report.extend(elsewhere);
        report
    }

    /// What was found out about their pull requests just now.
    async fn read_pull_requests(&self, environments: &mut [Environment]) {
        for environment in environments {
            if let Ok(Some(row)) = self.store.environment(environment.id).await {
                environment.pr = row.pr;
            }
        }
    }

    /// Without its sentinel the base may be an empty place where a disk should be mounted: nothing is concluded then.
    pub(crate) fn why_no_cleanup(&self) -> Option<String> {
        let base = Base::new(&self.settings.worktrees);
        let why = || format!("no cleanup: {} has no sentinel file, its disk may be away", base.path().display());
        (!base.is_there()).then(why)
    }

    async fn sweep_one(
        &self,
        codebase: &Codebase,
        environment: &Environment,
        condition: &Condition,
        verdicts: &mut Verdicts<'_>,
        terms: Terms<'_>,
    ) -> Outcome<(SweptOutcome, String)> {
        if let Some(line) = self.set_aside(environment, condition, terms.dry_run)? {
            return Ok(line);
        }
        let mut usage = self.usage(environment).await?;
        usage.running = self.at_work_in(environment).await?.is_some();
        if terms.want != Want::Stale {
            usage.verdict = Some(verdicts.of(environment, condition).await);
        }
        let policy = Policy { stale_after_days: self.settings.stale_after_days };
        let base = environment.base.as_ref().map_or("the base", |base| base.as_str());
        match judge(condition, &usage, &policy, terms.want, self.clock.now()) {
            Verdict::Keep(reason) => Ok((SweptOutcome::Kept, reason.phrase())),
            Verdict::Unreachable(why) => Ok((SweptOutcome::Kept, format!("unreachable: {why}"))),
            Verdict::Broken(why) => Ok((SweptOutcome::Kept, format!("needs a look: {why}"))),
            Verdict::Forget if terms.dry_run => Ok((SweptOutcome::WouldRemove, "its folder is gone".to_owned())),
            Verdict::Remove(because) if terms.dry_run => Ok((SweptOutcome::WouldRemove, because.phrase(base))),
            Verdict::Forget => {
                let held = self.lease(environment).await?;
                let gone = self.forget_gone(&held, codebase, environment, terms.by).await;
                self.release(held).await?;
                gone.map(|_| (SweptOutcome::Forgotten, "its folder was gone".to_owned()))
            }
            Verdict::Remove(because) => {
                let held = self.lease(environment).await?;
                let merged = usage.verdict.as_ref().is_some_and(merged::Verdict::is_merged);
                let order = Order { because: because.trashed(), merged, by: terms.by };
                let judged = (condition, &usage);
                let trashed = self.trash_if_unchanged(&held, codebase, environment, judged, &order).await;
                self.release(held).await?;
                trashed.map(|()| (SweptOutcome::Removed, because.phrase(base)))
            }
        }
    }

    /// The line of an environment that is not to be judged: one that somebody is making or removing, or one that is
    /// parked. Of the parked, those that are verifiably gone are judged all the same.
    fn set_aside(
        &self,
        environment: &Environment,
        condition: &Condition,
        dry_run: bool,
    ) -> Outcome<Option<(SweptOutcome, String)>> {
        let kept = |why: String| Ok(Some((SweptOutcome::Kept, why)));
        match environment.state {
            State::Active | State::Failed => Ok(None),
            State::Unreachable | State::Broken if *condition == Condition::Missing => Ok(None),
            State::Creating | State::Removing if dry_run && self.try_busy(environment.id)?.is_some() => {
                Ok(Some((SweptOutcome::WouldRemove, "half-made, and its maker is gone".to_owned())))
            }
            state => match &environment.last_error {
                Some(why) => kept(format!("{state}: {why}")),
                None => kept(state.to_string()),
            },
        }
    }

    /// What a crash left half-made is settled, and told.
    async fn sweep_half_made(&self, codebase: &Codebase) -> Outcome<Vec<Swept>> {
        let half_made = self.half_made(codebase).await?;
        if !half_made.is_empty() {
            self.settle().await?;
        }
        self.lines_of_settled(&half_made).await
    }

    /// Environments of this machine with an intent that nobody has finished yet.
    pub(crate) async fn half_made(&self, codebase: &Codebase) -> Outcome<Vec<Environment>> {
        let mut half_made = self.store.live(codebase.id).await?;
        half_made.retain(|environment| {
            matches!(environment.state, State::Creating | State::Removing) && environment.node == self.settings.node
        });
        Ok(half_made)
    }

    /// A line for each of them that is settled by now.
    pub(crate) async fn lines_of_settled(&self, half_made: &[Environment]) -> Outcome<Vec<Swept>> {
        let mut report = Vec::new();
        for environment in half_made {
            let (outcome, because) = match self.store.environment(environment.id).await?.map(|now| now.state) {
                Some(State::Trashed) => (SweptOutcome::Removed, "its removal was interrupted, and is done now"),
                Some(State::Destroyed) => (SweptOutcome::Forgotten, "half-made, and its maker was gone"),
                _ => continue,
            };
            report.push(Swept::of(environment, outcome, because.to_owned()));
        }
        Ok(report)
    }

    /// Looks once more under the lease: what was judged must still be so.
    async fn trash_if_unchanged(
        &self,
        held: &Held,
        codebase: &Codebase,
        environment: &Environment,
        (condition, usage): (&Condition, &Usage),
        order: &Order<'_>,
    ) -> Outcome<()> {
        let row = self.require_live(environment).await?;
        let users = self.usage(&row).await?.conversations;
        let now = self.provider.inspect(codebase, std::slice::from_ref(environment)).await.remove(0);
        // A pull request is looked at while others are at work; how it stands was judged already.
        let is_same = Environment { pr: environment.pr.clone(), ..row } == *environment;
        if !is_same || users != usage.conversations || now != *condition {
            return Err(UserError::new(Kind::Busy, "it changed while it was looked at").into());
        }
        self.put_in_trash(held, codebase, environment, &now, order).await.map(drop)
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

/// The reason of a failure in a few words, the innermost where it is ours.
pub(crate) fn reason_of(failure: &Failure) -> String {
    match failure {
        Failure::User(error) => error.message.clone(),
        Failure::Internal(error) => format!("{error:#}"),
    }
}

/// A line for what concerns a codebase as a whole.
pub(crate) fn trouble(codebase: &Codebase, failure: &Failure) -> Swept {
    Swept {
        codebase: codebase.id,
        name: codebase.name.clone(),
        branch: None,
        path: codebase.path.clone(),
        outcome: SweptOutcome::Failed,
        because: reason_of(failure),
    }
}
