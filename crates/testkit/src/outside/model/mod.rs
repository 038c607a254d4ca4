//! The APIs of models: Anthropic's Messages, OpenAI's Responses and Chat Completions, on a port of the loopback.
//!
//! The prompt says what the model does (see `script.rs`), and what comes next is read off the conversation in the
//! request. So any number of agents can talk to one fake at the same time, and a session that is resumed after
//! anything at all goes on where it was.

mod anthropic;
mod asked;
mod chat;
mod log;
mod play;
mod responses;
mod script;
mod serving;
mod trouble;
mod voice;

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use log::Log;
use play::Failures;

pub use log::{Key, Request};
pub use voice::Api;

/// A model that is reachable until it is dropped. What it was not made for fails the test then.
#[derive(Debug)]
pub struct FakeModel {
    address: SocketAddr,
    office: Arc<Office>,
    serving: JoinHandle<()>,
}

/// What all requests share.
#[derive(Debug)]
struct Office {
    /// What callers must show.
    key: String,
    log: Mutex<Log>,
    failures: Mutex<Failures>,
}

impl FakeModel {
    /// Listens on a port that is free. Callers must show the key.
    pub async fn start(key: &str) -> Self {
        Self::start_at(key, 0).await.expect("a free port")
    }

    /// The same on a port of one's choice.
    pub async fn start_at(key: &str, port: u16) -> std::io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", port)).await?;
        let address = listener.local_addr()?;
        let (log, failures) = (Mutex::default(), Mutex::default());
        let office = Arc::new(Office { key: key.to_owned(), log, failures });
        let routes = serving::routes(Arc::clone(&office));
        let serving =
            tokio::spawn(async move { axum::serve(listener, routes).await.expect("it serves until it is stopped") });
        Ok(Self { address, office, serving })
    }

    /// Such as `http://127.0.0.1:4711`; the paths of the APIs begin with `/v1` below it.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Everything that was asked so far, in order.
    pub fn requests(&self) -> Vec<Request> {
        self.office.log(|log| log.requests.clone())
    }

    /// What was asked of the models themselves.
    pub fn calls(&self) -> Vec<Request> {
        self.requests().into_iter().filter(|request| request.api.is_some()).collect()
    }

    /// What nobody should have asked: unknown paths, instructions that are none, tools that are not there.
    pub fn faults(&self) -> Vec<String> {
        self.office.log(|log| log.faults.clone())
    }
}

impl Drop for FakeModel {
    fn drop(&mut self) {
        self.serving.abort();
        let faults = self.faults();
        assert!(faults.is_empty() || std::thread::panicking(), "the model was asked for what it has not: {faults:#?}");
    }
}

impl Office {
    /// A request that panicked leaves the log as it was.
    fn log<T>(&self, use_it: impl FnOnce(&mut Log) -> T) -> T {
        use_it(&mut self.log.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
