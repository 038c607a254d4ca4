//! Room: the limit of environments per codebase.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use hedgerow_core::cleanup::{Item, Policy, breakdown, limit_message};
use hedgerow_core::environment::Actor;
use hedgerow_core::provider::Note;
use hedgerow_core::{Codebase, CodebaseId, Kind, UserError};
use tokio::time::Instant;

use super::Asked;
use crate::engine::{Engine, Sweep, SweptOutcome};
use crate::failure::Outcome;
use crate::replies::IN_A_TERMINAL;
use crate::verdicts::Verdicts;

/// One look for room per codebase at a time. Every environment is looked at for it, so those who asked before a look
/// began are served by its answer: a hundred refusals cost little more than one.
#[derive(Debug, Default)]
pub(crate) struct Rooms(Mutex<HashMap<CodebaseId, Arc<tokio::sync::Mutex<Option<Look>>>>>);

/// The last look: when it began, and what it said when there was no room.
#[derive(Debug)]
struct Look {
    began: Instant,
    refusal: Option<UserError>,
}

impl Rooms {
    fn of(&self, codebase: CodebaseId) -> Arc<tokio::sync::Mutex<Option<Look>>> {
        let mut rooms = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(rooms.entry(codebase).or_default())
    }
}

impl Engine {
    /// Looks before anything is fetched, so that a request that cannot succeed fails early. The claim counts again, under
    /// a lock.
    pub(super) async fn require_room(&self, asked: &mut Asked<'_>) -> Outcome<()> {
        if self.is_full(&asked.request.codebase).await? { self.find_room(asked).await } else { Ok(()) }
    }

    /// Merged environments make room. If none can, the error says what takes it up.
    pub(super) async fn find_room(&self, asked: &mut Asked<'_>) -> Outcome<()> {
        let codebase = &asked.request.codebase;
        let since = Instant::now();
        let room = self.rooms.of(codebase.id);
        let mut last = room.lock().await;
        if let Some(look) = last.as_ref().filter(|look| look.began >= since) {
            if !self.is_full(codebase).await? {
                return Ok(());
            }
            if let Some(refusal) = &look.refusal {
                return Err(refusal.clone().into());
            }
        }
        let began = Instant::now();
        self.make_room(asked).await?;
        let codebase = &asked.request.codebase;
        let refusal = if self.is_full(codebase).await? { Some(self.limit_reached(codebase).await?) } else { None };
        *last = Some(Look { began, refusal: refusal.clone() });
        refusal.map_or(Ok(()), |refusal| Err(refusal.into()))
    }

    async fn is_full(&self, codebase: &Codebase) -> Outcome<bool> {
        let limit = u64::from(self.settings.limit);
        Ok(limit > 0 && self.store.count_live(codebase.id).await? >= limit)
    }

    /// Merged environments go to the trash, if that makes room at all: where more than one must go, they are counted first.
    async fn make_room(&self, asked: &mut Asked<'_>) -> Outcome<()> {
        let live = self.store.count_live(asked.request.codebase.id).await?;
        let needed = (live + 1).saturating_sub(u64::from(self.settings.limit));
        if needed > 1 {
            let would = self.cleanup(&asked.request.codebase, Sweep::Merged, true, &Actor::automation()).await?;
            let enough = would.iter().filter(|line| line.outcome == SweptOutcome::WouldRemove).count() as u64 >= needed;
            if !enough {
                return Ok(());
            }
        }
        let swept = self.cleanup(&asked.request.codebase, Sweep::Merged, false, &Actor::automation()).await?;
        let removed = swept.into_iter().filter(|line| line.outcome == SweptOutcome::Removed);
        let names: Vec<String> = removed.map(|line| line.name).collect();
        if !names.is_empty() {
            asked.notes.push(Note::MadeRoom { names });
        }
        Ok(())
    }

    async fn limit_reached(&self, codebase: &Codebase) -> Outcome<UserError> {
        let environments = self.store.live(codebase.id).await?;
        let conditions = self.provider.inspect(codebase, &environments).await;
        let mut verdicts = Verdicts::new(self, codebase);
        let mut usages = Vec::with_capacity(environments.len());
        for (environment, condition) in environments.iter().zip(&conditions) {
            let mut usage = self.usage(environment).await?;
            usage.verdict = Some(verdicts.of(environment, condition).await);
            usages.push(usage);
        }
        let policy = Policy { stale_after_days: self.settings.stale_after_days };
        let items = environments.iter().zip(&conditions).zip(&usages);
        let items = items.map(|((environment, condition), usage)| Item { name: environment.name(), condition, usage });
        let breakdown = breakdown(items, &policy, self.clock.now());
        let message = limit_message(&codebase.name, self.settings.limit as usize, &breakdown);
        let error = UserError::new(Kind::Limit, message);
        Ok(error.hint(IN_A_TERMINAL))
    }
}
