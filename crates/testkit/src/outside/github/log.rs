//! What was asked.

use serde_json::Value;

/// A call, as it came and as it was answered.
#[derive(Debug, Clone)]
pub struct Request {
    pub method: String,
    /// Without the prefix of the API.
    pub path: String,
    pub query: String,
    /// Null when there was none, or none in JSON.
    pub body: Value,
    /// As whom; `None` for nobody, or a token that is not known.
    pub login: Option<String>,
    /// 0 when there was no answer.
    pub status: u16,
}

#[derive(Debug, Default)]
pub(crate) struct Log {
    pub(crate) requests: Vec<Request>,
    pub(crate) faults: Vec<String>,
}

impl Log {
    /// Something that only a mistake can have asked.
    pub(crate) fn fault(&mut self, what: impl Into<String>) {
        self.faults.push(what.into());
    }
}
