//! What the model was asked, for tests to look at.

use super::voice::Api;

/// A request. Values of headers are not kept: keys are among them.
#[derive(Debug, Clone)]
pub struct Request {
    /// `None` for those that ask no model, such as for the list of models.
    pub api: Option<Api>,
    pub method: String,
    pub path: String,
    /// Names of headers, in lower case.
    pub headers: Vec<String>,
    pub model: Option<String>,
    /// What the model may use.
    pub tools: Vec<String>,
    pub key: Key,
    /// What it was answered with.
    pub status: u16,
}

/// Whether a request showed the key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Key {
    Right,
    Wrong,
    Missing,
}

/// All requests, and all that makes a test wrong.
#[derive(Debug, Default)]
pub(super) struct Log {
    pub(super) requests: Vec<Request>,
    pub(super) faults: Vec<String>,
}
