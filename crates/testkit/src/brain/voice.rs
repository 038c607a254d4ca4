//! How the assistant of the tests makes itself heard.

use std::io::{self, Write as _};

use hedgerow_core::assistant::{Step, Usage};
use serde_json::Value;

pub(super) trait Voice {
    fn text(&mut self, text: &str);

    fn tool(&mut self, text: &str);

    fn plan(&mut self, steps: &[Step]);

    /// Whether it is allowed.
    fn ask(&mut self, what: &str) -> io::Result<bool>;

    /// The rest is not for every way of speaking.
    fn session(&mut self, _: &str) {}

    fn usage(&mut self, _: &Usage) {}

    fn note(&mut self, _: &str) {}

    /// What Hedgerow is to keep of the session.
    fn keep(&mut self, _: &str) {}
}

/// Whoever listened may be gone; the next signal says so.
pub(super) fn speak(line: &Value) {
    let mut out = io::stdout().lock();
    let _ = out.write_all(format!("{line}\n").as_bytes()).and_then(|()| out.flush());
}
