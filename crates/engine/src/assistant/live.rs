//! The runs that this process has at work, so that whoever stopped one can wait until it is over.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hedgerow_core::RunId;
use tokio::sync::Notify;

#[derive(Debug, Default)]
pub(super) struct Live {
    runs: Mutex<HashSet<RunId>>,
    /// What agents remembered of runs that nobody listened to any more.
    left: Mutex<HashMap<RunId, Vec<u8>>>,
    changed: Notify,
}

/// While it lives, something of the run may be at work.
#[derive(Debug)]
pub(super) struct Alive {
    run: RunId,
    among: Arc<Live>,
}

impl Live {
    pub(super) fn enter(self: &Arc<Self>, run: RunId) -> Alive {
        self.runs().insert(run);
        Alive { run, among: Arc::clone(self) }
    }

    /// Returns what its agent remembered at the end, if nobody heard it.
    pub(super) async fn gone(&self, run: RunId) -> Option<Vec<u8>> {
        loop {
            // Made before the look: a run that ends between the two is not missed.
            let changed = self.changed.notified();
            if !self.runs().contains(&run) {
                return self.left().remove(&run);
            }
            changed.await;
        }
    }

    fn left(&self) -> MutexGuard<'_, HashMap<RunId, Vec<u8>>> {
        self.left.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn runs(&self) -> MutexGuard<'_, HashSet<RunId>> {
        // Nobody panics while they hold it: the set is whole.
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Alive {
    pub(super) fn leave(&self, memory: Vec<u8>) {
        self.among.left().insert(self.run, memory);
    }
}

impl Drop for Alive {
    fn drop(&mut self) {
        self.among.runs().remove(&self.run);
        self.among.changed.notify_waiters();
    }
}
