//! People's texts of GitHub, made small: one line of them, or so many characters.

use hedgerow_core::untrusted::{visible, visible_code};

/// In one line, as people see it, at most so long. Titles, names and paths are shown as they are written.
pub(super) fn one_line(text: &str, most: usize) -> String {
    let line = visible_code(text).split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(most) {
        Some(_) => line.chars().take(most.saturating_sub(1)).chain(['…']).collect(),
        None => line,
    }
}

/// As people see it, in whole lines that end the same way everywhere.
pub(super) fn lines(text: &str) -> String {
    whole_lines(&visible(text))
}

/// The same of code.
pub(super) fn code_lines(code: &str) -> String {
    whole_lines(&visible_code(code))
}

fn whole_lines(seen: &str) -> String {
    let seen = seen.replace("\r\n", "\n").replace(['\r', '\u{2028}', '\u{2029}'], "\n");
    seen.trim_end().trim_start_matches('\n').to_owned()
}

/// At most so many characters, and a line that says that it went on.
pub(super) fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}\n[… the rest is left out]", &text[..end]),
        None => text.to_owned(),
    }
}

/// Indented, so that nothing in it stands where our own words do.
pub(super) fn indented(text: &str) -> String {
    let line = |line: &str| if line.trim().is_empty() { "\n".to_owned() } else { format!("    {line}\n") };
    text.split('\n').map(line).collect::<String>().trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_one_line() {
        assert_eq!(one_line("  Fix\n\tthe\u{200b} login <b>\u{2028}now ", 100), "Fix the login <b> now");
        assert_eq!(one_line("äöüß", 4), "äöüß");
        assert_eq!(one_line("äöüßx", 4), "äöü…");
    }

    #[test]
    fn a_cut_says_so() {
        assert_eq!(cut("äöü", 3), "äöü");
        assert_eq!(cut("äöüß", 2), "äö\n[… the rest is left out]");
    }

    #[test]
    fn no_line_of_others_begins_where_ours_do() {
        assert_eq!(indented(&lines("a\r\rb\u{2028}c\r\n\r\n")), "    a\n\n    b\n    c");
        assert_eq!(lines("a\n<!-- never ends\nb"), "a");
        assert_eq!(code_lines("a\r\n <!-- x -->\u{200b}\nb"), "a\n <!-- x -->\nb");
    }
}
