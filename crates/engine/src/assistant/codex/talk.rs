//! One turn with Codex.

use std::collections::HashSet;
use std::path::PathBuf;

use hedgerow_core::assistant::{AssistantError, Outcome, Step, StepState, Update, Usage};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::super::dialogue::{Dialogue, Heard, Parting};
use super::super::rpc::{self, Ear, Fault, Line};
use super::super::spoken::Spoken;
use super::super::words::{keepable, one_line};
use super::errors::{self, Trouble};
use super::items;

/// Our requests, one of each.
const INITIALIZE: u64 = 1;
const THREAD: u64 = 2;
const TURN: u64 = 3;

/// Said often, and of no use to anybody here.
const QUIET: [&str; 14] = [
    "account/rateLimits/updated",
    "command/exec/outputDelta",
    "item/commandExecution/outputDelta",
    "item/commandExecution/terminalInteraction",
    "item/fileChange/outputDelta",
    "item/fileChange/patchUpdated",
    "item/plan/delta",
    "item/reasoning/summaryPartAdded",
    "item/reasoning/summaryTextDelta",
    "item/reasoning/textDelta",
    "remoteControl/status/changed",
    "thread/started",
    "thread/status/changed",
    "turn/diff/updated",
];

/// What we begin with.
pub(super) struct Opening {
    /// The parameters of the thread, or why there are none.
    pub(super) thread: Result<Value, AssistantError>,
    /// The thread to resume.
    pub(super) resume: Option<String>,
    pub(super) prompt: String,
}

pub(super) struct Talk {
    opening: Opening,
    place: PathBuf,
    /// The owner of the machine has not narrowed what it may do.
    is_unbounded: bool,
    ear: Ear,
    thread: Option<String>,
    turn: Option<String>,
    spoken: Spoken,
    /// Items of which there is a line already.
    told: HashSet<String>,
    /// What the thread had used before this turn.
    before: Option<Tokens>,
    last_word: Option<Result<Outcome, AssistantError>>,
}

impl Talk {
    pub(super) fn new(opening: Opening, place: PathBuf, is_unbounded: bool) -> Self {
        Self {
            opening,
            place,
            is_unbounded,
            ear: Ear::default(),
            thread: None,
            turn: None,
            spoken: Spoken::default(),
            told: HashSet::new(),
            before: None,
            last_word: None,
        }
    }

    fn replied(&mut self, id: u64, outcome: Result<Value, Fault>) -> Result<Heard, AssistantError> {
        match (id, outcome) {
            (INITIALIZE, Ok(_)) => {
                let method = if self.opening.resume.is_some() { "thread/resume" } else { "thread/start" };
                let thread = std::mem::replace(&mut self.opening.thread, Ok(Value::Null))?;
                let reply = [rpc::notice("initialized"), rpc::request(THREAD, method, thread)].concat();
                Ok(Heard { reply, ..Heard::default() })
            }
            (THREAD, Ok(started)) => {
                let id = started.pointer("/thread/id").and_then(Value::as_str);
                let id = id.ok_or_else(|| AssistantError::Garbled("its thread has no id".to_owned()))?.to_owned();
                let input = json!([{"type": "text", "text": self.opening.prompt}]);
                let reply = rpc::request(TURN, "turn/start", json!({"threadId": id, "input": input}));
                self.thread = Some(id.clone());
                Ok(Heard { updates: vec![Update::Session(keepable(id))], reply, is_over: false })
            }
            (TURN, Ok(started)) => {
                self.turn = started.pointer("/turn/id").and_then(Value::as_str).map(str::to_owned);
                Ok(Heard::default())
            }
            (THREAD, Err(fault)) => {
                let resume = self.opening.resume.as_deref();
                Ok(self
                    .over(Err(resume.map_or_else(|| errors::of_asking(&fault), |id| errors::of_resuming(&fault, id)))))
            }
            (_, Err(fault)) => Ok(self.over(Err(errors::of_asking(&fault)))),
            (_, Ok(_)) => Ok(Heard::default()),
        }
    }

    fn noticed(&mut self, method: &str, params: &Value, line: &[u8]) -> Heard {
        let thread = params.get("threadId").and_then(Value::as_str);
        if thread.is_some() && thread != self.thread.as_deref() {
            // Agents that Codex starts itself have threads of their own.
            return if QUIET.contains(&method) { Heard::default() } else { Heard::update(rpc::other(line)) };
        }
        let understood = match method {
            "turn/started" => {
                self.turn = params.pointer("/turn/id").and_then(Value::as_str).map(str::to_owned);
                Some(Heard::default())
            }
            "item/agentMessage/delta" => self.said(params),
            "item/started" | "item/completed" => self.did(params, method == "item/completed"),
            "turn/plan/updated" => plan(params),
            "thread/tokenUsage/updated" => self.used(params),
            "error" => Some(erred(params)),
            "warning" => params.get("message").and_then(Value::as_str).map(note),
            "mcpServer/startupStatus/updated" => Some(server_came(params)),
            "turn/completed" => self.completed(params),
            method if QUIET.contains(&method) => Some(Heard::default()),
            _ => None,
        };
        understood.unwrap_or_else(|| Heard::update(rpc::other(line)))
    }

    fn said(&mut self, params: &Value) -> Option<Heard> {
        let message = params.get("itemId").and_then(Value::as_str);
        let text = self.spoken.piece(message, params.get("delta")?.as_str()?);
        Some(Heard::update(Update::Text(text)))
    }

    /// One line for whatever it does, as soon as there is enough to tell.
    fn did(&mut self, params: &Value, is_done: bool) -> Option<Heard> {
        let item = params.get("item")?;
        let (kind, id) = (item.get("type")?.as_str()?, item.get("id")?.as_str()?);
        match kind {
            "agentMessage" if is_done => {
                let rest = self.spoken.rest(id, item.get("text")?.as_str()?);
                return Some(Heard::update(Update::Text(rest)));
            }
            "contextCompaction" if is_done => return Some(note("the session had grown long, and was summed up")),
            "agentMessage" | "userMessage" | "reasoning" | "sleep" | "contextCompaction" => {
                return Some(Heard::default());
            }
            _ => {}
        }
        if self.told.contains(id) {
            return Some(Heard::default());
        }
        match items::told(item, &self.place) {
            Some(line) => {
                self.told.insert(id.to_owned());
                Some(Heard::update(Update::Tool(line)))
            }
            None if is_done => None,
            None => Some(Heard::default()),
        }
    }

    /// Codex counts for the whole thread; the first count of this turn tells what came before.
    fn used(&mut self, params: &Value) -> Option<Heard> {
        if self.turn.is_none() || params.get("turnId")?.as_str() != self.turn.as_deref() {
            return Some(Heard::default());
        }
        let TokenUsage { total, last } = read(params.get("tokenUsage")?)?;
        let before = *self.before.get_or_insert_with(|| total.without(last));
        Some(Heard::update(Update::Usage(total.without(before).usage())))
    }

    fn completed(&mut self, params: &Value) -> Option<Heard> {
        let turn = params.get("turn")?;
        if self.turn.is_some() && turn.get("id")?.as_str() != self.turn.as_deref() {
            return None;
        }
        let ending = match turn.get("status")?.as_str()? {
            "completed" => Ok(Outcome { session: self.thread.clone().map(keepable), answer: self.spoken.answer() }),
            "interrupted" => Err(AssistantError::Failed("its turn was interrupted".to_owned())),
            _ => Err(turn.get("error").and_then(read::<Trouble>).unwrap_or_default().kind()),
        };
        Some(self.over(ending))
    }

    fn over(&mut self, ending: Result<Outcome, AssistantError>) -> Heard {
        self.last_word = Some(ending);
        Heard::over()
    }

    /// Nobody is there to be asked: what the owner of the machine has allowed is allowed, and nothing else.
    fn asked(&self, id: &Value, method: &str, params: &Value) -> Vec<u8> {
        match method {
            "item/commandExecution/requestApproval" | "item/fileChange/requestApproval" => {
                rpc::reply(id, json!({"decision": if self.is_unbounded { "accept" } else { "decline" }}))
            }
            "item/permissions/requestApproval" => {
                let asked = params.get("permissions").filter(|_| self.is_unbounded);
                rpc::reply(id, json!({"permissions": asked.cloned().unwrap_or_else(|| json!({}))}))
            }
            "item/tool/requestUserInput" => rpc::reply(id, json!({"answers": {}})),
            "mcpServer/elicitation/request" => rpc::reply(id, json!({"action": "decline"})),
            _ => rpc::refuse(id, method),
        }
    }
}

impl Dialogue for Talk {
    fn opening(&mut self) -> Vec<u8> {
        let us = json!({"name": "hedgerow", "title": "Hedgerow", "version": env!("CARGO_PKG_VERSION")});
        let capabilities = json!({"optOutNotificationMethods": QUIET});
        rpc::request(INITIALIZE, "initialize", json!({"clientInfo": us, "capabilities": capabilities}))
    }

    fn goes_on(&self) -> bool {
        true
    }

    fn hear(&mut self, line: &[u8]) -> Result<Heard, AssistantError> {
        match self.ear.read(line) {
            Line::Noise => self.ear.noise(line),
            Line::Reply { id, outcome } => match id.as_u64() {
                Some(id) => self.replied(id, outcome),
                None => Ok(Heard::update(rpc::other(line))),
            },
            Line::Notice { method, params } => Ok(self.noticed(&method, &params, line)),
            Line::Request { id, method, params } => {
                Ok(Heard { reply: self.asked(&id, &method, &params), ..Heard::default() })
            }
        }
    }

    fn end(self: Box<Self>, parting: &Parting<'_>) -> Result<Outcome, AssistantError> {
        self.last_word.unwrap_or_else(|| Err(self.ear.broke_off(parting)))
    }
}

fn note(text: &str) -> Heard {
    Heard::update(Update::Note(one_line(text)))
}

fn read<T: DeserializeOwned>(value: &Value) -> Option<T> {
    T::deserialize(value).ok()
}

/// What it tries again is for people to know meanwhile. What it gives up on, the end of the turn tells.
fn erred(params: &Value) -> Heard {
    let trouble = params.get("error").and_then(read::<Trouble>).unwrap_or_default();
    match params.get("willRetry").and_then(Value::as_bool) {
        Some(true) => note(&trouble.told()),
        _ => Heard::default(),
    }
}

/// A server of tools that does not start is missed by the agent, and by whoever wonders why.
fn server_came(params: &Value) -> Heard {
    let text = |name: &str| params.get(name).and_then(Value::as_str);
    match (text("status"), text("error")) {
        (Some("failed"), Some(error)) => note(error),
        _ => Heard::default(),
    }
}

fn plan(params: &Value) -> Option<Heard> {
    let steps = params.get("plan")?.as_array()?.iter().filter_map(|step| {
        let state = match step.get("status")?.as_str()? {
            "completed" => StepState::Done,
            "inProgress" | "in_progress" => StepState::Active,
            _ => StepState::Pending,
        };
        Some(Step { text: one_line(step.get("step")?.as_str()?), state })
    });
    Some(Heard::update(Update::Plan(steps.collect())))
}

#[derive(Deserialize)]
struct TokenUsage {
    total: Tokens,
    last: Tokens,
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(default)]
struct Tokens {
    #[serde(rename = "inputTokens")]
    input: u64,
    #[serde(rename = "cachedInputTokens")]
    cached: u64,
    #[serde(rename = "outputTokens")]
    output: u64,
}

impl Tokens {
    const fn without(self, other: Self) -> Self {
        Self {
            input: self.input.saturating_sub(other.input),
            cached: self.cached.saturating_sub(other.cached),
            output: self.output.saturating_sub(other.output),
        }
    }

    const fn usage(self) -> Usage {
        Usage { input_tokens: self.input, cached_tokens: self.cached, output_tokens: self.output, cost_micros: None }
    }
}
