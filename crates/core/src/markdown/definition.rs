//! Where links lead to: the definitions that a page does not show, and what stands behind the text of a link.

use std::ops::Range;

/// Longest label that GitHub reads.
const LONGEST_LABEL: usize = 1000;
/// As deep as parentheses may be in a destination.
const DEEPEST: usize = 32;

/// `[label]: destination "title"`.
#[derive(Debug)]
pub(super) struct Definition {
    pub(super) whole: Range<usize>,
    /// As labels are compared.
    pub(super) label: String,
}

/// Those that a paragraph begins with.
pub(super) fn all(paragraph: &str) -> Vec<Definition> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(definition) = read(paragraph, at) {
        at = definition.whole.end;
        found.push(definition);
    }
    found
}

/// The one that begins here; its end is that of its last line.
pub(super) fn read(text: &str, start: usize) -> Option<Definition> {
    let start = skip_spaces(text, start);
    let label_end = label(text, start)?;
    let after = text[label_end..].strip_prefix(':')?;
    let at = skip_white(text, text.len() - after.len());
    let destination_end = destination(text, at).filter(|end| *end > at)?;
    let end = line_end(text, destination_end);
    let title_start = skip_white(text, destination_end);
    let title_end = if title_start > destination_end { title(text, title_start) } else { None };
    let end = title_end.and_then(|title_end| line_end(text, title_end)).or(end)?;
    Some(Definition { whole: start..end, label: normal(&text[start + 1..label_end - 1]) })
}

/// How labels are compared: case and white space do not matter.
pub(super) fn normal(label: &str) -> String {
    label.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

/// Where a label in brackets ends that begins here.
pub(super) fn label(text: &str, start: usize) -> Option<usize> {
    let inner = text[start..].strip_prefix('[')?;
    let mut is_escaped = false;
    for (at, c) in inner.char_indices().take(LONGEST_LABEL) {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '[' => return None,
            ']' => return (!inner[..at].trim().is_empty()).then_some(start + 1 + at + 1),
            _ => {}
        }
    }
    None
}

/// What stands behind the text of a link, in parentheses.
pub(super) struct Tail {
    /// With the white space before it.
    pub(super) title: Option<Range<usize>>,
    pub(super) end: usize,
}

pub(super) fn tail(text: &str, start: usize) -> Option<Tail> {
    let at = skip_white(text, start + text[start..].starts_with('(').then_some(1)?);
    let destination_end = destination(text, at)?;
    let title_start = skip_white(text, destination_end);
    let title_end = if title_start > destination_end { title(text, title_start) } else { None };
    let end = skip_white(text, title_end.unwrap_or(destination_end));
    let end = end + text[end..].starts_with(')').then_some(1)?;
    Some(Tail { title: title_end.map(|title_end| destination_end..title_end), end })
}

/// Where the address ends that begins here. It may be empty.
fn destination(text: &str, start: usize) -> Option<usize> {
    let mut is_escaped = false;
    if let Some(inner) = text[start..].strip_prefix('<') {
        for (at, c) in inner.char_indices() {
            match c {
                '\n' | '\r' => return None,
                _ if is_escaped => is_escaped = false,
                '\\' => is_escaped = true,
                '<' => return None,
                '>' => return Some(start + 1 + at + 1),
                _ => {}
            }
        }
        return None;
    }
    let mut depth = 0;
    for (at, c) in text[start..].char_indices() {
        let is_after_escape = std::mem::take(&mut is_escaped);
        match c {
            c if c.is_ascii_whitespace() || c.is_ascii_control() => return (depth == 0).then_some(start + at),
            _ if is_after_escape && c.is_ascii_punctuation() => {}
            '\\' => is_escaped = true,
            '(' => {
                depth += 1;
                if depth > DEEPEST {
                    return None;
                }
            }
            ')' if depth == 0 => return Some(start + at),
            ')' => depth -= 1,
            _ => {}
        }
    }
    (depth == 0).then_some(text.len())
}

fn title(text: &str, start: usize) -> Option<usize> {
    let open = text[start..].chars().next()?;
    let close = match open {
        '"' | '\'' => open,
        '(' => ')',
        _ => return None,
    };
    let mut is_escaped = false;
    for (at, c) in text[start + 1..].char_indices() {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            c if c == close => return Some(start + 1 + at + 1),
            '(' if open == '(' => return None,
            _ => {}
        }
    }
    None
}

fn skip_spaces(text: &str, at: usize) -> usize {
    text.len() - text[at..].trim_start_matches([' ', '\t']).len()
}

fn skip_white(text: &str, at: usize) -> usize {
    text.len() - text[at..].trim_start_matches([' ', '\t', '\n', '\r']).len()
}

/// Behind the end of the line, when only spaces are left of it.
fn line_end(text: &str, at: usize) -> Option<usize> {
    let at = skip_spaces(text, at);
    let rest = &text[at..];
    let end = ["\r\n", "\n", "\r"].iter().find(|end| rest.starts_with(**end)).map_or(0, |end| end.len());
    (end > 0 || rest.is_empty()).then_some(at + end)
}
