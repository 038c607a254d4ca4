//! The Responses API of OpenAI, which Codex speaks.

use serde_json::{Value, json};

use super::asked::{Asked, Entry};
use super::trouble::Trouble;
use super::voice::{Event, Tokens, Voice, id, named, words};

pub(super) fn read(body: &Value) -> Option<Asked> {
    let mut asked =
        Asked { model: body["model"].as_str()?.to_owned(), streams: body["stream"] == true, ..Asked::default() };
    for tool in body["tools"].as_array().into_iter().flatten() {
        let Some(name) = tool["name"].as_str() else { continue };
        asked.tools.push(name.to_owned());
        if tool["type"] == "custom" {
            asked.plain_tools.push(name.to_owned());
        }
    }
    if let Some(prompt) = body["input"].as_str() {
        asked.person(prompt);
        return Some(asked);
    }
    for item in body["input"].as_array()? {
        match (item["type"].as_str().unwrap_or("message"), item["role"].as_str()) {
            ("message", Some("user")) => asked.people(&item["content"]),
            ("message", Some("assistant")) | ("function_call" | "custom_tool_call", _) => {
                asked.entries.push(Entry::Model);
            }
            ("function_call_output" | "custom_tool_call_output", _) => asked.result(&item["output"]),
            _ => {}
        }
    }
    Some(asked)
}

pub(super) struct Responses {
    response: Value,
    items: Vec<Value>,
    plain_tools: Vec<String>,
    events: u64,
}

impl Responses {
    pub(super) fn new(asked: &Asked) -> Self {
        let response = json!({
            "id": id("resp"), "object": "response", "created_at": 1_767_225_600, "status": "in_progress",
            "model": asked.model, "output": [], "error": null, "incomplete_details": null, "usage": null,
        });
        Self { response, items: Vec::new(), plain_tools: asked.plain_tools.clone(), events: 0 }
    }

    fn event(&mut self, kind: &str, fields: &Value) -> Event {
        let mut event = json!({"type": kind, "sequence_number": self.events});
        for (name, value) in fields.as_object().into_iter().flatten() {
            event[name] = value.clone();
        }
        self.events += 1;
        named(&event)
    }

    /// An item: how it is announced, what comes of it in pieces, and what it is in the end.
    fn item(&mut self, started: &Value, pieces: &[(&str, Value)], whole: Value) -> Vec<Event> {
        let (index, id) = (self.items.len(), whole["id"].clone());
        let mut events =
            vec![self.event("response.output_item.added", &json!({"output_index": index, "item": started}))];
        for (kind, fields) in pieces {
            let mut fields = fields.clone();
            fields["item_id"] = id.clone();
            fields["output_index"] = json!(index);
            events.push(self.event(kind, &fields));
        }
        events.push(self.event("response.output_item.done", &json!({"output_index": index, "item": whole})));
        self.items.push(whole);
        events
    }
}

impl Voice for Responses {
    fn begins(&mut self, _: Tokens) -> Vec<Event> {
        let response = json!({"response": self.response});
        vec![self.event("response.created", &response), self.event("response.in_progress", &response)]
    }

    fn thinks(&mut self, text: &str) -> Vec<Event> {
        let id = id("rs");
        let part = |text: &str| json!({"type": "summary_text", "text": text});
        let item =
            |summary: Value| json!({"type": "reasoning", "id": id, "summary": summary, "encrypted_content": null});
        let mut pieces = vec![("response.reasoning_summary_part.added", json!({"summary_index": 0, "part": part("")}))];
        pieces.extend(
            words(text)
                .map(|word| ("response.reasoning_summary_text.delta", json!({"summary_index": 0, "delta": word}))),
        );
        pieces.push(("response.reasoning_summary_text.done", json!({"summary_index": 0, "text": text})));
        pieces.push(("response.reasoning_summary_part.done", json!({"summary_index": 0, "part": part(text)})));
        self.item(&item(json!([])), &pieces, item(json!([part(text)])))
    }

    fn says(&mut self, text: &str) -> Vec<Event> {
        let id = id("msg");
        let part = |text: &str| json!({"type": "output_text", "text": text, "annotations": []});
        let item = |status: &str, content: Value| json!({"type": "message", "id": id, "role": "assistant", "status": status, "content": content});
        let mut pieces = vec![("response.content_part.added", json!({"content_index": 0, "part": part("")}))];
        let delta = |word| ("response.output_text.delta", json!({"content_index": 0, "delta": word}));
        pieces.extend(words(text).map(delta));
        pieces.push(("response.output_text.done", json!({"content_index": 0, "text": text})));
        pieces.push(("response.content_part.done", json!({"content_index": 0, "part": part(text)})));
        self.item(&item("in_progress", json!([])), &pieces, item("completed", json!([part(text)])))
    }

    fn calls(&mut self, tool: &str, input: &Value) -> Vec<Event> {
        let call = id("call");
        if self.plain_tools.iter().any(|name| name == tool) {
            let input = input["input"].as_str().map_or_else(|| input.to_string(), str::to_owned);
            let item = json!({
                "type": "custom_tool_call", "id": id("ctc"), "call_id": call, "name": tool, "input": input,
                "status": "completed",
            });
            return self.item(&item, &[], item.clone());
        }
        let arguments = input.to_string();
        let item = json!({
            "type": "function_call", "id": id("fc"), "call_id": call, "name": tool, "arguments": arguments,
            "status": "completed",
        });
        let mut started = item.clone();
        started["arguments"] = json!("");
        let pieces = [
            ("response.function_call_arguments.delta", json!({"delta": arguments})),
            ("response.function_call_arguments.done", json!({"arguments": arguments})),
        ];
        self.item(&started, &pieces, item)
    }

    fn waits(&self) -> Event {
        ": waiting\n\n".to_owned()
    }

    fn breaks(&mut self, trouble: Trouble) -> Vec<Event> {
        let error = &trouble.openai().1["error"];
        self.response["status"] = json!("failed");
        self.response["error"] = json!({"code": error["code"], "message": error["message"]});
        let failed = json!({"response": self.response});
        vec![self.event("response.failed", &failed)]
    }

    fn ends(&mut self, tokens: Tokens) -> Vec<Event> {
        self.response["status"] = json!("completed");
        self.response["output"] = json!(self.items);
        self.response["usage"] = json!({
            "input_tokens": tokens.input(), "input_tokens_details": {"cached_tokens": tokens.cached},
            "output_tokens": tokens.output, "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": tokens.input() + tokens.output,
        });
        let completed = json!({"response": self.response});
        vec![self.event("response.completed", &completed)]
    }

    fn whole(&self) -> Value {
        self.response.clone()
    }
}
