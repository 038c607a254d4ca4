//! Our words as a comment of GitHub: they ping nobody, hide nothing, and a long answer is folded.
//!
//! What is made harmless gets a space without width, so it looks as it was written. Code is left as it is.

mod code;
#[cfg(test)]
mod tests;

use std::ops::Range;

use hedgerow_core::split::split_off;

use code::{Line, Reader};

/// A space that nobody sees.
const GAP: char = '\u{200b}';
/// An answer of more characters is folded.
const LONG: usize = 8_000;
/// Most characters that are seen of a folded one.
const SEEN: usize = 2_500;

const FOLD: &str = "<details>\n<summary>The rest of the answer</summary>";
const FOLD_END: &str = "</details>";

/// In these GitHub reads no Markdown, up to where they end.
const RAW_TAGS: [&str; 4] = ["pre", "script", "style", "textarea"];
const FOLD_TAGS: [&str; 2] = ["details", "summary"];

/// The words as a comment shows them.
pub(super) fn formatted(words: &str) -> String {
    // GitHub takes each of them for the end of a line.
    let words = words.replace("\r\n", "\n").replace('\r', "\n");
    let mut page = Page::default();
    if words.chars().nth(LONG).is_none() {
        page.add(&words);
        return page.text;
    }
    let (seen, rest) = split_off(&words, SEEN);
    page.is_folded = !rest.trim().is_empty();
    page.add(&seen);
    if page.is_folded {
        page.add_own("");
        page.add_own(FOLD);
        page.add_own("");
        page.add(&rest);
        page.add_own("");
        page.add_own(FOLD_END);
    }
    page.text
}

/// A piece of text in one line, with nothing in it that means anything to Markdown. At most `longest` characters.
pub(super) fn plain(text: &str, longest: usize) -> String {
    let mut shown = String::new();
    for c in one_line(text, longest).chars() {
        if matches!(c, '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '&' | '~' | '|' | '#' | '!' | '$' | ':') {
            shown.push('\\');
        }
        shown.push(c);
        if c == '@' {
            shown.push(GAP);
        }
    }
    shown
}

/// A piece of text in one line of at most `longest` characters.
pub(super) fn one_line(text: &str, longest: usize) -> String {
    let words: Vec<&str> =
        text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|w| !w.is_empty()).collect();
    let line = words.join(" ");
    match line.char_indices().nth(longest) {
        None => line,
        Some(_) => line.chars().take(longest.saturating_sub(1)).chain(['…']).collect(),
    }
}

/// A comment as it grows.
#[derive(Default)]
struct Page {
    text: String,
    is_begun: bool,
    reader: Reader,
    /// The words are between our own tags, which they must not end.
    is_folded: bool,
}

impl Page {
    /// Adds words that somebody else chose.
    fn add(&mut self, words: &str) {
        for line in words.split('\n') {
            self.begin_line();
            match self.reader.read(line) {
                Line::Code => self.text.push_str(line),
                Line::Words(code) => self.add_line(line, &code),
            }
        }
    }

    /// Adds what we chose. It is read like everything else: it ends a list, and not a fence.
    fn add_own(&mut self, words: &str) {
        for line in words.split('\n') {
            self.begin_line();
            self.reader.read(line);
            self.text.push_str(line);
        }
    }

    fn begin_line(&mut self) {
        if self.is_begun {
            self.text.push('\n');
        }
        self.is_begun = true;
    }

    fn add_line(&mut self, line: &str, code: &[Range<usize>]) {
        let mut code = code.iter().peekable();
        let mut skip = 0;
        let mut before = ' ';
        let mut in_url = false;
        for (at, c) in line.char_indices() {
            if at < skip {
                continue;
            }
            let rest = &line[at..];
            if let Some(span) = code.next_if(|span| span.start == at) {
                self.text.push_str(&line[span.clone()]);
                (skip, before) = (span.end, '`');
                continue;
            }
            in_url = (in_url && !c.is_whitespace()) || begins_url(rest);
            let next = rest[c.len_utf8()..].chars().next().unwrap_or(' ');
            let len = match c {
                '@' if before.is_ascii_alphanumeric() => None,
                '@' if in_url && next.is_alphanumeric() => {
                    self.text.push_str("%40");
                    before = c;
                    continue;
                }
                '@' => begins_name(&rest[1..]).then_some(1),
                '&' => at_sign(rest).filter(|len| begins_name(&rest[*len..])),
                '<' => self.is_tag_to_stop(&rest[1..]).then_some(1),
                _ => None,
            };
            let len = len.unwrap_or(0);
            self.text.push_str(&rest[..len.max(c.len_utf8())]);
            if len > 0 {
                self.text.push(GAP);
            }
            (skip, before) = (at + len, c);
        }
    }

    /// Whether what stands after a `<` hides something, is not read as Markdown, or ends our fold.
    fn is_tag_to_stop(&self, after: &str) -> bool {
        if after.starts_with(['!', '?']) {
            return true;
        }
        let name = after.strip_prefix('/').unwrap_or(after);
        let name = &name[..name.len() - name.trim_start_matches(|c: char| c.is_ascii_alphanumeric()).len()];
        let is_one_of = |tags: &[&str]| tags.iter().any(|tag| tag.eq_ignore_ascii_case(name));
        is_one_of(&RAW_TAGS) || (self.is_folded && is_one_of(&FOLD_TAGS))
    }
}

/// Whether an `@` before it would mention somebody. The first letter can have another spelling.
fn begins_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_alphanumeric() || c == '&')
}

fn begins_url(text: &str) -> bool {
    let begins = |scheme: &str| text.get(..scheme.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(scheme));
    begins("http://") || begins("https://")
}

/// How long the other spelling of an `@` is that a text begins with: `&#64;`, `&#x40;`, `&commat;`.
fn at_sign(text: &str) -> Option<usize> {
    if text.starts_with("&commat;") {
        return Some("&commat;".len());
    }
    let number = text.strip_prefix("&#")?;
    let (digits, radix) = match number.strip_prefix(['x', 'X']) {
        Some(hex) => (hex, 16),
        None => (number, 10),
    };
    let rest = digits.trim_start_matches(|c: char| c.is_digit(radix));
    let value = u32::from_str_radix(&digits[..digits.len() - rest.len()], radix).ok()?;
    let end = text.len() - rest.len() + usize::from(rest.starts_with(';'));
    (value == u32::from('@')).then_some(end)
}
