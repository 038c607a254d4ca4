//! What each sender is told.

use std::convert::Infallible;
use std::sync::atomic::Ordering;

use axum::body::{Body, Bytes};
use axum::http::{Request, StatusCode};
use futures_util::stream;
use hedgerow_core::Secret;
use hedgerow_platforms::github::heard::{Heard, What};
use hedgerow_platforms::github::{signature, webhook};

use crate::corpus::payloads;
use crate::door::{Door, SECRET};

fn ask() -> Vec<u8> {
    payloads("issue_comment")[0].to_string().into_bytes()
}

fn without(header: &str) -> Request<Body> {
    let mut request = Door::request("issue_comment", "d-1", &ask());
    request.headers_mut().remove(header);
    request
}

fn signed(body: &[u8], content_type: &str) -> Request<Body> {
    let mut request = Door::request("issue_comment", "d-1", body);
    request.headers_mut().insert("content-type", content_type.parse().expect("a header"));
    request
}

#[tokio::test]
async fn an_ask_is_taken_once() {
    let door = Door::open();
    let first = door.deliver("issue_comment", "d-1", &ask()).await;
    assert_eq!(first.status, StatusCode::ACCEPTED);
    let id = first.body["message_id"].as_str().expect("an id").to_owned();
    // The same delivery again, and the same comment through a second webhook.
    for delivery in ["d-1", "d-2"] {
        let again = door.deliver("issue_comment", delivery, &ask()).await;
        assert_eq!((again.status, again.body["duplicate"].as_str()), (StatusCode::OK, Some(id.as_str())));
    }
    let kept = door.inbox.kept();
    assert_eq!(kept.len(), 1);
    let heard = Heard::read(&kept[0]).expect("what is kept can be read");
    let What::Asked(asked) = &heard.what else { panic!("{heard:?}") };
    assert_eq!((heard.conversation().as_str(), asked.text.as_str()), ("acme/shop#42", "the login fails, look into it"));
}

/// Looking found the comment after it was edited; then its first delivery comes after all.
#[tokio::test]
async fn a_delivery_that_was_overtaken_by_an_edit_is_not_a_second_ask() {
    let door = Door::open();
    let mut later = payloads("issue_comment").swap_remove(0);
    later["comment"]["updated_at"] = "2026-05-03T10:09:00Z".into();
    assert_eq!(door.deliver("issue_comment", "d-2", later.to_string().as_bytes()).await.status, StatusCode::ACCEPTED);
    let first = door.deliver("issue_comment", "d-1", &ask()).await;
    assert_eq!(first.status, StatusCode::OK);
    assert!(first.body["duplicate"].is_string());
    assert_eq!(door.inbox.kept().len(), 1);
}

#[tokio::test]
async fn what_is_not_signed_is_refused_before_it_is_read() {
    let door = Door::open();
    assert_eq!(door.send(without("x-hub-signature-256")).await.status, StatusCode::UNAUTHORIZED);
    let mut other = Door::request("issue_comment", "d-1", &ask());
    let header = signature::header(&ask(), &Secret::new("another")).parse().expect("a header");
    other.headers_mut().insert("x-hub-signature-256", header);
    assert_eq!(door.send(other).await.status, StatusCode::UNAUTHORIZED);
    let mut nonsense = Door::request("issue_comment", "d-1", b"no JSON at all");
    nonsense.headers_mut().insert("x-hub-signature-256", "sha256=00".parse().expect("a header"));
    assert_eq!(door.send(nonsense).await.status, StatusCode::UNAUTHORIZED);
    assert!(door.inbox.kept().is_empty());
}

#[tokio::test]
async fn without_a_secret_nothing_is_taken() {
    for secrets in [&[][..], &[""][..]] {
        let door = Door::with_secrets(secrets);
        let mut request = Door::request("issue_comment", "d-1", &ask());
        let header = signature::header(&ask(), &Secret::new("")).parse().expect("a header");
        request.headers_mut().insert("x-hub-signature-256", header);
        let answer = door.send(request).await;
        assert_eq!(answer.status, StatusCode::UNAUTHORIZED);
        assert!(answer.body.to_string().contains("GITHUB_WEBHOOK_SECRET"), "{}", answer.body);
    }
}

#[tokio::test]
async fn either_of_two_secrets_opens() {
    let door = Door::with_secrets(&["the new one", SECRET]);
    assert_eq!(door.deliver("issue_comment", "d-1", &ask()).await.status, StatusCode::ACCEPTED);
}

#[tokio::test]
async fn what_has_no_name_is_refused() {
    let door = Door::open();
    for header in ["x-github-event", "x-github-delivery"] {
        assert_eq!(door.send(without(header)).await.status, StatusCode::BAD_REQUEST, "{header}");
    }
    let mut long = Door::request("issue_comment", "d-1", &ask());
    long.headers_mut().insert("x-github-delivery", "d".repeat(5000).parse().expect("a header"));
    assert_eq!(door.send(long).await.status, StatusCode::BAD_REQUEST);
    for body in ["", "[]", "null", "{"] {
        assert_eq!(door.deliver("push", "d-1", body.as_bytes()).await.status, StatusCode::BAD_REQUEST, "{body}");
    }
    assert_eq!(door.deliver("ping", "d-1", b"{}").await.status, StatusCode::OK);
}

#[tokio::test]
async fn a_form_is_taken_like_json() {
    let json = String::from_utf8(ask()).expect("text");
    let encoded: String = json
        .bytes()
        .map(|byte| match byte {
            b' ' => "+".to_owned(),
            byte if byte.is_ascii_alphanumeric() => char::from(byte).to_string(),
            byte => format!("%{byte:02X}"),
        })
        .collect();
    let door = Door::open();
    let form = "application/x-www-form-urlencoded; charset=utf-8";
    let answer = door.send(signed(format!("payload={encoded}").as_bytes(), form)).await;
    assert_eq!(answer.status, StatusCode::ACCEPTED, "{}", answer.body);
    for bad in ["", "other=1", "payload=%7", "payload=%zz", "payload=%+1", "payload=", "payload"] {
        assert_eq!(door.send(signed(bad.as_bytes(), form)).await.status, StatusCode::BAD_REQUEST, "{bad}");
    }
    assert_eq!(door.inbox.kept().len(), 1);
}

#[tokio::test]
async fn a_full_inbox_says_when_to_come_again() {
    let door = Door::open();
    door.inbox.is_full.store(true, Ordering::SeqCst);
    let answer = door.deliver("issue_comment", "d-1", &ask()).await;
    assert_eq!(answer.status, StatusCode::TOO_MANY_REQUESTS);
    assert!(answer.headers.contains_key("retry-after"));
    door.inbox.is_full.store(false, Ordering::SeqCst);
    assert_eq!(door.deliver("issue_comment", "d-1", &ask()).await.status, StatusCode::ACCEPTED);
}

#[tokio::test]
async fn twenty_five_megabytes_are_taken_and_more_is_not() {
    let door = Door::open();
    let mut body = vec![b' '; webhook::LARGEST];
    body[..2].copy_from_slice(b"{}");
    assert_eq!(door.deliver("push", "d-1", &body).await.status, StatusCode::OK);
    body.push(b' ');
    assert_eq!(door.deliver("push", "d-1", &body).await.status, StatusCode::PAYLOAD_TOO_LARGE);
    // Without saying beforehand how much it is.
    let mut request = Door::request("push", "d-1", b"{}");
    let pieces = vec![Ok::<_, Infallible>(Bytes::from(vec![b' '; 1 << 20])); 26];
    *request.body_mut() = Body::from_stream(stream::iter(pieces));
    assert_eq!(door.send(request).await.status, StatusCode::PAYLOAD_TOO_LARGE);
}

#[tokio::test]
async fn other_methods_and_paths_are_not_ours() {
    let door = Door::open();
    let get = Request::get(webhook::PATH).body(Body::empty()).expect("a request");
    assert_eq!(door.send(get).await.status, StatusCode::METHOD_NOT_ALLOWED);
}
