//! A GitHub that knows a few answers by heart. What it does not know fails the test.

use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};

use crate::github::client::tests::server::{Said, Seen, Server as Socket};

/// How what is asked begins, the status and the answer.
type Answers = Arc<Mutex<Vec<(String, u16, Value)>>>;

pub(super) struct Server {
    socket: Socket,
    answers: Answers,
}

impl Server {
    pub(super) async fn start() -> Self {
        let answers = Answers::default();
        let known = Arc::clone(&answers);
        let answer = move |seen: &Seen, _| {
            let known = found(&known.lock().expect("nobody panics with it"), &what(seen));
            known.unwrap_or_else(|| Said::json(400, &json!({})))
        };
        Self { socket: Socket::start(answer).await, answers }
    }

    pub(super) fn url(&self) -> &str {
        &self.socket.url
    }

    /// What is asked is `GET /path?query`, or the text of a query of GraphQL. The latest answer counts.
    pub(super) fn answers(&self, start: &str, status: u16, answer: &Value) {
        self.answers.lock().expect("nobody panics with it").insert(0, (start.to_owned(), status, answer.clone()));
    }

    /// How many different things were asked.
    pub(super) fn calls(&self) -> usize {
        let mut asked: Vec<_> = self.socket.seen().iter().map(what).collect();
        asked.sort();
        asked.dedup();
        asked.len()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        let asked = self.socket.seen();
        let unknown: Vec<_> = asked.iter().map(what).filter(|asked| found(&answers, asked).is_none()).collect();
        assert!(unknown.is_empty() || std::thread::panicking(), "nobody knows {unknown:?}");
    }
}

fn found(answers: &[(String, u16, Value)], asked: &str) -> Option<Said> {
    let found = answers.iter().find(|(start, ..)| asked.starts_with(start));
    found.map(|(_, status, answer)| Said::json(*status, answer))
}

fn what(seen: &Seen) -> String {
    match seen.json()["query"].as_str() {
        Some(query) if seen.target == "/graphql" => query.trim().to_owned(),
        _ => format!("{} {}", seen.method, seen.target),
    }
}
