//! A clock that moves only when a test says so.

use std::sync::atomic::{AtomicI64, Ordering};

use hedgerow_core::Timestamp;
use hedgerow_engine::Clock;

/// 3 May 2026, 10:00 UTC.
const START: i64 = 1_777_802_400_000;

#[derive(Debug)]
pub struct TestClock(AtomicI64);

impl Default for TestClock {
    fn default() -> Self {
        Self(AtomicI64::new(START))
    }
}

impl TestClock {
    pub fn days_pass(&self, days: i64) {
        self.0.fetch_add(days * 24 * 60 * 60 * 1000, Ordering::SeqCst);
    }

    pub fn set(&self, to: Timestamp) {
        self.0.store(to.as_millis(), Ordering::SeqCst);
    }
}

impl Clock for TestClock {
    /// A millisecond passes with each look, so that what happens later is later.
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.0.fetch_add(1, Ordering::SeqCst))
    }
}
