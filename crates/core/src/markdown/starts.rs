//! What the beginning of a line says: the marks of code, lists, headings, tables and blocks of HTML.

use super::tag::{self, Shape};

/// What ends a block of HTML.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// The end of an element whose content is taken as it is.
    Element,
    Mark(&'static str),
    Blank,
}

impl End {
    pub(super) fn is_in(self, line: &str) -> bool {
        match self {
            Self::Element => VERBATIM.split(' ').any(|name| {
                let has_name = |at: usize| {
                    line.get(at + 2..at + 2 + name.len()).is_some_and(|found| found.eq_ignore_ascii_case(name))
                        && line[at + 2 + name.len()..].starts_with('>')
                };
                line.match_indices("</").any(|(at, _)| has_name(at))
            }),
            Self::Mark(mark) => line.contains(mark),
            Self::Blank => false,
        }
    }
}

const VERBATIM: &str = "script pre style textarea";

/// Elements that begin a block wherever their line stands.
const BLOCKS: &str = "\
    address article aside base basefont blockquote body caption center col colgroup dd details dialog dir div dl \
    dt fieldset figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 head header hr html iframe legend \
    li link main menu menuitem nav noframes ol optgroup option p param section source summary table tbody td \
    tfoot th thead title tr track ul";

/// What would end the block of HTML that begins here.
pub(super) fn html(rest: &str, in_paragraph: bool) -> Option<End> {
    let after = rest.strip_prefix('<')?;
    if after.starts_with("!--") {
        return Some(End::Mark("-->"));
    }
    if after.starts_with('?') {
        return Some(End::Mark("?>"));
    }
    if after.starts_with("![CDATA[") {
        return Some(End::Mark("]]>"));
    }
    if let Some(declared) = after.strip_prefix('!') {
        return declared.starts_with(|c: char| c.is_ascii_alphabetic()).then_some(End::Mark(">"));
    }
    let name = tag::name(after.strip_prefix('/').unwrap_or(after));
    let behind = &after[usize::from(after.starts_with('/')) + name.len()..];
    let is_one_of = |names: &str| names.split(' ').any(|known| known.eq_ignore_ascii_case(name));
    let is_parted = behind.trim_end().is_empty() || behind.starts_with([' ', '\t', '>']);
    if is_parted && !after.starts_with('/') && is_one_of(VERBATIM) {
        return Some(End::Element);
    }
    if (is_parted || behind.starts_with("/>")) && is_one_of(BLOCKS) {
        return Some(End::Blank);
    }
    let is_alone = |end: usize| rest[end..].trim().is_empty();
    match tag::read(rest, 0) {
        // Also the end of what is shown as it is, though CommonMark says otherwise: GitHub's reader knows only its beginning.
        Shape::Tag(tag) if !in_paragraph && tag.is_plain && is_alone(tag.end) => Some(End::Blank),
        _ => None,
    }
}

/// The mark and the length of a fence. With backticks after it, it is a span of code.
pub(super) fn fence(rest: &str) -> Option<(u8, usize)> {
    let mark = *rest.as_bytes().first().filter(|mark| matches!(mark, b'`' | b'~'))?;
    let len = run(rest, mark);
    (len >= 3 && (mark == b'~' || !rest[len..].contains('`'))).then_some((mark, len))
}

pub(super) fn closes_fence(rest: &str, mark: u8, len: usize) -> bool {
    let found = run(rest, mark);
    found >= len && rest[found..].trim_matches([' ', '\t']).is_empty()
}

pub(super) fn is_heading(rest: &str) -> bool {
    let len = run(rest, b'#');
    (1..=6).contains(&len) && (rest.len() == len || rest[len..].starts_with([' ', '\t']))
}

/// The line under a heading.
pub(super) fn is_underline(rest: &str) -> bool {
    let rest = rest.trim_end_matches([' ', '\t']);
    let len = run(rest, b'=').max(run(rest, b'-'));
    len > 0 && len == rest.len()
}

/// A line across the page.
pub(super) fn is_rule(rest: &str) -> bool {
    let mut marks = rest.bytes().filter(|byte| !matches!(byte, b' ' | b'\t'));
    let first = marks.next();
    matches!(first, Some(b'-' | b'*' | b'_')) && marks.clone().count() >= 2 && marks.all(|mark| Some(mark) == first)
}

/// How long the mark of a list's item is.
pub(super) fn list_mark(rest: &str, in_paragraph: bool) -> Option<usize> {
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let marks: &[char] = if digits == 0 { &['-', '*', '+'] } else { &['.', ')'] };
    let after = rest[digits..].strip_prefix(marks).filter(|_| digits <= 9)?;
    let is_parted = after.is_empty() || after.starts_with([' ', '\t']);
    let number = rest[..digits].trim_start_matches('0');
    let may_interrupt = !after.trim_matches([' ', '\t']).is_empty() && (digits == 0 || number == "1");
    (is_parted && (!in_paragraph || may_interrupt)).then_some(digits + 1)
}

/// How long the mark of a footnote is: `[^name]:`.
pub(super) fn note(rest: &str) -> Option<usize> {
    let name = rest.strip_prefix("[^")?;
    let len = name.find([']', ' ', '\t']).filter(|len| *len > 0)?;
    name[len..].starts_with("]:").then_some(2 + len + 2)
}

/// How many columns a table has, when this is the line under its head.
pub(super) fn columns(line: &str) -> Option<usize> {
    let inner = line.strip_prefix('|').unwrap_or(line);
    let inner = inner.strip_suffix('|').unwrap_or(inner);
    let is_column = |cell: &str| {
        let cell = cell.trim();
        let cell = cell.strip_prefix(':').unwrap_or(cell);
        let cell = cell.strip_suffix(':').unwrap_or(cell);
        !cell.is_empty() && cell.bytes().all(|byte| byte == b'-')
    };
    inner.split('|').all(is_column).then(|| inner.split('|').count())
}

/// How many cells a row has. A bar after a backslash is in its cell.
pub(super) fn cells(row: &str) -> usize {
    let row = row.strip_prefix('|').unwrap_or(row);
    let mut is_escaped = false;
    let (mut bars, mut ends_with_bar) = (0, false);
    for byte in row.bytes() {
        ends_with_bar = byte == b'|' && !is_escaped;
        bars += usize::from(ends_with_bar);
        is_escaped = byte == b'\\' && !is_escaped;
    }
    bars + usize::from(!ends_with_bar)
}

fn run(text: &str, mark: u8) -> usize {
    text.bytes().take_while(|byte| *byte == mark).count()
}
