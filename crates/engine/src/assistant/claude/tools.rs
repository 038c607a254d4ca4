//! A tool call in one line, as a person would say it.

use serde_json::Value;

use crate::assistant::words::one_line;

/// The folders that stand for the environment: paths below them are told from there.
#[derive(Debug, Default)]
pub(super) struct Grounds(Vec<String>);

impl Grounds {
    pub(super) fn add(&mut self, folder: &str) {
        let folder = folder.trim_end_matches('/');
        if !folder.is_empty() && !self.0.iter().any(|known| known == folder) {
            self.0.push(folder.to_owned());
            // The longest first: one may lie within another.
            self.0.sort_by_key(|folder| std::cmp::Reverse(folder.len()));
        }
    }

    /// The text with every path of the environment told from its root, which is `.`.
    fn relative(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, folder| without(&text, folder))
    }
}

/// A folder of the same beginning is another one.
fn without(text: &str, folder: &str) -> String {
    let mut told = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(folder) {
        let (before, after) = (&rest[..at], &rest[at + folder.len()..]);
        told.push_str(before);
        let follows = after.chars().next();
        let is_within = before.chars().next_back().is_some_and(is_of_a_name);
        rest = match follows {
            _ if is_within => {
                told.push_str(folder);
                after
            }
            Some('/') if after[1..].chars().next().is_some_and(is_of_a_name) => &after[1..],
            Some(next) if is_of_a_name(next) => {
                told.push_str(folder);
                after
            }
            _ => {
                told.push('.');
                after
            }
        };
    }
    told + rest
}

fn is_of_a_name(c: char) -> bool {
    c.is_alphanumeric() || "-_.+@~".contains(c)
}

/// What a tool call does.
pub(super) fn told(name: &str, input: &Value, grounds: &Grounds) -> String {
    let word = |key: &str| input.get(key).and_then(Value::as_str).filter(|text| !text.trim().is_empty());
    let path = || word("file_path").or_else(|| word("notebook_path")).or_else(|| word("path"));
    let does = |verb: &str, what: Option<&str>| what.map(|what| format!("{verb} {what}"));
    let line = match name {
        "Bash" | "PowerShell" => does("$", word("command")),
        "Edit" | "MultiEdit" | "NotebookEdit" => does("edit", path()),
        "Write" => does("write", path()),
        "Read" => does("read", path()),
        "Glob" | "Grep" => does("search", word("pattern")),
        "LS" => does("list", path()),
        "WebFetch" => does("fetch", word("url")),
        "WebSearch" => does("search the web for", word("query")),
        "Task" | "Agent" => does("ask an agent:", word("description")),
        "Skill" => does("use skill", word("skill").or_else(|| word("command"))),
        "ToolSearch" => does("look for a tool:", word("query")),
        _ => None,
    };
    one_line(&line.map_or_else(|| own_name(name), |line| grounds.relative(&line)))
}

/// `mcp__github__list_issues` is `github: list_issues`.
fn own_name(name: &str) -> String {
    match name.strip_prefix("mcp__").and_then(|name| name.split_once("__")) {
        Some((server, tool)) => format!("{server}: {tool}"),
        None => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_tool_reads_as_what_it_does() {
        let mut grounds = Grounds::default();
        grounds.add("/trees/shop/");
        let table = [
            ("Bash", json!({"command": "cargo test\n  --all"}), "$ cargo test --all"),
            ("Bash", json!({"command": "cd /trees/shop && cat /trees/shop/a.rs"}), "$ cd . && cat a.rs"),
            ("Bash", json!({"command": "ls /trees/shop-2/a /x/trees/shop/b"}), "$ ls /trees/shop-2/a /x/trees/shop/b"),
            ("Edit", json!({"file_path": "/trees/shop/src/a.rs", "old_string": "x"}), "edit src/a.rs"),
            ("Write", json!({"file_path": "/etc/x"}), "write /etc/x"),
            ("NotebookEdit", json!({"notebook_path": "/trees/shop/n.ipynb"}), "edit n.ipynb"),
            ("Read", json!({"file_path": "/trees/shop"}), "read ."),
            ("Grep", json!({"pattern": "fn main"}), "search fn main"),
            ("WebFetch", json!({"url": "https://example.org/a"}), "fetch https://example.org/a"),
            ("Task", json!({"description": "look around"}), "ask an agent: look around"),
            ("mcp__github__list_issues", json!({"a": 1}), "github: list_issues"),
            ("mcp__odd", json!(null), "mcp__odd"),
            ("Edit", json!({"file_path": 5}), "Edit"),
            ("Bash", json!([1]), "Bash"),
        ];
        for (name, input, expected) in table {
            assert_eq!(told(name, &input, &grounds), expected, "{name} {input}");
        }
    }
}
