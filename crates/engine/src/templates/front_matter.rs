//! What stands above a template between two lines of `---`: a key and a value on each line.
//!
//! As little of YAML as templates need, and strict about it: a value that is read in another way than its author meant
//! would be worse than none. Keys of other tools are passed over; a key that is nearly one of ours is a mistake.

use std::fmt;

use super::Template;

/// Where something cannot be understood, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Bad {
    line: usize,
    why: String,
}

impl fmt::Display for Bad {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.why)
    }
}

const DESCRIPTION: &str = "description";
const ARGUMENTS: &str = "arguments";
const ISOLATION: &str = "isolation";
const DISALLOWED_TOOLS: &str = "disallowed_tools";
const KEYS: [&str; 4] = [DESCRIPTION, ARGUMENTS, ISOLATION, DISALLOWED_TOOLS];

/// A key with what was written for it.
struct Entry<'a> {
    line: usize,
    key: String,
    value: &'a str,
    /// The lines of a list below it.
    items: Vec<&'a str>,
}

impl Entry<'_> {
    fn bad(&self, why: impl Into<String>) -> Bad {
        Bad { line: self.line, why: why.into() }
    }

    fn text(&self) -> Result<Option<String>, Bad> {
        if !self.items.is_empty() || self.value.starts_with(['|', '>']) {
            return Err(self.bad(format!("`{}` must be one line of text", self.key)));
        }
        let text = unquoted(self.value).ok_or_else(|| self.bad("a quote is not closed"))?;
        Ok(Some(text.to_owned()).filter(|text| !text.is_empty()))
    }

    /// `[a, b]`, `a, b`, or a line `- a` for each.
    fn list(&self) -> Result<Vec<String>, Bad> {
        let inside = match self.value.strip_prefix('[') {
            Some(rest) => rest.strip_suffix(']').ok_or_else(|| self.bad("a list is not closed with `]`"))?,
            None => self.value,
        };
        if !inside.trim().is_empty() && !self.items.is_empty() {
            return Err(self.bad(format!("`{}` is written twice", self.key)));
        }
        let written =
            inside.split(',').chain(self.items.iter().copied()).map(str::trim).filter(|item| !item.is_empty());
        let item = |item: &str| unquoted(item).map(str::to_owned).ok_or_else(|| self.bad("a quote is not closed"));
        written.map(item).collect()
    }
}

/// Reads a template. A text without anything above it is all prompt.
pub(super) fn read(text: &str) -> Result<Template, Bad> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut template = Template {
        description: None,
        arguments: None,
        isolated: true,
        disallowed_tools: Vec::new(),
        prompt: text.to_owned(),
    };
    let Some((above, prompt)) = parts(text)? else { return Ok(template) };
    prompt.trim_start_matches(['\r', '\n']).clone_into(&mut template.prompt);
    let mut seen = Vec::new();
    for entry in entries(above)? {
        if seen.contains(&entry.key) {
            return Err(entry.bad(format!("`{}` is there twice", entry.key)));
        }
        match entry.key.as_str() {
            DESCRIPTION => template.description = entry.text()?,
            ARGUMENTS | "argument_hint" => template.arguments = entry.text()?,
            ISOLATION if entry.text()?.as_deref() == Some("none") => template.isolated = false,
            ISOLATION => return Err(entry.bad("`isolation` can only be `none`")),
            DISALLOWED_TOOLS => template.disallowed_tools = entry.list()?,
            other => {
                if let Some(meant) = meant(other) {
                    return Err(entry.bad(format!("there is no `{other}`; is `{meant}` meant?")));
                }
            }
        }
        seen.push(entry.key);
    }
    Ok(template)
}

/// What stands above, and the prompt below it.
fn parts(text: &str) -> Result<Option<(&str, &str)>, Bad> {
    let Some((first, rest)) = text.split_once('\n') else { return Ok(None) };
    if first.trim_end() != "---" {
        return Ok(None);
    }
    let mut at = 0;
    for line in rest.split_inclusive('\n') {
        if line.trim_end() == "---" {
            return Ok(Some((&rest[..at], &rest[at + line.len()..])));
        }
        at += line.len();
    }
    Err(Bad { line: 1, why: "what begins with `---` must end with `---`".to_owned() })
}

fn entries(above: &str) -> Result<Vec<Entry<'_>>, Bad> {
    let mut entries: Vec<Entry<'_>> = Vec::new();
    for (number, line) in above.lines().enumerate() {
        let bad = |why: &str| Bad { line: number + 2, why: why.to_owned() };
        let trimmed = line.trim();
        if trimmed.is_empty() || trimmed.starts_with('#') {
            continue;
        }
        let item = trimmed.strip_prefix("- ").or_else(|| (trimmed == "-").then_some(""));
        if let Some(item) = item {
            let entry = entries.last_mut().ok_or_else(|| bad("a list needs a key above it"))?;
            entry.items.push(item.trim());
        } else if line.starts_with([' ', '\t']) {
            let entry = entries.last().ok_or_else(|| bad("a key begins at the beginning of its line"))?;
            if is_ours(&entry.key) {
                return Err(bad("a value must be on the line of its key"));
            }
        } else {
            let (key, value) = trimmed.split_once(':').ok_or_else(|| bad("it must be `key: value`"))?;
            let is_key = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c));
            if !is_key {
                return Err(bad("it must be `key: value`"));
            }
            let key = key.to_ascii_lowercase().replace('-', "_");
            entries.push(Entry { line: number + 2, key, value: value.trim(), items: Vec::new() });
        }
    }
    Ok(entries)
}

fn is_ours(key: &str) -> bool {
    KEYS.contains(&key) || key == "argument_hint"
}

/// The key of ours that is one or two letters away. Other tools have an `allowed_tools`, which is not `disallowed_tools`.
fn meant(key: &str) -> Option<&'static str> {
    KEYS.into_iter().find(|ours| {
        let same_front = key.bytes().zip(ours.bytes()).take_while(|(a, b)| a == b).count();
        let same_back = key.bytes().rev().zip(ours.bytes().rev()).take_while(|(a, b)| a == b).count();
        let shorter = key.len().min(ours.len());
        let longer = key.len().max(ours.len());
        longer - (same_front + same_back).min(shorter) <= 2
    })
}

/// The text without quotes around it. `None` when one is opened and not closed.
fn unquoted(text: &str) -> Option<&str> {
    for quote in ['"', '\''] {
        if let Some(rest) = text.strip_prefix(quote) {
            return rest.strip_suffix(quote);
        }
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_above_a_prompt_is_read() {
        let text = "---\ndescription: \"Plan: first\"\narguments: [issue] # all\n# a comment\n\nisolation: none\r\n\
                    disallowed-tools:\n  - Bash(git push:*)\n- \"Edit\"\n---\n\nPlan $1\n---\nend\n";
        let template = read(text).expect("a template");
        assert_eq!(template.description.as_deref(), Some("Plan: first"));
        assert_eq!(template.arguments.as_deref(), Some("[issue] # all"));
        assert!(!template.isolated);
        assert_eq!(template.disallowed_tools, ["Bash(git push:*)", "Edit"]);
        assert_eq!(template.prompt, "Plan $1\n---\nend\n");
        for list in ["[a, 'b']", "a, b", "[a,b,]"] {
            let template = read(&format!("---\ndisallowed_tools: {list}\n---\nx")).expect("a template");
            assert_eq!(template.disallowed_tools, ["a", "b"], "{list}");
        }
    }

    #[test]
    fn a_prompt_needs_nothing_above_it() {
        for text in ["Plan", "Plan\n---\nx", "", "----\nx\n---\n", "--- x\ny"] {
            assert_eq!(read(text).expect("a template").prompt, text);
        }
        assert_eq!(read("---\n---\nPlan").expect("a template").prompt, "Plan");
    }

    #[test]
    fn keys_of_other_tools_are_passed_over() {
        let text =
            "---\nallowed-tools: Bash(git:*), Read\nmodel: x\nhooks:\n  - a\n  before: b\nargument-hint: [x]\n---\nx";
        let template = read(text).expect("a template");
        assert_eq!(template.arguments.as_deref(), Some("[x]"));
        assert!(template.isolated && template.disallowed_tools.is_empty());
    }

    #[test]
    fn what_cannot_be_right_is_named_with_its_line() {
        let table = [
            ("---\ndescription: x\nx", "line 1: what begins with `---` must end with `---`"),
            ("---\nhello\n---\n", "line 2: it must be `key: value`"),
            ("---\n\na b: c\n---\n", "line 3: it must be `key: value`"),
            ("---\nisolation: worktree\n---\n", "line 2: `isolation` can only be `none`"),
            ("---\nisolation:\n---\n", "line 2: `isolation` can only be `none`"),
            ("---\ndescription: |\n  x\n---\n", "line 3: a value must be on the line of its key"),
            ("---\ndescription: >\n---\n", "line 2: `description` must be one line of text"),
            ("---\ndescription: \"x\n---\n", "line 2: a quote is not closed"),
            ("---\ndescription: a\ndescription: b\n---\n", "line 3: `description` is there twice"),
            ("---\ndisallowed_tools: [a\n---\n", "line 2: a list is not closed with `]`"),
            ("---\ndisallowed_tools: a\n- b\n---\n", "line 2: `disallowed_tools` is written twice"),
            ("---\ndisalowed_tools: a\n---\n", "line 2: there is no `disalowed_tools`; is `disallowed_tools` meant?"),
            ("---\nisolaton: none\n---\n", "line 2: there is no `isolaton`; is `isolation` meant?"),
            ("---\n- a\n---\n", "line 2: a list needs a key above it"),
            ("---\n  a: b\n---\n", "line 2: a key begins at the beginning of its line"),
        ];
        for (text, expected) in table {
            assert_eq!(read(text).expect_err(text).to_string(), expected);
        }
    }
}
