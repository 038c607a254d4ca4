//! One who follows, and pulls.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use axum::response::sse;
use hedgerow_core::EventId;
use hedgerow_engine::store::{Store, StoreError};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{broadcast, watch};

use super::entry::{Entry, Glimpsed, Scribe};
use super::recent::At;
use super::tail::{PAGE, a_little_before};
use super::{Feed, Seat};
use crate::web::until_set;

/// When so many are remembered as sent, the old ones among them are forgotten.
const MOST_SENT: usize = 2000;

/// What somebody wants to follow.
#[derive(Debug)]
pub(crate) struct Wanted {
    /// Everything after this one; otherwise from now on.
    pub(crate) after: Option<EventId>,
    /// Only of this conversation, as `platform:id`.
    pub(crate) conversation: Option<String>,
}

pub(crate) struct Follower {
    seat: Seat,
    scribe: Scribe,
    conversation: Option<String>,
    place: Place,
    /// What was read from the log, ready to go.
    ready: VecDeque<Arc<Entry>>,
    /// The last that was sent, or an id of the moment when all this began.
    last: EventId,
    /// Sent lately; the log and the common order may both bring it.
    sent: BTreeSet<EventId>,
    end: watch::Receiver<u64>,
    live: broadcast::Receiver<Arc<Glimpsed>>,
    is_closing: watch::Receiver<bool>,
}

/// Where the next entry comes from.
#[derive(Debug, Clone, Copy)]
enum Place {
    /// The log, after this entry.
    Log(EventId),
    /// A position in the common order.
    Recent(u64),
}

impl Follower {
    /// `None` when there are `most` already.
    pub(crate) fn new(feed: &Arc<Feed>, store: &Store, wanted: Wanted, most: usize) -> Option<Self> {
        let seat = feed.seat(most)?;
        let place = {
            let recent = feed.recent();
            match wanted.after {
                None => Place::Recent(recent.end()),
                Some(id) => recent.after(id).map_or_else(|| Place::Log(a_little_before(id)), Place::Recent),
            }
        };
        // What was written just before must not look as if it came after.
        feed.wake();
        Some(Self {
            place,
            scribe: Scribe::new(store.clone()),
            conversation: wanted.conversation,
            ready: VecDeque::new(),
            last: wanted.after.unwrap_or_else(EventId::new),
            sent: wanted.after.into_iter().collect(),
            end: feed.end.subscribe(),
            live: feed.live.subscribe(),
            is_closing: feed.is_closing.subscribe(),
            seat,
        })
    }

    /// The next thing to send; `None` ends the stream.
    pub(crate) async fn next(&mut self) -> Option<sse::Event> {
        loop {
            if *self.is_closing.borrow() {
                return None;
            }
            match self.next_entry().await {
                Ok(Some(entry)) => {
                    self.last = entry.id;
                    if self.wants(entry.conversation.as_deref()) {
                        return Some(entry.message());
                    }
                    continue;
                }
                Ok(None) => {}
                Err(error) => {
                    tracing::warn!(%error, "a follower is sent home: the log of events could not be read");
                    return None;
                }
            }
            tokio::select! {
                biased;
                () = until_set(&mut self.is_closing) => return None,
                _ = self.end.changed() => {}
                glimpse = self.live.recv() => match glimpse {
                    Ok(glimpse) if self.wants(Some(&glimpse.conversation)) => return Some(glimpse.message()),
                    Ok(_) => {}
                    Err(RecvError::Lagged(_) | RecvError::Closed) => return None,
                },
            }
        }
    }

    /// The next entry of the log, as far as it is known.
    async fn next_entry(&mut self) -> Result<Option<Arc<Entry>>, StoreError> {
        loop {
            if let Some(entry) = self.ready.pop_front() {
                return Ok(Some(entry));
            }
            match self.place {
                Place::Log(after) => self.read_log(after).await?,
                Place::Recent(position) => {
                    let at = self.seat.feed.recent().at(position);
                    match at {
                        At::NotYet => return Ok(None),
                        // Too slow: the log has everything.
                        At::Gone => self.place = Place::Log(a_little_before(self.last)),
                        At::Here(entry) => {
                            self.place = Place::Recent(position + 1);
                            if self.is_new(entry.id) {
                                return Ok(Some(entry));
                            }
                        }
                    }
                }
            }
        }
    }

    /// Reads a page of the log; the last one leads over into the common order.
    async fn read_log(&mut self, after: EventId) -> Result<(), StoreError> {
        // Before the page is read: what comes after it is in the order from here on, what comes twice is recognised.
        let end = self.seat.feed.recent().end();
        let page = self.scribe.store().events_after(Some(after), PAGE).await?;
        for event in &page {
            if self.is_new(event.id) {
                let entry = self.scribe.entry(event).await?;
                self.ready.push_back(Arc::new(entry));
            }
        }
        self.place = match page.last() {
            Some(last) if page.len() == PAGE as usize => Place::Log(last.id),
            _ => Place::Recent(end),
        };
        Ok(())
    }

    /// Whether it was not sent yet; from now on it was.
    fn is_new(&mut self, id: EventId) -> bool {
        if self.sent.len() >= MOST_SENT
            && let Some(newest) = self.sent.last()
        {
            self.sent = self.sent.split_off(&a_little_before(*newest));
        }
        self.sent.insert(id)
    }

    fn wants(&self, conversation: Option<&str>) -> bool {
        self.conversation.is_none() || self.conversation.as_deref() == conversation
    }
}
