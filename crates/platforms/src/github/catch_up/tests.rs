//! Looking, against a small GitHub on this machine that has only lists.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use axum::{Json, Router};
use hedgerow_core::MessageId;
use hedgerow_core::message::RawEvent;
use serde_json::{Value, json};

use super::*;
use crate::github::client::tests::{config, person};
use crate::github::heard::Heard;
use crate::github::payload::{Meaning, event};

/// What is answered at which path, whatever the query.
type Answers = Arc<BTreeMap<&'static str, Value>>;

async fn answer(State(answers): State<Answers>, request: Request) -> Response {
    match answers.get(request.uri().path()) {
        Some(answer) => Json(answer.clone()).into_response(),
        None => (StatusCode::NOT_FOUND, Json(json!({"message": "Not Found"}))).into_response(),
    }
}

async fn github(answers: &[(&'static str, Value)]) -> GitHub {
    let answers: Answers = Arc::new(answers.iter().cloned().collect());
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    let router = Router::new().fallback(answer).with_state(answers);
    tokio::spawn(async move { axum::serve(listener, router).await });
    GitHub::new(config(&url, person())).expect("the settings are good")
}

/// What looks write down.
#[derive(Default)]
struct Book {
    repositories: Option<Vec<&'static str>>,
    looked: Mutex<BTreeMap<String, Looked>>,
}

#[async_trait]
impl Diary for Book {
    async fn repositories(&self) -> Option<Vec<(RepositoryName, Timestamp)>> {
        let known = |name: &&str| (name.parse().expect("a name"), Timestamp::from_millis(0));
        Some(self.repositories.as_ref()?.iter().map(known).collect())
    }

    async fn looked(&self, repository: &RepositoryName) -> Option<Looked> {
        self.looked.lock().expect("nobody panics with it").get(&repository.to_string()).copied()
    }

    async fn looks(&self, repository: &RepositoryName, looked: Looked) {
        self.looked.lock().expect("nobody panics with it").insert(repository.to_string(), looked);
    }

    fn now(&self) -> Timestamp {
        NOW
    }
}

#[derive(Default)]
struct Memory(Mutex<Vec<RawEvent>>);

#[async_trait]
impl Inbox for Memory {
    async fn accept(&self, raw: RawEvent) -> Accepted {
        let mut kept = self.0.lock().expect("nobody panics with it");
        if kept.iter().any(|other| other.delivery.meaning == raw.delivery.meaning) {
            return Accepted::Duplicate(MessageId::new());
        }
        kept.push(raw);
        Accepted::Queued(MessageId::new())
    }

    async fn knows(&self, _: PlatformKind, meaning: &str) -> bool {
        let kept = self.0.lock().expect("nobody panics with it");
        kept.iter().any(|raw| raw.delivery.meaning.as_deref().is_some_and(|known| known.starts_with(meaning)))
    }
}

impl Memory {
    fn meanings(&self) -> Vec<String> {
        let kept = self.0.lock().expect("nobody panics with it");
        kept.iter().filter_map(|raw| raw.delivery.meaning.clone()).collect()
    }

    fn heard(&self) -> Vec<Heard> {
        let kept = self.0.lock().expect("nobody panics with it");
        kept.iter().map(|raw| Heard::read(raw).expect("what is kept can be read")).collect()
    }
}

const SINCE: Timestamp = Timestamp::from_millis(1_777_802_400_000);
const NOW: Timestamp = SINCE.plus_seconds(60 * 60);

fn alice() -> Value {
    json!({"id": 7, "login": "alice", "type": "User"})
}

fn at(minute: u32) -> String {
    format!("2026-05-03T10:{minute:02}:00Z")
}

fn comment(id: u64, minute: u32, text: &str) -> Value {
    json!({"id": id, "node_id": format!("IC_{id}"), "body": text, "user": alice(),
        "html_url": format!("https://github.com/Acme/Shop/issues/42#issuecomment-{id}"),
        "issue_url": "https://api.github.com/repos/Acme/Shop/issues/42",
        "created_at": at(minute), "updated_at": at(minute)})
}

fn line(id: u64, minute: u32, text: &str) -> Value {
    json!({"id": id, "node_id": format!("PRRC_{id}"), "body": text, "user": alice(),
        "html_url": format!("https://github.com/Acme/Shop/pull/99#discussion_r{id}"),
        "created_at": at(minute), "updated_at": at(minute)})
}

fn issue(number: u64, created: &str, text: &str) -> Value {
    json!({"id": number * 100, "node_id": format!("I_{number}"), "number": number, "body": text, "user": alice(),
        "html_url": format!("https://github.com/Acme/Shop/issues/{number}"),
        "created_at": created, "updated_at": at(50), "closed_at": null, "state": "open"})
}

fn with(mut value: Value, fields: &Value) -> Value {
    let (Value::Object(value), Value::Object(fields)) = (&mut value, fields) else { panic!("two objects") };
    value.extend(fields.clone());
    Value::Object(value.clone())
}

async fn look(github: &GitHub, inbox: &Memory) -> CaughtUp {
    // The name as a codebase's remote may spell it.
    let repository = "acme/shop".parse().expect("a name");
    catch_up(github, inbox, &repository, Window { oldest: SINCE, since: SINCE, now: NOW })
        .await
        .expect("it can be looked")
}

fn quiet(more: &[(&'static str, Value)]) -> Vec<(&'static str, Value)> {
    let mut answers = vec![
        ("/repos/acme/shop/issues/comments", json!([])),
        ("/repos/acme/shop/pulls/comments", json!([])),
        ("/repos/acme/shop/issues", json!([])),
        ("/graphql", edited_by(None)),
    ];
    answers.extend_from_slice(more);
    answers
}

/// What GitHub says of something that Alice wrote.
fn edited_by(editor: Option<&str>) -> Value {
    let editing = editor.map(|login| (at(6), json!({"login": login})));
    let (at, editor) = editing.unzip();
    json!({"data": {"node": {"publishedAt": self::at(5), "lastEditedAt": at, "author": {"login": "alice"}, "editor": editor}}})
}

#[tokio::test]
async fn what_was_missed_is_heard_in_its_order_and_once() {
    let pull = json!({"pull_request": {"merged_at": at(30)}, "closed_at": at(30),
        "html_url": "https://github.com/Acme/Shop/pull/99"});
    let answers = quiet(&[
        ("/repos/acme/shop/issues/comments", json!([comment(1, 5, "@hedgerow fix it"), comment(2, 6, "thanks")])),
        ("/repos/acme/shop/pulls/comments", json!([line(3, 4, "@hedgerow why?")])),
        (
            "/repos/acme/shop/issues",
            json!([
                issue(41, "2026-05-01T10:00:00Z", "@hedgerow this is old"),
                issue(42, &at(1), "@hedgerow this is new"),
                with(issue(43, "2026-05-01T10:00:00Z", "x"), &json!({"closed_at": at(20), "closed_by": alice()})),
                with(issue(99, &at(2), "@hedgerow look"), &pull),
                {"nonsense": true},
            ]),
        ),
        (
            "/repos/acme/shop/pulls/99",
            json!({"id": 5555, "node_id": "PR_5555", "number": 99, "body": "@hedgerow look", "user": alice(),
                "html_url": "https://github.com/Acme/Shop/pull/99", "created_at": at(2), "updated_at": at(30),
                "closed_at": at(30), "merged_at": at(30), "merged": true, "merged_by": alice()}),
        ),
        (
            "/repos/acme/shop/pulls/99/reviews",
            json!([
                {"id": 8, "node_id": "PRR_8", "body": "@hedgerow do so", "user": alice(), "submitted_at": at(7),
                    "html_url": "https://github.com/Acme/Shop/pull/99#pullrequestreview-8"},
                {"id": 9, "body": "@hedgerow long ago", "user": alice(), "submitted_at": "2026-05-01T10:00:00Z",
                    "html_url": "https://github.com/Acme/Shop/pull/99#pullrequestreview-9"},
            ]),
        ),
    ]);
    let (github, inbox) = (github(&answers).await, Memory::default());
    let first = look(&github, &inbox).await;
    assert_eq!(first, CaughtUp { found: 7, known: 0, until: NOW });
    let expected = [
        "issue:4200:opened",
        "pull:5555:opened",
        "review-comment:3:2026-05-03T10:04:00Z",
        "comment:1:2026-05-03T10:05:00Z",
        "review:8:2026-05-03T10:07:00Z",
        "closed:4300:2026-05-03T10:20:00Z",
        "closed:5555:2026-05-03T10:30:00Z",
    ];
    assert_eq!(inbox.meanings(), expected);
    assert!(inbox.heard().iter().all(|heard| heard.repository == "Acme/Shop"), "as GitHub spells it");
    assert_eq!(inbox.heard()[6].what, What::Closed { merged: true });
    assert_eq!(look(&github, &inbox).await, CaughtUp { found: 0, known: 7, until: NOW });
}

#[tokio::test]
async fn what_is_found_is_what_its_delivery_would_have_said() {
    let answers = quiet(&[("/repos/acme/shop/issues/comments", json!([comment(1, 5, "@hedgerow fix it")]))]);
    let (github, inbox) = (github(&answers).await, Memory::default());
    look(&github, &inbox).await;
    let delivered = json!({"action": "created", "comment": comment(1, 5, "@hedgerow fix it"), "sender": alice(),
        "issue": issue(42, &at(1), "x"), "repository": {"id": 55, "full_name": "Acme/Shop"}});
    let meaning = event("issue_comment", "d", delivered.to_string().as_bytes(), &github.bot());
    let Ok(Meaning::Heard(told)) = meaning else { panic!("{meaning:?}") };
    assert_eq!((inbox.heard(), inbox.meanings()), (vec![told.heard], vec![told.meaning]));
}

#[tokio::test]
async fn what_was_heard_before_an_edit_is_not_heard_again() {
    let answers = quiet(&[("/repos/acme/shop/issues/comments", json!([comment(1, 5, "@hedgerow fix it, now")]))]);
    let (github, inbox) = (github(&answers).await, Memory::default());
    let told = {
        let delivered = json!({"action": "created", "comment": comment(1, 2, "@hedgerow fix it"), "sender": alice(),
            "issue": issue(42, &at(1), "x"), "repository": {"id": 55, "full_name": "Acme/Shop"}});
        match event("issue_comment", "d", delivered.to_string().as_bytes(), &github.bot()) {
            Ok(Meaning::Heard(told)) => told,
            other => panic!("{other:?}"),
        }
    };
    inbox.accept(told.heard.raw("d".to_owned(), told.meaning, NOW)).await;
    assert_eq!(look(&github, &inbox).await.found, 0);
}

#[tokio::test]
async fn words_count_that_their_author_said_here_and_in_our_time() {
    let mended = with(comment(1, 5, "@hedgerow fix it, please"), &json!({"updated_at": at(6)}));
    let nobodys = json!({"data": {"node":
        {"publishedAt": at(5), "lastEditedAt": at(6), "author": null, "editor": null}}});
    let old = json!({"data": {"node": {"publishedAt": "2026-05-01T10:00:00Z", "lastEditedAt": null}}});
    let moved = |minute| json!({"timelineItems": {"nodes": [{"createdAt": at(minute)}]}});
    let came = |moved: Value| json!({"data": {"node": with(json!({"publishedAt": at(5)}), &moved)}});
    for (who, expected) in [
        (edited_by(Some("alice")), &["comment:1:2026-05-03T10:06:00Z", "issue:4200:opened"][..]),
        (edited_by(Some("mallory")), &[]),
        (nobodys, &[]),
        (old, &[]),
        (came(moved(8)), &[]),
        (came(json!({"issue": moved(8)})), &[]),
        (came(moved(1)), &["comment:1:2026-05-03T10:06:00Z", "issue:4200:opened"]),
        (json!({"data": {"node": null}, "errors": [{"type": "NOT_FOUND", "message": "it is gone"}]}), &[]),
    ] {
        let answers = quiet(&[
            ("/repos/acme/shop/issues/comments", json!([mended])),
            ("/repos/acme/shop/issues", json!([issue(42, &at(7), "@hedgerow this is new")])),
            ("/graphql", who.clone()),
        ]);
        let inbox = Memory::default();
        look(&github(&answers).await, &inbox).await;
        assert_eq!(inbox.meanings(), expected, "{who}");
    }
}

#[tokio::test]
async fn what_an_earlier_look_had_no_room_for_is_found_by_a_later_one() {
    // Opened before this look begins, and after the first one began.
    let left = issue(42, "2026-05-03T09:00:00Z", "@hedgerow this is new");
    let answers = quiet(&[("/repos/acme/shop/issues", json!([left]))]);
    let (github, repository) = (github(&answers).await, "acme/shop".parse().expect("a name"));
    for (oldest, found) in [(SINCE.plus_seconds(-2 * 60 * 60), 1), (SINCE, 0)] {
        let window = Window { oldest, since: SINCE, now: NOW };
        let looked = catch_up(&github, &Memory::default(), &repository, window).await.expect("it can be looked");
        assert_eq!(looked.found, found);
    }
}

#[tokio::test]
async fn where_the_first_look_began_is_kept() {
    let (github, book) = (github(&quiet(&[])).await, Book { repositories: Some(vec!["acme/shop"]), ..Book::default() });
    let mut looks = watch::Looks::new(Some(SINCE), NOW);
    assert!(looks.look(&github, &Memory::default(), &book).await);
    let first = book.looked(&"acme/shop".parse().expect("a name")).await.expect("it is written down");
    assert_eq!(first, Looked { since: SINCE.plus_seconds(-10 * 60), until: NOW.plus_seconds(-10 * 60) });
    assert!(looks.look(&github, &Memory::default(), &book).await);
    assert_eq!(book.looked(&"acme/shop".parse().expect("a name")).await, Some(first));
}

#[tokio::test]
async fn bots_and_we_ourselves_are_not_found() {
    let robot = json!({"user": {"id": 9, "login": "robot[bot]", "type": "Bot"}});
    let comments = json!([
        with(comment(1, 5, "@hedgerow fix it"), &robot),
        with(comment(2, 5, "@hedgerow fix it"), &json!({"user": null})),
        comment(3, 5, "<!-- hedgerow:run:1 --> @hedgerow"),
    ]);
    let answers = quiet(&[("/repos/acme/shop/issues/comments", comments)]);
    assert_eq!(look(&github(&answers).await, &Memory::default()).await.found, 0);
}

#[tokio::test]
async fn who_closed_something_is_asked_when_the_list_does_not_say() {
    let closed = with(issue(43, "2026-05-01T10:00:00Z", "x"), &json!({"closed_at": at(20)}));
    let answers = quiet(&[
        ("/repos/acme/shop/issues", json!([closed])),
        ("/repos/acme/shop/issues/43", with(closed.clone(), &json!({"closed_by": alice()}))),
    ]);
    let inbox = Memory::default();
    look(&github(&answers).await, &inbox).await;
    assert_eq!(inbox.heard()[0].sender.login, "alice");
}

#[tokio::test]
async fn one_repository_that_fails_does_not_stop_the_others() {
    let answers = quiet(&[("/repos/acme/shop/issues/comments", json!([comment(1, 5, "@hedgerow fix it")]))]);
    let (github, inbox) = (github(&answers).await, Memory::default());
    let book = Book { repositories: Some(vec!["acme/gone", "acme/shop"]), ..Book::default() };
    // One that failed is looked at again later; here the first look is all.
    let first_look = async {
        while inbox.meanings().is_empty() {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    };
    keep_looking(&github, &inbox, &book, Some(SINCE), first_look).await;
    assert_eq!(inbox.meanings(), ["comment:1:2026-05-03T10:05:00Z"]);
}

#[tokio::test]
async fn looking_ends_when_it_is_told_to() {
    let github = github(&[]).await;
    keep_looking(&github, &Memory::default(), &Book::default(), None, async {}).await;
}
