//! JSON-RPC in lines, as Codex and the agents of the Agent Client Protocol speak it.
//!
//! What cannot be read is noise and not an error: programs print what they like before they come to the point.

use hedgerow_core::assistant::{AssistantError, Update};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::dialogue::{Heard, Parting};
use super::words::{keepable, one_line};

/// The method is not there.
const NOT_FOUND: i64 = -32601;
/// Most lines that are no message before we believe that it speaks something else.
const PATIENCE: usize = 200;
/// Enough of a line for the log of a run.
const KEPT: usize = 8 << 10;

/// A line of the other side.
#[derive(Debug, PartialEq)]
pub(super) enum Line {
    Request { id: Value, method: String, params: Value },
    Notice { method: String, params: Value },
    Reply { id: Value, outcome: Result<Value, Fault> },
    Noise,
}

/// Why a request was not done.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct Fault {
    #[serde(default)]
    pub(super) code: i64,
    #[serde(default)]
    pub(super) message: String,
    #[serde(default)]
    pub(super) data: Value,
}

impl Fault {
    /// For a person: its words, and what it adds to them.
    pub(super) fn told(&self) -> String {
        let more = match &self.data {
            Value::String(text) => Some(text.as_str()),
            data => ["message", "details", "error"].iter().find_map(|name| data.get(name)?.as_str()),
        };
        let told = match more {
            Some(more) if !self.message.contains(more) => format!("{}: {more}", self.message),
            _ => self.message.clone(),
        };
        if told.is_empty() { format!("error {}", self.code) } else { keepable(told) }
    }
}

fn read(line: &[u8]) -> Line {
    #[derive(Deserialize)]
    struct Raw {
        id: Option<Value>,
        method: Option<String>,
        #[serde(default)]
        params: Value,
        result: Option<Value>,
        error: Option<Fault>,
    }
    let Ok(raw) = serde_json::from_slice::<Raw>(line) else { return Line::Noise };
    match raw {
        Raw { id: Some(id), method: Some(method), params, .. } => Line::Request { id, method, params },
        Raw { method: Some(method), params, .. } => Line::Notice { method, params },
        Raw { id: Some(id), error: Some(fault), .. } => Line::Reply { id, outcome: Err(fault) },
        Raw { id: Some(id), result, .. } => Line::Reply { id, outcome: Ok(result.unwrap_or_default()) },
        Raw { .. } => Line::Noise,
    }
}

pub(super) fn request(id: u64, method: &str, params: impl Serialize) -> Vec<u8> {
    written(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": value(params)}))
}

pub(super) fn notice(method: &str) -> Vec<u8> {
    written(&json!({"jsonrpc": "2.0", "method": method}))
}

pub(super) fn reply(id: &Value, result: impl Serialize) -> Vec<u8> {
    written(&json!({"jsonrpc": "2.0", "id": id, "result": value(result)}))
}

/// What is not answered would keep the other side waiting for ever.
pub(super) fn refuse(id: &Value, method: &str) -> Vec<u8> {
    let message = format!("there is no `{method}` here");
    written(&json!({"jsonrpc": "2.0", "id": id, "error": {"code": NOT_FOUND, "message": message}}))
}

fn value(of: impl Serialize) -> Value {
    serde_json::to_value(of).expect("our own words are JSON")
}

fn written(message: &Value) -> Vec<u8> {
    let mut line = message.to_string().into_bytes();
    line.push(b'\n');
    line
}

/// A line that has no meaning here, for the log.
pub(super) fn other(line: &[u8]) -> Update {
    let kept = &line[..line.len().min(KEPT)];
    Update::Other(keepable(String::from_utf8_lossy(kept).into_owned()))
}

/// Whether the other side speaks this at all.
#[derive(Debug, Default)]
pub(super) struct Ear {
    has_understood: bool,
    noise: usize,
    first_noise: Option<String>,
}

impl Ear {
    pub(super) fn read(&mut self, line: &[u8]) -> Line {
        let line = read(line);
        self.has_understood |= line != Line::Noise;
        line
    }

    /// Kept for the log, unless there is nothing but noise.
    pub(super) fn noise(&mut self, line: &[u8]) -> Result<Heard, AssistantError> {
        if line.trim_ascii().is_empty() {
            return Ok(Heard::default());
        }
        self.noise += 1;
        self.first_noise.get_or_insert_with(|| one_line(&String::from_utf8_lossy(&line[..line.len().min(KEPT)])));
        if !self.has_understood && self.noise > PATIENCE {
            return Err(self.garbled());
        }
        Ok(Heard::update(other(line)))
    }

    /// Why it ended without a last word.
    pub(super) fn broke_off(&self, parting: &Parting<'_>) -> AssistantError {
        if !self.has_understood && self.noise > 0 {
            return self.garbled();
        }
        AssistantError::Crashed(parting.told())
    }

    fn garbled(&self) -> AssistantError {
        let first = self.first_noise.as_deref().unwrap_or_default();
        AssistantError::Garbled(format!("it does not speak the protocol that its kind promises; it says `{first}`"))
    }
}

/// Lines for a test that tries to make a dialogue fall: noise, and messages with anything where something is expected.
#[cfg(test)]
pub(super) fn any_line(methods: &'static [&'static str]) -> impl proptest::strategy::Strategy<Value = Vec<u8>> {
    use proptest::prelude::*;

    const NAMES: [&str; 22] = [
        "threadId",
        "turnId",
        "itemId",
        "delta",
        "item",
        "type",
        "id",
        "turn",
        "status",
        "plan",
        "tokenUsage",
        "total",
        "error",
        "update",
        "sessionUpdate",
        "sessionId",
        "content",
        "toolCallId",
        "toolCall",
        "title",
        "text",
        "options",
    ];
    const WORDS: [&str; 14] = [
        "t1",
        "u1",
        "s1",
        "agentMessage",
        "fileChange",
        "commandExecution",
        "webSearch",
        "failed",
        "text",
        "tool_call",
        "tool_call_update",
        "agent_message_chunk",
        "usage_update",
        "plan",
    ];
    let leaf = prop_oneof![
        any::<i64>().prop_map(Value::from),
        any::<bool>().prop_map(Value::from),
        Just(Value::Null),
        prop::sample::select(&WORDS[..]).prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
    ];
    let value = leaf.prop_recursive(4, 24, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((prop::sample::select(&NAMES[..]), inner), 0..6)
                .prop_map(|fields| fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()),
        ]
    });
    prop_oneof![
        prop::collection::vec(any::<u8>(), 0..64),
        value.clone().prop_map(|value| value.to_string().into_bytes()),
        (prop::sample::select(methods), value.clone())
            .prop_map(|(method, params)| json!({"method": method, "params": params}).to_string().into_bytes()),
        (prop::sample::select(methods), value.clone(), 0..5).prop_map(|(method, params, id)| {
            json!({"id": id, "method": method, "params": params}).to_string().into_bytes()
        }),
        (0..6, value.clone()).prop_map(|(id, result)| json!({"id": id, "result": result}).to_string().into_bytes()),
        (0..6, value).prop_map(|(id, error)| json!({"id": id, "error": error}).to_string().into_bytes()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_of_a_line_is_told_apart() {
        assert_eq!(
            read(br#"{"id":0,"method":"m","params":{"a":1}}"#),
            Line::Request { id: json!(0), method: "m".to_owned(), params: json!({"a": 1}) }
        );
        let notice = Line::Notice { method: "m".to_owned(), params: Value::Null };
        assert_eq!(read(br#" {"jsonrpc":"2.0","method":"m"} "#), notice);
        assert_eq!(read(br#"{"id":"x","result":null}"#), Line::Reply { id: json!("x"), outcome: Ok(Value::Null) });
        let Line::Reply { outcome: Err(fault), .. } = read(br#"{"id":1,"error":{"code":-3,"message":"no"}}"#) else {
            panic!("it is a fault");
        };
        assert_eq!((fault.code, fault.told().as_str()), (-3, "no"));
        for noise in [&b"hello"[..], b"", b"[]", b"{}", b"7", b"\xff", b"{\"id\":", b"{\"method\":7}"] {
            assert_eq!(read(noise), Line::Noise, "{noise:?}");
        }
    }

    #[test]
    fn a_fault_is_told_with_what_it_adds() {
        let told = |data| Fault { code: -1, message: "Internal error".to_owned(), data }.told();
        assert_eq!(told(Value::Null), "Internal error");
        assert_eq!(told(json!("no key")), "Internal error: no key");
        assert_eq!(told(json!({"details": "no key"})), "Internal error: no key");
        assert_eq!(Fault { code: -5, message: String::new(), data: Value::Null }.told(), "error -5");
    }

    #[test]
    fn nothing_but_noise_is_another_language() {
        let mut ear = Ear::default();
        ear.noise(b"Welcome!").expect("it may come to the point");
        let parting = Parting { how: "it ended with exit status 1", ..Parting::default() };
        assert!(matches!(ear.broke_off(&parting), AssistantError::Garbled(why) if why.contains("`Welcome!`")));
        assert_ne!(ear.read(br#"{"jsonrpc":"2.0","method":"x"}"#), Line::Noise);
        assert!(matches!(ear.broke_off(&parting), AssistantError::Crashed(_)));
        let mut ear = Ear::default();
        assert!((0..=PATIENCE).any(|_| ear.noise(b"y").is_err()));
    }
}
