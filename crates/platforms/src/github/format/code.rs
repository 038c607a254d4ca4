//! What of a Markdown text is code, as GitHub reads it.
//!
//! Code is left as it is and everything else is made harmless, so a wrong answer has a price on one side only: words that
//! are taken for code could ping somebody, code that is taken for words gets a character that nobody sees. Where GitHub's
//! reading is not certain, nothing is code.

use std::ops::Range;

/// Most columns that something may be moved in without becoming an indented block.
const NEAR: usize = 3;

/// What a line is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    Code,
    /// Words, except these pieces of it.
    Words(Vec<Range<usize>>),
}

/// Reads a text line by line.
#[derive(Debug, Default)]
pub(super) struct Reader {
    fence: Option<Fence>,
    /// The items of lists that are open.
    items: Vec<Item>,
    paragraph: Paragraph,
    /// Whether an item is still open cannot be told.
    is_adrift: bool,
    /// There was a fence that may be none. From there on code and words may have changed places.
    is_lost: bool,
}

/// What is known since the last blank line.
#[derive(Debug, Default)]
struct Paragraph {
    /// The line before was words: the next may go on with them although it is not in their item.
    is_open: bool,
    /// It is a block of HTML, in which nothing is Markdown.
    is_html: bool,
    /// A mark in it may be the beginning of code that ends on a later line, or of a tag.
    is_unclear: bool,
}

#[derive(Debug)]
struct Fence {
    mark: u8,
    len: usize,
    /// What belongs to it stands at this column or after it.
    column: usize,
}

#[derive(Debug)]
struct Item {
    /// Where what belongs to it begins.
    column: usize,
    is_certain: bool,
}

impl Reader {
    pub(super) fn read(&mut self, line: &str) -> Line {
        if let Some(code) = self.in_fence(line) {
            return code;
        }
        if is_blank(line) {
            self.paragraph = Paragraph::default();
            return Line::Words(Vec::new());
        }
        let block = self.enter(line);
        if let Some((mark, len)) = fence(block.rest) {
            return self.open(mark, len, &block);
        }
        self.paragraph.is_html |= begins_tag(block.rest.as_bytes());
        self.paragraph.is_open = true;
        let code = if self.paragraph.is_html || self.is_lost { Vec::new() } else { self.spans(line) };
        Line::Words(code)
    }

    /// A line while a fence is open; `None` when none is, or no more.
    fn in_fence(&mut self, line: &str) -> Option<Line> {
        let fence = self.fence.as_ref()?;
        let indent = indent(line);
        if !is_blank(line) && indent < fence.column {
            // It is outside the item that the fence is in.
            self.fence = None;
            return None;
        }
        if fence.is_closed_by(line) && indent <= fence.column + NEAR {
            self.fence = None;
        }
        Some(if self.is_lost { Line::Words(Vec::new()) } else { Line::Code })
    }

    fn open(&mut self, mark: u8, len: usize, block: &Block<'_>) -> Line {
        // At the very edge it is a fence whatever came before, unless that was HTML.
        let is_certain = !self.paragraph.is_html && (block.column == 0 || block.is_certain && block.indent <= NEAR);
        self.is_lost |= !is_certain;
        (self.paragraph.is_open, self.paragraph.is_unclear) = (false, false);
        self.fence = Some(Fence { mark, len, column: self.items.last().map_or(0, |item| item.column) });
        if self.is_lost { Line::Words(Vec::new()) } else { Line::Code }
    }

    /// Leaves the items that a line is not in, and enters those that it begins.
    fn enter<'a>(&mut self, line: &'a str) -> Block<'a> {
        let mut column = indent(line);
        let mut rest = line.trim_start_matches([' ', '\t']);
        // A tab is as wide as it has to be, which is not followed here.
        let mut is_certain = !line[..line.len() - rest.len()].contains('\t');
        if column == 0 && !self.paragraph.is_open {
            self.items.clear();
            self.is_adrift = false;
        }
        let before = self.items.len();
        self.items.retain(|item| item.column <= column);
        let has_left = self.items.len() < before;
        let mut is_first = true;
        loop {
            let base = self.items.last().map_or(0, |item| item.column);
            let indent = column - base;
            is_certain &= !self.is_adrift && self.items.last().is_none_or(|item| item.is_certain);
            let mark = if indent <= NEAR { Mark::of(rest) } else { None };
            let Some(mark) = mark else {
                let is_fence = fence(rest).is_some();
                self.is_adrift |= is_first && has_left && self.paragraph.is_open && !is_fence;
                return Block { rest, column, indent, is_certain };
            };
            let interrupts = !is_first || has_left || !self.paragraph.is_open || mark.can_interrupt;
            is_certain &= interrupts && !rest[..mark.len].contains('\t');
            column += mark.len;
            rest = &rest[mark.len..];
            self.items.push(Item { column, is_certain });
            is_first = false;
        }
    }

    /// The code in a line of words. Code can go on over lines; only what begins and ends in this one is found.
    fn spans(&mut self, line: &str) -> Vec<Range<usize>> {
        let bytes = line.as_bytes();
        let mut found = Vec::new();
        let mut at = 0;
        while !self.paragraph.is_unclear && at < bytes.len() {
            match bytes[at] {
                b'\\' => at += 2,
                b'<' if begins_tag(&bytes[at..]) => self.paragraph.is_unclear = true,
                b'`' => {
                    let len = run(bytes, at);
                    let Some(end) = closing(bytes, at + len, len) else {
                        // There may be one on a later line. What is code in this line is code in either case.
                        self.paragraph.is_unclear = true;
                        found.extend(later_spans(bytes, at + len));
                        break;
                    };
                    found.push(at..end);
                    at = end;
                }
                _ => at += 1,
            }
        }
        // A table is cut at its bars first.
        found.retain(|span| !line[span.clone()].contains('|'));
        found
    }
}

/// What a line begins, in the items that it is in.
struct Block<'a> {
    rest: &'a str,
    /// Of the line, where it begins.
    column: usize,
    /// How far it is moved in.
    indent: usize,
    is_certain: bool,
}

/// The mark of an item.
struct Mark {
    /// With the white space after it.
    len: usize,
    /// Whether it begins an item in the middle of a paragraph.
    can_interrupt: bool,
}

impl Mark {
    fn of(text: &str) -> Option<Self> {
        if is_rule(text) {
            return None;
        }
        let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let marks: &[char] = if digits == 0 { &['-', '*', '+'] } else { &['.', ')'] };
        let after = text[digits..].strip_prefix(marks).filter(|_| digits <= 9)?;
        let content = after.trim_start_matches([' ', '\t']);
        let gap = after.len() - content.len();
        if gap == 0 && !after.is_empty() {
            return None;
        }
        // With nothing after it, or something far away, what belongs to it begins after one space.
        let wide = if content.is_empty() || gap > NEAR + 1 { gap.min(1) } else { gap };
        let can_interrupt = !content.is_empty() && (digits == 0 || &text[..digits] == "1");
        Some(Self { len: digits + 1 + wide, can_interrupt })
    }
}

impl Fence {
    fn is_closed_by(&self, line: &str) -> bool {
        let rest = line.trim_start_matches([' ', '\t']).as_bytes();
        let len = rest.iter().take_while(|byte| **byte == self.mark).count();
        len >= self.len && rest[len..].iter().all(|byte| matches!(byte, b' ' | b'\t'))
    }
}

/// The mark and the length of the fence that a text opens. One that is moved in too far is found as well: who reads
/// the lists otherwise may take it for one.
fn fence(text: &str) -> Option<(u8, usize)> {
    let mark = *text.as_bytes().first().filter(|mark| matches!(mark, b'`' | b'~'))?;
    let len = run(text.as_bytes(), 0);
    (len >= 3 && (mark == b'~' || !text[len..].contains('`'))).then_some((mark, len))
}

/// A line across the page: three or more of the same mark.
fn is_rule(text: &str) -> bool {
    let mut marks = text.bytes().filter(|byte| !matches!(byte, b' ' | b'\t'));
    let first = marks.next();
    matches!(first, Some(b'-' | b'*')) && marks.clone().count() >= 2 && marks.all(|mark| Some(mark) == first)
}

/// Other HTML, such as a comment, does not come to pass.
fn begins_tag(text: &[u8]) -> bool {
    matches!(text, [b'<', next, ..] if next.is_ascii_alphabetic() || *next == b'/')
}

fn is_blank(line: &str) -> bool {
    line.bytes().all(|byte| matches!(byte, b' ' | b'\t'))
}

/// The column where a line begins.
fn indent(line: &str) -> usize {
    let white = line.bytes().take_while(|byte| matches!(byte, b' ' | b'\t'));
    white.fold(0, |column, byte| if byte == b'\t' { column + 4 - column % 4 } else { column + 1 })
}

/// How often the byte at a place is repeated.
fn run(bytes: &[u8], at: usize) -> usize {
    bytes[at..].iter().take_while(|byte| **byte == bytes[at]).count()
}

/// The end of the next run of exactly so many backticks.
fn closing(bytes: &[u8], mut at: usize, len: usize) -> Option<usize> {
    while at < bytes.len() {
        if bytes[at] != b'`' {
            at += 1;
            continue;
        }
        let found = run(bytes, at);
        at += found;
        if found == len {
            return Some(at);
        }
    }
    None
}

/// The code after a run of backticks that has no end in its line. A tag is not certain to be one here either.
fn later_spans(bytes: &[u8], mut at: usize) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    while at < bytes.len() {
        match bytes[at] {
            b'\\' | b'<' => break,
            b'`' => {
                let len = run(bytes, at);
                match closing(bytes, at + len, len) {
                    Some(end) => {
                        found.push(at..end);
                        at = end;
                    }
                    None => at += len,
                }
            }
            _ => at += 1,
        }
    }
    found
}
