//! What can go wrong, each by its name.

use super::*;

fn failed(talk: Box<dyn Dialogue>, lines: &[Value]) -> AssistantError {
    heard(talk, lines).1.expect_err("it went wrong")
}

/// A result that is an error, with more said in it.
fn error(more: &Value) -> Value {
    let mut line = json!({"type": "result", "subtype": "success", "is_error": true, "session_id": "0195f0aa-1111"});
    let (Value::Object(line_of), Value::Object(more)) = (&mut line, more.clone()) else { panic!("objects") };
    line_of.extend(more);
    line
}

/// Its own message about an error of the API, which is no text of the answer.
fn made_up(words: &str, kind: &str) -> Value {
    let content = [json!({"type": "text", "text": words})];
    json!({
        "type": "assistant", "message": {"id": "m", "model": "<synthetic>", "content": content}, "error": kind,
        "is_api_error_message": true, "parent_tool_use_id": null,
    })
}

#[test]
fn a_session_that_it_no_longer_knows_is_unknown_if_it_was_asked_for() {
    let line = json!({
        "type": "result", "subtype": "error_during_execution", "is_error": true,
        "errors": ["No conversation found with session ID: 0195f0aa-1111"],
    });
    assert!(matches!(failed(resumed(), std::slice::from_ref(&line)), AssistantError::UnknownSession));
    assert!(matches!(failed(talk(), &[line]), AssistantError::Failed(_)));
    let bad = error(&json!({"errors": ["--resume requires a valid session ID or session title"]}));
    assert!(matches!(failed(resumed(), &[bad]), AssistantError::UnknownSession));
}

#[test]
fn a_refused_login_is_logged_out_whatever_the_subtype() {
    let table = [
        (made_up("No.", "unknown"), error(&json!({"api_error_status": 401, "result": "API Error: 401"}))),
        (made_up("No.", "unknown"), error(&json!({"api_error_status": 403, "result": "API Error: 403"}))),
        (made_up("No.", "authentication_failed"), error(&json!({"result": "Something else"}))),
        (init(), error(&json!({"result": "Not logged in · Please run /login"}))),
        (init(), error(&json!({"result": "Invalid API key · Fix external API key"}))),
    ];
    for (before, line) in table {
        let (updates, ending) = heard(talk(), &[before, line.clone()]);
        assert!(!updates.iter().any(|update| matches!(update, Update::Text(_))), "{updates:?}");
        assert!(matches!(ending, Err(AssistantError::LoggedOut(_))), "{line}: {ending:?}");
    }
}

#[test]
fn a_limit_is_told_with_its_end_if_that_is_known() {
    let limited = |lines: &[Value]| match failed(talk(), lines) {
        AssistantError::Limited(why) => why,
        other => panic!("{other:?}"),
    };
    let busy = error(&json!({"api_error_status": 529, "result": "API Error: 529 busy"}));
    assert_eq!(limited(&[busy]), "API Error: 529 busy");
    let rejected =
        json!({"type": "rate_limit_event", "rate_limit_info": {"status": "rejected", "resetsAt": 1_777_802_400}});
    let slow = error(&json!({"api_error_status": 429, "result": "Too many."}));
    assert_eq!(limited(&[rejected.clone(), slow.clone()]), "Too many (until 2026-05-03T10:00:00Z)");
    let fine = json!({"type": "rate_limit_event", "rate_limit_info": {"status": "allowed", "resetsAt": 1_777_802_400}});
    assert_eq!(limited(&[fine, slow]), "Too many.");
    let used_up = error(&json!({"result": "You've hit your session limit · resets 3pm"}));
    assert_eq!(limited(&[rejected, used_up]), "You've hit your session limit · resets 3pm");
    let old = error(&json!({"result": "Claude AI usage limit reached|1777802400"}));
    assert_eq!(limited(&[old]), "Claude AI usage limit reached (until 2026-05-03T10:00:00Z)");
    let paid = made_up("Credit balance is too low", "billing_error");
    assert_eq!(limited(&[paid, error(&json!({"result": "Credit balance is too low"}))]), "Credit balance is too low");
}

#[test]
fn a_session_that_grew_too_long_is_out_of_context() {
    for line in [
        error(&json!({"result": "Prompt is too long", "api_error_status": 400})),
        error(&json!({"terminal_reason": "prompt_too_long"})),
        error(&json!({"terminal_reason": "blocking_limit", "result": "Context limit"})),
        error(&json!({"is_error": false, "terminal_reason": "rapid_refill_breaker", "result": "x"})),
    ] {
        assert!(matches!(failed(talk(), std::slice::from_ref(&line)), AssistantError::OutOfContext(_)), "{line}");
    }
}

#[test]
fn a_limit_of_the_owner_is_out_of_bounds() {
    let turns = error(&json!({
        "subtype": "error_max_turns", "terminal_reason": "max_turns", "errors": ["Reached maximum number of turns (1)"],
    }));
    match failed(talk(), &[turns]) {
        AssistantError::OutOfBounds(why) => assert_eq!(why, "Reached maximum number of turns (1)"),
        other => panic!("{other:?}"),
    }
    let money = error(&json!({"subtype": "error_max_budget_usd", "errors": []}));
    assert!(matches!(failed(talk(), &[money]), AssistantError::OutOfBounds(_)));
}

#[test]
fn what_it_says_itself_is_a_failure_in_its_words() {
    let why = |more: Value| match failed(talk(), &[error(&more)]) {
        AssistantError::Failed(why) => why,
        other => panic!("{other:?}"),
    };
    let refused = json!({"terminal_reason": "api_error", "api_error_status": 400, "result": "API Error: 400 odd"});
    assert_eq!(why(refused), "API Error: 400 odd");
    assert_eq!(why(json!({"errors": ["one", "two", 3]})), "one; two");
    assert_eq!(why(json!({"subtype": "error_during_execution"})), "error during execution");
    assert_eq!(why(json!({"subtype": 1, "result": "\0"})), "\u{fffd}");
    let interrupted = error(&json!({"terminal_reason": "aborted_streaming", "subtype": "error_during_execution"}));
    assert!(matches!(failed(talk(), &[interrupted]), AssistantError::Crashed(_)));
}

#[test]
fn an_end_without_a_result_is_a_crash() {
    match failed(talk(), &[init(), says("m1", "half")]) {
        AssistantError::Crashed(why) => assert_eq!(why, "it ended with exit status 1\noh"),
        other => panic!("{other:?}"),
    }
    let quiet = talk().end(&Parting { went_well: true, ..Parting::default() }).expect_err("it said nothing");
    assert!(matches!(quiet, AssistantError::Crashed(why) if why == "it ended without an answer"));
}

#[test]
fn nothing_but_garbage_is_garbled_and_garbage_among_sense_is_not() {
    let garbled = |lines: &[&[u8]]| {
        let mut talk = talk();
        for line in lines {
            talk.hear(line).expect("every line can be heard");
        }
        talk.end(&Parting { went_well: true, how: "it ended with exit status 0", words: "" })
    };
    match garbled(&[b"usage: other [-x]", b"", b"more"]) {
        Err(AssistantError::Garbled(why)) => {
            assert_eq!(why, "it wrote `usage: other [-x]`\nit ended with exit status 0");
        }
        other => panic!("{other:?}"),
    }
    let answered = result("fine").to_string();
    assert_eq!(garbled(&[b"warning: old", answered.as_bytes()]).expect("it went well").answer, "fine");
    let begun = init().to_string();
    assert!(matches!(garbled(&[b"warning: old", begun.as_bytes()]), Err(AssistantError::Crashed(_))));
}
