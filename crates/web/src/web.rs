//! Everything the routes share.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hedgerow_core::environment::Actor;
use hedgerow_core::message::Inbox;
use hedgerow_core::platform::PlatformKind;
use hedgerow_engine::{Engine, Token};
use tokio::sync::watch;

use crate::feed::Feed;
use crate::gateway::CallLimits;
use crate::metrics::Metrics;
use crate::platform::HttpPlatform;

/// What a caller may take of us.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Longest wait for the head of a request, also on a connection that is kept open between two.
    pub head: Duration,
    /// Longest wait for a whole body.
    pub body: Duration,
    /// Longest wait for a reader who does not read.
    pub write: Duration,
    /// Most bytes of a body.
    pub body_bytes: usize,
    /// Most connections; one more waits until another closes.
    pub connections: usize,
    /// Most of them that follow the events.
    pub followers: usize,
    /// So long requests may take to end when the server goes down.
    pub grace: Duration,
    /// Of calls of models.
    pub calls: CallLimits,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            head: Duration::from_secs(15),
            body: Duration::from_secs(30),
            write: Duration::from_secs(30),
            body_bytes: 1024 * 1024,
            connections: 1024,
            followers: 256,
            grace: Duration::from_secs(10),
            calls: CallLimits::default(),
        }
    }
}

/// What is served. Cheap to clone; all clones are one.
#[derive(Clone)]
pub struct Web {
    parts: Arc<Parts>,
}

struct Parts {
    engine: Engine,
    inbox: Arc<dyn Inbox>,
    token: Token,
    limits: Limits,
    origins: Vec<String>,
    feed: Arc<Feed>,
    metrics: Metrics,
    is_closing: AtomicBool,
}

impl std::fmt::Debug for Web {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Web").field("limits", &self.parts.limits).finish_non_exhaustive()
    }
}

impl Web {
    pub fn new(engine: Engine, inbox: Arc<dyn Inbox>, platform: &HttpPlatform, token: Token) -> Self {
        Self::with(engine, inbox, platform, token, Limits::default(), Vec::new())
    }

    /// `origins` are those of web pages (`https://hedgerow.example`) that may call us from a browser, besides pages that
    /// come from this server's own address.
    pub fn with(
        engine: Engine,
        inbox: Arc<dyn Inbox>,
        platform: &HttpPlatform,
        token: Token,
        limits: Limits,
        origins: Vec<String>,
    ) -> Self {
        let (feed, metrics) = (platform.feed(), Metrics::default());
        let parts = Parts { engine, inbox, token, limits, origins, feed, metrics, is_closing: AtomicBool::new(false) };
        Self { parts: Arc::new(parts) }
    }

    pub(crate) fn engine(&self) -> &Engine {
        &self.parts.engine
    }

    pub(crate) fn inbox(&self) -> &dyn Inbox {
        self.parts.inbox.as_ref()
    }

    pub(crate) fn token(&self) -> &Token {
        &self.parts.token
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.parts.limits
    }

    pub(crate) fn origins(&self) -> &[String] {
        &self.parts.origins
    }

    pub(crate) fn feed(&self) -> &Arc<Feed> {
        &self.parts.feed
    }

    pub(crate) fn metrics(&self) -> &Metrics {
        &self.parts.metrics
    }

    /// Nothing new from here on: followers are sent home, and those who balance load are told.
    pub fn close(&self) {
        self.parts.is_closing.store(true, Ordering::SeqCst);
        self.parts.feed.close();
    }

    pub(crate) fn is_closing(&self) -> bool {
        self.parts.is_closing.load(Ordering::SeqCst)
    }
}

/// Who acts when the bearer of the token does.
pub(crate) fn bearer() -> Actor {
    Actor::new(PlatformKind::Http.as_str(), crate::platform::BEARER)
}

/// Waits until a flag is set.
pub(crate) async fn until_set(flag: &mut watch::Receiver<bool>) {
    // An error means that nobody is left who could set it, which comes to the same.
    _ = flag.wait_for(|is_set| *is_set).await;
}
