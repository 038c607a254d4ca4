//! The server itself: its limits, and how it goes down.

use std::time::Duration;

use hedgerow_testkit::World;
use hedgerow_web::Limits;
use serde_json::json;
use tokio::net::TcpStream;

use crate::door::{Door, TOKEN};
use hedgerow_testkit::http::{Ask, Connection};

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_serves_many_requests_one_after_the_other() {
    let door = Door::new().await;
    let mut connection = Connection::open(door.address).await;
    let asked = Ask::new("GET", "/healthz").wire();
    // The second is sent before the first is answered.
    connection.write(&[asked.clone(), asked].concat()).await;
    for _ in 0..2 {
        assert_eq!(connection.answer().await.expect("an answer").status, 200);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_dawdles_over_a_request_is_cut_off() {
    let door = Door::limited(|limits| limits.head = Duration::from_millis(100)).await;
    let mut dawdler = Connection::open(door.address).await;
    dawdler.write(b"GET /healthz HTTP/1.1\r\nHost: x\r\nX-Slow: ").await;
    let answered = dawdler.answer().await;
    assert!(answered.is_none_or(|answered| answered.status == 408));
    let mut silent = Connection::open(door.address).await;
    assert!(silent.answer().await.is_none(), "who says nothing at all as well");
}

#[tokio::test(flavor = "multi_thread")]
async fn who_dawdles_over_a_body_is_told() {
    let door = Door::limited(|limits| limits.body = Duration::from_millis(100)).await;
    let mut dawdler = Connection::open(door.address).await;
    let head = Ask::new("POST", "/api/v1/conversations/c/messages")
        .header("Authorization", &format!("Bearer {TOKEN}"))
        .header("Content-Length", "100");
    dawdler.write(&head.wire()).await;
    dawdler.write(b"{\"text\": ").await;
    let answered = dawdler.answer().await.expect("an answer");
    assert_eq!((answered.status, answered.kind().as_str()), (408, "timeout"));
    assert_eq!(door.waiting().await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_http_is_refused_and_harms_nobody() {
    let door = Door::new().await;
    let many = format!("GET / HTTP/1.1\r\n{}\r\n", "X: y\r\n".repeat(1000));
    let long = format!("GET /{} HTTP/1.1\r\nHost: x\r\n\r\n", "a".repeat(1_000_000));
    for nonsense in [
        "\r\n\r\n\r\n",
        "\u{0}\u{1}\u{2}\r\n\r\n",
        "GET\r\n\r\n",
        "GET / HTTP/9.9\r\n\r\n",
        "GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        "POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        many.as_str(),
        long.as_str(),
    ] {
        let mut connection = Connection::open(door.address).await;
        connection.write(nonsense.as_bytes()).await;
        connection.ends().await;
        let answered = connection.answer().await;
        assert!(answered.is_none_or(|answered| answered.status >= 400), "{}", &nonsense[..20.min(nonsense.len())]);
    }
    assert_eq!(door.get("/healthz").await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn one_connection_too_many_waits_until_another_ends() {
    let door = Door::limited(|limits| limits.connections = 2).await;
    let mut held = Vec::new();
    for _ in 0..2 {
        let mut connection = Connection::open(door.address).await;
        connection.write(&Ask::new("GET", "/healthz").wire()).await;
        assert_eq!(connection.answer().await.expect("an answer").status, 200);
        held.push(connection);
    }
    let mut third = Connection::open(door.address).await;
    third.write(&Ask::new("GET", "/healthz").wire()).await;
    let waits = tokio::time::timeout(Duration::from_millis(100), third.answer()).await;
    assert!(waits.is_err(), "there is no room for a third");
    held.pop();
    assert_eq!(third.answer().await.expect("an answer").status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn going_down_lets_requests_end_and_sends_followers_home() {
    let mut door = Door::new().await;
    let mut following = door.follow(None).await;
    let mut idle = Connection::open(door.address).await;
    idle.write(&Ask::new("GET", "/healthz").wire()).await;
    assert_eq!(idle.answer().await.expect("an answer").status, 200);
    // One whose body is half-way when the end is announced.
    let body = json!({"text": "the last one"}).to_string();
    let head = Ask::new("POST", "/api/v1/conversations/c/messages")
        .header("Authorization", &format!("Bearer {TOKEN}"))
        .header("Expect", "100-continue")
        .header("Content-Length", &body.len().to_string());
    let mut under_way = Connection::open(door.address).await;
    under_way.write(&head.wire()).await;
    assert_eq!(under_way.head().await.expect("it may go on").0, 100);

    door.stop();
    assert!(following.next().await.is_none(), "the stream ends");
    assert!(idle.answer().await.is_none(), "what is idle is closed");
    assert!(TcpStream::connect(door.address).await.is_err(), "nobody listens any more");
    under_way.write(body.as_bytes()).await;
    assert_eq!(under_way.answer().await.expect("an answer").status, 202);
    door.ended().await;
    assert_eq!(door.waiting().await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn going_down_does_not_wait_for_ever() {
    let limits = Limits { grace: Duration::from_millis(50), ..Limits::default() };
    let mut door = Door::with(World::new().await, limits).await;
    let mut stuck = Connection::open(door.address).await;
    let head = Ask::new("POST", "/api/v1/conversations/c/messages")
        .header("Authorization", &format!("Bearer {TOKEN}"))
        .header("Expect", "100-continue")
        .header("Content-Length", "10");
    stuck.write(&head.wire()).await;
    assert_eq!(stuck.head().await.expect("it may go on").0, 100);
    door.stop();
    door.ended().await;
    assert!(stuck.answer().await.is_none());
}
