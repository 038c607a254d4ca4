//! Asking a run of this process to end.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use hedgerow_core::RunId;
use tokio::sync::watch;

/// Why a run is to end before it is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    /// Somebody asked for it.
    Asked,
    /// The server goes down.
    Shutdown,
}

/// The runs of this process, each with its ear.
#[derive(Debug, Default)]
pub(crate) struct Stops {
    runs: Mutex<HashMap<RunId, watch::Sender<Option<Stop>>>>,
}

/// Listens for the end of one run.
#[derive(Debug)]
pub(crate) struct Ear<'a> {
    stops: &'a Stops,
    run: RunId,
    heard: watch::Receiver<Option<Stop>>,
}

impl Stops {
    pub(crate) fn listen(&self, run: RunId) -> Ear<'_> {
        let (sender, heard) = watch::channel(None);
        self.runs().insert(run, sender);
        Ear { stops: self, run, heard }
    }

    pub(crate) fn one(&self, run: RunId, stop: Stop) {
        if let Some(sender) = self.runs().get(&run) {
            sender.send_replace(Some(stop));
        }
    }

    pub(crate) fn all(&self, stop: Stop) {
        for sender in self.runs().values() {
            sender.send_replace(Some(stop));
        }
    }

    fn runs(&self) -> MutexGuard<'_, HashMap<RunId, watch::Sender<Option<Stop>>>> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Ear<'_> {
    /// Returns when the run is to end. Safe to call again.
    pub(crate) async fn stopped(&mut self) -> Stop {
        let heard = self.heard.wait_for(Option::is_some).await.ok().and_then(|stop| *stop);
        match heard {
            Some(stop) => stop,
            // The sender goes with this ear only.
            None => std::future::pending().await,
        }
    }
}

impl Drop for Ear<'_> {
    fn drop(&mut self) {
        self.stops.runs().remove(&self.run);
    }
}
