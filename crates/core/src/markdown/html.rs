//! A block of HTML: nothing in it is Markdown, and all of it goes to a browser as it is.

use super::elements::{self, Next};
use super::tag::{self, Shape};
use super::{Doubt, Found};

/// Reads a block from `from` on.
pub(super) fn read(text: &str, from: usize, doubt: Doubt) -> Found {
    let mut found = Found::default();
    let mut at = from;
    while let Some(next) = text[at..].find('<') {
        let start = at + next;
        let rest = &text[start..];
        let step = if rest.starts_with("<!--") {
            comment(text, start, doubt, &mut found)
        } else if rest.starts_with("<!") || rest.starts_with("<?") || is_strange_end(rest) {
            other(text, start, doubt, &mut found)
        } else {
            match tag::read_any(text, start) {
                Shape::Tag(tag) => elements::seen(text, start, &tag, doubt, &mut found),
                Shape::None => Next::At(start + 1),
                Shape::Unclosed if doubt == Doubt::Hides => Next::Nothing,
                Shape::Unclosed => return found,
            }
        };
        match step {
            Next::At(next) => at = next,
            Next::Nothing => {
                found.nothing_from = Some(start);
                return found;
            }
        }
    }
    found
}

fn comment(text: &str, start: usize, doubt: Doubt, found: &mut Found) -> Next {
    let rest = &text[start..];
    // A browser takes it for a whole comment, others for the beginning of one.
    if let Some(short) = ["<!-->", "<!--->"].iter().find(|short| rest.starts_with(**short)) {
        if doubt == Doubt::Hides {
            return Next::Nothing;
        }
        found.hidden.push(start..start + short.len());
        return Next::At(start + short.len());
    }
    let Some(end) = text[start + 4..].find("-->").map(|end| start + 4 + end + 3) else {
        // It goes on behind the block, whatever is there.
        found.open_comment = Some(start);
        return if doubt == Doubt::Hides { Next::Nothing } else { Next::At(text.len()) };
    };
    // The same of another end.
    if doubt == Doubt::Hides && text[start..end].contains("--!>") {
        return Next::Nothing;
    }
    found.hidden.push(start..end);
    Next::At(end)
}

/// Declarations, instructions and sections: Markdown and a browser do not agree on where they end.
fn other(text: &str, start: usize, doubt: Doubt, found: &mut Found) -> Next {
    let rest = &text[start..];
    let is_small = start == 0 && rest[2..].starts_with(|c: char| c.is_ascii_lowercase());
    if doubt == Doubt::Hides && rest.starts_with("<!") && is_small {
        return Next::Nothing;
    }
    let Some(first) = rest.find('>').map(|end| start + end + 1) else {
        return if doubt == Doubt::Hides { Next::Nothing } else { Next::At(text.len()) };
    };
    let mark = if rest.starts_with("<?") {
        "?>"
    } else if rest.starts_with("<![CDATA[") {
        "]]>"
    } else {
        ">"
    };
    let end = rest.find(mark).map_or(text.len(), |end| start + end + mark.len());
    found.hidden.push(start..end);
    // What begins behind the first of both ends may go on behind the second.
    Next::At(first)
}

/// The end of an element without a name is a comment.
fn is_strange_end(rest: &str) -> bool {
    rest.strip_prefix("</").is_some_and(|name| !name.starts_with(|c: char| c.is_ascii_alphabetic()))
}
