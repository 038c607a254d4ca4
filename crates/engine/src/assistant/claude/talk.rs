//! One turn's talk with Claude. Whatever a line holds, it can be heard: what has no meaning here is passed on as it is, and
//! only the end of the talk can fail.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use hedgerow_core::assistant::{AssistantError, Outcome, Turn, Update};
use serde_json::{Value, json};

use super::is_session;
use super::plan::Plan;
use super::tools::{self, Grounds};
use super::usage::{self, Meter};
use super::verdict::{self, Omens};
use crate::assistant::dialogue::{Dialogue, Heard, Parting};
use crate::assistant::words::{keepable, one_line};

/// Most that is kept of a line that has no meaning here.
const LONGEST_OTHER: usize = 16 << 10;

pub(super) struct Talk {
    prompt: String,
    resumes: bool,
    /// Tools that must not be used.
    disallowed: Vec<String>,
    /// Whatever else it wants to do, it may.
    is_free: bool,
    /// Where in the place it starts.
    subfolder: Option<PathBuf>,
    grounds: Grounds,
    session: Option<String>,
    plan: Plan,
    meter: Meter,
    stream: Stream,
    omens: Omens,
    /// The first line that is none of its protocol, until one was.
    garbage: Option<String>,
    is_understood: bool,
    last_word: Option<Result<Outcome, AssistantError>>,
}

/// The text, which comes in pieces first, and then whole.
#[derive(Debug, Default)]
struct Stream {
    /// The message that comes now.
    message: String,
    /// Messages whose text came in pieces.
    told: HashSet<String>,
    /// The next piece is the first of its paragraph.
    is_new: bool,
    has_spoken: bool,
}

impl Stream {
    /// A piece of text, parted from what was said before.
    fn piece(&mut self, text: &str) -> Update {
        let is_apart = std::mem::take(&mut self.is_new) && self.has_spoken;
        self.has_spoken = true;
        Update::Text(keepable(if is_apart { format!("\n\n{text}") } else { text.to_owned() }))
    }
}

impl Talk {
    pub(super) fn new(turn: &Turn, disallowed: Vec<String>, is_free: bool) -> Self {
        let mut grounds = Grounds::default();
        grounds.add(&turn.place.path.to_string_lossy());
        Self {
            prompt: turn.prompt.clone(),
            resumes: turn.resume.is_some(),
            disallowed,
            is_free,
            subfolder: turn.subfolder.clone(),
            grounds,
            session: None,
            plan: Plan::default(),
            meter: Meter::default(),
            stream: Stream::default(),
            omens: Omens::default(),
            garbage: None,
            is_understood: false,
            last_word: None,
        }
    }

    fn event(&mut self, line: &Value, raw: &[u8]) -> Heard {
        let updates = match text(line, "type") {
            "system" => self.system(line, raw),
            "stream_event" => self.streamed(line).into_iter().collect(),
            "assistant" => self.assistant(line, raw),
            "user" => {
                self.learn(line);
                vec![other(raw)]
            }
            "rate_limit_event" => {
                let info = &line["rate_limit_info"];
                self.omens.resets_at = info["resetsAt"].as_i64().filter(|_| text(info, "status") == "rejected");
                vec![other(raw)]
            }
            "control_request" => return self.asked(line),
            "control_response" if text(&line["response"], "subtype") == "success" => Vec::new(),
            "result" => return self.result(line),
            _ => vec![other(raw)],
        };
        Heard { updates, ..Heard::default() }
    }

    fn system(&mut self, line: &Value, raw: &[u8]) -> Vec<Update> {
        match text(line, "subtype") {
            "init" => self.init(line),
            "status" | "thinking_tokens" => Vec::new(),
            "api_retry" => vec![Update::Note(retry(line))],
            "compact_boundary" => vec![note("the session was summed up, to fit the model")],
            "permission_denied" => vec![note(&format!("not allowed: {}", text(line, "tool_name")))],
            _ => vec![other(raw)],
        }
    }

    /// It says so again when it begins again. Where it is, is where it sees itself.
    fn init(&mut self, line: &Value) -> Vec<Update> {
        let folder = Path::new(text(line, "cwd"));
        let below = self.subfolder.iter().filter(|subfolder| folder.ends_with(subfolder));
        let place = folder.ancestors().nth(below.map(|subfolder| subfolder.components().count()).sum());
        self.grounds.add(&place.unwrap_or(folder).to_string_lossy());
        let session = Some(text(line, "session_id")).filter(|name| is_session(name)).map(str::to_owned);
        if session.is_none() || session == self.session {
            return Vec::new();
        }
        self.session.clone_from(&session);
        session.map(Update::Session).into_iter().collect()
    }

    /// A raw event of the model's API. What subagents say is not the answer.
    fn streamed(&mut self, line: &Value) -> Option<Update> {
        if !line["parent_tool_use_id"].is_null() {
            return None;
        }
        let event = &line["event"];
        match text(event, "type") {
            "message_start" => {
                text(&event["message"], "id").clone_into(&mut self.stream.message);
                self.stream.is_new = true;
                self.meter.begin(&event["message"]["usage"]);
                None
            }
            "content_block_start" => {
                self.stream.is_new = true;
                None
            }
            "content_block_delta" if text(&event["delta"], "type") == "text_delta" => {
                let piece = Some(text(&event["delta"], "text")).filter(|piece| !piece.is_empty())?;
                self.stream.told.insert(self.stream.message.clone());
                Some(self.stream.piece(piece))
            }
            "message_delta" => Some(Update::Usage(self.meter.end(&event["usage"]))),
            _ => None,
        }
    }

    /// A message, or a block of one.
    fn assistant(&mut self, line: &Value, raw: &[u8]) -> Vec<Update> {
        let message = &line["message"];
        if let Some(error) = line["error"].as_str() {
            self.omens.error = Some(error.to_owned());
        }
        // Its own words about an error of the API come again as the result.
        let is_made_up = line["is_api_error_message"] == true || text(message, "model") == "<synthetic>";
        let is_subagent = !line["parent_tool_use_id"].is_null();
        let is_told = is_made_up || is_subagent || self.stream.told.contains(text(message, "id"));
        let blocks = message["content"].as_array().map(Vec::as_slice).unwrap_or_default();
        let mut updates = Vec::new();
        for block in blocks {
            match text(block, "type") {
                "text" if is_told => {}
                "text" => {
                    self.stream.is_new = true;
                    updates.push(self.stream.piece(text(block, "text")));
                }
                "tool_use" => updates.push(self.tool(block)),
                _ => updates.push(other(raw)),
            }
        }
        updates
    }

    fn tool(&mut self, block: &Value) -> Update {
        let (name, input) = (text(block, "name"), &block["input"]);
        match self.plan.called(name, text(block, "id"), input) {
            Some(steps) => Update::Plan(steps),
            None => Update::Tool(tools::told(name, input, &self.grounds)),
        }
    }

    /// The id of a step that a tool made.
    fn learn(&mut self, line: &Value) {
        let call = line["message"]["content"].get(0).map_or("", |block| text(block, "tool_use_id"));
        if let Some(id) = line["tool_use_result"]["task"]["id"].as_str() {
            self.plan.made(call, id);
        }
    }

    /// It asks something, and waits until it is answered.
    fn asked(&self, line: &Value) -> Heard {
        let request = &line["request"];
        let answer = match text(request, "subtype") {
            "can_use_tool" => Ok(self.permission(request)),
            asked => Err(format!("`{asked}` is not known here")),
        };
        let id = &line["request_id"];
        let response = match answer {
            Ok(response) => json!({"subtype": "success", "request_id": id, "response": response}),
            Err(error) => json!({"subtype": "error", "request_id": id, "error": error}),
        };
        Heard { reply: said(&json!({"type": "control_response", "response": response})), ..Heard::default() }
    }

    /// There is nobody to ask, so what was settled before decides.
    fn permission(&self, request: &Value) -> Value {
        let tool = text(request, "tool_name");
        let no = |why: String| json!({"behavior": "deny", "message": why});
        if self.disallowed.iter().any(|disallowed| disallowed == tool) {
            return no(format!("`{tool}` cannot be used here. Do without it; what you would ask, ask in your answer."));
        }
        if !self.is_free {
            return no(format!(
                "Whoever runs this machine has not allowed `{tool}`. Do without it, or say what you need."
            ));
        }
        let input = if request["input"].is_object() { request["input"].clone() } else { json!({}) };
        json!({"behavior": "allow", "updatedInput": input})
    }

    fn result(&mut self, line: &Value) -> Heard {
        let session = Some(text(line, "session_id")).filter(|name| is_session(name)).map(str::to_owned);
        let session = session.or_else(|| self.session.clone());
        self.last_word = Some(verdict::of(line, session, self.resumes, &self.omens));
        let used = usage::of_turn(line, self.resumes).map(Update::Usage);
        Heard { updates: used.into_iter().collect(), is_over: true, ..Heard::default() }
    }
}

impl Dialogue for Talk {
    fn opening(&mut self) -> Vec<u8> {
        let hello = json!({"type": "control_request", "request_id": "hello", "request": {"subtype": "initialize"}});
        let prompt = [json!({"type": "text", "text": std::mem::take(&mut self.prompt)})];
        let message = json!({"type": "user", "message": {"role": "user", "content": prompt}});
        [said(&hello), said(&message)].concat()
    }

    fn goes_on(&self) -> bool {
        true
    }

    fn hear(&mut self, line: &[u8]) -> Result<Heard, AssistantError> {
        if line.trim_ascii().is_empty() {
            return Ok(Heard::default());
        }
        match serde_json::from_slice::<Value>(line) {
            Ok(event) if event["type"].is_string() => {
                self.is_understood = true;
                Ok(self.event(&event, line))
            }
            _ => {
                self.garbage.get_or_insert_with(|| one_line(&String::from_utf8_lossy(line)));
                Ok(Heard::update(other(line)))
            }
        }
    }

    fn end(self: Box<Self>, parting: &Parting<'_>) -> Result<Outcome, AssistantError> {
        match (self.last_word, self.garbage) {
            (Some(last_word), _) => last_word,
            (None, Some(garbage)) if !self.is_understood => {
                Err(AssistantError::Garbled(format!("it wrote `{garbage}`\n{}", parting.told()).trim_end().to_owned()))
            }
            (None, _) if parting.told().is_empty() => {
                Err(AssistantError::Crashed("it ended without an answer".to_owned()))
            }
            (None, _) => Err(AssistantError::Crashed(parting.told())),
        }
    }
}

/// A text in it; none is an empty one.
fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

/// A line for it.
fn said(line: &Value) -> Vec<u8> {
    format!("{line}\n").into_bytes()
}

fn note(words: &str) -> Update {
    Update::Note(one_line(words))
}

/// A line as it is, cut where it is a page.
fn other(raw: &[u8]) -> Update {
    let kept = &raw[..raw.len().min(LONGEST_OTHER)];
    let cut = if kept.len() < raw.len() { "…" } else { "" };
    Update::Other(keepable(format!("{}{cut}", String::from_utf8_lossy(kept))))
}

/// `waiting for the model: overloaded (529), try 2 of 4 in 2 s`
fn retry(line: &Value) -> String {
    let number = |key: &str| line[key].as_u64();
    let why = Some(text(line, "error")).filter(|why| !why.is_empty()).unwrap_or("unknown").replace('_', " ");
    let status = number("error_status").map(|status| format!(" ({status})")).unwrap_or_default();
    let tries = match (number("attempt"), number("max_retries")) {
        (Some(attempt), Some(most)) => format!(", try {attempt} of {most}"),
        _ => String::new(),
    };
    let pause = number("retry_delay_ms").map(|pause| format!(" in {} s", pause.div_ceil(1000))).unwrap_or_default();
    one_line(&format!("waiting for the model: {why}{status}{tries}{pause}"))
}
