//! The live events: what the store's log says, as it is written, and glimpses of runs, as they happen.
//!
//! One task reads the log for everyone and keeps the newest entries in the order in which it met them. Who follows has a
//! place in that order and pulls from there, so that nobody has a buffer of their own: a slow one falls back to reading
//! the log itself. Glimpses are not kept anywhere; who misses some is sent home and can come back.

mod entry;
mod follower;
mod recent;
mod tail;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hedgerow_core::platform::{ConversationKey, Live};
use tokio::sync::{Notify, broadcast, watch};

pub(crate) use entry::key_text;
pub(crate) use follower::{Follower, Wanted};

use crate::web::until_set;
use entry::Glimpsed;
use recent::Recent;

/// Glimpses that a follower may be behind.
const GLIMPSES: usize = 512;

#[derive(Debug)]
pub(crate) struct Feed {
    recent: Mutex<Recent>,
    /// How many entries there ever were in `recent`; changes when one is added.
    end: watch::Sender<u64>,
    live: broadcast::Sender<Arc<Glimpsed>>,
    /// Something may have been written just now.
    news: Notify,
    is_closing: watch::Sender<bool>,
    /// From here on nothing that is written is overlooked.
    is_begun: watch::Sender<bool>,
    followers: AtomicUsize,
}

impl Default for Feed {
    fn default() -> Self {
        Self {
            recent: Mutex::default(),
            end: watch::Sender::new(0),
            live: broadcast::Sender::new(GLIMPSES),
            news: Notify::new(),
            is_closing: watch::Sender::new(false),
            is_begun: watch::Sender::new(false),
            followers: AtomicUsize::new(0),
        }
    }
}

impl Feed {
    /// Has the log looked at now.
    pub(crate) fn wake(&self) {
        self.news.notify_one();
    }

    pub(crate) fn show(&self, to: &ConversationKey, live: &Live) {
        // An error means that nobody follows.
        _ = self.live.send(Arc::new(Glimpsed::new(to, live)));
    }

    /// Sends everyone home.
    pub(crate) fn close(&self) {
        self.is_closing.send_replace(true);
    }

    pub(crate) fn followers(&self) -> usize {
        self.followers.load(Ordering::Relaxed)
    }

    /// Returns when the log is being read: who follows before that would miss what is written in between.
    pub(crate) async fn begun(&self) {
        until_set(&mut self.is_begun.subscribe()).await;
    }

    /// A seat for a follower, unless all are taken.
    fn seat(self: &Arc<Self>, most: usize) -> Option<Seat> {
        let more = |taken| (taken < most).then_some(taken + 1);
        self.followers.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).ok()?;
        Some(Seat { feed: Arc::clone(self) })
    }

    fn recent(&self) -> MutexGuard<'_, Recent> {
        // Nothing that is done under this lock can leave it half done.
        self.recent.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Given back when the follower goes.
#[derive(Debug)]
struct Seat {
    feed: Arc<Feed>,
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.feed.followers.fetch_sub(1, Ordering::Relaxed);
    }
}
