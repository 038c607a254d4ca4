//! Text of strangers, before an agent reads it: what a person would not see in it is taken out.
//!
//! An issue can hold words that only a program reads: in comments of HTML, between characters without a width, in the
//! block of invisible letters, or turned around. A person who looks at the issue must see all that the agent is told.

use std::ops::Range;

use crate::markdown::{self, Doubt};

/// How often a text is read: what is left of it may hide something anew.
const MOST_READINGS: usize = 8;

/// What others wrote, as people see it. What may be hidden is.
pub fn visible(text: &str) -> String {
    seen(text, Doubt::Hides)
}

/// What somebody asks for, as people see it. What may be seen is.
pub fn visible_ask(text: &str) -> String {
    seen(text, Doubt::Shows)
}

/// Code, as people see it: only the characters matter.
pub fn visible_code(code: &str) -> String {
    code.chars().filter(|c| !is_hidden(*c)).collect()
}

fn seen(text: &str, doubt: Doubt) -> String {
    let mut seen = visible_code(text);
    for _ in 0..MOST_READINGS {
        if !seen.contains(MARKS) {
            return seen;
        }
        let hidden = markdown::read(&seen, doubt).hidden;
        if hidden.is_empty() {
            return seen;
        }
        seen = without(&seen, hidden);
    }
    // Nobody writes such a text for people.
    seen.truncate(seen.find(MARKS).unwrap_or(seen.len()));
    seen
}

/// Without one of these nothing is hidden.
const MARKS: [char; 2] = ['<', '['];

fn without(text: &str, mut hidden: Vec<Range<usize>>) -> String {
    hidden.sort_by_key(|range| range.start);
    let mut kept = String::with_capacity(text.len());
    let mut at = 0;
    for range in hidden {
        kept.push_str(text.get(at..range.start).unwrap_or_default());
        at = at.max(range.end);
    }
    kept.push_str(&text[at..]);
    kept
}

/// The text between fences that nothing in it can close.
pub fn fenced(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}\n{}\n{fence}", text.trim_end())
}

/// Characters that are not seen, or that change the order in which others are seen.
const fn is_hidden(c: char) -> bool {
    matches!(c,
        // Without a width: soft hyphen, joiners, byte order mark, fillers, the separators of Mongolian and Khmer.
        '\u{ad}' | '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200d}' | '\u{2060}'..='\u{2065}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}'
        // The direction of writing.
        | '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{206f}'
        // Choices of a glyph can carry a byte each, as the invisible letters can.
        | '\u{fe00}'..='\u{fe0f}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}'
        // Marks between lines of other programs, and what steers a terminal.
        | '\u{fff9}'..='\u{fffb}' | '\u{0}'..='\u{8}' | '\u{b}'..='\u{c}' | '\u{e}'..='\u{1f}' | '\u{7f}'..='\u{9f}')
}

#[cfg(test)]
mod tests;
