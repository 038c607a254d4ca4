//! The runs that this process has at work, so that whoever stopped one can wait until it is over.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hedgerow_core::RunId;
use tokio::sync::Notify;

#[derive(Debug, Default)]
pub(super) struct Live {
    runs: Mutex<HashSet<RunId>>,
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

    pub(super) async fn gone(&self, run: RunId) {
        loop {
            // Made before the look: a run that ends between the two is not missed.
            let changed = self.changed.notified();
            if !self.runs().contains(&run) {
                return;
            }
            changed.await;
        }
    }

    fn runs(&self) -> MutexGuard<'_, HashSet<RunId>> {
        // Nobody panics while they hold it: the set is whole.
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Alive {
    fn drop(&mut self) {
        self.among.runs().remove(&self.run);
        self.among.changed.notify_waiters();
    }
}
