//! What was heard becomes an event that can be acted on: who asks, what they may, and what is known about the work.

use hedgerow_core::message::{Event, RawEvent};
use hedgerow_core::platform::PlatformError;

use super::GitHub;

impl GitHub {
    pub(super) async fn prepared(&self, raw: &RawEvent) -> Result<Option<Event>, PlatformError> {
        let _ = raw;
        Ok(None)
    }
}
