//! When a reply that did not arrive is tried again, and when it is given up.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::time::Duration;

use hedgerow_core::Timestamp;

use crate::store::Outgoing;

/// The first wait; each is twice the one before.
const FIRST: i64 = 1_000;
const LONGEST: i64 = 5 * 60 * 1_000;

/// A reply that is older than this is news of yesterday.
const GIVE_UP_AFTER_SECONDS: i64 = 24 * 60 * 60;

/// By the clock that wrote it: machines may differ by a moment, which does not matter in a day.
pub(super) fn is_too_old(reply: &Outgoing, now: Timestamp) -> bool {
    now.seconds_since(reply.written_at) >= GIVE_UP_AFTER_SECONDS
}

/// The next try of a reply. A quarter of the wait is left to chance, so that what failed together does not come back
/// together.
pub(super) fn retry(reply: &Outgoing, now: Timestamp) -> Timestamp {
    let doublings = u32::try_from(reply.attempts.saturating_sub(1)).unwrap_or(u32::MAX).min(20);
    let wait = (FIRST << doublings).min(LONGEST);
    let mut hasher = DefaultHasher::new();
    (reply.id.to_string(), reply.attempts).hash(&mut hasher);
    let chance = i64::try_from(hasher.finish() % 1_000).unwrap_or_default();
    Timestamp::from_millis(now.as_millis() + wait - wait / 4 * chance / 1_000)
}

/// So much later.
pub(super) fn after(now: Timestamp, wait: Duration) -> Timestamp {
    let wait = i64::try_from(wait.as_millis()).unwrap_or(i64::MAX);
    Timestamp::from_millis(now.as_millis().saturating_add(wait))
}

#[cfg(test)]
mod tests {
    use hedgerow_core::ReplyId;
    use hedgerow_core::platform::{ConversationKey, PlatformKind};

    use super::*;

    fn reply(attempts: u64) -> Outgoing {
        Outgoing {
            id: ReplyId::new(),
            to: ConversationKey { platform: PlatformKind::Slack, id: "C1:1".to_owned() },
            words: String::new(),
            last: true,
            holder: "here:1".to_owned(),
            held_until: Timestamp::from_millis(0),
            attempts,
            doubts: 0,
            run: None,
            handle: None,
            written_at: Timestamp::from_millis(0),
        }
    }

    #[test]
    fn each_wait_is_twice_the_last_less_up_to_a_quarter_and_none_is_longer_than_five_minutes() {
        let now = Timestamp::from_millis(1_000_000);
        for (attempts, wait) in [(1, 1), (2, 2), (3, 4), (4, 8), (9, 256), (10, 300), (11, 300), (1_000, 300), (0, 1)] {
            let waits: Vec<i64> = (0..50).map(|_| retry(&reply(attempts), now).as_millis() - now.as_millis()).collect();
            assert!(waits.iter().all(|got| (wait * 750..=wait * 1_000).contains(got)), "{attempts}: {waits:?}");
            assert!(waits.iter().any(|got| *got != waits[0]), "{attempts}: {waits:?}");
        }
    }

    #[test]
    fn a_reply_is_given_up_after_a_day() {
        let day = 24 * 60 * 60 * 1_000;
        assert!(!is_too_old(&reply(1), Timestamp::from_millis(day - 1_000)));
        assert!(is_too_old(&reply(1), Timestamp::from_millis(day)));
    }
}
