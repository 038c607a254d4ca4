//! GitHub: its REST and GraphQL APIs, its repositories over HTTP by a real git, its webhooks, on a port of the loopback.
//!
//! It has a state of its own that people (`people/`), callers of the API (`rest/`, `graphql/`) and pushes (`git/`)
//! change by the same deeds (`deeds/`); every deed is also delivered. It lives on a thread of its own, so that a test
//! may block. What it was not made for fails the test when it is dropped.

mod access;
mod call;
mod deeds;
mod delivery;
mod git;
mod graphql;
mod log;
mod people;
mod posting;
mod rest;
mod seal;
mod serving;
mod show;
mod starting;
mod state;
mod trouble;

use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use tempfile::TempDir;
use tokio::sync::{oneshot, watch};

use state::World;

pub use delivery::Delivery;
pub use git::Way;
pub use log::Request;
pub use people::{CommentId, GitHubIssue, GitHubPull, GitHubRepository, NewPull, Said};
pub use seal::{claims_of, signed};
pub use state::Role;
pub use trouble::Trouble;

/// The private key of its App, as PEM. It opens nothing but this fake.
pub const APP_KEY: &str = include_str!("throw-away-key.pem");

/// A GitHub that is reachable until it is dropped.
#[derive(Debug)]
pub struct GitHub {
    office: Arc<Office>,
    url: String,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
    _folder: TempDir,
}

/// What all who deal with it share.
#[derive(Debug)]
pub(crate) struct Office {
    world: Mutex<World>,
    /// How many deliveries are on their way.
    on_their_way: watch::Receiver<usize>,
}

impl Office {
    /// Nothing that panicked leaves it half done: whoever panics has failed the test.
    pub(crate) fn world<T>(&self, use_it: impl FnOnce(&mut World) -> T) -> T {
        use_it(&mut self.world.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Waits until everything that is to be delivered is.
    pub(crate) async fn settled(&self) {
        let mut on_their_way = self.on_their_way.clone();
        _ = on_their_way.wait_for(|count| *count == 0).await;
    }
}

impl GitHub {
    /// Listens on a port that is free.
    pub async fn start() -> Self {
        Self::start_at(0).await.expect("a free port")
    }

    /// The same on a port of one's choice.
    #[expect(clippy::unused_async, reason = "the outside services all start so")]
    pub async fn start_at(port: u16) -> std::io::Result<Self> {
        starting::start(port)
    }

    /// Where its pages and repositories are: `http://127.0.0.1:4711`. The API is there too, for who wants no prefix.
    pub fn url(&self) -> String {
        self.url.clone()
    }

    /// Where its API is, as an Enterprise server has it: `http://127.0.0.1:4711/api/v3`.
    pub fn api_url(&self) -> String {
        format!("{}/api/v3", self.url)
    }

    pub fn graphql_url(&self) -> String {
        format!("{}/api/graphql", self.url)
    }

    /// Where to clone a repository from.
    pub fn clone_url(&self, repository: &str) -> String {
        format!("{}/{repository}.git", self.url)
    }

    /// Everything that was asked so far, in order.
    pub fn requests(&self) -> Vec<Request> {
        self.office.world(|world| world.log.requests.clone())
    }

    /// How often this was asked: a method, and how the path begins after the prefix of the API.
    pub fn asked(&self, method: &str, path: &str) -> usize {
        let is_meant = |request: &&Request| request.method == method && request.path.starts_with(path);
        self.requests().iter().filter(is_meant).count()
    }

    /// What nobody should have asked.
    pub fn faults(&self) -> Vec<String> {
        self.office.world(|world| world.log.faults.clone())
    }

    /// Forgives what nobody should have asked, for a test that asks it.
    pub fn forgives(&self) -> Vec<String> {
        self.office.world(|world| std::mem::take(&mut world.log.faults))
    }

    /// # Panics
    /// When it was asked for what it has not.
    pub fn must_be_content(&self) {
        let faults = self.faults();
        assert!(faults.is_empty(), "GitHub was asked for what it has not: {faults:#?}");
    }

    /// Its clock goes on.
    pub fn time_passes(&self, by: Duration) {
        self.office.world(|world| world.clock.passes(by));
    }

    /// Its clock shows this, in seconds of Unix.
    pub fn time_is(&self, second: i64) {
        self.office.world(|world| world.clock.set(second));
    }

    /// What its clock shows, in seconds of Unix.
    pub fn now(&self) -> i64 {
        self.office.world(|world| world.clock.now())
    }

    /// Trouble, for so many calls, whatever they are about. See [`Trouble`].
    pub fn fails(&self, times: usize, status: u16) {
        self.troubles("/", times, Trouble::Status(status));
    }

    /// Trouble for calls whose path begins so (after the prefix of the API; repositories of git begin with their name). With
    /// a method before it, as in `POST /repos/acme/shop/pulls`, only for those.
    pub fn troubles(&self, path: &str, times: usize, trouble: Trouble) {
        self.office.world(|world| world.troubles.add(path, times, trouble));
    }

    /// All is well again.
    pub fn recovers(&self) {
        self.office.world(|world| world.troubles.clear());
    }
}

impl Drop for GitHub {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // What panicked there has been printed there.
            _ = thread.join();
        }
        if !std::thread::panicking() {
            self.must_be_content();
        }
    }
}
