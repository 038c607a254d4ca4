//! The newest entries, in the order in which they were met.

use std::collections::VecDeque;
use std::sync::Arc;

use hedgerow_core::EventId;

use super::entry::Entry;

/// Most entries that are kept, and most bytes of them: replies can be long.
const MOST: usize = 4096;
const MOST_BYTES: usize = 8 * 1024 * 1024;

#[derive(Debug, Default)]
pub(super) struct Recent {
    entries: VecDeque<Arc<Entry>>,
    /// The position of the first of them; positions count from the start of the process.
    first: u64,
    bytes: usize,
}

impl Recent {
    /// Adds one and says how many there ever were.
    pub(super) fn push(&mut self, entry: Entry) -> u64 {
        self.bytes += entry.bytes();
        self.entries.push_back(Arc::new(entry));
        while self.entries.len() > MOST || (self.bytes > MOST_BYTES && self.entries.len() > 1) {
            if let Some(oldest) = self.entries.pop_front() {
                self.bytes -= oldest.bytes();
                self.first += 1;
            }
        }
        self.end()
    }

    /// The position after the last.
    pub(super) fn end(&self) -> u64 {
        self.first + u64::try_from(self.entries.len()).unwrap_or(u64::MAX)
    }

    /// The position after this entry, if it is among them.
    pub(super) fn after(&self, id: EventId) -> Option<u64> {
        let position = self.entries.iter().rposition(|entry| entry.id == id)?;
        Some(self.first + u64::try_from(position).ok()? + 1)
    }

    /// What is at a position.
    pub(super) fn at(&self, position: u64) -> At {
        let Some(offset) = position.checked_sub(self.first) else { return At::Gone };
        let entry = usize::try_from(offset).ok().and_then(|offset| self.entries.get(offset));
        entry.map_or(At::NotYet, |entry| At::Here(Arc::clone(entry)))
    }
}

pub(super) enum At {
    Here(Arc<Entry>),
    NotYet,
    /// Older than what is kept.
    Gone,
}
