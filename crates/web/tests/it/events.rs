//! What happens, followed as it happens.

use std::collections::BTreeSet;
use std::time::Duration;

use hedgerow_core::assistant::{Step, StepState, Usage};
use hedgerow_core::environment::Actor;
use hedgerow_core::platform::{ConversationKey, Glimpse, Live, Platform as _, PlatformKind};
use hedgerow_core::{EventId, RunId};
use hedgerow_engine::store::NewEvent;
use serde_json::json;

use crate::door::{Door, EVENTS};
use hedgerow_testkit::http::{Event, Following};

fn key(id: &str) -> ConversationKey {
    ConversationKey { platform: PlatformKind::Http, id: id.to_owned() }
}

/// Writes to the log, and has it looked at.
async fn happens(door: &Door, what: &'static str, detail: &str) {
    let event = NewEvent::new(door.world.engine.now(), &Actor::automation(), what).detail(detail);
    door.world.engine.store().record(&event).await.expect("it is written");
    door.sends(&key("any")).await;
}

/// Writes an entry whose id was made before those that are there already, as another process may: nobody is told.
async fn happens_late(door: &Door, id: EventId, detail: &str) {
    let insert = format!(
        "INSERT INTO events (id, at, actor, what, detail) VALUES ('{id}', 0, 'hedgerow:automation', 'late', '{detail}')"
    );
    door.world.database().meddle(&insert).await.expect("it is written");
}

async fn details(following: &mut Following, many: usize) -> Vec<String> {
    let mut details = Vec::new();
    for _ in 0..many {
        let event = following.next().await.expect("an event");
        details.push(event.json()["detail"].as_str().expect("a detail").to_owned());
    }
    details
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reply_comes_with_its_words_to_whoever_follows() {
    let door = Door::new().await;
    let mut following = door.follow(None).await;
    let message = door.says("support-17", "hello").await;
    door.answers(&["line one\nline two"]).await;
    let said = following.next().await.expect("an event");
    assert_eq!(said.name, "message");
    let data = said.json();
    assert_eq!((&data["text"], &data["actor"]), (&json!("hello"), &json!("http:api")));
    assert_eq!(data["message_id"], json!(message));
    let event = following.next().await.expect("an event");
    assert_eq!(event.name, "reply");
    assert!(event.id.as_deref().is_some_and(|id| id.parse::<EventId>().is_ok()));
    let data = event.json();
    for (field, value) in [
        ("what", json!("reply")),
        ("conversation", json!("http:support-17")),
        ("text", json!("line one\nline two")),
        ("message_id", json!(message)),
        ("final", json!(true)),
    ] {
        assert_eq!(data[field], value, "{field}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn environments_and_codebases_tell_of_themselves_under_their_names() {
    let door = Door::new().await;
    let mut following = door.follow(None).await;
    let (_, codebase) = door.world.given_a_repo("shop").await;
    let environment = door.world.environment(&codebase, hedgerow_core::Work::Issue(1)).await;
    let added = following.next().await.expect("an event");
    assert_eq!((added.name.as_str(), &added.json()["what"]), ("codebase", &json!("codebase-added")));
    let mut event = following.next().await.expect("an event");
    while event.json()["what"] != json!("environment-created") {
        assert_eq!(event.name, "environment");
        event = following.next().await.expect("an event");
    }
    assert_eq!(event.json()["environment_id"], json!(environment.id.to_string()));
}

#[tokio::test(flavor = "multi_thread")]
async fn who_comes_back_gets_what_was_missed_and_nothing_twice() {
    let door = Door::new().await;
    let mut following = door.follow(None).await;
    for number in 0..5 {
        happens(&door, "tested", &number.to_string()).await;
    }
    let mut seen: Vec<Event> = Vec::new();
    for _ in 0..5 {
        seen.push(following.next().await.expect("an event"));
    }
    drop(following);
    happens(&door, "tested", "5").await;
    for (position, event) in seen.iter().enumerate() {
        let mut back = door.follow(event.id.as_deref()).await;
        let missed: Vec<String> = (position + 1..6).map(|number| number.to_string()).collect();
        assert_eq!(details(&mut back, missed.len()).await, missed, "after {position}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_server_never_saw_is_read_from_the_log() {
    let door = Door::new().await;
    // Older than the server's own memory: another process wrote it, long ago as ids go.
    let long_ago: EventId = "01900000-0000-7000-8000-000000000000".parse().expect("an id");
    happens_late(&door, long_ago, "first").await;
    let mut names = vec![];
    for number in 1..1200 {
        let id = format!("01900000-ffff-7000-8000-{number:012}").parse().expect("an id");
        names.push((id, number.to_string()));
    }
    let rows: Vec<String> = names
        .iter()
        .map(|(id, number): &(EventId, String)| format!("('{id}', 0, 'hedgerow:automation', 'late', '{number}')"))
        .collect();
    let insert = format!("INSERT INTO events (id, at, actor, what, detail) VALUES {}", rows.join(", "));
    door.world.database().meddle(&insert).await.expect("they are written");
    let mut following = door.follow(Some(&long_ago.to_string())).await;
    let expected: Vec<String> = names.into_iter().map(|(_, number)| number).collect();
    assert_eq!(details(&mut following, expected.len()).await, expected);
    happens(&door, "tested", "now").await;
    assert_eq!(details(&mut following, 1).await, ["now"], "and then goes on as it happens");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_written_out_of_order_is_not_overlooked() {
    let door = Door::new().await;
    let mut following = door.follow(None).await;
    let slow = EventId::new();
    happens(&door, "tested", "quick").await;
    let quick = following.next().await.expect("an event");
    happens_late(&door, slow, "slow").await;
    assert_eq!(details(&mut following, 1).await, ["slow"]);
    happens(&door, "tested", "next").await;
    assert_eq!(details(&mut following, 1).await, ["next"], "each of them once");
    // Who has seen the quick one only comes back for the slow one, although its id is older.
    let mut back = door.follow(quick.id.as_deref()).await;
    assert_eq!(details(&mut back, 2).await, ["slow", "next"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn glimpses_of_a_run_are_shown_live_without_an_id() {
    let door = Door::new().await;
    let mut following = door.follow(None).await;
    let run = RunId::new();
    let all = [Glimpse::Started, Glimpse::Text("a\nb".into()), Glimpse::Tool("cargo test".into()), Glimpse::Ended];
    for what in all {
        door.platform.show(&key("support-17"), &Live { run, what }).await;
    }
    let plan = vec![Step { text: "fix".to_owned(), state: StepState::Active }];
    let usage = Usage { input_tokens: 9, cached_tokens: 5, output_tokens: 2, cost_micros: None };
    for what in [Glimpse::Plan(plan), Glimpse::Usage(usage), Glimpse::Note("it waits".to_owned())] {
        door.platform.show(&key("support-17"), &Live { run, what }).await;
    }
    for (what, text) in [("started", None), ("text", Some("a\nb")), ("tool", Some("cargo test")), ("ended", None)] {
        let event = following.next().await.expect("an event");
        assert_eq!((event.name.as_str(), &event.id), ("live", &None));
        let data = json!({
            "what": what, "text": text, "run_id": run.to_string(), "conversation": "http:support-17",
        });
        assert_eq!(event.json(), data);
    }
    let mut next = async || following.next().await.expect("an event").json();
    let plan = next().await;
    assert_eq!((&plan["what"], &plan["steps"]), (&json!("plan"), &json!([{"text": "fix", "state": "active"}])));
    let used = next().await;
    assert_eq!((&used["what"], &used["usage"]["input_tokens"]), (&json!("usage"), &json!(9)));
    let note = next().await;
    assert_eq!((&note["what"], &note["text"]), (&json!("note"), &json!("it waits")));
}

#[tokio::test(flavor = "multi_thread")]
async fn one_conversation_can_be_followed_alone() {
    let door = Door::new().await;
    let mut following = door.follow_at(&format!("{EVENTS}?conversation=b"), None).await.expect("a stream");
    for conversation in ["a", "b"] {
        door.says(conversation, "hello").await;
        door.platform.show(&key(conversation), &Live { run: RunId::new(), what: Glimpse::Started }).await;
    }
    assert_eq!(following.next().await.expect("an event").json()["conversation"], json!("http:b"));
    for _ in 0..2 {
        door.answers(&["hi"]).await;
    }
    for name in ["message", "reply"] {
        let event = following.next().await.expect("an event");
        assert_eq!((event.name.as_str(), &event.json()["conversation"]), (name, &json!("http:b")));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_does_not_read_is_let_go_and_can_come_back_for_everything() {
    let door = Door::limited(|limits| limits.write = Duration::from_millis(200)).await;
    let mut following = door.follow(None).await;
    happens(&door, "tested", "first").await;
    let first = following.next().await.expect("an event");
    // More than all buffers on the way can hold.
    let long = "x".repeat(500_000);
    let mut sent = 0;
    while door.followers().await > 0 {
        happens(&door, "tested", &format!("{sent} {long}")).await;
        sent += 1;
        assert!(sent < 200, "the one who does not read is still there");
    }
    assert!(sent > 2);
    // A busy machine may be too slow a reader itself; then it comes back once more.
    let (mut back, mut last) = (door.follow(first.id.as_deref()).await, first.id);
    let mut all = BTreeSet::new();
    while all.len() < sent {
        match back.next().await {
            Some(event) => {
                let detail = event.json()["detail"].as_str().expect("a detail").replace(&long, "");
                assert!(all.insert(detail.clone()), "{detail}came twice");
                last = event.id;
            }
            None => back = door.follow(last.as_deref()).await,
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_cannot_keep_up_with_live_text_is_sent_home() {
    let door = Door::new().await;
    let mut following = door.follow(None).await;
    let run = RunId::new();
    let long = "x".repeat(20_000);
    for _ in 0..2000 {
        door.platform.show(&key("c"), &Live { run, what: Glimpse::Text(long.clone()) }).await;
    }
    let mut seen = 0;
    while following.next().await.is_some() {
        seen += 1;
    }
    assert!(seen < 2000, "the stream ended early, at {seen}");
}

#[tokio::test(flavor = "multi_thread")]
async fn only_so_many_may_follow() {
    let door = Door::limited(|limits| limits.followers = 2).await;
    let (first, _second) = (door.follow(None).await, door.follow(None).await);
    assert_eq!(door.follow_at(EVENTS, None).await.err(), Some(429));
    drop(first);
    // The server notices that somebody hung up when it next has something to say.
    while door.followers().await == 2 {
        happens(&door, "tested", "anyone there?").await;
    }
    assert!(door.follow_at(EVENTS, None).await.is_ok());
}
