//! Deliveries that are signed and wrong.

use hedgerow_platforms::github::payload::events;
use proptest::prelude::*;
use proptest::test_runner::{Config as Runs, TestRunner};
use serde_json::{Value, json};

use crate::corpus::payloads;
use crate::door::Door;

/// The payload with each of its fields, in turn, of another type or gone. At most about this many.
pub(crate) fn variants(payload: &Value, most: usize) -> Vec<String> {
    let mut fields = Vec::new();
    pointers(payload, "", &mut fields);
    let values = [Some(Value::Null), Some(json!(7)), Some(json!("seven")), Some(json!([])), Some(json!({})), None];
    let step = (fields.len() * values.len()).div_ceil(most).max(1);
    let each = fields.iter().flat_map(|field| values.iter().map(move |value| (field, value)));
    each.step_by(step).map(|(field, value)| changed(payload, field, value.as_ref()).to_string()).collect()
}

fn pointers(value: &Value, at: &str, all: &mut Vec<String>) {
    let Value::Object(fields) = value else { return };
    for (name, inner) in fields {
        let pointer = format!("{at}/{}", name.replace('~', "~0").replace('/', "~1"));
        pointers(inner, &pointer, all);
        all.push(pointer);
    }
}

fn changed(payload: &Value, pointer: &str, value: Option<&Value>) -> Value {
    let mut payload = payload.clone();
    let (parent, name) = pointer.rsplit_once('/').expect("a pointer begins with a slash");
    let parent = payload.pointer_mut(parent).and_then(Value::as_object_mut).expect("the parent is there");
    match value {
        Some(value) => parent.insert(name.to_owned(), value.clone()),
        None => parent.remove(name),
    };
    payload
}

#[tokio::test]
async fn a_field_of_another_type_is_our_failure_in_no_event() {
    let door = Door::open();
    let mut refused = 0;
    for event in events::USED {
        for (number, payload) in payloads(event).iter().enumerate() {
            // One of each type thoroughly.
            for broken in variants(payload, if number == 0 { 400 } else { 40 }) {
                let answer = door.deliver(event, "broken", broken.as_bytes()).await;
                let is_expected = answer.status.is_success() || answer.status == 422;
                assert!(is_expected, "{event}: {} of {broken}", answer.status);
                refused += usize::from(answer.status == 422);
            }
        }
    }
    assert!(refused > 50, "{refused} were refused");
}

#[tokio::test]
async fn a_body_that_ends_early_is_refused() {
    let door = Door::open();
    for event in events::ALL {
        let whole = payloads(event)[0].to_string().into_bytes();
        let step = (whole.len() / 40).max(1);
        for end in (0..whole.len()).step_by(step) {
            let answer = door.deliver(event, "cut", &whole[..end]).await;
            // The whole may end inside an object; what nobody reads is not looked into.
            let is_expected = answer.status == 400 || (!events::USED.contains(event) && answer.status == 200);
            assert!(is_expected, "{event}, {end} bytes: {}", answer.status);
        }
    }
    assert!(door.inbox.kept().is_empty());
}

#[test]
fn no_bytes_make_us_fail() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let door = Door::open();
    let events = prop::sample::select(events::USED);
    let bytes = prop_oneof![
        prop::collection::vec(any::<u8>(), 0..300),
        "[{}\\[\\]\",:0-9a-z@ ]{0,200}".prop_map(String::into_bytes),
    ];
    let mut runner = TestRunner::new(Runs { cases: 500, failure_persistence: None, ..Runs::default() });
    let ran = runner.run(&(events, bytes, any::<bool>()), |(event, bytes, is_form)| {
        let mut request = Door::request(event, "random", &bytes);
        if is_form {
            let form = "application/x-www-form-urlencoded".parse().expect("a header");
            request.headers_mut().insert("content-type", form);
        }
        let answer = runtime.block_on(door.send(request));
        prop_assert!(answer.status.is_client_error() || answer.status.is_success(), "{}", answer.status);
        Ok(())
    });
    ran.unwrap_or_else(|error| panic!("{error}"));
}

#[tokio::test]
async fn bytes_turned_around_in_a_delivery_are_our_failure_nowhere() {
    let door = Door::open();
    let whole = payloads("issue_comment")[0].to_string().into_bytes();
    for at in (0..whole.len()).step_by(whole.len() / 500) {
        let mut broken = whole.clone();
        broken[at] ^= 0x55;
        let answer = door.deliver("issue_comment", "flipped", &broken).await;
        assert!(!answer.status.is_server_error(), "{at}: {}", answer.status);
    }
}

#[tokio::test]
async fn deep_nesting_is_passed_over() {
    let door = Door::open();
    let deep = format!("{{\"action\":\"created\",\"x\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000));
    // What is missed is the rest of the comment.
    assert_eq!(door.deliver("issue_comment", "deep", deep.as_bytes()).await.status, 422);
    let deep = deep.replace("\"x\"", "\"issue\"");
    assert!(door.deliver("issue_comment", "deep", deep.as_bytes()).await.status.is_client_error());
}
