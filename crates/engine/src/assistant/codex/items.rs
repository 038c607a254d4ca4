//! What Codex does in a turn, one line each.

use std::path::Path;

use serde_json::Value;

use super::super::words::one_line;

/// A line for an item that is worth one, once it says enough. `None`: nothing to tell, or not yet.
pub(super) fn told(item: &Value, place: &Path) -> Option<String> {
    let text = |name: &str| item.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
    let line = match text("type")? {
        "commandExecution" => format!("run {}", command(item)?),
        "fileChange" => changes(item, place)?,
        "mcpToolCall" => format!("call {}.{}", text("server")?, text("tool")?),
        "dynamicToolCall" => format!("call {}", text("tool")?),
        "webSearch" => searched(item)?,
        "imageView" => format!("view {}", shown(text("path")?, place)),
        "collabAgentToolCall" => match text("prompt") {
            Some(prompt) => format!("{} another agent: {prompt}", text("tool")?),
            None => format!("{} another agent", text("tool")?),
        },
        _ => return None,
    };
    Some(one_line(&line))
}

/// The command as the model gave it, where it is one, and not wrapped in a shell.
fn command(item: &Value) -> Option<&str> {
    let actions = item.get("commandActions").and_then(Value::as_array);
    let only = actions.filter(|actions| actions.len() == 1).and_then(|actions| actions[0].get("command")?.as_str());
    only.or_else(|| item.get("command")?.as_str()).filter(|command| !command.is_empty())
}

fn changes(item: &Value, place: &Path) -> Option<String> {
    let changes = item.get("changes")?.as_array()?.iter().filter_map(|change| {
        let verb = match change.pointer("/kind/type").and_then(Value::as_str) {
            Some("add") => "add",
            Some("delete") => "delete",
            _ => "edit",
        };
        let path = shown(change.get("path")?.as_str()?, place);
        match change.pointer("/kind/move_path").and_then(Value::as_str) {
            Some(to) => Some(format!("move {path} to {}", shown(to, place))),
            None => Some(format!("{verb} {path}")),
        }
    });
    let changes: Vec<_> = changes.collect();
    (!changes.is_empty()).then(|| changes.join(", "))
}

fn searched(item: &Value) -> Option<String> {
    let text = |pointer: &str| item.pointer(pointer).and_then(Value::as_str).filter(|text| !text.is_empty());
    match text("/action/url") {
        Some(url) => Some(format!("open {url}")),
        None => Some(format!("search the web for {}", text("/query").or_else(|| text("/action/query"))?)),
    }
}

/// Within the place, as people know it there.
fn shown(path: &str, place: &Path) -> String {
    Path::new(path).strip_prefix(place).unwrap_or(Path::new(path)).display().to_string()
}
