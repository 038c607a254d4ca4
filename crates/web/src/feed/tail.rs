//! The one reader of the log.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use hedgerow_core::EventId;
use hedgerow_engine::store::{Store, StoreError};
use tokio::time::timeout;

use super::Feed;
use super::entry::Scribe;

/// Between two looks at the log: other processes write to it as well. Who sends a reply here wakes us before.
const WITH_FOLLOWERS: Duration = Duration::from_millis(250);
const WITH_NOBODY: Duration = Duration::from_secs(2);

/// So long a transaction may take from making an entry's id to its end. Later ones are not noticed any more.
const LOOK_BACK_MS: u64 = 3000;

/// Entries that are read at once.
pub(super) const PAGE: u32 = 500;

impl Feed {
    /// Follows the log until it is dropped. What was written before is not its business.
    pub(crate) async fn tail(self: Arc<Self>, store: Store) {
        let mut scribe = Scribe::new(store);
        let mut seen: Option<Seen> = None;
        loop {
            let looked = match &mut seen {
                Some(seen) => self.look(&mut scribe, seen).await,
                None => Seen::begin(scribe.store()).await.map(|begun| {
                    seen = Some(begun);
                    self.is_begun.send_replace(true);
                }),
            };
            if let Err(error) = looked {
                tracing::warn!(%error, "the log of events could not be read; followers wait");
            }
            let pause = if self.followers() == 0 { WITH_NOBODY } else { WITH_FOLLOWERS };
            // Either way it is time for another look.
            _ = timeout(pause, self.news.notified()).await;
        }
    }

    /// Passes on what is new.
    async fn look(&self, scribe: &mut Scribe, seen: &mut Seen) -> Result<(), StoreError> {
        let mut after = seen.newest.map(a_little_before);
        loop {
            let page = scribe.store().events_after(after, PAGE).await?;
            for event in &page {
                if seen.is_new(event.id) {
                    let entry = scribe.entry(event).await?;
                    let end = self.recent().push(entry);
                    self.end.send_replace(end);
                    seen.add(event.id);
                }
            }
            match page.last() {
                Some(last) if page.len() == PAGE as usize => after = Some(last.id),
                _ => break,
            }
        }
        seen.forget_old();
        Ok(())
    }
}

/// What was passed on.
#[derive(Debug, Default)]
struct Seen {
    newest: Option<EventId>,
    lately: BTreeSet<EventId>,
}

impl Seen {
    /// Everything that is in the log already counts as seen.
    async fn begin(store: &Store) -> Result<Self, StoreError> {
        let mut seen = Self { newest: store.newest_event().await?, lately: BTreeSet::new() };
        let mut after = seen.newest.map(a_little_before);
        while after.is_some() {
            let page = store.events_after(after, PAGE).await?;
            for event in &page {
                seen.add(event.id);
            }
            after = page.last().filter(|_| page.len() == PAGE as usize).map(|event| event.id);
        }
        Ok(seen)
    }

    fn is_new(&self, id: EventId) -> bool {
        !self.lately.contains(&id)
    }

    fn add(&mut self, id: EventId) {
        self.lately.insert(id);
        self.newest = self.newest.max(Some(id));
    }

    fn forget_old(&mut self) {
        if let Some(newest) = self.newest {
            self.lately = self.lately.split_off(&a_little_before(newest));
        }
    }
}

/// An id that is older than this one by as long as entries may come late.
pub(super) fn a_little_before(id: EventId) -> EventId {
    let digits: String = id.to_string().chars().filter(|c| *c != '-').take(12).collect();
    let millis = u64::from_str_radix(&digits, 16).unwrap_or(0).saturating_sub(LOOK_BACK_MS);
    let (high, low) = (millis >> 16, millis & 0xffff);
    format!("{high:08x}-{low:04x}-7000-8000-000000000000").parse().unwrap_or(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_little_before_is_a_few_seconds_in_the_same_order() {
        let id: EventId = "0198c0de-0bb8-7abc-8def-0123456789ab".parse().expect("an id");
        assert_eq!(a_little_before(id).to_string(), "0198c0de-0000-7000-8000-000000000000");
        let first: EventId = "00000000-0000-7000-8000-000000000001".parse().expect("an id");
        assert!(a_little_before(first) < first);
        assert!(a_little_before(id).to_string() < id.to_string());
    }
}
