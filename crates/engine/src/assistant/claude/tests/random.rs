//! Whatever it says, it is heard: no line breaks a turn.

use proptest::prelude::*;

use super::*;

/// Keys and words that mean something to the driver, so that what is made of them goes deep.
const KEYS: [&str; 40] = [
    "type",
    "subtype",
    "message",
    "content",
    "id",
    "model",
    "text",
    "name",
    "input",
    "event",
    "delta",
    "usage",
    "error",
    "session_id",
    "cwd",
    "parent_tool_use_id",
    "request",
    "request_id",
    "response",
    "tool_name",
    "result",
    "errors",
    "is_error",
    "api_error_status",
    "terminal_reason",
    "todos",
    "status",
    "subject",
    "taskId",
    "tool_use_result",
    "task",
    "rate_limit_info",
    "resetsAt",
    "model_usage_since_last_result",
    "costUSD",
    "total_cost_usd",
    "input_tokens",
    "retry_delay_ms",
    "file_path",
    "command",
];
const WORDS: [&str; 26] = [
    "system",
    "init",
    "api_retry",
    "stream_event",
    "message_start",
    "content_block_start",
    "content_block_delta",
    "text_delta",
    "message_delta",
    "assistant",
    "text",
    "tool_use",
    "TodoWrite",
    "TaskCreate",
    "TaskUpdate",
    "Bash",
    "user",
    "rate_limit_event",
    "rejected",
    "control_request",
    "can_use_tool",
    "control_response",
    "success",
    "/trees/shop/é",
    "|9",
    "prompt_too_long",
];

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        prop::sample::select(&WORDS[..]).prop_map(Value::from),
        "[\\x00a/é|\"\n]{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 48, 6, |inner| {
        let pairs = prop::collection::vec((prop::sample::select(&KEYS[..]), inner.clone()), 0..6);
        let object = pairs.prop_map(|pairs| pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect());
        prop_oneof![object.prop_map(Value::Object), prop::collection::vec(inner, 0..4).prop_map(Value::Array)]
    })
}

/// A line of a type that means something, with anything in it.
fn line() -> impl Strategy<Value = Value> {
    let pairs = prop::collection::vec((prop::sample::select(&KEYS[..]), value()), 0..8);
    (prop::sample::select(&WORDS[..]), pairs).prop_map(|(kind, pairs)| {
        let mut line: serde_json::Map<_, _> = pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
        line.insert("type".to_owned(), kind.into());
        Value::Object(line)
    })
}

/// PostgreSQL has no NUL.
fn can_be_kept(update: &Update) -> bool {
    match update {
        Update::Session(text) | Update::Text(text) | Update::Tool(text) | Update::Note(text) | Update::Other(text) => {
            !text.contains('\0')
        }
        Update::Plan(steps) => steps.iter().all(|step| !step.text.contains('\0')),
        Update::Usage(_) => true,
        Update::Memory(_) | Update::Finished(_) => false,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_line_whatever_breaks_a_turn(lines in prop::collection::vec(line(), 0..12), last in value(), resumes: bool) {
        let mut talk = if resumes { resumed() } else { talk() };
        for line in &lines {
            let heard = hear(talk.as_mut(), line);
            prop_assert!(!heard.is_over, "only a result is the last word");
            let asks = line["type"] == "control_request";
            prop_assert_eq!(heard.reply.is_empty(), !asks, "a question is answered, and nothing else");
            prop_assert!(heard.updates.iter().all(can_be_kept));
        }
        let mut result = json!({"type": "result", "is_error": false, "result": "fine"});
        let heard = hear(talk.as_mut(), &result);
        prop_assert!(heard.is_over);
        // It may say anything about the end, and there is one.
        result["result"] = last.clone();
        result["errors"] = last.clone();
        result["model_usage_since_last_result"] = last;
        hear(talk.as_mut(), &result);
        prop_assert!(talk.end(&Parting::default()).is_ok());
    }

    #[test]
    fn no_bytes_whatever_break_a_turn(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let mut talk = talk();
        prop_assert!(talk.hear(&bytes).is_ok());
        prop_assert!(talk.end(&Parting::default()).is_err());
    }
}
