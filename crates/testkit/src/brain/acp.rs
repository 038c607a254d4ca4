//! The assistant of the tests as an agent of the Agent Client Protocol.

use std::io::{self, BufRead as _};
use std::process::ExitCode;
use std::str::FromStr;

use hedgerow_core::assistant::{Step, StepState};
use serde_json::{Value, json};

use super::session::Session;
use super::thinking::{Done, Notes, Task, work};
use super::voice::{Voice, speak};

/// How it comes back to a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ComesBack {
    Resume,
    /// Telling all of its past once more.
    Load,
    Never,
}

impl FromStr for ComesBack {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "resume" => Ok(Self::Resume),
            "load" => Ok(Self::Load),
            "never" => Ok(Self::Never),
            other => Err(format!("there is no `{other}`")),
        }
    }
}

/// A code of the protocol, and words.
type Fault = (i64, String);

pub(super) fn serve(notes: Notes, comes_back: ComesBack) -> ExitCode {
    let mut agent = Agent { notes, comes_back, session: None, resumes: false };
    while let Ok(Some(message)) = heard() {
        let Some(id) = message.get("id") else { continue };
        let params = message.get("params").cloned().unwrap_or_default();
        let answer = match message.get("method").and_then(Value::as_str) {
            Some("session/prompt") => match agent.prompt(&params) {
                Ok(Done::Exit(code)) => return ExitCode::from(code),
                Ok(Done::Finished(_)) => {
                    let usage =
                        json!({"inputTokens": 30, "cachedReadTokens": 10, "outputTokens": 5, "totalTokens": 35});
                    Ok(json!({"stopReason": "end_turn", "usage": usage}))
                }
                Ok(Done::ForgotSession) => Err((-32002, "Resource not found".to_owned())),
                Ok(Done::OutOfContext) => Err((-32603, "prompt is too long".to_owned())),
                Ok(Done::LoggedOut) => Err((-32000, "Authentication required".to_owned())),
                Err(error) => Err((-32603, error.to_string())),
            },
            Some(method) => agent.answer(method, &params),
            None => continue,
        };
        speak(&match answer {
            Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
            Err((code, words)) => json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": words}}),
        });
    }
    ExitCode::SUCCESS
}

/// The next message; `None` when there will be none.
fn heard() -> io::Result<Option<Value>> {
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line)?;
    if line.is_empty() { Ok(None) } else { Ok(Some(serde_json::from_str(&line)?)) }
}

struct Agent {
    notes: Notes,
    comes_back: ComesBack,
    session: Option<Session>,
    resumes: bool,
}

impl Agent {
    fn answer(&mut self, method: &str, params: &Value) -> Result<Value, Fault> {
        match (method, self.comes_back) {
            ("initialize", comes_back) => {
                let sessions = if comes_back == ComesBack::Resume { json!({"resume": {}}) } else { json!({}) };
                let can = json!({"loadSession": comes_back == ComesBack::Load, "sessionCapabilities": sessions});
                Ok(json!({"protocolVersion": 1, "agentCapabilities": can}))
            }
            ("session/new", _) => {
                let session = self.open(None)?;
                Ok(json!({"sessionId": session.name}))
            }
            ("session/resume", ComesBack::Resume) | ("session/load", ComesBack::Load) => {
                let name = params.get("sessionId").and_then(Value::as_str).unwrap_or_default().to_owned();
                let session = self.open(Some(name))?;
                let past = session.past().ok_or_else(|| (-32002, "Resource not found".to_owned()))?;
                if method == "session/load" {
                    for prompt in past {
                        let mut voice = Told { session: session.name.clone() };
                        voice.chunk("user_message_chunk", &prompt);
                        voice.chunk("agent_message_chunk", "as I said before");
                    }
                }
                self.resumes = true;
                Ok(json!({}))
            }
            _ => Err((-32601, format!("\"Method not found\": {method}"))),
        }
    }

    fn open(&mut self, name: Option<String>) -> Result<&Session, Fault> {
        let session = Session::open(name, self.notes.state.clone()).map_err(|error| (-32603, error.to_string()))?;
        Ok(self.session.insert(session))
    }

    fn prompt(&self, params: &Value) -> io::Result<Done> {
        let session = self.session.as_ref().ok_or_else(|| io::Error::other("there is no session"))?;
        let words =
            params.get("prompt").and_then(Value::as_array).and_then(|blocks| blocks.last()?.get("text")?.as_str());
        let prompt = words.unwrap_or_default().to_owned();
        session.keep(&prompt)?;
        let run = std::env::var("HEDGEROW_RUN").unwrap_or_default();
        // A briefing comes with the first prompt here.
        let task = Task { run, prompt, resumes: self.resumes, briefing: String::new(), memory: None };
        work(&task, session, &self.notes, &mut Told { session: session.name.clone() })
    }
}

/// Tells it in updates of the session.
struct Told {
    session: String,
}

impl Told {
    fn update(&self, update: &Value) {
        let params = json!({"sessionId": self.session, "update": update});
        speak(&json!({"jsonrpc": "2.0", "method": "session/update", "params": params}));
    }

    fn chunk(&mut self, kind: &str, text: &str) {
        self.update(&json!({"sessionUpdate": kind, "content": {"type": "text", "text": text}}));
    }
}

impl Voice for Told {
    fn text(&mut self, text: &str) {
        self.chunk("agent_message_chunk", &format!("{text}\n"));
    }

    fn tool(&mut self, text: &str) {
        let call = json!({"toolCallId": text, "title": text, "status": "in_progress"});
        let mut begun = call.clone();
        begun["sessionUpdate"] = "tool_call".into();
        self.update(&begun);
        self.update(&json!({"sessionUpdate": "tool_call_update", "toolCallId": text, "status": "completed"}));
    }

    fn plan(&mut self, steps: &[Step]) {
        let state = |step: &Step| match step.state {
            StepState::Pending => "pending",
            StepState::Active => "in_progress",
            StepState::Done => "completed",
        };
        let entry = |step: &Step| json!({"content": step.text, "priority": "medium", "status": state(step)});
        let entries: Vec<_> = steps.iter().map(entry).collect();
        self.update(&json!({"sessionUpdate": "plan", "entries": entries}));
    }

    fn ask(&mut self, what: &str) -> io::Result<bool> {
        let call = json!({"toolCallId": what, "title": what, "name": what, "kind": "execute", "status": "pending"});
        let option = |kind: &str| json!({"optionId": kind, "name": kind, "kind": kind});
        let options = [option("allow_always"), option("allow_once"), option("reject_once")];
        let params = json!({"sessionId": self.session, "toolCall": call, "options": options});
        let id = json!("leave");
        speak(&json!({"jsonrpc": "2.0", "id": id, "method": "session/request_permission", "params": params}));
        while let Some(message) = heard()? {
            if message.get("id") == Some(&id) {
                let chosen = message.pointer("/result/outcome/optionId").and_then(Value::as_str);
                return Ok(chosen == Some("allow_once"));
            }
        }
        Err(io::Error::other("nobody answers"))
    }
}
