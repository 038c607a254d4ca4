//! Until when whose calls rest. Remembered, so that nobody hammers at a door that has just been shut; and until when the
//! few that are left are kept for people who wait for an answer.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use axum::http::HeaderMap;
use tokio::time::Instant;

use super::error::CallError;
use super::retry::{number, until_reset};
use super::wire::Resource;

/// Of a fifth of the hour's calls nothing goes to what nobody waits for.
const RESERVE: i64 = 5;

/// Whose calls GitHub counts together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(in crate::github) enum Caller {
    /// The one personal token.
    Person,
    /// The App itself.
    App,
    /// All that an App does through one of its installations.
    Installation(u64),
}

/// Whose calls of which kind, until when.
type Until = HashMap<(Caller, Resource), Instant>;

#[derive(Debug, Default)]
pub(super) struct Limits {
    rests: Mutex<Until>,
    low: Mutex<Until>,
}

impl Limits {
    /// Nothing of this caller until `rest` has passed.
    pub(super) fn rest(&self, caller: Caller, resource: Resource, rest: Duration, everywhere: bool) {
        let until = Instant::now() + rest;
        let mut all = held(&self.rests);
        all.retain(|_, end| *end > Instant::now());
        let resources = [Resource::Rest, Resource::Graphql];
        for each in resources.into_iter().filter(|each| everywhere || *each == resource) {
            let end = all.entry((caller, each)).or_insert(until);
            *end = until.max(*end);
        }
    }

    /// Waits for the end of a rest that is short, and refuses to wait for a long one.
    pub(super) async fn pass(&self, caller: Caller, resource: Resource, longest: Duration) -> Result<(), CallError> {
        let until = held(&self.rests).get(&(caller, resource)).copied();
        let Some(until) = until else { return Ok(()) };
        let rest = until.saturating_duration_since(Instant::now());
        if rest > longest {
            let why = format!("GitHub takes no more calls from us for {} seconds", rest.as_secs());
            return Err(CallError::Transient { why, after: Some(rest) });
        }
        tokio::time::sleep_until(until).await;
        Ok(())
    }

    /// Notes how many calls are left, as an answer tells.
    pub(super) fn note(&self, caller: Caller, resource: Resource, headers: &HeaderMap) {
        let (left, all) = (number(headers, "x-ratelimit-remaining"), number(headers, "x-ratelimit-limit"));
        let (Some(left), Some(all)) = (left, all) else { return };
        let mut low = held(&self.low);
        if left.saturating_mul(RESERVE) < all {
            low.insert((caller, resource), Instant::now() + until_reset(headers));
        } else {
            low.remove(&(caller, resource));
        }
    }

    /// Whether few are left, of any kind.
    pub(super) fn are_low(&self) -> bool {
        held(&self.low).values().any(|until| *until > Instant::now())
    }
}

fn held(until: &Mutex<Until>) -> MutexGuard<'_, Until> {
    until.lock().expect("nobody panics while holding it")
}
