//! Paths of other services, among our own.

use axum::Router;
use axum::routing::post;
use hedgerow_testkit::http::Ask;
use hedgerow_web::Hook;

use crate::door::Door;

const PATH: &str = "/webhooks/x";

async fn door() -> Door {
    let routes =
        Router::new().route(PATH, post(async |body: String| if body == "fall" { panic!("over") } else { body }));
    Door::with_hooks(vec![Hook { path: PATH, summary: "Hear from x", routes }]).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hook_needs_no_token_and_no_origin_of_ours_and_is_described() {
    let door = door().await;
    let asked = Ask::new("POST", PATH).header("Origin", "https://elsewhere.example").bytes(b"hello");
    let answered = door.ask_as_a_stranger(&asked).await;
    assert_eq!((answered.status, answered.text.as_str()), (200, "hello"));
    assert!(answered.header("x-request-id").is_some(), "{answered:?}");
    assert_eq!(answered.header("x-content-type-options"), Some("nosniff"));
    let document = door.get("/api/v1/openapi.json").await.json();
    assert_eq!(document["paths"][PATH]["post"]["summary"], "Hear from x");
    assert!(document["paths"][PATH]["post"]["security"].is_null());
    let elsewhere = Ask::new("GET", "/healthz").header("Origin", "https://elsewhere.example");
    assert_eq!(door.ask_as_a_stranger(&elsewhere).await.status, 403, "ours keep their guards");
    assert_eq!(door.ask_as_a_stranger(&Ask::new("GET", "/api/v1/codebases")).await.status, 401);
    assert_eq!(door.ask_as_a_stranger(&Ask::new("GET", "/webhooks/y")).await.kind(), "not_found");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hook_that_fails_is_answered_and_counted_like_any_other() {
    let door = door().await;
    assert_eq!(door.ask_as_a_stranger(&Ask::new("POST", PATH).bytes(b"fall")).await.kind(), "failed");
    assert_eq!(door.ask_as_a_stranger(&Ask::new("GET", PATH)).await.kind(), "method_not_allowed");
    let metrics = door.get("/metrics").await.text;
    assert!(metrics.contains("hedgerow_http_answers_total{class=\"5xx\"} 1\n"), "{metrics}");
    assert!(metrics.contains("hedgerow_http_answers_total{class=\"4xx\"} 1\n"), "{metrics}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_there_is_not_described() {
    let door = Door::new().await;
    assert!(door.get("/api/v1/openapi.json").await.json()["paths"][PATH].is_null());
    assert_eq!(door.ask_as_a_stranger(&Ask::new("POST", PATH).bytes(b"")).await.status, 404);
}
