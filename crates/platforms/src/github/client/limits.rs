//! Until when whose calls rest. Remembered, so that nobody hammers at a door that has just been shut.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use tokio::time::Instant;

use super::error::CallError;
use super::wire::Resource;

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

#[derive(Debug, Default)]
pub(super) struct Limits(Mutex<HashMap<(Caller, Resource), Instant>>);

impl Limits {
    /// Nothing of this caller until `rest` has passed.
    pub(super) fn rest(&self, caller: Caller, resource: Resource, rest: Duration, everywhere: bool) {
        let until = Instant::now() + rest;
        let mut all = self.all();
        all.retain(|_, end| *end > Instant::now());
        let resources = [Resource::Rest, Resource::Graphql];
        for each in resources.into_iter().filter(|each| everywhere || *each == resource) {
            let end = all.entry((caller, each)).or_insert(until);
            *end = until.max(*end);
        }
    }

    /// Waits for the end of a rest that is short, and refuses to wait for a long one.
    pub(super) async fn pass(&self, caller: Caller, resource: Resource, longest: Duration) -> Result<(), CallError> {
        let until = self.all().get(&(caller, resource)).copied();
        let Some(until) = until else { return Ok(()) };
        let rest = until.saturating_duration_since(Instant::now());
        if rest > longest {
            let why = format!("GitHub takes no more calls from us for {} seconds", rest.as_secs());
            return Err(CallError::Transient { why, after: Some(rest) });
        }
        tokio::time::sleep_until(until).await;
        Ok(())
    }

    fn all(&self) -> MutexGuard<'_, HashMap<(Caller, Resource), Instant>> {
        self.0.lock().expect("nobody panics while holding it")
    }
}
