//! Chat Completions, which opencode and most others speak.

use serde_json::{Value, json};

use super::asked::{Asked, Entry};
use super::trouble::Trouble;
use super::voice::{Event, Tokens, Voice, id, unnamed, words};

pub(super) fn read(body: &Value) -> Option<Asked> {
    let mut asked =
        Asked { model: body["model"].as_str()?.to_owned(), streams: body["stream"] == true, ..Asked::default() };
    let tools = body["tools"].as_array().into_iter().flatten();
    asked.tools.extend(tools.filter_map(|tool| tool["function"]["name"].as_str()).map(str::to_owned));
    for message in body["messages"].as_array()? {
        match message["role"].as_str()? {
            "user" => asked.people(&message["content"]),
            "assistant" => asked.entries.push(Entry::Model),
            "tool" => asked.result(&message["content"]),
            _ => {}
        }
    }
    Some(asked)
}

pub(super) struct Chat {
    id: String,
    model: String,
    said: String,
    calls: Vec<Value>,
    usage: Value,
}

impl Chat {
    pub(super) fn new(model: &str) -> Self {
        Self { id: id("chatcmpl"), model: model.to_owned(), said: String::new(), calls: Vec::new(), usage: Value::Null }
    }

    fn chunk(&self, delta: &Value, finish: Option<&str>) -> Event {
        unnamed(&json!({
            "id": self.id, "object": "chat.completion.chunk", "created": 1_767_225_600, "model": self.model,
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
            "usage": self.usage,
        }))
    }

    const fn finish(&self) -> &'static str {
        if self.calls.is_empty() { "stop" } else { "tool_calls" }
    }
}

impl Voice for Chat {
    fn begins(&mut self, _: Tokens) -> Vec<Event> {
        vec![self.chunk(&json!({"role": "assistant", "content": ""}), None)]
    }

    fn thinks(&mut self, text: &str) -> Vec<Event> {
        words(text).map(|word| self.chunk(&json!({"reasoning_content": word}), None)).collect()
    }

    fn says(&mut self, text: &str) -> Vec<Event> {
        self.said.push_str(text);
        words(text).map(|word| self.chunk(&json!({"content": word}), None)).collect()
    }

    fn calls(&mut self, tool: &str, input: &Value) -> Vec<Event> {
        let function = json!({"name": tool, "arguments": input.to_string()});
        let call = json!({"index": self.calls.len(), "id": id("call"), "type": "function", "function": function});
        self.calls.push(call.clone());
        vec![self.chunk(&json!({"tool_calls": [call]}), None)]
    }

    fn waits(&self) -> Event {
        ": waiting\n\n".to_owned()
    }

    fn breaks(&mut self, trouble: Trouble) -> Vec<Event> {
        vec![unnamed(&trouble.openai().1)]
    }

    fn ends(&mut self, tokens: Tokens) -> Vec<Event> {
        self.usage = json!({
            "prompt_tokens": tokens.input(), "completion_tokens": tokens.output,
            "total_tokens": tokens.input() + tokens.output, "prompt_tokens_details": {"cached_tokens": tokens.cached},
        });
        vec![self.chunk(&json!({}), Some(self.finish())), unnamed(&"[DONE]")]
    }

    fn whole(&self) -> Value {
        let mut message = json!({"role": "assistant", "content": self.said});
        if !self.calls.is_empty() {
            message["tool_calls"] = json!(self.calls);
        }
        json!({
            "id": self.id, "object": "chat.completion", "created": 1_767_225_600, "model": self.model,
            "choices": [{"index": 0, "message": message, "finish_reason": self.finish()}], "usage": self.usage,
        })
    }
}
