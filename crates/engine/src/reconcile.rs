//! Reconcile: before anything else happens, the store is made to say what disk and git say.
//!
//! It decides nothing and removes nothing. What was begun is settled, what a dead git left is completed, and each row gets
//! the state that its place shows: away, something else, or itself again. Doing it twice is doing it once.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use hedgerow_core::environment::Actor;
use hedgerow_core::provider::Presence;
use hedgerow_core::{Codebase, CodebaseId, Environment, Kind, State, UserError};

use crate::engine::Engine;
use crate::failure::Outcome;
use crate::isolation::ownership::common_dir;
use crate::journal::Busy;
use crate::store::{Change, NewEvent};

/// So many are turned in one step: each lock is an open file.
const AT_ONCE: usize = 100;

/// What a reconcile found and did.
#[derive(Debug, Clone, Default)]
pub struct Reconciled {
    /// How many environments were looked at.
    pub looked_at: usize,
    pub turned: Vec<Turned>,
    /// Verifiably gone from disk. Letting go of them is cleanup's.
    pub gone: Vec<Environment>,
    /// Entries that a dead git had left half-made.
    pub mended: Vec<PathBuf>,
    /// Left as they were, and why: someone works there, or it failed.
    pub left: Vec<(Environment, String)>,
}

/// An environment whose state is another one now.
#[derive(Debug, Clone)]
pub struct Turned {
    pub environment: Environment,
    pub from: State,
}

impl Engine {
    /// Run before anything listens and before the first round of cleanup. No git process per environment: presence is
    /// read from files, and only rows that change are written.
    pub async fn reconcile(&self) -> Outcome<Reconciled> {
        let mut done = Reconciled::default();
        for codebase in self.codebases().await? {
            self.git.mend(&common_dir(&codebase));
        }
        self.settle().await?;
        self.look_at(self.store.live_on(&self.settings.node).await?, &mut done).await?;
        done.mended = self.write_down_mended().await?;
        Ok(done)
    }

    /// Looks where each of these should be, and turns those whose state says something else.
    pub(crate) async fn look_at(&self, environments: Vec<Environment>, done: &mut Reconciled) -> Outcome<()> {
        if environments.is_empty() {
            return Ok(());
        }
        let codebases: HashMap<CodebaseId, Codebase> =
            self.codebases().await?.into_iter().map(|codebase| (codebase.id, codebase)).collect();
        let provider = Arc::clone(&self.provider);
        let looking = tokio::task::spawn_blocking(move || {
            let known = environments.into_iter().filter_map(|environment| {
                let codebase = codebases.get(&environment.codebase)?.clone();
                let presence = provider.presence(&codebase, &environment);
                Some((codebase, environment, presence))
            });
            known.collect::<Vec<_>>()
        });
        let seen = looking.await.map_err(anyhow::Error::from)?;
        done.looked_at += seen.len();
        let turning: Vec<_> =
            seen.iter().filter(|(_, environment, found)| found.turns(environment).is_some()).collect();
        for some in turning.chunks(AT_ONCE) {
            self.turn_some(some, done).await;
        }
        let is_gone = |environment: &Environment, found: &Presence| {
            *found == Presence::Missing && !matches!(environment.state, State::Creating | State::Removing)
        };
        let gone = seen.iter().filter(|(_, environment, found)| is_gone(environment, found));
        done.gone.extend(gone.map(|(_, environment, _)| environment.clone()));
        Ok(())
    }

    /// Turns those that nobody is at work on. What cannot be turned never stops the rest.
    async fn turn_some(&self, some: &[&(Codebase, Environment, Presence)], done: &mut Reconciled) {
        let (mut locks, mut changes) = (Vec::new(), Vec::new());
        for (codebase, environment, _) in some {
            match self.look_alone(codebase, environment).await {
                Ok((busy, change)) => {
                    locks.push(busy);
                    changes.extend(change);
                }
                Err(error) => done.left.push((environment.clone(), error.to_string())),
            }
        }
        // Two who do this at once must ask for the codebases in one order.
        changes.sort_by_key(|change| change.environment.codebase.to_string());
        match self.store.save_each(&changes).await {
            Ok(written) => {
                let turned = changes.into_iter().zip(written).filter(|(_, written)| *written);
                let turned = turned.map(|(it, _)| Turned { environment: it.environment, from: it.expected.0 });
                done.turned.extend(turned);
            }
            Err(error) => {
                tracing::warn!(%error, "the states of some environments could not be written down");
                done.left.extend(changes.into_iter().map(|change| (change.environment, error.to_string())));
            }
        }
    }

    /// Under its lock an environment is looked at once more: whoever had the lock before may have moved it.
    async fn look_alone(&self, codebase: &Codebase, seen: &Environment) -> Outcome<(Busy, Option<Change>)> {
        let in_use = || UserError::new(Kind::Busy, "it is in use right now");
        let busy = self.try_busy(seen.id)?.ok_or_else(in_use)?;
        let now = self.store.environment(seen.id).await?;
        let change = now.and_then(|now| self.change(&now, &self.provider.presence(codebase, &now)));
        Ok((busy, change))
    }

    /// What is to be written down about an environment because of what was found in its place.
    fn change(&self, environment: &Environment, found: &Presence) -> Option<Change> {
        let (state, last_error) = found.turns(environment)?;
        let what = if state.is_usable() { "environment-returned" } else { "environment-lost" };
        let mut event = NewEvent::new(self.clock.now(), &Actor::automation(), what);
        event.detail.clone_from(&last_error);
        let expected = (environment.state, environment.generation);
        Some(Change { environment: Environment { state, last_error, ..environment.clone() }, expected, event })
    }

    /// Writes down what one environment has turned to, and returns it so. `None` when nothing has changed.
    pub(crate) async fn turn(&self, environment: &Environment, found: &Presence) -> Outcome<Option<Environment>> {
        let Some(change) = self.change(environment, found) else { return Ok(None) };
        self.store.save(&change.environment, change.expected, &change.event).await?;
        Ok(Some(change.environment))
    }

    /// Adds to the log what was mended in passing.
    pub(crate) async fn write_down_mended(&self) -> Outcome<Vec<PathBuf>> {
        let mended = self.git.take_mended();
        if mended.is_empty() {
            return Ok(mended);
        }
        let codebases = self.codebases().await?;
        for admin in &mended {
            let mut event = NewEvent::new(self.clock.now(), &Actor::automation(), "worktree-entry-mended");
            let of = codebases.iter().find(|codebase| {
                std::fs::canonicalize(common_dir(codebase)).is_ok_and(|common| {
                    std::fs::canonicalize(admin).is_ok_and(|admin| admin.starts_with(common.join("worktrees")))
                })
            });
            if let Some(codebase) = of {
                event = event.of_codebase(codebase.id);
            }
            self.store.record(&event.detail(admin.display().to_string())).await?;
        }
        Ok(mended)
    }
}
