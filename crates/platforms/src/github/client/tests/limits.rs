//! GitHub says that it is enough for now.

use serde::de::IgnoredAny;

use super::server::{Said, Server};
use super::*;

fn enough() -> Said {
    Said::json(403, &json!({ "message": "API rate limit exceeded for installation" }))
        .with("date", "Sun, 03 May 2026 10:00:00 GMT")
        .with("x-ratelimit-remaining", &0)
}

/// When it is an hour later than that.
const NEXT_HOUR: i64 = 1_777_806_000;

fn wait_of(error: CallError) -> u64 {
    match error {
        CallError::Transient { after: Some(after), .. } => after.as_secs(),
        other => panic!("no time to wait for: {other:?}"),
    }
}

#[tokio::test]
async fn a_short_rest_is_kept_inside_the_call() {
    for first in [
        Said::json(429, &json!({})).with("retry-after", &1),
        enough().with("x-ratelimit-reset", &(NEXT_HOUR - 3600)),
        Said::json(403, &json!({})).with("retry-after", &0),
    ] {
        let server = Server::start(move |_, before| match before {
            0 => first.clone(),
            _ => Said::json(201, &json!("made")),
        })
        .await;
        let begun = std::time::Instant::now();
        let client = client(&server.url, person());
        // Nothing was made when it says so, so that even this may be sent again.
        let made: Result<String, _> = client.call(Method::POST, &shop(), "/pulls", Some(&json!({}))).await;
        assert_eq!(made.as_deref(), Ok("made"));
        assert!(begun.elapsed() >= Duration::from_millis(990), "{:?}", begun.elapsed());
        assert_eq!(server.seen().len(), 2);
    }
}

#[tokio::test]
async fn a_long_rest_is_told_and_remembered() {
    let server = Server::start(|seen, _| match seen.target.as_str() {
        "/graphql" => Said::json(200, &json!({ "data": { "a": 1 } })),
        _ => enough().with("x-ratelimit-reset", &NEXT_HOUR),
    })
    .await;
    let client = client(&server.url, person());
    for _ in 0..3 {
        let error = client.get::<IgnoredAny>(&shop(), "").await.expect_err("it is enough");
        assert!((3595..=3600).contains(&wait_of(error)));
    }
    assert_eq!(server.seen().len(), 1, "nobody hammers");
    client.graphql::<Value>(&shop(), "query { a }", json!({})).await.expect("queries are counted apart");
}

#[tokio::test]
async fn abuse_rests_everything() {
    let words = "You have exceeded a secondary rate limit. Wait a few minutes.";
    for status in [403, 429] {
        let server = Server::saying(Said::json(status, &json!({ "message": words }))).await;
        let client = client(&server.url, person());
        let error = client.call::<IgnoredAny>(Method::POST, &shop(), "/x", None::<&Value>).await;
        assert!((55..=60).contains(&wait_of(error.expect_err("it is enough"))));
        let error = client.graphql::<Value>(&shop(), "query { a }", json!({})).await;
        assert!((55..=60).contains(&wait_of(error.expect_err("it is enough"))));
        assert_eq!(server.seen().len(), 1);
    }
}

#[tokio::test]
async fn a_refusal_is_no_limit() {
    let said = Said::json(403, &json!({ "message": "Resource not accessible by integration" }))
        .with("x-ratelimit-remaining", &4999)
        .with("x-ratelimit-reset", &NEXT_HOUR);
    let server = Server::saying(said).await;
    let client = client(&server.url, person());
    for _ in 0..2 {
        let error = client.get::<IgnoredAny>(&shop(), "").await.expect_err("refused");
        let message = "Resource not accessible by integration".to_owned();
        assert_eq!(error, CallError::Refused { status: 403, message });
    }
    assert_eq!(server.seen().len(), 2);
}

#[tokio::test]
async fn the_limit_of_queries_comes_with_a_good_status() {
    let limited = json!({ "errors": [{ "type": "RATE_LIMITED", "message": "API rate limit exceeded" }] });
    let said =
        Said::json(200, &limited).with("date", "Sun, 03 May 2026 10:00:00 GMT").with("x-ratelimit-reset", &NEXT_HOUR);
    let server = Server::start(move |seen, _| match seen.target.as_str() {
        "/graphql" => said.clone(),
        _ => Said::json(200, &json!({})),
    })
    .await;
    let client = client(&server.url, person());
    for _ in 0..2 {
        let error = client.graphql::<Value>(&shop(), "query { a }", json!({})).await.expect_err("it is enough");
        assert!(wait_of(error) > 3000);
    }
    assert_eq!(server.seen().len(), 1);
    client.get::<IgnoredAny>(&shop(), "").await.expect("other calls are counted apart");
}

#[tokio::test]
async fn a_limit_of_queries_that_says_how_long_it_lasts_is_kept_for_so_long() {
    let error =
        |words: &str| json!({ "errors": [{ "type": "RATE_LIMIT", "code": "graphql_rate_limit", "message": words }] });
    let secondary = json!({ "errors": [{ "message": "You have exceeded a secondary rate limit." }] });
    let dated = |body: &Value| {
        Said::json(200, body).with("date", "Sun, 03 May 2026 10:00:00 GMT").with("x-ratelimit-reset", &NEXT_HOUR)
    };
    let table = [
        (dated(&error("API rate limit already exceeded")).with("retry-after", &300), 295..=300),
        (dated(&error("API rate limit already exceeded")), 3595..=3600),
        (dated(&secondary).with("x-ratelimit-remaining", &4000), 55..=60),
        (dated(&secondary).with("x-ratelimit-remaining", &0), 3595..=3600),
    ];
    for (said, expected) in table {
        let server = Server::saying(said).await;
        let client = client(&server.url, person());
        let error = client.graphql::<Value>(&shop(), "mutation { a }", json!({})).await.expect_err("it is enough");
        let wait = wait_of(error);
        assert!(expected.contains(&wait), "{wait} in {expected:?}");
        assert_eq!(server.seen().len(), 1);
    }
}

#[tokio::test]
async fn limits_without_end_come_to_an_end() {
    let server = Server::saying(Said::json(429, &json!({})).with("retry-after", &1)).await;
    let error = client(&server.url, person()).get::<IgnoredAny>(&shop(), "").await.expect_err("it is enough");
    assert_eq!(wait_of(error), 1);
    assert_eq!(server.seen().len(), 3);
}

#[tokio::test]
async fn the_last_calls_of_an_hour_are_kept_for_people() {
    let server = Server::start(|_, before| {
        let left = [4000, 999, 1000][before.min(2)];
        Said::json(200, &json!({}))
            .with("date", "Sun, 03 May 2026 10:00:00 GMT")
            .with("x-ratelimit-limit", &5000)
            .with("x-ratelimit-remaining", &left)
            .with("x-ratelimit-reset", &NEXT_HOUR)
    })
    .await;
    let client = client(&server.url, person());
    for is_strained in [false, true, false] {
        client.get::<IgnoredAny>(&shop(), "").await.expect("whoever waits is answered");
        assert_eq!(client.is_strained(), is_strained);
    }
}
