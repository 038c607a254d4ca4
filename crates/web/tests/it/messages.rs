//! What is said, and what is answered.

use std::collections::BTreeSet;

use std::sync::atomic::Ordering;

use serde_json::json;

use crate::door::Door;
use hedgerow_testkit::http::Ask;

const CHAT: &str = "/api/v1/conversations/support-17/messages";

fn with_key(path: &str, key: &str, text: &str) -> Ask {
    let body = json!({ "text": text }).to_string();
    Ask::new("POST", path).header("Idempotency-Key", key).bytes(body.as_bytes())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_is_written_down_before_it_is_acknowledged() {
    let door = Door::new().await;
    let body = json!({"text": "fix the login", "codebase": "shop", "author": "alice"});
    let answered = door.post(CHAT, &body).await;
    assert_eq!(answered.status, 202);
    let (id, _, message) = door.takes().await;
    assert_eq!(answered.json(), json!({"message_id": id.to_string()}));
    assert_eq!((message.conversation.id.as_str(), message.text.as_str()), ("support-17", "fix the login"));
    assert_eq!((message.codebase.as_deref(), message.author.id.as_str()), (Some("shop"), "alice"));
}

#[tokio::test(flavor = "multi_thread")]
async fn who_names_nobody_speaks_as_the_bearer_of_the_token() {
    let door = Door::new().await;
    door.says("support-17", "hello").await;
    assert_eq!(door.takes().await.2.author.id, "api");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repeat_gets_the_same_answer_and_is_not_written_again() {
    let door = Door::new().await;
    let first = door.ask(with_key(CHAT, "k-1", "hello")).await;
    let again = door.ask(with_key(CHAT, "k-1", "hello")).await;
    assert_eq!((first.status, again.status), (202, 202));
    assert_eq!(first.json(), again.json());
    assert_eq!(door.waiting().await, 1);
    door.answers(&["hi"]).await;
    let late = door.ask(with_key(CHAT, "k-1", "hello")).await;
    assert_eq!((late.status, late.json()), (202, first.json()), "also when it was answered meanwhile");
    assert_eq!(door.waiting().await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_counts_within_its_conversation_only() {
    let door = Door::new().await;
    for (path, key) in [
        (CHAT, "k"),
        ("/api/v1/conversations/other/messages", "k"),
        // Put together carelessly, these two would be one.
        ("/api/v1/conversations/b%20c/messages", "a"),
        ("/api/v1/conversations/c/messages", "a-b"),
        ("/api/v1/conversations/b/messages", "a"),
    ] {
        assert_eq!(door.ask(with_key(path, key, "hello")).await.status, 202);
    }
    assert_eq!(door.waiting().await, 5);
    for _ in 0..2 {
        door.says("support-17", "without a key nothing is a repeat").await;
    }
    assert_eq!(door.waiting().await, 7);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_said_and_answered_can_be_read() {
    let door = Door::new().await;
    door.says("support-17", "fix the login").await;
    door.answers(&["Working on it.", "Done."]).await;
    let spoken = door.get(CHAT).await;
    assert_eq!(spoken.status, 200);
    let mut spoken = spoken.json();
    let mut about = BTreeSet::new();
    for one in spoken.as_array_mut().expect("an array") {
        about.insert(one.as_object_mut().expect("an object").remove("message_id").expect("an id").to_string());
        let at = one.as_object_mut().expect("an object").remove("at").expect("a time");
        assert!(at.as_str().is_some_and(|at| at.starts_with("2026-05-03T10:00:0") && at.ends_with('Z')), "{at}");
    }
    assert_eq!(about.len(), 1, "the answers name the message that they answer: {about:?}");
    assert_eq!(
        spoken,
        json!([
            {"author": "http:api", "text": "fix the login", "final": false},
            {"author": "hedgerow", "text": "Working on it.", "final": false},
            {"author": "hedgerow", "text": "Done.", "final": true},
        ])
    );
    let last = door.get(&format!("{CHAT}?limit=1")).await.json();
    assert_eq!((last.as_array().map(Vec::len), &last[0]["text"]), (Some(1), &json!("Done.")));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_that_nobody_began_is_not_found_and_one_that_waits_is_empty() {
    let door = Door::new().await;
    let unknown = door.get(CHAT).await;
    assert_eq!((unknown.status, unknown.kind().as_str()), (404, "not_found"));
    door.says("support-17", "hello").await;
    let waiting = door.get(CHAT).await;
    assert_eq!((waiting.status, waiting.json()), (200, json!([])));
    assert_eq!(door.get("/api/v1/conversations/other/messages").await.status, 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn when_there_is_no_room_the_caller_is_told_when_to_come_back() {
    let door = Door::new().await;
    assert_eq!(door.ask(with_key(CHAT, "known", "hello")).await.status, 202);
    door.room.store(1, Ordering::SeqCst);
    let busy = door.ask(with_key(CHAT, "new", "hello")).await;
    assert_eq!((busy.status, busy.kind().as_str(), busy.header("retry-after")), (429, "limit", Some("5")));
    assert_eq!(door.ask(with_key(CHAT, "known", "hello")).await.status, 202, "a repeat takes no room");
    assert_eq!(door.waiting().await, 1);
    door.room.store(10, Ordering::SeqCst);
    assert_eq!(door.ask(with_key(CHAT, "new", "hello")).await.status, 202, "refused is not remembered");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_urgent_passes_what_waits() {
    let door = Door::new().await;
    door.says("support-17", "a long piece of work").await;
    door.says("support-17", "another one").await;
    let stop = door.says("support-17", "/stop").await;
    assert_eq!(door.takes().await.0.to_string(), stop);
    assert_eq!(door.takes().await.2.text, "a long piece of work");
}

#[tokio::test(flavor = "multi_thread")]
async fn names_of_conversations_are_decoded_and_any_text_survives() {
    let door = Door::new().await;
    let text = "quotes \" \\ \n\r\t, \u{1f33f}, \u{202e}, data: x\n\nevent: y";
    let path = "/api/v1/conversations/team%2Fa%20b%3F%23%C3%BC/messages";
    assert_eq!(door.post(path, &json!({ "text": text })).await.status, 202);
    let (.., message) = door.takes().await;
    assert_eq!((message.conversation.id.as_str(), message.text.as_str()), ("team/a b?#ü", text));
    assert_eq!(door.get(path).await.json()[0]["text"], json!(text));
}
