//! The Messages API.

use serde_json::{Value, json};

use super::asked::{Asked, Entry};
use super::trouble::Trouble;
use super::voice::{Event, Tokens, Voice, id, named, words};

/// Reads a request. Claude Code also sends messages of the system in the middle of a conversation; they are nobody's.
pub(super) fn read(body: &Value) -> Option<Asked> {
    let mut asked = Asked {
        model: body["model"].as_str()?.to_owned(),
        streams: body["stream"] == true,
        tools: names(&body["tools"]),
        ..Asked::default()
    };
    for message in body["messages"].as_array()? {
        let content = &message["content"];
        match (message["role"].as_str()?, content.as_array()) {
            ("user", None) => asked.people(content),
            ("user", Some(blocks)) => {
                for block in blocks {
                    match block["type"].as_str()? {
                        "text" => asked.person(block["text"].as_str()?),
                        "tool_result" => asked.result(&block["content"]),
                        _ => {}
                    }
                }
            }
            ("assistant", _) => asked.entries.push(Entry::Model),
            _ => {}
        }
    }
    Some(asked)
}

fn names(tools: &Value) -> Vec<String> {
    let tools = tools.as_array().into_iter().flatten();
    tools.filter_map(|tool| tool["name"].as_str()).map(str::to_owned).collect()
}

pub(super) struct Messages {
    message: Value,
    blocks: Vec<Value>,
    stop: &'static str,
}

impl Messages {
    pub(super) fn new(model: &str) -> Self {
        let message = json!({
            "id": id("msg"), "type": "message", "role": "assistant", "model": model, "content": [],
            "stop_reason": null, "stop_sequence": null,
        });
        Self { message, blocks: Vec::new(), stop: "end_turn" }
    }

    /// A block that comes in pieces: how it starts, its pieces, and what it is in the end.
    fn block(&mut self, start: &Value, deltas: impl IntoIterator<Item = Value>, whole: Value) -> Vec<Event> {
        let index = self.blocks.len();
        self.blocks.push(whole);
        let start = json!({"type": "content_block_start", "index": index, "content_block": start});
        let delta = |delta: Value| json!({"type": "content_block_delta", "index": index, "delta": delta});
        let stop = json!({"type": "content_block_stop", "index": index});
        let events = [start].into_iter().chain(deltas.into_iter().map(delta)).chain([stop]);
        events.map(|event| named(&event)).collect()
    }
}

fn usage(tokens: Tokens, output: u64) -> Value {
    json!({
        "input_tokens": tokens.fresh, "cache_read_input_tokens": tokens.cached, "cache_creation_input_tokens": 0,
        "output_tokens": output, "service_tier": "standard",
    })
}

impl Voice for Messages {
    fn begins(&mut self, tokens: Tokens) -> Vec<Event> {
        self.message["usage"] = usage(tokens, 1);
        vec![named(&json!({"type": "message_start", "message": self.message}))]
    }

    fn thinks(&mut self, text: &str) -> Vec<Event> {
        // What it thought comes back with the conversation, signed; nobody checks ours.
        let signature = "c2lnbmVk";
        let pieces = words(text).map(|word| json!({"type": "thinking_delta", "thinking": word}));
        let pieces: Vec<_> = pieces.chain([json!({"type": "signature_delta", "signature": signature})]).collect();
        let whole = json!({"type": "thinking", "thinking": text, "signature": signature});
        self.block(&json!({"type": "thinking", "thinking": "", "signature": ""}), pieces, whole)
    }

    fn says(&mut self, text: &str) -> Vec<Event> {
        let pieces: Vec<_> = words(text).map(|word| json!({"type": "text_delta", "text": word})).collect();
        self.block(&json!({"type": "text", "text": ""}), pieces, json!({"type": "text", "text": text}))
    }

    fn calls(&mut self, tool: &str, input: &Value) -> Vec<Event> {
        self.stop = "tool_use";
        let id = id("toolu");
        let start = json!({"type": "tool_use", "id": id, "name": tool, "input": {}});
        let piece = json!({"type": "input_json_delta", "partial_json": input.to_string()});
        self.block(&start, [piece], json!({"type": "tool_use", "id": id, "name": tool, "input": input}))
    }

    fn waits(&self) -> Event {
        named(&json!({"type": "ping"}))
    }

    fn breaks(&mut self, trouble: Trouble) -> Vec<Event> {
        vec![named(&trouble.anthropic().1)]
    }

    fn ends(&mut self, tokens: Tokens) -> Vec<Event> {
        let usage = usage(tokens, tokens.output);
        self.message["usage"] = usage.clone();
        self.message["stop_reason"] = json!(self.stop);
        let delta = json!({"stop_reason": self.stop, "stop_sequence": null});
        let delta = json!({"type": "message_delta", "delta": delta, "usage": usage});
        vec![named(&delta), named(&json!({"type": "message_stop"}))]
    }

    fn whole(&self) -> Value {
        let mut message = self.message.clone();
        message["content"] = json!(self.blocks);
        message
    }
}
