//! Lines as the real app server writes them, shortened.

use hedgerow_core::ConversationId;
use hedgerow_core::assistant::{Models, Step, StepState, Usage};
use hedgerow_core::environment::{Exec, Place, Tenant};
use hedgerow_core::{RunId, assistant::Update};
use proptest::prelude::*;
use serde_json::json;

use super::super::dialogue::{Heard, Parting};
use super::*;
use crate::settings::AgentKind;
use hedgerow_core::assistant::Outcome;

fn program() -> Program {
    Program::new("codex", AgentKind::Codex, vec!["codex".into()])
}

fn turn(resume: Option<&str>) -> Turn {
    let of = Tenant::Scratch(ConversationId::new());
    let place = Place { of, generation: 0, path: "/w".into(), branch: None, exec: Exec::Host };
    let turn = Turn::new(RunId::new(), place, "do it");
    Turn { briefing: Some("You are on a branch.".to_owned()), resume: resume.map(str::to_owned), ..turn }
}

/// What is said in return, as JSON.
fn said(heard: &Heard) -> Vec<Value> {
    let lines = heard.reply.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    lines.map(|line| serde_json::from_slice(line).expect("we speak JSON")).collect()
}

/// A talk that has come to its turn.
fn at_work(program: &Program, turn: &Turn) -> Box<dyn Dialogue> {
    let mut talk = Codex::new(program).dialogue(turn);
    talk.opening();
    for line in [
        r#"{"id":1,"result":{"userAgent":"x"}}"#,
        r#"{"id":2,"result":{"thread":{"id":"t1","path":"/h/x.jsonl"},"model":"m"}}"#,
        r#"{"id":3,"result":{"turn":{"id":"u1","status":"inProgress"}}}"#,
    ] {
        talk.hear(line.as_bytes()).expect("it is understood");
    }
    talk
}

/// All updates of lines, and how they end.
fn run(lines: &[&str]) -> (Vec<Update>, Result<Outcome, AssistantError>) {
    let (mut talk, mut updates) = (at_work(&program(), &turn(None)), Vec::new());
    for line in lines {
        let heard = talk.hear(line.as_bytes()).expect("it is understood");
        updates.extend(heard.updates.into_iter().filter(|update| *update != Update::Text(String::new())));
        if heard.is_over {
            break;
        }
    }
    (updates, talk.end(&Parting { how: "it ended with exit status 1", ..Parting::default() }))
}

fn failed(info: &str) -> AssistantError {
    let error = format!(r#"{{"message":"no","codexErrorInfo":{info},"additionalDetails":null}}"#);
    let line = format!(
        r#"{{"method":"turn/completed","params":{{"threadId":"t1","turn":{{"id":"u1","status":"failed","error":{error}}}}}}}"#
    );
    run(&[&line]).1.expect_err("it failed")
}

#[test]
fn a_turn_begins_with_a_thread_that_is_told_everything() {
    let program = Program {
        model: Some("gpt".to_owned()),
        instructions: Some("Be short.".to_owned()),
        mcp_servers: Some(r#"{"a.b":{"type":"http","url":"http://x","headers":{"K":"v"}}}"#.to_owned()),
        ..program()
    };
    let mut turn = turn(None);
    turn.subfolder = Some("sub".into());
    turn.disallowed_tools = vec!["web_search".to_owned(), "mcp__a.b__drop".to_owned(), "Bash".to_owned()];
    let mut talk = Codex::new(&program).dialogue(&turn);
    let hello: Value = serde_json::from_slice(&talk.opening()).expect("JSON");
    assert_eq!((hello["method"].as_str(), talk.goes_on()), (Some("initialize"), true));
    let heard = talk.hear(br#"{"id":1,"result":{}}"#).expect("it is understood");
    let [initialized, start] = said(&heard).try_into().expect("two lines");
    assert_eq!(initialized["method"], "initialized");
    assert_eq!(start["method"], "thread/start");
    let server = json!({"url": "http://x", "http_headers": {"K": "v"}, "disabled_tools": ["drop"]});
    assert_eq!(
        start["params"],
        json!({
            "cwd": "/w/sub", "approvalPolicy": "never", "sandbox": "danger-full-access", "model": "gpt",
            "developerInstructions": "You are on a branch.\n\nBe short.",
            "config": {"web_search": "disabled", "mcp_servers": {"a.b": server}},
        })
    );
    let heard = talk.hear(br#"{"id":2,"result":{"thread":{"id":"t1"}}}"#).expect("it is understood");
    assert_eq!(heard.updates, [Update::Session("t1".to_owned())]);
    let input = json!({"threadId": "t1", "input": [{"type": "text", "text": "do it"}]});
    assert_eq!(said(&heard)[0]["params"], input);
}

#[test]
fn a_thread_is_resumed_by_its_id_and_told_its_bounds_again() {
    let program = Program { permissions: Some("read-only".to_owned()), ..program() };
    let mut talk = Codex::new(&program).dialogue(&turn(Some("t9")));
    talk.opening();
    let resume = said(&talk.hear(br#"{"id":1,"result":{}}"#).expect("it is understood")).remove(1);
    assert_eq!((&resume["method"], &resume["params"]["threadId"]), (&json!("thread/resume"), &json!("t9")));
    assert_eq!((&resume["params"]["sandbox"], &resume["params"]["excludeTurns"]), (&json!("read-only"), &json!(true)));
}

#[test]
fn a_thread_that_is_not_there_is_unknown_and_anything_else_is_a_failure() {
    let ending = |error: &str| {
        let mut talk = Codex::new(&program()).dialogue(&turn(Some("t9")));
        talk.opening();
        talk.hear(br#"{"id":1,"result":{}}"#).expect("it is understood");
        let heard = talk.hear(format!(r#"{{"error":{error},"id":2}}"#).as_bytes()).expect("it is understood");
        assert!(heard.is_over);
        talk.end(&Parting::default()).expect_err("it failed")
    };
    for unknown in [
        r#"{"code":-32600,"message":"no rollout found for thread id t9"}"#,
        r#"{"code":-32600,"message":"invalid session id: invalid character"}"#,
        r#"{"code":-32600,"message":"This chat uses …","data":{"type":"modelProviderNotConfigured"}}"#,
        r#"{"code":-32600,"message":"This chat uses …","data":{"type":"modelProviderMismatch"}}"#,
    ] {
        assert!(matches!(ending(unknown), AssistantError::UnknownSession), "{unknown}");
    }
    let wrong = ending(r#"{"code":-32600,"message":"Invalid request: unknown variant `zzz`"}"#);
    assert!(matches!(wrong, AssistantError::Failed(why) if why.contains("zzz")));
}

#[test]
fn text_tools_plan_and_usage_come_as_they_are_told() {
    let tokens = |turn: &str, total: u64, last: u64| {
        format!(
            r#"{{"method":"thread/tokenUsage/updated","params":{{"threadId":"t1","turnId":"{turn}","tokenUsage":{{"total":{{"inputTokens":{total},"cachedInputTokens":{total},"outputTokens":{total}}},"last":{{"inputTokens":{last},"cachedInputTokens":{last},"outputTokens":{last}}}}}}}}}"#
        )
    };
    let lines = [
        tokens("older", 100, 9),
        r#"{"method":"item/started","params":{"item":{"type":"userMessage","id":"i0","content":[]},"threadId":"t1","turnId":"u1"}}"#.to_owned(),
        r#"{"method":"item/agentMessage/delta","params":{"threadId":"t1","turnId":"u1","itemId":"m1","delta":"Let me "}}"#.to_owned(),
        r#"{"method":"item/agentMessage/delta","params":{"threadId":"t1","turnId":"u1","itemId":"m1","delta":"look."}}"#.to_owned(),
        r#"{"method":"item/completed","params":{"item":{"type":"agentMessage","id":"m1","text":"Let me look."},"threadId":"t1","turnId":"u1"}}"#.to_owned(),
        r#"{"method":"item/started","params":{"item":{"type":"commandExecution","id":"c1","command":"/bin/bash -lc 'ls -a'","commandActions":[{"type":"listFiles","command":"ls -a"}]},"threadId":"t1"}}"#.to_owned(),
        r#"{"method":"item/completed","params":{"item":{"type":"commandExecution","id":"c1","command":"/bin/bash -lc 'ls -a'","exitCode":3},"threadId":"t1"}}"#.to_owned(),
        tokens("u1", 110, 10),
        r#"{"method":"item/started","params":{"item":{"type":"fileChange","id":"f1","changes":[{"path":"/w/a.rs","kind":{"type":"add"},"diff":""},{"path":"/w/b/c.rs","kind":{"type":"update","move_path":null},"diff":""}]},"threadId":"t1"}}"#.to_owned(),
        r#"{"method":"item/started","params":{"item":{"type":"webSearch","id":"w1","query":""},"threadId":"t1"}}"#.to_owned(),
        r#"{"method":"item/completed","params":{"item":{"type":"webSearch","id":"w1","query":"rust"},"threadId":"t1"}}"#.to_owned(),
        r#"{"method":"item/started","params":{"item":{"type":"mcpToolCall","id":"p1","server":"s","tool":"t"},"threadId":"t1"}}"#.to_owned(),
        r#"{"method":"turn/plan/updated","params":{"threadId":"t1","turnId":"u1","plan":[{"step":"a","status":"completed"},{"step":"b","status":"inProgress"},{"step":"c","status":"pending"}]}}"#.to_owned(),
        r#"{"method":"error","params":{"error":{"message":"Reconnecting... 1/2","additionalDetails":"429"},"willRetry":true,"threadId":"t1"}}"#.to_owned(),
        r#"{"method":"mcpServer/startupStatus/updated","params":{"threadId":"t1","name":"s","status":"starting","error":null}}"#.to_owned(),
        r#"{"method":"mcpServer/startupStatus/updated","params":{"threadId":"t1","name":"s","status":"failed","error":"`s` failed to start"}}"#.to_owned(),
        tokens("u1", 125, 15),
        r#"{"method":"item/completed","params":{"item":{"type":"agentMessage","id":"m2","text":"Done."},"threadId":"t1","turnId":"u1"}}"#.to_owned(),
        r#"{"method":"thread/status/changed","params":{"threadId":"t1","status":{"type":"idle"}}}"#.to_owned(),
        r#"{"method":"turn/completed","params":{"threadId":"t1","turn":{"id":"u1","items":[],"status":"completed","error":null}}}"#.to_owned(),
    ];
    let (updates, ending) = run(&lines.iter().map(String::as_str).collect::<Vec<_>>());
    let text = |text: &str| Update::Text(text.to_owned());
    let tool = |text: &str| Update::Tool(text.to_owned());
    let used = |tokens: u64| {
        Update::Usage(Usage { input_tokens: tokens, cached_tokens: tokens, output_tokens: tokens, cost_micros: None })
    };
    let step = |text: &str, state| Step { text: text.to_owned(), state };
    let plan = [step("a", StepState::Done), step("b", StepState::Active), step("c", StepState::Pending)];
    assert_eq!(
        updates,
        [
            text("Let me "),
            text("look."),
            tool("run ls -a"),
            used(10),
            tool("add a.rs, edit b/c.rs"),
            tool("search the web for rust"),
            tool("call s.t"),
            Update::Plan(plan.to_vec()),
            Update::Note("Reconnecting... 1/2: 429".to_owned()),
            Update::Note("`s` failed to start".to_owned()),
            used(25),
            text("\n\nDone."),
        ]
    );
    let outcome = ending.expect("it went well");
    assert_eq!(outcome, Outcome { session: Some("t1".to_owned()), answer: "Done.".to_owned() });
}

#[test]
fn each_kind_of_trouble_is_its_own() {
    assert!(matches!(failed(r#"{"httpConnectionFailed":{"httpStatusCode":401}}"#), AssistantError::LoggedOut(_)));
    assert!(matches!(failed(r#""unauthorized""#), AssistantError::LoggedOut(_)));
    assert!(matches!(
        failed(r#"{"responseTooManyFailedAttempts":{"httpStatusCode":429}}"#),
        AssistantError::Limited(_)
    ));
    assert!(matches!(failed(r#""usageLimitExceeded""#), AssistantError::Limited(_)));
    assert!(matches!(failed(r#""contextWindowExceeded""#), AssistantError::OutOfContext(_)));
    assert!(matches!(failed(r#""sessionBudgetExceeded""#), AssistantError::OutOfBounds(_)));
    assert!(matches!(failed(r#""other""#), AssistantError::Failed(why) if why == "no"));
    assert!(matches!(failed(r#"{"later":7}"#), AssistantError::Failed(_)));
    let (_, ending) = run(&[r#"{"id":3,"error":{"code":-32600,"message":"busy"}}"#]);
    assert!(matches!(ending, Err(AssistantError::Failed(why)) if why == "busy"));
    assert!(matches!(run(&[]).1, Err(AssistantError::Crashed(why)) if why == "it ended with exit status 1"));
}

#[test]
fn what_is_unknown_or_of_another_thread_is_kept_and_does_no_harm() {
    let unknown = r#"{"method":"moon/risen","params":{"threadId":"t1"}}"#;
    let other = r#"{"method":"turn/completed","params":{"threadId":"t2","turn":{"id":"u7","status":"failed"}}}"#;
    let (updates, ending) = run(&["garbage", unknown, other, r#"{"method":"item/agentMessage/delta","params":7}"#]);
    assert_eq!(updates.len(), 4);
    assert!(updates.iter().all(|update| matches!(update, Update::Other(_))), "{updates:?}");
    assert!(matches!(ending, Err(AssistantError::Crashed(_))));
}

#[test]
fn whatever_it_asks_is_answered() {
    let answer = |program: &Program, method: &str| {
        let mut talk = at_work(program, &turn(None));
        let line =
            format!(r#"{{"id":0,"method":"{method}","params":{{"permissions":{{"network":{{"enabled":true}}}}}}}}"#);
        said(&talk.hear(line.as_bytes()).expect("it is understood")).remove(0)
    };
    let bounded = Program { permissions: Some("workspace-write".to_owned()), ..program() };
    let run = "item/commandExecution/requestApproval";
    assert_eq!(answer(&program(), run)["result"], json!({"decision": "accept"}));
    assert_eq!(answer(&bounded, run)["result"], json!({"decision": "decline"}));
    let more = "item/permissions/requestApproval";
    assert_eq!(answer(&program(), more)["result"]["permissions"], json!({"network": {"enabled": true}}));
    assert_eq!(answer(&bounded, more)["result"]["permissions"], json!({}));
    assert_eq!(answer(&program(), "mcpServer/elicitation/request")["result"], json!({"action": "decline"}));
    assert_eq!(answer(&program(), "moon/rise")["error"]["code"], -32601);
    assert_eq!(answer(&program(), "moon/rise")["id"], 0);
}

#[test]
fn the_way_to_the_models_is_given_without_the_key_in_the_command_line() {
    let models = Models {
        url: "http://127.0.0.1:4747/llm/r1".to_owned(),
        token: "t0ken".to_owned(),
        makers: vec![Maker::Openai],
    };
    let mut turn = turn(None);
    assert_eq!(Codex::new(&program()).launch(&turn).arguments, ["app-server"]);
    turn.models = Some(models.clone());
    let launch = Codex::new(&program()).launch(&turn);
    let arguments = launch.arguments.join(" ".as_ref()).into_string().expect("text");
    assert!(arguments.contains(r#"-c model_provider="hedgerow""#), "{arguments}");
    assert!(
        arguments.contains(r#"-c model_providers.hedgerow.base_url="http://127.0.0.1:4747/llm/r1/openai/v1""#),
        "{arguments}"
    );
    assert!(
        arguments.contains(r#"-c model_providers.hedgerow.env_key="HEDGEROW_MODEL_TOKEN""#)
            && !arguments.contains("t0ken")
    );
    assert_eq!(launch.variables, [("HEDGEROW_MODEL_TOKEN".to_owned(), "t0ken".to_owned())]);
    turn.models = Some(Models { makers: vec![Maker::Anthropic], ..models });
    assert_eq!(
        Codex::new(&program()).launch(&turn),
        Launch { arguments: vec!["app-server".into()], variables: Vec::new() }
    );
}

#[test]
fn servers_that_are_written_wrongly_are_said() {
    let program = Program { mcp_servers: Some("{".to_owned()), ..program() };
    let mut talk = Codex::new(&program).dialogue(&turn(None));
    talk.opening();
    let error = talk.hear(br#"{"id":1,"result":{}}"#).expect_err("it is wrong");
    assert!(error.to_string().contains("`mcp_servers` in its settings is wrong"), "{error}");
}

proptest! {
    #[test]
    fn no_line_makes_it_fall(lines in prop::collection::vec(super::super::rpc::any_line(&METHODS), 1..12)) {
        let mut talk = at_work(&program(), &turn(Some("t9")));
        for line in lines {
            let _ = talk.hear(&line);
        }
        let _ = talk.end(&Parting::default());
    }
}

const METHODS: [&str; 9] = [
    "item/agentMessage/delta",
    "item/started",
    "item/completed",
    "turn/plan/updated",
    "thread/tokenUsage/updated",
    "turn/completed",
    "turn/started",
    "error",
    "item/permissions/requestApproval",
];
