//! What a turn may touch, and the look before and after it at what it must not.

use hedgerow_core::RunId;
use hedgerow_core::assistant::Bounds;
use tokio::time::sleep;

use super::Story;
use super::place::Ground;
use crate::failure::Outcome;
use crate::replies;
use crate::tripwire::Tripwire;

/// What stands around a turn.
pub(super) struct Guard {
    pub(super) run: RunId,
    pub(super) bounds: Bounds,
    /// None where there is no repository to reach.
    tripwire: Option<Tripwire>,
}

impl Story {
    /// Without it nothing runs.
    pub(super) async fn guard(&self, run: RunId, ground: &Ground) -> Outcome<Guard> {
        let engine = &self.desk.engine;
        let Some(environment) = ground.environment() else {
            return Ok(Guard { run, bounds: engine.bounds(None, &ground.place(), None).await?, tripwire: None });
        };
        let codebase = engine.codebase_of(environment).await?;
        let bounds = engine.bounds(Some(&codebase), &ground.place(), Some(environment)).await?;
        let is_view = self.desk.assistants.have_a_view();
        let tripwire = engine.arm(run, environment, &codebase, is_view).await?;
        Ok(Guard { run, bounds, tripwire: Some(tripwire) })
    }

    /// What the turn changed and should not have, in sentences. What is no longer ours is not touched: whoever has it now
    /// has looked before they began.
    pub(super) async fn look_after(&self, guard: Guard, ground: &Ground) -> Vec<String> {
        let Some(tripwire) = guard.tripwire else { return Vec::new() };
        let engine = &self.desk.engine;
        if matches!(engine.renew(ground.lease()).await, Ok(false)) {
            return Vec::new();
        }
        let mut springing = std::pin::pin!(engine.spring(tripwire, &self.by));
        let found = loop {
            tokio::select! {
                biased;
                found = &mut springing => break found,
                // A thousand refs, or a remote that takes its time, must not cost the lease.
                () = sleep(engine.settings().runs.lease / 4) => drop(engine.renew(ground.lease()).await),
            }
        };
        replies::all_overstepped(&found)
    }
}
