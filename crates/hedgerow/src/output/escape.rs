//! Nothing that a terminal would act on leaves this function: no control or escape characters, neither of the two
//! sets, and none of the invisible ones that reorder or hide text.

use std::fmt::Write;

/// Whether a character could move the cursor, change colours, reorder or hide what a person reads.
const fn is_unsafe(c: char) -> bool {
    c.is_ascii_control()
        || matches!(c,
            '\u{80}'..='\u{9f}'               // C1: a terminal may take U+009B for ESC [
            | '\u{ad}'                        // soft hyphen
            | '\u{61c}'                       // Arabic letter mark
            | '\u{180e}'
            | '\u{200b}'..='\u{200f}'         // zero width, and marks of direction
            | '\u{2028}'..='\u{202e}'         // line and paragraph separators, embeddings, overrides
            | '\u{2060}'..='\u{206f}'         // invisible operators, isolates
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}') // tags
}

/// One line for a terminal: what is not safe is spelled `\u{1b}`, a line break `\n`.
pub(super) fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\t' => safe.push_str("    "),
            c if is_unsafe(c) => safe.extend(c.escape_default()),
            c => safe.push(c),
        }
    }
    safe
}

/// Text of several lines: the breaks stay.
pub(super) fn escape_lines(text: &str) -> String {
    text.split('\n').map(|line| escape(line.strip_suffix('\r').unwrap_or(line))).collect::<Vec<_>>().join("\n")
}

/// JSON that means the same and is safe to show. Line breaks are serde's own: those inside strings are escaped already.
pub(super) fn escape_json(json: &str) -> String {
    let mut safe = String::with_capacity(json.len());
    for c in json.chars() {
        if c != '\n' && is_unsafe(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                write!(safe, "\\u{unit:04x}").expect("a string takes any text");
            }
        } else {
            safe.push(c);
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_a_terminal_acts_on_gets_through() {
        let cases = [
            ("plain — ünïcode 日本語 🦔", "plain — ünïcode 日本語 🦔"),
            ("\u{1b}[2J\u{1b}]0;owned\u{7}", r"\u{1b}[2J\u{1b}]0;owned\u{7}"),
            ("a\rb\nc\td\u{7f}", r"a\rb\nc    d\u{7f}"),
            ("\u{9b}31m\u{85}", r"\u{9b}31m\u{85}"),
            ("main\u{202e}evil\u{2066}x\u{2069}", r"main\u{202e}evil\u{2066}x\u{2069}"),
            ("ze\u{200b}ro\u{feff}\u{e0041}", r"ze\u{200b}ro\u{feff}\u{e0041}"),
        ];
        for (text, safe) in cases {
            assert_eq!(escape(text), safe);
        }
        for c in (0..=char::MAX as u32).filter_map(char::from_u32) {
            let safe = escape(&c.to_string());
            assert!(!safe.chars().any(|c| c.is_control() || is_unsafe(c)), "U+{:04X}", c as u32);
        }
    }

    #[test]
    fn only_the_line_breaks_of_longer_text_stay() {
        assert_eq!(escape_lines("one\r\ntwo\u{1b}\n\nthree"), "one\ntwo\\u{1b}\n\nthree");
    }

    #[test]
    fn escaped_json_means_the_same() {
        let text = "a\u{9b}b\u{202e}c\u{e0041}\u{7f}\n\u{1b} é";
        let json = serde_json::to_string_pretty(&[text]).expect("serializes");
        let safe = escape_json(&json);
        assert!(!safe.chars().any(|c| c != '\n' && is_unsafe(c)), "{safe}");
        assert_eq!(serde_json::from_str::<Vec<String>>(&safe).expect("is JSON"), [text]);
    }
}
