//! Whatever is wrong with a request, its caller is told in one form and nothing is written.

use crate::door::Door;
use hedgerow_testkit::http::{Answered, Ask};

const CHAT: &str = "/api/v1/conversations/c/messages";
const ENVIRONMENTS: &str = "/api/v1/environments";
const CODEBASES: &str = "/api/v1/codebases";

#[tokio::test(flavor = "multi_thread")]
async fn bodies_that_are_not_what_a_path_takes_are_refused() {
    let door = Door::new().await;
    let long = format!(r#"{{"text": "x", "author": "{}"}}"#, "a".repeat(201));
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let bodies: Vec<(&str, &[u8])> = vec![
        (CHAT, b""),
        (CHAT, b"hello"),
        (CHAT, b"null"),
        (CHAT, b"[]"),
        (CHAT, b"{}"),
        (CHAT, b"{\"text\": \"x\""),
        (CHAT, b"{\"text\": \"x\"} trailing"),
        (CHAT, b"{\"text\": 1}"),
        (CHAT, b"{\"text\": null}"),
        (CHAT, b"{\"text\": \"\"}"),
        (CHAT, b"{\"text\": \" \\n \"}"),
        (CHAT, b"{\"text\": \"x\", \"text\": \"y\"}"),
        (CHAT, b"{\"text\": \"x\", \"codebse\": \"shop\"}"),
        (CHAT, b"{\"text\": \"x\", \"codebase\": \"\"}"),
        (CHAT, b"{\"text\": \"x\", \"codebase\": 7}"),
        (CHAT, b"{\"text\": \"x\", \"author\": \"\"}"),
        (CHAT, b"{\"text\": \"x\", \"author\": \"a\\nb\"}"),
        // Only the bearer of the token is called so, and may do more.
        (CHAT, b"{\"text\": \"x\", \"author\": \"api\"}"),
        (CHAT, b"{\"text\": \"x\", \"author\": \" api \"}"),
        (CHAT, b"{\"text\": \"\xff\xfe\"}"),
        (CHAT, b"{\"text\": \"\\ud800\"}"),
        (CHAT, long.as_bytes()),
        (CHAT, deep.as_bytes()),
        (ENVIRONMENTS, b"{\"work\": 42}"),
        (ENVIRONMENTS, b"{\"work\": \"issue-1\", \"fixes\": [-1]}"),
        (ENVIRONMENTS, b"{\"work\": \"issue-1\", \"oops\": 1}"),
        (CODEBASES, b"{}"),
        (CODEBASES, b"{\"path\": \"relative\"}"),
        (CODEBASES, b"{\"path\": \"/x\", \"url\": \"https://example.com/x\"}"),
    ];
    for (path, body) in bodies {
        let answered = door.ask(Ask::new("POST", path).bytes(body)).await;
        let shown = String::from_utf8_lossy(&body[..body.len().min(80)]);
        assert_eq!((answered.status, answered.kind().as_str()), (422, "usage"), "{path} {shown}");
    }
    assert_eq!(door.waiting().await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn names_queries_and_headers_are_checked_as_well() {
    let door = Door::new().await;
    let long = format!("/api/v1/conversations/{}/messages", "a".repeat(201));
    for path in [
        "/api/v1/conversations/a%00b/messages",
        "/api/v1/conversations/%ff/messages",
        "/api/v1/conversations/%20/messages",
        "/api/v1/conversations//messages",
        "/api/v1/conversations/a%0Ab/messages",
        long.as_str(),
        "/api/v1/conversations/c/messages?limit=0",
        "/api/v1/conversations/c/messages?limit=1001",
        "/api/v1/conversations/c/messages?limit=-1",
        "/api/v1/conversations/c/messages?limit=many",
        "/api/v1/conversations/c/messages?limit=1&limit=2",
        "/api/v1/conversations/c/messages?limt=1",
        "/api/v1/environments?full=maybe",
        "/api/v1/environments/x?oops=1",
    ] {
        let answered = door.get(path).await;
        assert_eq!((answered.status, answered.kind().as_str()), (422, "usage"), "{path}: {answered:?}");
    }
    let long = "k".repeat(201);
    for key in ["", "two words", "caf\u{e9}", &long] {
        let asked = Ask::new("POST", CHAT).header("Idempotency-Key", key).bytes(b"{\"text\": \"x\"}");
        assert_eq!(door.ask(asked).await.status, 422, "{key:?}");
    }
    let two = Ask::new("POST", CHAT).header("Idempotency-Key", "a").header("Idempotency-Key", "b");
    assert_eq!(door.ask(two.bytes(b"{\"text\": \"x\"}")).await.status, 422);
    assert_eq!(door.follow_at("/api/v1/events", Some("42")).await.err(), Some(422));
    assert_eq!(door.follow_at("/api/v1/events?x=1", None).await.err(), Some(422));
    assert_eq!(door.waiting().await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_may_be_a_mebibyte_and_not_a_byte_more() {
    let door = Door::new().await;
    let body = |bytes: usize| {
        let frame = r#"{"text":""}"#.len();
        format!(r#"{{"text":"{}"}}"#, "x".repeat(bytes - frame)).into_bytes()
    };
    let most = 1024 * 1024;
    assert_eq!(door.ask(Ask::new("POST", CHAT).bytes(&body(most))).await.status, 202);
    let too_large = |answered: Answered| assert_eq!((answered.status, answered.kind().as_str()), (413, "too_large"));
    too_large(door.ask(Ask::new("POST", CHAT).bytes(&body(most + 1))).await);
    // Announced only: not a byte of it is waited for.
    too_large(door.ask(Ask::new("POST", CHAT).header("Content-Length", "1048577").bytes(b"")).await);
    // Not announced: found out on the way.
    let mut chunked = format!("{:x}\r\n", most + 1).into_bytes();
    chunked.extend(body(most + 1));
    chunked.extend(b"\r\n0\r\n\r\n");
    let asked = Ask::new("POST", CHAT).header("Transfer-Encoding", "chunked").header("content-length", "");
    let wire = String::from_utf8(asked.wire()).expect("text").replace("content-length: \r\n", "");
    let wire = wire.replace("\r\n\r\n", &format!("\r\nAuthorization: Bearer {}\r\n\r\n", crate::door::TOKEN));
    let mut connection = hedgerow_testkit::http::Connection::open(door.address).await;
    connection.write(&[wire.into_bytes(), chunked].concat()).await;
    too_large(connection.answer().await.expect("an answer"));
    assert_eq!(door.waiting().await, 1);
}
