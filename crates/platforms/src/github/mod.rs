//! GitHub: issues and pull requests.
//!
//! What comes in is checked and understood at the [`webhook`] without asking anyone, and written down as a [`heard::Heard`].
//! Later it is prepared: who asks, what they may, what is known about the work. What goes out is a comment.

pub mod catch_up;
pub mod checkup;
mod client;
pub mod config;
mod context;
mod forge;
mod format;
mod graph;
mod handle;
pub mod heard;
mod hints;
mod identity;
mod links;
pub mod manifest;
mod mention;
pub mod payload;
mod permission;
pub mod post;
mod prepare;
mod prose;
mod pulls;
mod remote;
mod renamed;
pub mod signature;
mod talk;
mod text;
pub mod webhook;

use std::sync::Arc;

use async_trait::async_trait;
use hedgerow_core::message::{Event, RawEvent, Refused};
use hedgerow_core::platform::{ConversationKey, Live, Mark, Pace, Platform, PlatformError, PlatformKind, Reply};

use client::Client;
pub use config::{Allow, Config, Identity};

/// Most characters of one answer. GitHub takes 65,536; what makes the words harmless can need two more for each three.
const LONGEST: usize = 38_000;

/// The door to one GitHub.
#[derive(Debug)]
pub struct GitHub {
    config: Arc<Config>,
    client: Arc<Client>,
    talk: talk::Talk,
    renamed: renamed::Renamed,
}

impl GitHub {
    /// # Errors
    /// When its key cannot be used, in words.
    pub fn new(config: Config) -> Result<Self, String> {
        let config = Arc::new(config);
        let client = Arc::new(Client::new(Arc::clone(&config))?);
        Ok(Self { config, client, talk: talk::Talk::default(), renamed: renamed::Renamed::default() })
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

    async fn refusal(&self, raw: &RawEvent) -> Result<Option<Refused>, PlatformError> {
        self.refused(raw).await
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
