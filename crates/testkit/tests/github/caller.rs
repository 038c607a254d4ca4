//! Somebody who calls the API, without any library of ours.

use hedgerow_testkit::http::{Answered, Ask, ask, try_ask};
use hedgerow_testkit::outside::github::GitHub;
use serde_json::Value;

pub(crate) struct Caller<'a> {
    github: &'a GitHub,
    token: Option<String>,
}

pub(crate) fn nobody(github: &GitHub) -> Caller<'_> {
    Caller { github, token: None }
}

pub(crate) fn caller<'a>(github: &'a GitHub, token: &str) -> Caller<'a> {
    Caller { github, token: Some(token.to_owned()) }
}

impl Caller<'_> {
    fn request(&self, method: &'static str, path: &str, body: &Value) -> Ask {
        let mut request = Ask::new(method, &format!("/api/v3{path}"));
        if let Some(token) = &self.token {
            request = request.header("Authorization", &format!("Bearer {token}"));
        }
        if body.is_null() { request } else { request.bytes(body.to_string().as_bytes()) }
    }

    fn address(&self) -> std::net::SocketAddr {
        self.github.url().trim_start_matches("http://").parse().expect("an address")
    }

    pub(crate) async fn calls(&self, method: &'static str, path: &str, body: Value) -> Answered {
        ask(self.address(), &self.request(method, path, &body)).await
    }

    pub(crate) async fn gets(&self, path: &str) -> Answered {
        self.calls("GET", path, Value::Null).await
    }

    /// `None` when the answer broke off.
    pub(crate) async fn tries(&self, method: &'static str, path: &str, body: Value) -> Option<Answered> {
        try_ask(self.address(), &self.request(method, path, &body)).await
    }

    /// What is under `data`, and the errors.
    pub(crate) async fn asks(&self, query: &str, variables: Value) -> (Value, Value) {
        let body = serde_json::json!({"query": query, "variables": variables});
        let mut request = Ask::new("POST", "/api/graphql").bytes(body.to_string().as_bytes());
        if let Some(token) = &self.token {
            request = request.header("Authorization", &format!("bearer {token}"));
        }
        let mut answer = ask(self.address(), &request).await.json();
        (answer["data"].take(), answer["errors"].take())
    }
}
