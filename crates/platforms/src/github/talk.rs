//! What we say on GitHub: comments, their live edits, and reactions.

use hedgerow_core::platform::{ConversationKey, Live, Mark, PlatformError, Reply};

use super::GitHub;

/// What is being said just now.
#[derive(Debug, Default)]
pub(super) struct Talk {}

impl GitHub {
    pub(super) async fn comment(&self, to: &ConversationKey, reply: &Reply) -> Result<(), PlatformError> {
        let _ = (to, reply, &self.client, &self.talk);
        Ok(())
    }

    pub(super) async fn show_live(&self, to: &ConversationKey, live: &Live) {
        let _ = (to, live);
    }

    pub(super) async fn react(&self, handle: &str, mark: Mark) {
        let _ = (handle, mark);
    }
}
