//! The log of a run, on its way to the store: what is heard is taken at once and written a moment later, many at a time,
//! so that nobody who listens to an assistant waits for a disk.
//!
//! What the next turn needs goes the same way, without the pause: the name of the session, and what the assistant
//! remembers of it. A store that is away for a moment gets everything afterwards, in order.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hedgerow_core::assistant::{Update, Usage};
use hedgerow_core::platform::Glimpse;
use hedgerow_core::{RunId, SessionId, Timestamp};
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

use crate::engine::Engine;
use crate::replies;
use crate::store::{Happened, LONGEST_MEMORY, RunEvent, StoreError};

/// Most that is kept of one run; then one line says that there was more.
const MOST_EVENTS: usize = 5000;
const MOST_BYTES: usize = 8 << 20;
/// Most of one thing that means nothing to us.
const LONGEST_OTHER: usize = 16 << 10;
/// How long pieces are gathered before they are written.
const PAUSE: Duration = Duration::from_secs(1);
/// Longest that the end of a run waits for its log.
const LONGEST_CLOSE: Duration = Duration::from_secs(5);
/// How often a store that is away is tried again once the run is over.
const LAST_TRIES: u32 = 30;

/// The log of one run. Dropping it writes what is left, and nobody waits for that.
pub(crate) struct RunLog {
    engine: Engine,
    shared: Arc<Shared>,
    writer: Option<JoinHandle<()>>,
    last_usage: Option<Usage>,
}

#[derive(Default)]
struct Shared {
    pending: Mutex<Pending>,
    /// There is something to write.
    changed: Notify,
    /// It should not wait.
    hurry: Notify,
}

impl Shared {
    fn pending(&self) -> MutexGuard<'_, Pending> {
        // Nothing that is done under this lock can leave it half done.
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn close(&self) {
        self.pending().is_closed = true;
        self.changed.notify_one();
        self.hurry.notify_one();
    }
}

/// What was heard and is not written yet.
#[derive(Default)]
struct Pending {
    events: Vec<RunEvent>,
    name: Option<(SessionId, String)>,
    memory: Option<(SessionId, Vec<u8>)>,
    /// Of the whole run.
    count: usize,
    bytes: usize,
    is_full: bool,
    is_closed: bool,
}

impl Pending {
    /// Pieces of the answer that follow each other become one.
    fn add(&mut self, what: Happened, at: Timestamp) {
        if self.is_full {
            return;
        }
        let size = size(&what);
        if self.count >= MOST_EVENTS || self.bytes + size > MOST_BYTES {
            self.is_full = true;
            self.push(Happened::Note("there was more than this log keeps".to_owned()), at);
            return;
        }
        self.bytes += size;
        if let (Some(RunEvent { what: Happened::Text(before), .. }), Happened::Text(more)) =
            (self.events.last_mut(), &what)
        {
            before.push_str(more);
            return;
        }
        self.push(what, at);
    }

    fn push(&mut self, what: Happened, at: Timestamp) {
        self.count += 1;
        self.events.push(RunEvent { seq: self.count as u64, at, what });
    }
}

fn size(what: &Happened) -> usize {
    match what {
        Happened::Session(text)
        | Happened::Text(text)
        | Happened::Tool(text)
        | Happened::Note(text)
        | Happened::Other(text) => text.len(),
        Happened::Plan(steps) => steps.iter().map(|step| step.text.len()).sum(),
        Happened::Usage(_) | Happened::End { .. } => 0,
    }
}

impl RunLog {
    pub(crate) fn open(engine: &Engine, run: RunId) -> Self {
        let shared = Arc::<Shared>::default();
        let writer = Writer { engine: engine.clone(), run, shared: Arc::clone(&shared) };
        let writer = Some(tokio::spawn(writer.work()));
        Self { engine: engine.clone(), shared, writer, last_usage: None }
    }

    /// Takes what an assistant reported in a session. The answer is what of it people are shown.
    pub(crate) fn hear(&mut self, session: SessionId, update: Update) -> Option<Glimpse> {
        match update {
            Update::Session(name) => {
                self.add(Happened::Session(name.clone()));
                self.shared.pending().name = Some((session, name));
                self.shared.hurry.notify_one();
                None
            }
            Update::Text(text) => {
                self.add(Happened::Text(text.clone()));
                Some(Glimpse::Text(text))
            }
            Update::Tool(line) => {
                self.add(Happened::Tool(line.clone()));
                Some(Glimpse::Tool(line))
            }
            Update::Plan(steps) => {
                self.add(Happened::Plan(steps.clone()));
                Some(Glimpse::Plan(steps))
            }
            Update::Usage(usage) => {
                if self.last_usage.replace(usage) == Some(usage) {
                    return None;
                }
                self.add(Happened::Usage(usage));
                Some(Glimpse::Usage(usage))
            }
            Update::Note(note) => {
                self.add(Happened::Note(note.clone()));
                Some(Glimpse::Note(note))
            }
            Update::Other(text) => {
                self.add(Happened::Other(clipped(text)));
                None
            }
            Update::Memory(memory) => {
                self.remember(session, memory);
                None
            }
            Update::Finished(_) => None,
        }
    }

    /// Something that we say ourselves.
    pub(crate) fn note(&mut self, words: impl Into<String>) {
        self.add(Happened::Note(words.into()));
    }

    fn add(&mut self, what: Happened) {
        self.shared.pending().add(what, self.engine.now());
        self.shared.changed.notify_one();
    }

    fn remember(&mut self, session: SessionId, memory: Vec<u8>) {
        if memory.len() > LONGEST_MEMORY {
            let size = replies::bytes(memory.len() as u64);
            self.note(format!("the session has grown to {size}, which is too much to be kept for another machine"));
            return;
        }
        self.shared.pending().memory = Some((session, memory));
        self.shared.changed.notify_one();
    }

    /// Writes what is left. A store that does not answer now gets it later, if it comes back soon.
    pub(crate) async fn close(mut self) {
        self.shared.close();
        let Some(writer) = self.writer.take() else { return };
        if timeout(LONGEST_CLOSE, writer).await.is_err() {
            tracing::warn!("the log of a run is still being written");
        }
    }
}

impl Drop for RunLog {
    fn drop(&mut self) {
        self.shared.close();
    }
}

fn clipped(mut text: String) -> String {
    if text.len() > LONGEST_OTHER {
        text.truncate(text.floor_char_boundary(LONGEST_OTHER));
        text.push('…');
    }
    text
}

/// Brings it to the store.
struct Writer {
    engine: Engine,
    run: RunId,
    shared: Arc<Shared>,
}

/// What was taken and is not written.
#[derive(Default)]
struct Left {
    events: Vec<RunEvent>,
    name: Option<(SessionId, String)>,
    memory: Option<(SessionId, Vec<u8>)>,
}

impl Left {
    const fn is_empty(&self) -> bool {
        self.events.is_empty() && self.name.is_none() && self.memory.is_none()
    }

    /// The answer is whether no more will come.
    fn take(&mut self, pending: &mut Pending) -> bool {
        self.events.append(&mut pending.events);
        self.name = pending.name.take().or(self.name.take());
        self.memory = pending.memory.take().or(self.memory.take());
        pending.is_closed
    }
}

impl Writer {
    async fn work(self) {
        let mut left = Left::default();
        let mut tries = 0;
        loop {
            if left.is_empty() {
                self.shared.changed.notified().await;
            }
            if !self.shared.pending().is_closed {
                let _ = timeout(PAUSE, self.shared.hurry.notified()).await;
            }
            let is_last = left.take(&mut self.shared.pending());
            match self.write(&mut left).await {
                Ok(()) if is_last => return,
                Ok(()) => {}
                Err(error) => {
                    tracing::warn!(run = %self.run, %error, "the log of a run cannot be written yet");
                    tries += u32::from(is_last);
                    if tries >= LAST_TRIES {
                        return;
                    }
                    sleep(PAUSE).await;
                }
            }
        }
    }

    /// What is written is no longer left.
    async fn write(&self, left: &mut Left) -> Result<(), StoreError> {
        let store = self.engine.store();
        if let Some((session, name)) = &left.name {
            store.name_session(*session, self.run, name).await?;
            left.name = None;
        }
        if !left.events.is_empty() {
            store.log_run(self.run, &left.events).await?;
            left.events.clear();
        }
        if let Some((session, memory)) = &left.memory {
            store.remember(*session, self.run, memory.clone(), self.engine.now()).await?;
            left.memory = None;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: Timestamp = Timestamp::from_millis(0);

    fn text(text: &str) -> Happened {
        Happened::Text(text.to_owned())
    }

    #[test]
    fn pieces_of_an_answer_become_one() {
        let mut pending = Pending::default();
        for what in [text("a"), text("b"), Happened::Tool("ls".to_owned()), text("c")] {
            pending.add(what, AT);
        }
        let kept: Vec<_> = pending.events.iter().map(|event| (event.seq, event.what.clone())).collect();
        assert_eq!(kept, [(1, text("ab")), (2, Happened::Tool("ls".to_owned())), (3, text("c"))]);
    }

    #[test]
    fn a_log_is_bounded_and_says_so_once() {
        let mut many = Pending::default();
        for number in 0..MOST_EVENTS + 10 {
            many.add(Happened::Tool(number.to_string()), AT);
        }
        assert_eq!(many.events.len(), MOST_EVENTS + 1);
        assert!(matches!(many.events.last().map(|event| &event.what), Some(Happened::Note(_))));

        let mut long = Pending::default();
        for _ in 0..3 {
            long.add(text(&"x".repeat(MOST_BYTES / 2)), AT);
        }
        long.add(text("y"), AT);
        let kept: Vec<_> = long.events.iter().map(|event| size(&event.what)).collect();
        assert_eq!((long.events.len(), kept[0]), (2, MOST_BYTES));
    }

    #[test]
    fn a_long_thing_of_its_own_is_cut_between_letters() {
        assert_eq!(clipped("short".to_owned()), "short");
        let cut = clipped("ä".repeat(LONGEST_OTHER));
        assert!(cut.len() <= LONGEST_OTHER + '…'.len_utf8() && cut.ends_with("ä…"), "{}", cut.len());
    }
}
