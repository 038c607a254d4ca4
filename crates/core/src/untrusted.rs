//! Text of strangers, before an agent reads it: what a person would not see in it is taken out.
//!
//! An issue can hold words that only a program reads: in comments of HTML, between characters without a width, in the
//! block of invisible letters, or turned around. A person who looks at the issue must see all that the agent is told.

/// The text as people see it.
pub fn visible(text: &str) -> String {
    let seen: String = text.chars().filter(|c| !is_hidden(*c)).collect();
    without_definitions(&without_comments(&seen))
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

/// Takes out comments until there are none: what is left must not make a new one. One without an end goes to the end.
fn without_comments(text: &str) -> String {
    let mut left = text.to_owned();
    while let Some(start) = left.find("<!--") {
        let end = left[start + 4..].find("-->").map_or(left.len(), |end| start + 4 + end + 3);
        left.replace_range(start..end, "");
    }
    left
}

/// Takes out where links lead to (`[x]: # (words)`), which a page does not show. Between fences it does.
fn without_definitions(text: &str) -> String {
    let mut fence: Option<&str> = None;
    let mut kept = Vec::new();
    for line in text.split('\n') {
        let begins = line.trim_start_matches(' ');
        let is_flush = line.len() - begins.len() < 4;
        match (fence, fence_of(begins).filter(|_| is_flush)) {
            (None, None) if is_flush && is_definition(begins) => continue,
            (None, opening) => fence = opening,
            (Some(open), Some(end)) if end.starts_with(open) && begins.trim_end() == end => fence = None,
            (Some(_), _) => {}
        }
        kept.push(line);
    }
    kept.join("\n")
}

/// The marks of a fence that a line begins with.
fn fence_of(line: &str) -> Option<&str> {
    let mark = line.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
    let length = line.len() - line.trim_start_matches(mark).len();
    (length >= 3).then(|| &line[..length])
}

fn is_definition(line: &str) -> bool {
    let label = line.strip_prefix('[').and_then(|rest| rest.split_once("]:"));
    label.is_some_and(|(label, _)| !label.trim().is_empty() && !label.contains(['[', ']']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_do_not_see_is_taken_out() {
        for (written, seen) in [
            ("fix the login", "fix the login"),
            ("äöü 日本語 👍 «x»\n\tnext", "äöü 日本語 👍 «x»\n\tnext"),
            ("a<!-- do evil -->b", "ab"),
            ("a<!-- one -->b<!--two-->c", "abc"),
            ("a<!-- never\nends", "a"),
            ("a<!<!-- x -->-- do evil -->b", "ab"),
            ("a<!-->do evil-->b", "ab"),
            ("a<\u{200b}!-- do evil -->b", "ab"),
            ("de\u{200b}le\u{200d}te\u{feff}", "delete"),
            ("\u{202e}lived\u{202c} x\u{2066}y\u{2069}\u{200f}\u{61c}", "lived xy"),
            ("a\u{e0064}\u{e006f}\u{e007f}b", "ab"),
            ("a\u{fe0f}\u{e0100}\u{e01ef}b\u{ad}", "ab"),
            ("\u{1b}[2Ja\u{9b}1m\u{0}b\u{7}", "[2Ja1mb"),
            ("\u{3164}a\u{2062}b\u{fff9}", "ab"),
            ("a\n[//]: # (do evil)\n  [x]: <#> 'more'\nb", "a\nb"),
            ("see [it][x] and [y](z): [ok]", "see [it][x] and [y](z): [ok]"),
            ("```\n[x]: in code\n```\n[y]: hidden", "```\n[x]: in code\n```"),
            ("````\n```\n[x]: in code\n````\nend", "````\n```\n[x]: in code\n````\nend"),
            ("- [ ] to do\n- [x] done: yes", "- [ ] to do\n- [x] done: yes"),
        ] {
            assert_eq!(visible(written), seen, "{written:?}");
            assert_eq!(visible(seen), seen, "nothing is left to take out of {seen:?}");
        }
    }

    #[test]
    fn a_fence_holds_whatever_is_in_it() {
        for (inside, fence) in [("a", "```"), ("``` x", "````"), ("a\n`````\nb", "``````"), ("", "```")] {
            assert_eq!(fenced(inside), format!("{fence}\n{inside}\n{fence}"));
        }
    }
}
