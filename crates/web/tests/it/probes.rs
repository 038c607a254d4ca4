//! What machines ask.

use serde_json::{Value, json};

use crate::door::Door;
use crate::guards::operations;
use hedgerow_testkit::http::Ask;

#[tokio::test(flavor = "multi_thread")]
async fn alive_is_not_the_same_as_ready() {
    let door = Door::new().await;
    for path in ["/healthz", "/readyz", "/"] {
        let answered = door.ask_as_a_stranger(&Ask::new("GET", path)).await;
        assert_eq!(answered.status, 200, "{path}");
        assert_eq!(answered.text.lines().count(), 1, "{path}");
    }
    door.world.engine.store().clone().close().await;
    assert_eq!(door.get("/healthz").await.status, 200);
    let unready = door.ask_as_a_stranger(&Ask::new("GET", "/readyz")).await;
    assert_eq!((unready.status, unready.message().as_str()), (503, "the store does not answer"));
    let broken = door.get("/api/v1/codebases").await;
    assert_eq!((broken.status, broken.kind().as_str()), (500, "failed"));
    let busy = door.post("/api/v1/conversations/c/messages", &json!({"text": "x"})).await;
    assert_eq!(busy.status, 429, "what cannot be written down is not accepted");
}

#[tokio::test(flavor = "multi_thread")]
async fn numbers_are_counted_and_asked_of_the_store() {
    let door = Door::new().await;
    let (_, codebase) = door.world.given_a_repo("shop").await;
    door.world.environment(&codebase, hedgerow_core::Work::Issue(1)).await;
    let asked = |key: &str| {
        Ask::new("POST", "/api/v1/conversations/c/messages").header("Idempotency-Key", key).bytes(b"{\"text\": \"x\"}")
    };
    for key in ["a", "b", "a"] {
        door.ask(asked(key)).await;
    }
    door.room.store(0, std::sync::atomic::Ordering::SeqCst);
    door.ask(asked("c")).await;
    let _following = door.follow(None).await;
    let metrics = door.get("/metrics").await;
    assert_eq!(metrics.header("content-type"), Some("text/plain; version=0.0.4; charset=utf-8"));
    for line in [
        "hedgerow_messages_total{outcome=\"accepted\"} 2",
        "hedgerow_messages_total{outcome=\"duplicate\"} 1",
        "hedgerow_messages_total{outcome=\"busy\"} 1",
        "hedgerow_messages_waiting 2",
        "hedgerow_runs{state=\"running\"} 0",
        "hedgerow_environments_live 1",
        "hedgerow_event_followers 1",
        "hedgerow_message_acceptance_seconds_count 4",
        "hedgerow_http_answers_total{class=\"4xx\"} 1",
    ] {
        assert!(metrics.text.lines().any(|found| found == line), "{line}\n{}", metrics.text);
    }
    for line in metrics.text.lines().filter(|line| !line.starts_with('#')) {
        let (_, value) = line.rsplit_once(' ').expect("a name and a value");
        assert!(value.parse::<f64>().is_ok(), "{line}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn everything_that_is_described_is_there_and_the_other_way_round() {
    let door = Door::new().await;
    let described = operations(&door).await;
    // The fixed points that scripts rely on.
    for (method, path) in [
        ("POST", "/api/v1/conversations/x/messages"),
        ("GET", "/api/v1/conversations/x/messages"),
        ("GET", "/api/v1/codebases"),
        ("POST", "/api/v1/codebases"),
        ("GET", "/api/v1/environments"),
        ("POST", "/api/v1/environments"),
        ("GET", "/api/v1/environments/x"),
        ("DELETE", "/api/v1/environments/x"),
        ("POST", "/api/v1/environments/x/restore"),
        ("GET", "/api/v1/events"),
        ("GET", "/api/v1/spending"),
        ("GET", "/healthz"),
        ("GET", "/readyz"),
        ("GET", "/metrics"),
        ("GET", "/api/v1/openapi.json"),
        ("GET", "/"),
    ] {
        assert!(described.iter().any(|(m, p, _)| *m == method && p == path), "{method} {path} is not described");
    }
    for (method, path, _) in &described {
        for tried in ["GET", "POST", "DELETE", "PUT", "PATCH"] {
            let is_described = described.iter().any(|(m, p, _)| *m == tried && p == path);
            if path == "/api/v1/events" && tried == "GET" {
                assert!(door.follow_at(path, None).await.is_ok());
                continue;
            }
            let status = door.ask(Ask::new(tried, path).bytes(b"{}")).await.status;
            assert_eq!(status == 405, !is_described, "{tried} {path} (found at {method}) says {status}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_look_as_they_are_described() {
    let door = Door::new().await;
    door.world.given_a_repo("shop").await;
    let document = door.get("/api/v1/openapi.json").await.json();
    let made = door.post("/api/v1/environments", &json!({"work": "issue-1"})).await.json();
    fits(&document, "Environment", &made);
    fits(&document, "Environment", &door.get("/api/v1/environments?full=true").await.json()[0]);
    let removed = door.ask(Ask::new("DELETE", "/api/v1/environments/issue-1")).await.json();
    fits(&document, "Removed", &removed);
    fits(&document, "Environment", &removed["environment"]);
    fits(&document, "Codebase", &door.get("/api/v1/codebases").await.json()[0]);
    let written = door.post("/api/v1/conversations/c/messages", &json!({"text": "x"})).await.json();
    fits(&document, "Written", &written);
    door.answers(&["y"]).await;
    fits(&document, "Message", &door.get("/api/v1/conversations/c/messages").await.json()[1]);
    fits(&document, "Spending", &door.get("/api/v1/spending").await.json());
    let error = door.get("/nothing").await.json();
    fits(&document, "Error", &error);
    let again = door.ask(Ask::new("POST", "/api/v1/environments/issue-1/restore")).await.json();
    fits(&document, "Environment", &again);
}

/// Every key that must be there is, none is there that is not described, and each is of its kind.
pub(crate) fn fits(document: &Value, name: &str, found: &Value) {
    let schema = &document["components"]["schemas"][name];
    let properties = schema["properties"].as_object().unwrap_or_else(|| panic!("{name} is not described"));
    let found = found.as_object().unwrap_or_else(|| panic!("{name}: {found}"));
    for key in schema["required"].as_array().expect("what is required") {
        assert!(found.contains_key(key.as_str().expect("a key")), "{name} has no {key}");
    }
    for (key, value) in found {
        let described = properties.get(key).unwrap_or_else(|| panic!("{name} has a {key} that is not described"));
        let kinds = match &described["type"] {
            Value::Array(kinds) => kinds.clone(),
            Value::Null => continue,
            one => vec![one.clone()],
        };
        let kind = match value {
            Value::Null => "null",
            Value::Bool(_) => "boolean",
            Value::Number(_) => "integer",
            Value::String(_) => "string",
            Value::Array(_) => "array",
            Value::Object(_) => "object",
        };
        assert!(kinds.contains(&json!(kind)), "{name}: {key} is {value}");
    }
}
