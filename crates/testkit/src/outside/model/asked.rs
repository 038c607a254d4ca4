//! A request to a model, whichever API it came by: the conversation so far, and what the model may use.

use serde_json::Value;

use super::script::{self, Step};

/// One thing in a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Entry {
    Person(String),
    Model,
    /// The result of a tool.
    Result(String),
}

#[derive(Debug, Clone, Default)]
pub(super) struct Asked {
    pub(super) model: String,
    pub(super) streams: bool,
    /// The tools the model may use, by name; those that take plain text apart.
    pub(super) tools: Vec<String>,
    pub(super) plain_tools: Vec<String>,
    pub(super) entries: Vec<Entry>,
    /// Of the whole request, in bytes.
    pub(super) size: usize,
}

/// What the CLIs themselves put among the words of people: reminders, facts about the folder, a note that it was stopped.
fn is_machine_made(text: &str) -> bool {
    ["<", "# AGENTS.md", "[Request interrupted"].iter().any(|mark| text.trim_start().starts_with(mark))
}

impl Asked {
    /// Adds what somebody said, unless a machine said it in their name.
    pub(super) fn person(&mut self, text: &str) {
        if !is_machine_made(text) && !text.trim().is_empty() {
            self.entries.push(Entry::Person(text.to_owned()));
        }
    }

    /// The same of a message: its text, or each of its parts.
    pub(super) fn people(&mut self, content: &Value) {
        match content {
            Value::Array(parts) => {
                for part in parts {
                    self.person(part["text"].as_str().unwrap_or_default());
                }
            }
            content => self.person(&text(content)),
        }
    }

    pub(super) fn result(&mut self, content: &Value) {
        self.entries.push(Entry::Result(text(content)));
    }

    /// The last prompt, and how many results of tools came after it.
    pub(super) fn prompt(&self) -> (&str, usize) {
        let last = self.entries.iter().rposition(|entry| matches!(entry, Entry::Person(_)));
        let Some(last) = last else { return ("", 0) };
        let Entry::Person(text) = &self.entries[last] else { unreachable!("found as one") };
        (text, self.entries[last..].iter().filter(|entry| matches!(entry, Entry::Result(_))).count())
    }

    /// The result of the last tool.
    pub(super) fn last_result(&self) -> Option<&str> {
        self.entries.iter().rev().find_map(|entry| match entry {
            Entry::Result(text) => Some(text.as_str()),
            _ => None,
        })
    }

    /// Everything that was to be remembered, oldest first.
    pub(super) fn remembered(&self) -> Vec<String> {
        let prompts = self.entries.iter().filter_map(|entry| match entry {
            Entry::Person(text) => script::steps(text).ok(),
            _ => None,
        });
        let words = prompts.flatten().filter_map(|step| match step {
            Step::Remember(word) => Some(word),
            _ => None,
        });
        words.collect()
    }

    /// Whether the model has answered before in this conversation: then it has all of that in its cache.
    pub(super) fn goes_on(&self) -> bool {
        self.entries.contains(&Entry::Model)
    }
}

/// The text of a message: itself, or its parts.
fn text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let texts: Vec<_> = parts.iter().filter_map(|part| part["text"].as_str()).collect();
            texts.join("\n")
        }
        Value::Null => String::new(),
        other => other.to_string(),
    }
}
