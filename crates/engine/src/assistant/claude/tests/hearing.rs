//! What is heard of a turn that goes well, and what is answered.

use hedgerow_core::assistant::{Step, StepState, Usage};

use super::*;

fn event(event: &Value) -> Value {
    json!({"type": "stream_event", "event": event, "parent_tool_use_id": null})
}

fn started(message: &str) -> Value {
    event(
        &json!({"type": "message_start", "message": {"id": message, "usage": {"input_tokens": 10, "output_tokens": 1}}}),
    )
}

fn delta(piece: &str) -> Value {
    event(&json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": piece}}))
}

fn begins(kind: &str) -> Value {
    event(&json!({"type": "content_block_start", "index": 0, "content_block": {"type": kind}}))
}

fn ended(output: u64) -> Value {
    event(&json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": output}}))
}

fn used(input_tokens: u64, output_tokens: u64) -> Update {
    Update::Usage(Usage { input_tokens, output_tokens, ..Usage::default() })
}

#[test]
fn a_turn_with_a_tool_is_told_in_order() {
    let found = json!({"type": "user", "message": {"content": [{"type": "tool_result", "tool_use_id": "t1"}]}});
    let lines = [
        init(),
        says("m1", "I look."),
        uses("Bash", &json!({"command": "ls /trees/shop/src"})),
        found.clone(),
        says("m2", "all done"),
        result("all done"),
        says("m3", "too late"),
    ];
    let (updates, outcome) = heard(talk(), &lines);
    let expected = [
        Update::Session("0195f0aa-1111".to_owned()),
        text("I look."),
        Update::Tool("$ ls src".to_owned()),
        Update::Other(found.to_string()),
        text("\n\nall done"),
    ];
    assert_eq!(updates, expected);
    let outcome = outcome.expect("it went well, whatever its exit status");
    assert_eq!((outcome.answer.as_str(), outcome.session.as_deref()), ("all done", Some("0195f0aa-1111")));
}

#[test]
fn text_that_came_in_pieces_is_not_said_again() {
    let thinking = block("m1", &json!({"type": "thinking", "thinking": "hm"}));
    let lines = [
        init(),
        json!({"type": "system", "subtype": "status", "status": "requesting"}),
        started("m1"),
        begins("thinking"),
        event(&json!({"type": "content_block_delta", "delta": {"type": "thinking_delta", "thinking": "hm"}})),
        json!({"type": "system", "subtype": "thinking_tokens", "estimated_tokens": 1}),
        thinking.clone(),
        begins("text"),
        delta("hello "),
        delta("there"),
        says("m1", "hello there"),
        event(&json!({"type": "content_block_stop", "index": 0})),
        ended(5),
        started("m2"),
        begins("text"),
        delta("bye"),
        says("m2", "bye"),
        ended(3),
        says("m9", "not in pieces"),
        result("bye"),
    ];
    let (updates, outcome) = heard(talk(), &lines);
    let expected = [
        Update::Session("0195f0aa-1111".to_owned()),
        Update::Other(thinking.to_string()),
        text("hello "),
        text("there"),
        used(10, 5),
        text("\n\nbye"),
        used(20, 8),
        text("\n\nnot in pieces"),
    ];
    assert_eq!(updates, expected);
    assert_eq!(outcome.expect("it went well").answer, "bye");
}

#[test]
fn what_a_subagent_says_is_not_the_answer_but_what_it_does_is_told() {
    let mut piece = delta("secret");
    piece["parent_tool_use_id"] = json!("t0");
    let mut whole = says("m5", "secret");
    whole["parent_tool_use_id"] = json!("t0");
    let mut edit = uses("Edit", &json!({"file_path": "/trees/shop/a.rs"}));
    edit["parent_tool_use_id"] = json!("t0");
    let (updates, _) = heard(talk(), &[piece, whole, edit, result("x")]);
    assert_eq!(updates, [Update::Tool("edit a.rs".to_owned())]);
}

#[test]
fn a_session_is_told_once_and_a_plan_each_time() {
    let todos = uses("TodoWrite", &json!({"todos": [{"content": "look", "status": "in_progress"}]}));
    let (updates, _) = heard(talk(), &[init(), todos, init(), result("")]);
    let step = Step { text: "look".to_owned(), state: StepState::Active };
    assert_eq!(updates, [Update::Session("0195f0aa-1111".to_owned()), Update::Plan(vec![step])]);
}

#[test]
fn a_step_gets_its_id_with_the_result_of_its_call() {
    let made = json!({
        "type": "user", "message": {"content": [{"type": "tool_result", "tool_use_id": "t1"}]},
        "tool_use_result": {"task": {"id": "12"}},
    });
    let create = uses("TaskCreate", &json!({"subject": "look"}));
    let done = uses("TaskUpdate", &json!({"taskId": "12", "status": "completed"}));
    let (updates, _) = heard(talk(), &[create, made, done, result("")]);
    let step = Step { text: "look".to_owned(), state: StepState::Done };
    assert_eq!(updates.last(), Some(&Update::Plan(vec![step])));
}

#[test]
fn what_people_should_know_is_a_note() {
    let retry = json!({
        "type": "system", "subtype": "api_retry", "attempt": 2, "max_retries": 4, "retry_delay_ms": 1204,
        "error_status": 529, "error": "overloaded",
    });
    let dropped = json!({"type": "system", "subtype": "api_retry", "error_status": null});
    let denied = json!({"type": "system", "subtype": "permission_denied", "tool_name": "Write"});
    let compact = json!({"type": "system", "subtype": "compact_boundary"});
    let (updates, outcome) = heard(talk(), &[retry, dropped, denied, compact, result("recovered")]);
    let notes = [
        "waiting for the model: overloaded (529), try 2 of 4 in 2 s",
        "waiting for the model: unknown",
        "not allowed: Write",
        "the session was summed up, to fit the model",
    ];
    assert_eq!(updates, notes.map(|words| Update::Note(words.to_owned())));
    assert_eq!(outcome.expect("it recovered").answer, "recovered");
}

#[test]
fn what_has_no_meaning_here_is_kept_as_it_is() {
    let mut talk = talk();
    for line in [&br#"{"type":"later","x":1}"#[..], br#"{"type":"system","subtype":"later"}"#, b"plain", b"[1]", b"{}"]
    {
        let expected = Update::Other(String::from_utf8_lossy(line).into_owned());
        assert_eq!(talk.hear(line).expect("it is heard").updates, [expected]);
    }
    assert_eq!(talk.hear(b"  ").expect("it is heard"), Heard::default());
    let page = format!("{{\"type\":\"later\",\"x\":\"{}\"}}", "é".repeat(20_000));
    match talk.hear(page.as_bytes()).expect("it is heard").updates.as_slice() {
        [Update::Other(kept)] => assert!(kept.len() < 17 << 10 && kept.ends_with('…'), "{}", kept.len()),
        other => panic!("{other:?}"),
    }
}

/// What is said to it when it asks.
fn answered(program: &Program, turn: &Turn, request: &Value) -> Value {
    let mut talk = Claude::new(program).dialogue(turn);
    let heard = hear(talk.as_mut(), &json!({"type": "control_request", "request_id": "r7", "request": request}));
    assert!(heard.reply.ends_with(b"\n") && !heard.is_over);
    let reply: Value = serde_json::from_slice(&heard.reply).expect("JSON");
    assert_eq!((&reply["type"], &reply["response"]["request_id"]), (&json!("control_response"), &json!("r7")));
    reply["response"].clone()
}

#[test]
fn what_it_may_do_was_settled_before() {
    let asks = |tool: &str| json!({"subtype": "can_use_tool", "tool_name": tool, "input": {"file_path": "a"}});
    let allowed = answered(&program(), &turn("go"), &asks("Write"));
    assert_eq!(allowed["subtype"], "success");
    assert_eq!(allowed["response"], json!({"behavior": "allow", "updatedInput": {"file_path": "a"}}));
    let odd = answered(&program(), &turn("go"), &json!({"subtype": "can_use_tool", "input": 5}));
    assert_eq!(odd["response"]["updatedInput"], json!({}));

    let question = answered(&program(), &turn("go"), &asks("AskUserQuestion"));
    assert_eq!(question["response"]["behavior"], "deny");
    let strict = Turn { disallowed_tools: vec!["Write".to_owned()], ..turn("go") };
    assert_eq!(answered(&program(), &strict, &asks("Write"))["response"]["behavior"], "deny");
    let asking = Program { permissions: Some("acceptEdits".to_owned()), ..program() };
    let denied = answered(&asking, &turn("go"), &asks("Bash"));
    assert_eq!(denied["response"]["behavior"], "deny");
    assert!(denied["response"]["message"].as_str().expect("a sentence").contains("has not allowed `Bash`"));
}

#[test]
fn a_question_that_is_not_known_is_answered_all_the_same() {
    for request in [json!({"subtype": "hook_callback"}), json!({"subtype": "elicitation"}), json!(null), json!([])] {
        let answer = answered(&program(), &turn("go"), &request);
        assert_eq!(answer["subtype"], "error", "{request}");
        assert!(answer["error"].as_str().expect("a sentence").ends_with("is not known here"));
    }
    // And an answer to what we asked is nothing to tell.
    let greeted = json!({"type": "control_response", "response": {"subtype": "success", "request_id": "hello"}});
    assert_eq!(hear(talk().as_mut(), &greeted), Heard::default());
}

#[test]
fn paths_are_told_from_the_root_of_the_environment_wherever_it_sees_it() {
    let within = Turn { subfolder: Some(PathBuf::from("web/app")), ..turn("go") };
    let mut talk = Claude::new(&program()).dialogue(&within);
    let init = json!({"type": "system", "subtype": "init", "cwd": "/real/shop/web/app", "session_id": "a"});
    hear(talk.as_mut(), &init);
    for path in ["/real/shop/web/app/a.ts", "/trees/shop/web/app/a.ts"] {
        let heard = hear(talk.as_mut(), &uses("Read", &json!({"file_path": path})));
        assert_eq!(heard.updates, [Update::Tool("read web/app/a.ts".to_owned())]);
    }
}
