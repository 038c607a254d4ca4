//! Lines as real agents write them, shortened: Claude's, Codex's and Gemini's ACP, and opencode.

use hedgerow_core::ConversationId;
use hedgerow_core::RunId;
use hedgerow_core::assistant::{Models, Outcome, Step, StepState, Update, Usage};
use hedgerow_core::environment::{Exec, Place, Tenant};
use proptest::prelude::*;
use serde_json::json;

use super::super::dialogue::{Heard, Parting};
use super::*;
use crate::settings::AgentKind;

const HELLO: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1,"agentCapabilities":{"loadSession":true,"sessionCapabilities":{"resume":{},"list":{}}},"authMethods":[]}}"#;
const LOADS: &str =
    r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1,"agentCapabilities":{"loadSession":true}}}"#;
const FORGETS: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}"#;

fn program() -> Program {
    Program::new("agent", AgentKind::Acp, vec!["agent".into()])
}

fn turn(resume: Option<&str>) -> Turn {
    let of = Tenant::Scratch(ConversationId::new());
    let place = Place { of, generation: 0, path: "/w".into(), branch: None, exec: Exec::Host };
    let turn = Turn::new(RunId::new(), place, "do it");
    Turn { briefing: Some("You are on a branch.".to_owned()), resume: resume.map(str::to_owned), ..turn }
}

fn said(heard: &Heard) -> Value {
    serde_json::from_slice(&heard.reply).unwrap_or_default()
}

struct Scene {
    talk: Box<dyn Dialogue>,
    updates: Vec<Update>,
}

impl Scene {
    fn open(program: &Program, turn: &Turn) -> Self {
        let mut talk = Acp::new(program).dialogue(turn);
        let hello: Value = serde_json::from_slice(&talk.opening()).expect("JSON");
        assert_eq!((&hello["method"], &hello["params"]["protocolVersion"]), (&json!("initialize"), &json!(1)));
        let lent = &hello["params"]["clientCapabilities"];
        assert_eq!((&lent["fs"]["writeTextFile"], &lent["terminal"]), (&json!(false), &json!(false)));
        Self { talk, updates: Vec::new() }
    }

    /// At its prompt, in the session `s1`.
    fn at_work(turn: &Turn) -> Self {
        let mut scene = Self::open(&program(), turn);
        scene.hear(HELLO);
        let prompt = scene.hear(r#"{"jsonrpc":"2.0","id":2,"result":{"sessionId":"s1"}}"#);
        assert_eq!(prompt["method"], "session/prompt");
        scene.updates.clear();
        scene
    }

    fn hear(&mut self, line: &str) -> Value {
        let heard = self.talk.hear(line.as_bytes()).expect("it is understood");
        let said = said(&heard);
        self.updates.extend(heard.updates);
        said
    }

    fn update(&mut self, update: &Value) {
        self.hear(
            &json!({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s1", "update": update}})
                .to_string(),
        );
    }

    fn end(self) -> (Vec<Update>, Result<Outcome, AssistantError>) {
        (self.updates, self.talk.end(&Parting { how: "it ended with exit status 1", ..Parting::default() }))
    }
}

fn chunk(text: &str) -> Value {
    json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}})
}

fn tool(text: &str) -> Update {
    Update::Tool(text.to_owned())
}

#[test]
fn a_new_session_is_told_where_it_is_before_its_first_prompt() {
    let servers =
        r#"{"a":{"command":"/bin/a","args":["x"],"env":{"K":"v"}},"b":{"url":"http://b","headers":{"H":"1"}}}"#;
    let mut scene = Scene::open(&Program { mcp_servers: Some(servers.to_owned()), ..program() }, &turn(None));
    let new = scene.hear(HELLO);
    assert_eq!(new["method"], "session/new");
    assert_eq!(
        new["params"],
        json!({"cwd": "/w", "mcpServers": [
            {"name": "a", "command": "/bin/a", "args": ["x"], "env": [{"name": "K", "value": "v"}]},
            {"type": "http", "name": "b", "url": "http://b", "headers": [{"name": "H", "value": "1"}]},
        ]})
    );
    let prompt = scene.hear(r#"{"jsonrpc":"2.0","id":2,"result":{"sessionId":"s1"}}"#);
    let words = json!([{"type": "text", "text": "You are on a branch."}, {"type": "text", "text": "do it"}]);
    assert_eq!(prompt["params"], json!({"sessionId": "s1", "prompt": words}));
    assert_eq!(scene.updates, [Update::Session("s1".to_owned())]);
}

#[test]
fn a_session_is_resumed_or_else_loaded_and_its_past_is_not_said_again() {
    let mut scene = Scene::open(&program(), &turn(Some("s1")));
    assert_eq!(scene.hear(HELLO)["method"], "session/resume");
    let prompt = scene.hear(r#"{"jsonrpc":"2.0","id":2,"result":{}}"#);
    assert_eq!(prompt["params"]["prompt"], json!([{"type": "text", "text": "do it"}]), "it was told where it is");

    let mut scene = Scene::open(&program(), &turn(Some("s1")));
    let load = scene.hear(LOADS);
    assert_eq!((&load["method"], &load["params"]["sessionId"]), (&json!("session/load"), &json!("s1")));
    scene.update(&chunk("from before"));
    let modes = r#"{"currentModeId":"default","availableModes":[{"id":"default","name":"D"}]}"#;
    let barrier = scene.hear(&format!(r#"{{"jsonrpc":"2.0","id":2,"result":{{"modes":{modes}}}}}"#));
    assert_eq!(barrier["method"], "session/set_mode", "what it still says of the past comes before its answer");
    scene.update(&chunk("from before as well"));
    assert_eq!(scene.hear(r#"{"jsonrpc":"2.0","id":3,"result":{}}"#)["method"], "session/prompt");
    scene.update(&chunk("now"));
    scene.hear(r#"{"jsonrpc":"2.0","id":4,"result":{"stopReason":"end_turn"}}"#);
    let (updates, ending) = scene.end();
    assert_eq!(updates, [Update::Session("s1".to_owned()), Update::Text("now".to_owned())]);
    assert_eq!(ending.expect("it went well"), Outcome { session: Some("s1".to_owned()), answer: "now".to_owned() });
}

#[test]
fn an_agent_that_forgets_has_no_session_to_come_back_to() {
    let mut scene = Scene::open(&program(), &turn(None));
    scene.hear(FORGETS);
    scene.hear(r#"{"jsonrpc":"2.0","id":2,"result":{"sessionId":"s1"}}"#);
    scene.hear(r#"{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}"#);
    let (updates, ending) = scene.end();
    assert_eq!((updates, ending.expect("it went well").session), (Vec::new(), None));

    let mut scene = Scene::open(&program(), &turn(Some("s1")));
    scene.hear(FORGETS);
    assert!(matches!(scene.end().1, Err(AssistantError::UnknownSession)));
}

#[test]
fn text_tools_plan_and_usage_come_as_they_are_told() {
    let mut scene = Scene::at_work(&turn(None));
    scene.update(&json!({"sessionUpdate": "available_commands_update", "availableCommands": []}));
    scene.update(&json!({"sessionUpdate": "agent_thought_chunk", "content": {"type": "text", "text": "hm"}}));
    scene.update(&chunk("Wri"));
    scene.update(&chunk("ting."));
    // Claude: vague at first.
    scene.update(&json!({"toolCallId": "a", "sessionUpdate": "tool_call", "rawInput": {}, "status": "pending", "title": "Preparing file…", "kind": "edit", "locations": []}));
    scene.update(&json!({"toolCallId": "a", "sessionUpdate": "tool_call_update", "rawInput": {"file_path": "/w/a.txt"}, "title": "Write a.txt", "locations": [{"path": "/w/a.txt"}]}));
    scene.update(&json!({"toolCallId": "a", "sessionUpdate": "tool_call_update", "status": "completed"}));
    // Codex: a command.
    scene.update(&json!({"toolCallId": "b", "sessionUpdate": "tool_call", "kind": "execute", "title": "echo hi", "status": "in_progress", "rawInput": {"command": "echo hi"}}));
    // opencode: the title is the tool.
    scene.update(&json!({"toolCallId": "c", "sessionUpdate": "tool_call", "title": "write", "kind": "edit", "status": "pending", "locations": [], "rawInput": {}}));
    scene.update(&json!({"toolCallId": "c", "sessionUpdate": "tool_call_update", "status": "in_progress", "title": "write", "locations": [{"path": "/w/b/o.txt"}]}));
    // Gemini: known only when it is done.
    scene.update(&json!({"toolCallId": "d", "sessionUpdate": "tool_call_update", "status": "completed", "title": "Writing to g.txt", "locations": [{"path": "/w/g.txt"}], "kind": "edit"}));
    scene.update(&json!({"toolCallId": "e", "sessionUpdate": "tool_call", "title": "bash", "kind": "execute", "status": "pending", "rawInput": {}}));
    scene.update(&json!({"toolCallId": "e", "sessionUpdate": "tool_call_update", "status": "in_progress", "title": "bash", "rawInput": {"command": "git\nstatus"}}));
    scene.update(&json!({"sessionUpdate": "plan", "entries": [{"content": "x", "priority": "high", "status": "completed"}, {"content": "y", "priority": "low", "status": "in_progress"}]}));
    scene.update(&json!({"sessionUpdate": "usage_update", "used": 15, "size": 1000, "cost": {"amount": 0.00042, "currency": "USD"}}));
    scene.update(&chunk("done"));
    scene.hear(r#"{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn","usage":{"inputTokens":20,"outputTokens":10,"cachedReadTokens":70,"cachedWriteTokens":0,"totalTokens":100}}}"#);
    let (updates, ending) = scene.end();
    let step = |text: &str, state| Step { text: text.to_owned(), state };
    let used = Usage { input_tokens: 90, cached_tokens: 70, output_tokens: 10, cost_micros: Some(420) };
    assert_eq!(
        updates,
        [
            Update::Text("Wri".to_owned()),
            Update::Text("ting.".to_owned()),
            tool("Write a.txt"),
            tool("run echo hi"),
            tool("write b/o.txt"),
            tool("Writing to g.txt"),
            tool("run git status"),
            Update::Plan(vec![step("x", StepState::Done), step("y", StepState::Active)]),
            Update::Text("\n\ndone".to_owned()),
            Update::Usage(used),
        ]
    );
    assert_eq!(ending.expect("it went well").answer, "done");
}

#[test]
fn permission_is_given_unless_the_tool_is_disallowed() {
    let ask = r#"{"jsonrpc":"2.0","id":0,"method":"session/request_permission","params":{"sessionId":"s1","toolCall":{"toolCallId":"a","title":"Write a.txt","kind":"edit"},"options":[{"optionId":"always","name":"A","kind":"allow_always"},{"optionId":"once","name":"O","kind":"allow_once"},{"optionId":"no","name":"N","kind":"reject_once"}]}}"#;
    let answered = |disallowed: &[&str], line: &str| {
        let turn = Turn { disallowed_tools: disallowed.iter().map(|&tool| tool.to_owned()).collect(), ..turn(None) };
        Scene::at_work(&turn).hear(line)
    };
    let allowed =
        json!({"jsonrpc": "2.0", "id": 0, "result": {"outcome": {"outcome": "selected", "optionId": "once"}}});
    assert_eq!(answered(&["Bash"], ask), allowed);
    assert_eq!(answered(&["Edit"], ask)["result"]["outcome"]["optionId"], "no");
    let garbled = r#"{"jsonrpc":"2.0","id":0,"method":"session/request_permission","params":{"options":7}}"#;
    assert_eq!(answered(&[], garbled)["result"]["outcome"]["outcome"], "cancelled");
    let unknown = r#"{"jsonrpc":"2.0","id":"x","method":"terminal/create","params":{}}"#;
    assert_eq!(answered(&[], unknown)["error"]["code"], -32601);
    assert_eq!(answered(&[], unknown)["id"], "x");
}

#[test]
fn each_reason_to_stop_is_its_own() {
    let ending = |answer: &str| {
        let mut scene = Scene::at_work(&turn(None));
        scene.hear(&format!(r#"{{"jsonrpc":"2.0","id":3,{answer}}}"#));
        scene.end().1.expect_err("it did not go well")
    };
    assert!(matches!(ending(r#""result":{"stopReason":"max_tokens"}"#), AssistantError::OutOfBounds(_)));
    assert!(matches!(ending(r#""result":{"stopReason":"max_turn_requests"}"#), AssistantError::OutOfBounds(_)));
    assert!(matches!(ending(r#""result":{"stopReason":"refusal"}"#), AssistantError::Failed(_)));
    assert!(matches!(ending(r#""result":{"stopReason":"cancelled"}"#), AssistantError::Failed(_)));
    assert!(matches!(ending(r#""result":{"stopReason":"bored"}"#), AssistantError::Garbled(_)));
    assert!(matches!(
        ending(r#""error":{"code":-32000,"message":"Authentication required"}"#),
        AssistantError::LoggedOut(_)
    ));
    assert!(matches!(
        ending(r#""error":{"code":-32603,"message":"Internal error: fake rate_limit_error"}"#),
        AssistantError::Limited(_)
    ));
    assert!(matches!(
        ending(r#""error":{"code":-32603,"message":"Internal error: fake authentication_error"}"#),
        AssistantError::LoggedOut(_)
    ));
    assert!(matches!(
        ending(r#""error":{"code":-32603,"message":"no","data":"prompt is too long"}"#),
        AssistantError::OutOfContext(_)
    ));
    assert!(
        matches!(ending(r#""error":{"code":-32603,"message":"boom"}"#), AssistantError::Failed(why) if why == "boom")
    );
    assert!(matches!(Scene::at_work(&turn(None)).end().1, Err(AssistantError::Crashed(_))));
}

#[test]
fn a_session_that_is_not_there_is_unknown() {
    let ending = |error: &str| {
        let mut scene = Scene::open(&program(), &turn(Some("s1")));
        scene.hear(HELLO);
        scene.hear(&format!(r#"{{"jsonrpc":"2.0","id":2,"error":{error}}}"#));
        scene.end().1.expect_err("it is unknown")
    };
    for unknown in [
        r#"{"code":-32002,"message":"Resource not found"}"#,
        r#"{"code":-32602,"message":"Invalid params: session not found: s1","data":{"sessionId":"s1"}}"#,
        r#"{"code":-32603,"message":"Internal error","data":{"details":"no rollout found for thread id s1"}}"#,
        r#"{"code":-32603,"message":"OpenCode service failure"}"#,
    ] {
        assert!(matches!(ending(unknown), AssistantError::UnknownSession), "{unknown}");
    }
    assert!(matches!(ending(r#"{"code":-32000,"message":"Authentication required"}"#), AssistantError::LoggedOut(_)));
    assert!(matches!(ending(r#"{"code":-32603,"message":"429 Too Many Requests"}"#), AssistantError::Limited(_)));
}

#[test]
fn an_agent_may_find_out_late_that_it_does_not_know_a_session() {
    let error = r#"{"jsonrpc":"2.0","id":3,"error":{"code":-32603,"message":"OpenCode service failure"}}"#;
    let ending = |has_spoken: bool| {
        let mut scene = Scene::open(&program(), &turn(Some("s1")));
        scene.hear(HELLO);
        scene.hear(r#"{"jsonrpc":"2.0","id":2,"result":{}}"#);
        if has_spoken {
            scene.update(
                &json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "I begin"}}),
            );
        }
        scene.hear(error);
        scene.end().1.expect_err("it failed")
    };
    assert!(matches!(ending(false), AssistantError::UnknownSession));
    assert!(matches!(ending(true), AssistantError::Failed(_)), "what was begun is not done again");
}

#[test]
fn what_is_not_settled_costs_a_word_and_not_the_turn() {
    let mut scene = Scene::open(
        &Program { model: Some("m".to_owned()), permissions: Some("yolo".to_owned()), ..program() },
        &turn(None),
    );
    scene.hear(HELLO);
    let modes = r#"{"currentModeId":"default","availableModes":[]}"#;
    let mode = scene.hear(&format!(r#"{{"jsonrpc":"2.0","id":2,"result":{{"sessionId":"s1","modes":{modes}}}}}"#));
    assert_eq!(mode["params"], json!({"sessionId": "s1", "modeId": "yolo"}));
    let prompt = scene.hear(r#"{"jsonrpc":"2.0","id":3,"error":{"code":-32602,"message":"no such mode"}}"#);
    assert_eq!(prompt["method"], "session/prompt");
    let notes = scene.updates.iter().filter(|update| matches!(update, Update::Note(_))).count();
    assert_eq!(notes, 2, "{:?}", scene.updates);
}

#[test]
fn another_version_and_another_language_are_said() {
    let mut talk = Acp::new(&program()).dialogue(&turn(None));
    talk.opening();
    let error = talk.hear(br#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":2}}"#).expect_err("not ours");
    assert!(matches!(&error, AssistantError::Garbled(why) if why.contains("version 2")), "{error}");
    let mut scene = Scene::open(&program(), &turn(None));
    scene.hear("Usage: agent [options]");
    assert!(matches!(scene.end().1, Err(AssistantError::Garbled(why)) if why.contains("Usage: agent")));
}

#[test]
fn the_usual_variables_lead_to_the_models_there_are() {
    let makers = vec![Maker::Anthropic, Maker::Openai, Maker::Gemini];
    let models = Models { url: "http://h/llm/r".to_owned(), token: "t".to_owned(), makers };
    let launch = Acp::new(&program()).launch(&Turn { models: Some(models), ..turn(None) });
    let variables: Vec<_> = launch.variables.iter().map(|(name, value)| format!("{name}={value}")).collect();
    assert_eq!(
        variables,
        [
            "ANTHROPIC_BASE_URL=http://h/llm/r",
            "ANTHROPIC_API_KEY=t",
            "OPENAI_BASE_URL=http://h/llm/r/openai/v1",
            "OPENAI_API_KEY=t",
            "GOOGLE_GEMINI_BASE_URL=http://h/llm/r/gemini",
            "GEMINI_API_KEY=t",
        ]
    );
}

proptest! {
    #[test]
    fn no_line_makes_it_fall(lines in prop::collection::vec(super::super::rpc::any_line(&METHODS), 1..12), is_early: bool) {
        let mut scene = if is_early { Scene::open(&program(), &turn(Some("s1"))) } else { Scene::at_work(&turn(None)) };
        for line in lines {
            let _ = scene.talk.hear(&line);
        }
        let _ = scene.end();
    }
}

const METHODS: [&str; 3] = ["session/update", "session/request_permission", "fs/read_text_file"];
