//! GitHub: issues and pull requests.
//!
//! What comes in is checked and understood at the [`webhook`] without asking anyone, and written down as a [`heard::Heard`].
//! Later it is prepared: who asks, what they may, what is known about the work. What goes out is a comment.

mod client;
pub mod config;
mod forge;
pub mod heard;
mod prepare;
mod talk;

use std::sync::Arc;

use async_trait::async_trait;
use hedgerow_core::message::{Event, RawEvent};
use hedgerow_core::platform::{ConversationKey, Live, Mark, Pace, Platform, PlatformError, PlatformKind, Reply};

use client::Client;
pub use config::{Allow, Config, Identity};

/// Most characters of one comment. GitHub takes 65,536; what we add around the words needs a little.
const LONGEST: usize = 60_000;

/// The door to one GitHub.
#[derive(Debug)]
pub struct GitHub {
    config: Arc<Config>,
    client: Client,
    talk: talk::Talk,
}

impl GitHub {
    /// # Errors
    /// When its key cannot be used, in words.
    pub fn new(config: Config) -> Result<Self, String> {
        let config = Arc::new(config);
        let client = Client::new(Arc::clone(&config))?;
        Ok(Self { config, client, talk: talk::Talk::default() })
    }

    pub fn config(&self) -> &Config {
        &self.config
    }
}

#[async_trait]
impl Platform for GitHub {
    fn kind(&self) -> PlatformKind {
        PlatformKind::Github
    }

    fn pace(&self) -> Pace {
        Pace::Batch
    }

    fn longest(&self) -> usize {
        LONGEST
    }

    fn recognises_repeats(&self) -> bool {
        true
    }

    async fn prepare(&self, raw: &RawEvent) -> Result<Option<Event>, PlatformError> {
        self.prepared(raw).await
    }

    async fn send(&self, to: &ConversationKey, reply: &Reply) -> Result<(), PlatformError> {
        self.comment(to, reply).await
    }

    async fn show(&self, to: &ConversationKey, live: &Live) {
        self.show_live(to, live).await;
    }

    async fn mark(&self, handle: &str, mark: Mark) {
        self.react(handle, mark).await;
    }
}
