//! Time on the fake GitHub: whole seconds, and every deed has one of its own.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

#[derive(Debug, Clone)]
pub(crate) struct Clock {
    last: i64,
    /// How far it is ahead of, or behind, everybody else's.
    offset: i64,
}

impl Default for Clock {
    fn default() -> Self {
        Self { last: Timestamp::now().as_second(), offset: 0 }
    }
}

impl Clock {
    /// What it is now. Nothing happens by looking.
    pub(crate) fn now(&self) -> i64 {
        self.last.max(Timestamp::now().as_second() + self.offset)
    }

    /// The time of something that happens: later than all before.
    pub(crate) fn tick(&mut self) -> i64 {
        self.last = (self.last + 1).max(self.now());
        self.last
    }

    pub(crate) fn passes(&mut self, by: Duration) {
        let by = i64::try_from(by.as_secs()).unwrap_or(i64::MAX / 4);
        self.offset += by;
        self.last += by;
    }

    pub(crate) fn set(&mut self, second: i64) {
        self.offset = second - Timestamp::now().as_second();
        self.last = second;
    }
}

/// As GitHub writes it: `2026-05-03T10:00:00Z`.
pub(crate) fn written(second: i64) -> String {
    let time = Timestamp::UNIX_EPOCH.saturating_add(SignedDuration::from_secs(second)).expect("a duration of seconds");
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// What somebody wrote, as seconds. `None` when it is no time.
pub(crate) fn read(text: &str) -> Option<i64> {
    text.parse::<Timestamp>().ok().map(Timestamp::as_second)
}
