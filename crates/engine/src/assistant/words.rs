//! A program's words, made fit to be kept and shown.

use crate::remote_url::without_secrets;

/// Enough of what a program complains about.
const TAIL: usize = 8 << 10;
/// A tool call is told in one line, not a page.
const LONGEST_LINE: usize = 500;

/// The last of what a program wrote to stderr.
#[derive(Debug, Default)]
pub(super) struct Tail(Vec<u8>);

impl Tail {
    pub(super) fn take(&mut self, bytes: &[u8]) {
        self.0.extend(bytes);
        let excess = self.0.len().saturating_sub(TAIL);
        self.0.drain(..excess);
    }

    /// Readable lines: control characters are spelled out, empty lines and passwords in addresses left out.
    pub(super) fn read(&self) -> String {
        let text = String::from_utf8_lossy(&self.0);
        let lines = text.lines().map(|line| line.trim_end().rsplit('\r').next().unwrap_or_default());
        let lines = lines.filter(|line| !line.trim().is_empty()).map(spelled_out);
        without_secrets(&lines.collect::<Vec<_>>().join("\n"))
    }
}

/// Text that every database keeps: PostgreSQL has no NUL.
pub(super) fn keepable(text: String) -> String {
    if text.contains('\0') { text.replace('\0', "\u{fffd}") } else { text }
}

/// One line of limited length.
pub(super) fn one_line(text: &str) -> String {
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match words.char_indices().nth(LONGEST_LINE) {
        Some((end, _)) => spelled_out(&words[..end]) + "…",
        None => spelled_out(&words),
    }
}

fn spelled_out(line: &str) -> String {
    let mut safe = String::with_capacity(line.len());
    for c in line.chars() {
        match c {
            '\t' => safe.push(' '),
            c if c.is_control() => safe.extend(c.escape_default()),
            c => safe.push(c),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tail_is_short_and_safe_to_show() {
        let mut tail = Tail::default();
        tail.take(&vec![b'x'; 3 * TAIL]);
        tail.take(b"\n10%\r90%\r100%\n\n\x1b[31mred\x07\n\xffbad\nhttps://me:secret@example.com/x\n");
        let read = tail.read();
        assert!(read.len() <= TAIL + 100, "{}", read.len());
        let last = "x\n100%\n\\u{1b}[31mred\\u{7}\n\u{fffd}bad\n";
        assert!(read.contains(last) && !read.contains("secret"), "{}", &read[read.len() - 200..]);
    }

    #[test]
    fn a_tool_call_is_one_line() {
        assert_eq!(one_line(" edit\n\n  a.rs\x1b "), "edit a.rs\\u{1b}");
        assert_eq!(one_line(&"é".repeat(1000)).chars().count(), LONGEST_LINE + 1);
    }
}
