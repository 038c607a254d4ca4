//! A small GitHub that holds comments, over a real socket.

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::response::{IntoResponse as _, Response};
use serde_json::{Value, json};
use tokio::sync::watch;

use super::super::live::Tempo;
use super::super::{GitHub, Talk};
use crate::github::client::tests::{config, person};

/// What goes wrong, once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Trouble {
    /// It is done, and nobody hears of it.
    LostAnswer,
    /// It is done, and the answer never comes.
    NoAnswer,
    Limited,
    Locked,
    /// What is asked for is left out of the answer.
    LeftOut,
    Forbidden,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Comment {
    pub(super) id: u64,
    pub(super) body: String,
    pub(super) is_ours: bool,
    pub(super) place: Place,
}

/// Where a comment stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Issue,
    /// First in a thread of a review.
    Thread,
    /// In the thread that this comment began.
    Below(u64),
}

#[derive(Debug, Default)]
pub(super) struct World {
    pub(super) comments: Vec<Comment>,
    /// Every call: what, and where.
    pub(super) calls: Vec<String>,
    pub(super) trouble: Option<Trouble>,
    next: u64,
}

impl World {
    pub(super) fn add(&mut self, body: &str, is_ours: bool, place: Place) -> u64 {
        // Such as are too large for the older field.
        self.next += 1;
        let id = 3_000_000_000 + self.next;
        self.comments.push(Comment { id, body: body.to_owned(), is_ours, place });
        id
    }

    pub(super) fn ours(&self) -> Vec<&str> {
        self.comments.iter().filter(|comment| comment.is_ours).map(|comment| comment.body.as_str()).collect()
    }

    pub(super) fn count(&self, call: &str) -> usize {
        self.calls.iter().filter(|made| made.starts_with(call)).count()
    }
}

/// The running server.
pub(super) struct Forum {
    world: Arc<Mutex<World>>,
    changed: watch::Sender<()>,
    url: String,
    server: tokio::task::JoinHandle<()>,
}

impl Drop for Forum {
    fn drop(&mut self) {
        self.server.abort();
    }
}

#[derive(Clone)]
struct Desk {
    world: Arc<Mutex<World>>,
    changed: watch::Sender<()>,
}

impl Forum {
    pub(super) async fn open() -> Self {
        let world = Arc::<Mutex<World>>::default();
        let changed = watch::channel(()).0;
        let desk = Desk { world: Arc::clone(&world), changed: changed.clone() };
        let router = Router::new().fallback(answer).with_state(desk);
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("there is a free port");
        let url = format!("http://{}", listener.local_addr().expect("it is bound"));
        let server = tokio::spawn(async move { axum::serve(listener, router).await.expect("it serves") });
        Self { world, changed, url, server }
    }

    pub(super) fn world(&self) -> MutexGuard<'_, World> {
        self.world.lock().expect("no test panics while it holds the lock")
    }

    /// A process that talks to it.
    pub(super) fn github(&self, first: Duration) -> GitHub {
        let mut github = GitHub::new(config(&self.url, person())).expect("a token is enough");
        let between = Duration::from_millis(1);
        let call = Duration::from_secs(2);
        github.talk =
            Talk { tempo: Tempo { first, between, call, silence: Duration::from_mins(1) }, ..Talk::default() };
        github
    }

    /// Waits until something is so.
    pub(super) async fn until(&self, what: &str, is_so: impl Fn(&World) -> bool) {
        let mut changes = self.changed.subscribe();
        let wait = async {
            while !is_so(&self.world()) {
                changes.changed().await.expect("the server is there");
            }
        };
        let waited = tokio::time::timeout(Duration::from_secs(20), wait).await;
        assert!(waited.is_ok(), "never: {what}; {:#?}", self.world());
    }
}

async fn answer(State(desk): State<Desk>, method: Method, uri: Uri, headers: HeaderMap, body: Bytes) -> Response {
    let is_known = headers.get("authorization").is_some_and(|header| header == "Bearer ghp_of_a_person");
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    let call = if uri.path() == "/graphql" { graphql_name(&body) } else { format!("{method} {}", uri.path()) };
    let (trouble, response) = {
        let mut world = desk.world.lock().expect("no test panics while it holds the lock");
        world.calls.push(call);
        let trouble = if method == Method::GET { None } else { world.trouble.take() };
        let response = match trouble {
            _ if !is_known => (StatusCode::UNAUTHORIZED, json!({ "message": "Bad credentials" }).to_string()),
            Some(Trouble::Limited) => (StatusCode::FORBIDDEN, json!({ "message": "secondary rate limit" }).to_string()),
            Some(Trouble::Locked) => {
                let message = "Unable to create comment because issue is locked.";
                (StatusCode::FORBIDDEN, json!({ "message": message }).to_string())
            }
            Some(Trouble::LeftOut) => {
                let repository = json!({ "issueOrPullRequest": null, "pullRequest": null });
                let error = json!({ "message": "timedout" });
                (StatusCode::OK, json!({ "data": { "repository": repository }, "errors": [error] }).to_string())
            }
            Some(Trouble::Forbidden) => {
                let message = "Resource not accessible by integration";
                (StatusCode::FORBIDDEN, json!({ "message": message }).to_string())
            }
            _ => serve(&mut world, &method, uri.path(), &body),
        };
        (trouble, response)
    };
    desk.changed.send_replace(());
    match trouble {
        Some(Trouble::LostAnswer) => StatusCode::BAD_GATEWAY.into_response(),
        Some(Trouble::NoAnswer) => std::future::pending().await,
        Some(Trouble::Limited) => ([("retry-after", "60")], response).into_response(),
        _ => response.into_response(),
    }
}

fn graphql_name(body: &Value) -> String {
    let query = body["query"].as_str().unwrap_or_default();
    let variables = &body["variables"];
    if query.contains("addReaction") {
        return format!(
            "react {} {}",
            variables["subject"].as_str().unwrap_or("?"),
            variables["content"].as_str().unwrap_or("?")
        );
    }
    if query.contains("reviewThreads") { "threads".to_owned() } else { "comments".to_owned() }
}

fn serve(world: &mut World, method: &Method, path: &str, body: &Value) -> (StatusCode, String) {
    let gone = || (StatusCode::NOT_FOUND, json!({ "message": "Not Found" }).to_string());
    let text = body["body"].as_str().unwrap_or_default();
    let parts: Vec<&str> = path.trim_matches('/').split('/').collect();
    let number = |part: &str| part.parse::<u64>().expect("a number");
    match (method.as_str(), parts.as_slice()) {
        ("POST", ["graphql"]) => (StatusCode::OK, graphql(world, body).to_string()),
        ("GET", ["repos", "acme", "shop", "issues", "42"]) => (StatusCode::OK, json!({ "number": 42 }).to_string()),
        ("POST", ["repos", "acme", "shop", "issues", "42", "comments"]) => {
            let id = world.add(text, true, Place::Issue);
            (StatusCode::CREATED, json!({ "id": id }).to_string())
        }
        ("POST", ["repos", "acme", "shop", "pulls", "42", "comments", id, "replies"]) => {
            let id = number(id);
            match world.comments.iter().find(|comment| comment.id == id).map(|comment| comment.place) {
                Some(Place::Thread) => {
                    let id = world.add(text, true, Place::Below(id));
                    (StatusCode::CREATED, json!({ "id": id }).to_string())
                }
                Some(_) => (StatusCode::UNPROCESSABLE_ENTITY, json!({ "message": "Validation Failed" }).to_string()),
                None => gone(),
            }
        }
        ("GET", ["repos", "acme", "shop", "pulls", "comments", id]) => {
            let id = number(id);
            match world.comments.iter().find(|comment| comment.id == id).map(|comment| comment.place) {
                Some(Place::Thread) => (StatusCode::OK, json!({ "id": id }).to_string()),
                Some(Place::Below(first)) => (StatusCode::OK, json!({ "id": id, "in_reply_to_id": first }).to_string()),
                _ => gone(),
            }
        }
        ("PATCH", ["repos", "acme", "shop", kind @ ("issues" | "pulls"), "comments", id]) => {
            let id = number(id);
            let is_it =
                |comment: &&mut Comment| comment.id == id && (comment.place != Place::Issue) == (*kind == "pulls");
            match world.comments.iter_mut().find(is_it) {
                Some(comment) if !comment.is_ours => panic!("a comment of somebody else is changed"),
                Some(comment) => {
                    text.clone_into(&mut comment.body);
                    (StatusCode::OK, json!({ "id": id }).to_string())
                }
                None => gone(),
            }
        }
        _ => gone(),
    }
}

/// Newest at the end, a hundred at a time.
fn graphql(world: &World, body: &Value) -> Value {
    let node = |comment: &Comment| json!({ "databaseId": null, "fullDatabaseId": comment.id.to_string(), "viewerDidAuthor": comment.is_ours, "body": comment.body });
    let query = body["query"].as_str().unwrap_or_default();
    if query.contains("addReaction") {
        return json!({ "data": { "addReaction": { "clientMutationId": null } } });
    }
    if body["variables"]["owner"] != "acme" || body["variables"]["number"] != 42 {
        return json!({ "data": { "repository": null }, "errors": [{ "type": "NOT_FOUND", "message": "Could not resolve" }] });
    }
    if query.contains("reviewThreads") {
        let firsts = world.comments.iter().filter(|comment| comment.place == Place::Thread);
        let thread = |first: &Comment| {
            let belongs = |comment: &&Comment| comment.id == first.id || comment.place == Place::Below(first.id);
            json!({ "comments": { "nodes": world.comments.iter().filter(belongs).map(node).collect::<Vec<_>>() } })
        };
        let threads: Vec<Value> = firsts.map(thread).collect();
        return json!({ "data": { "repository": { "pullRequest": { "reviewThreads": { "nodes": threads } } } } });
    }
    let all: Vec<&Comment> = world.comments.iter().filter(|comment| comment.place == Place::Issue).collect();
    let end = body["variables"]["before"].as_str().map_or(all.len(), |before| before.parse().expect("our own cursor"));
    let start = end.saturating_sub(100);
    let nodes: Vec<Value> = all[start..end].iter().map(|comment| node(comment)).collect();
    let page = json!({ "hasPreviousPage": start > 0, "startCursor": start.to_string() });
    json!({ "data": { "repository": { "issueOrPullRequest": { "comments": { "nodes": nodes, "pageInfo": page } } } } })
}
