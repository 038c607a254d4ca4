//! The driver of Claude Code, on lines of the shapes that the real one writes.

mod hearing;
mod random;
mod starting;
mod troubles;

use std::path::PathBuf;

use hedgerow_core::assistant::{AssistantError, Maker, Models, Outcome, Turn, Update};
use hedgerow_core::environment::{Exec, Place, Tenant};
use hedgerow_core::{ConversationId, RunId};
use serde_json::{Value, json};

use super::*;
use crate::assistant::dialogue::{Heard, Parting};
use crate::settings::AgentKind;

fn program() -> Program {
    Program::new("claude", AgentKind::Claude, vec!["claude".into()])
}

fn turn(prompt: &str) -> Turn {
    let of = Tenant::Scratch(ConversationId::new());
    let place = Place { of, generation: 0, path: PathBuf::from("/trees/shop"), branch: None, exec: Exec::Host };
    Turn::new(RunId::new(), place, prompt)
}

fn talk() -> Box<dyn Dialogue> {
    Claude::new(&program()).dialogue(&turn("go"))
}

/// A talk that takes up a session.
fn resumed() -> Box<dyn Dialogue> {
    let turn = Turn { resume: Some("0195f0aa-1111".to_owned()), ..turn("go") };
    Claude::new(&program()).dialogue(&turn)
}

fn hear(talk: &mut dyn Dialogue, line: &Value) -> Heard {
    talk.hear(line.to_string().as_bytes()).expect("every line can be heard")
}

/// What all lines came to, until the last word.
fn heard(mut talk: Box<dyn Dialogue>, lines: &[Value]) -> (Vec<Update>, Result<Outcome, AssistantError>) {
    let mut updates = Vec::new();
    for line in lines {
        let heard = hear(talk.as_mut(), line);
        updates.extend(heard.updates);
        if heard.is_over {
            break;
        }
    }
    (updates, talk.end(&Parting { went_well: false, how: "it ended with exit status 1", words: "oh" }))
}

fn init() -> Value {
    json!({"type": "system", "subtype": "init", "cwd": "/trees/shop", "session_id": "0195f0aa-1111", "tools": ["Bash"]})
}

fn block(message: &str, block: &Value) -> Value {
    let message = json!({"id": message, "role": "assistant", "model": "large", "content": [block]});
    json!({"type": "assistant", "message": message, "parent_tool_use_id": null})
}

fn says(message: &str, text: &str) -> Value {
    block(message, &json!({"type": "text", "text": text}))
}

fn uses(tool: &str, input: &Value) -> Value {
    block("m1", &json!({"type": "tool_use", "id": "t1", "name": tool, "input": input}))
}

fn result(answer: &str) -> Value {
    json!({
        "type": "result", "subtype": "success", "is_error": false, "terminal_reason": "completed", "num_turns": 1,
        "result": answer, "session_id": "0195f0aa-1111", "api_error_status": null,
    })
}

fn text(text: &str) -> Update {
    Update::Text(text.to_owned())
}
