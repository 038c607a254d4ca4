//! A comment that shows a run while it works.
//!
//! Whoever drives the run never waits for GitHub: what happens goes onto a [`Sheet`], and a task of the run's own brings the
//! sheet to GitHub, one call at a time and not often. When the run is over the task ends, and the comment is left to become
//! the answer.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use hedgerow_core::RunId;
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

use super::super::client::CallError;
use super::markers;
use super::pen::{Pen, Written};
use super::sheet::Sheet;

/// Most runs that are remembered. One that is forgotten is found by its marker.
const MOST_RUNS: usize = 1_000;
/// Most conversations whose thread is remembered.
const MOST_THREADS: usize = 1_000;

/// How a live comment is paced.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tempo {
    /// A run that ends within this time has none.
    pub(super) first: Duration,
    /// At least so long between two edits. Of a run that takes long, the pauses grow up to six times this.
    pub(super) between: Duration,
    /// Longest for one call.
    pub(super) call: Duration,
    /// A run of which nothing is heard for so long is not followed any more.
    pub(super) silence: Duration,
}

impl Default for Tempo {
    fn default() -> Self {
        Self {
            first: Duration::from_secs(10),
            between: Duration::from_secs(10),
            call: Duration::from_secs(15),
            silence: Duration::from_hours(6),
        }
    }
}

/// The live comment of a run. Whoever calls GitHub about it holds the lock, so that an edit never meets the answer.
#[derive(Debug, Default)]
pub(super) struct Slot {
    pub(super) comment: Option<Written>,
    /// It may be there without our knowing which one it is.
    pub(super) is_unsure: bool,
    /// There is nothing more to show.
    pub(super) is_closed: bool,
    /// The key of the reply that it has become.
    pub(super) reply: Option<String>,
}

pub(super) type SharedSlot = Arc<tokio::sync::Mutex<Slot>>;

#[derive(Debug)]
struct Followed {
    sheet: watch::Sender<Sheet>,
    slot: SharedSlot,
}

/// Which review comment is being answered in a conversation.
pub(super) type Threads = Arc<Mutex<HashMap<String, u64>>>;

/// The runs that this process drives, or drove a while ago.
#[derive(Debug, Default)]
pub(super) struct Runs {
    followed: Mutex<BTreeMap<RunId, Followed>>,
    pub(super) threads: Threads,
}

impl Runs {
    /// A sheet for a run that begins. `None` when it has one.
    pub(super) fn begin(&self, run: RunId) -> Option<(watch::Receiver<Sheet>, SharedSlot)> {
        let mut followed = self.followed();
        if followed.contains_key(&run) {
            return None;
        }
        if followed.len() >= MOST_RUNS {
            // The oldest that is over; ids sort by time.
            let over = followed.iter().find(|(_, followed)| followed.sheet.borrow().is_over).map(|(run, _)| *run);
            followed.remove(&over?);
        }
        let (sheet, shown) = watch::channel(Sheet::default());
        let slot = SharedSlot::default();
        followed.insert(run, Followed { sheet, slot: Arc::clone(&slot) });
        Some((shown, slot))
    }

    /// Changes the sheet of a run. What is not known here was begun by another process.
    pub(super) fn change(&self, run: RunId, change: impl FnOnce(&mut Sheet) -> bool) {
        if let Some(followed) = self.followed().get(&run) {
            followed.sheet.send_if_modified(change);
        }
    }

    /// The live comment of a run that this process drove from its start.
    pub(super) fn slot(&self, run: RunId) -> Option<SharedSlot> {
        self.followed().get(&run).map(|followed| Arc::clone(&followed.slot))
    }

    /// A message is worked on: its answer belongs into this thread, or into none.
    pub(super) fn enter_thread(&self, conversation: String, thread: Option<u64>) {
        let mut threads = locked(&self.threads);
        match thread {
            Some(thread) if threads.len() < MOST_THREADS => drop(threads.insert(conversation, thread)),
            _ => drop(threads.remove(&conversation)),
        }
    }

    /// A message is done with.
    pub(super) fn leave_thread(&self, conversation: &str, thread: Option<u64>) {
        let mut threads = locked(&self.threads);
        if threads.get(conversation).copied() == thread {
            threads.remove(conversation);
        }
    }

    fn followed(&self) -> MutexGuard<'_, BTreeMap<RunId, Followed>> {
        locked(&self.followed)
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What is in there is whole after every statement.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The task of one run.
pub(super) struct Follower {
    pub(super) run: RunId,
    pub(super) conversation: String,
    pub(super) pen: Pen,
    pub(super) threads: Threads,
    pub(super) sheet: watch::Receiver<Sheet>,
    pub(super) slot: SharedSlot,
    pub(super) tempo: Tempo,
    pub(super) bot_name: String,
}

impl Follower {
    /// Shows the run until it is over.
    pub(super) async fn follow(mut self) {
        let began = Instant::now();
        if self.is_over_within(self.tempo.first).await {
            return;
        }
        let mut shown = None;
        loop {
            let sheet = self.sheet.borrow_and_update().clone();
            let mut pause = (began.elapsed() / 20).clamp(self.tempo.between, self.tempo.between * 6);
            match self.bring(&sheet.text(began.elapsed(), &self.bot_name)).await {
                Ok(()) => shown = Some(sheet.revision),
                Err(CallError::Transient { why, after }) => {
                    tracing::debug!(run = %self.run, why, "a live comment is not up to date");
                    pause = pause.max(after.unwrap_or_default());
                }
                Err(error) => {
                    tracing::debug!(run = %self.run, %error, "a run is not shown any more");
                    return;
                }
            }
            if self.is_over_within(pause).await {
                return;
            }
            let is_news = |sheet: &Sheet| sheet.is_over || Some(sheet.revision) != shown;
            match timeout(self.tempo.silence, self.sheet.wait_for(is_news)).await {
                Ok(Ok(sheet)) if !sheet.is_over => {}
                _ => return,
            }
        }
    }

    async fn is_over_within(&mut self, time: Duration) -> bool {
        // An error means that nobody is left to tell anything.
        tokio::select! {
            _ = self.sheet.wait_for(|sheet| sheet.is_over) => true,
            () = sleep(time) => false,
        }
    }

    /// Makes the live comment say this.
    async fn bring(&mut self, text: &str) -> Result<(), CallError> {
        let slot = Arc::clone(&self.slot);
        let mut slot = slot.lock().await;
        if slot.is_closed {
            return Err(CallError::Moved);
        }
        let body = format!("{}{text}", markers::of_run(self.run));
        if let Some(comment) = slot.comment {
            return self.in_time(self.pen.rewrite(comment, &body)).await;
        }
        if slot.is_unsure {
            let own = self.in_time(self.pen.own()).await?;
            slot.comment = own.iter().find(|own| own.marks.is_live(self.run)).map(|own| own.written);
            slot.is_unsure = false;
            if let Some(comment) = slot.comment {
                return self.in_time(self.pen.rewrite(comment, &body)).await;
            }
        }
        self.pen.thread = locked(&self.threads).get(&self.conversation).copied();
        // Also for whoever comes when this task is gone.
        slot.is_unsure = true;
        let written = self.in_time(self.pen.write(&body)).await;
        slot.is_unsure = matches!(written, Err(CallError::Transient { .. }));
        slot.comment = Some(written?);
        Ok(())
    }

    async fn in_time<T>(&self, call: impl Future<Output = Result<T, CallError>>) -> Result<T, CallError> {
        let late = |_| CallError::Transient { why: "GitHub takes too long".to_owned(), after: None };
        timeout(self.tempo.call, Box::pin(call)).await.map_err(late)?
    }
}
