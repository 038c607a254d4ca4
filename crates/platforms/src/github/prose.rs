//! The pieces of a Markdown text where its author speaks: no code, no quote, no comment of HTML.
//!
//! Not a whole reader of Markdown: blocks line by line, then code and comments inside a paragraph. Each in one pass.

use std::collections::HashMap;
use std::ops::Range;

/// In their order, none touching another.
pub(super) fn pieces(text: &str) -> Vec<Range<usize>> {
    let mut reader = Reader { text, pieces: Vec::new(), paragraph: None, hidden_until: None };
    let mut blocks = Blocks::default();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let whole = at..at + line.len();
        at = whole.end;
        reader.line(&mut blocks, whole);
    }
    reader.end_paragraph();
    reader.pieces
}

struct Reader<'a> {
    text: &'a str,
    pieces: Vec<Range<usize>>,
    /// What is read of the present paragraph.
    paragraph: Option<Range<usize>>,
    /// Inside something that goes on over paragraphs, up to this.
    hidden_until: Option<&'static str>,
}

impl Reader<'_> {
    fn line(&mut self, blocks: &mut Blocks, mut whole: Range<usize>) {
        let mut line = &self.text[whole.clone()];
        let before_prose = self.paragraph.is_some();
        if !blocks.is_plain(line, before_prose) {
            // Only now it matters whether the paragraph ended inside a comment.
            self.end_paragraph();
        }
        if let Some(until) = self.hidden_until {
            let Some(found) = find_ignoring_case(line, until) else { return };
            self.hidden_until = None;
            whole.start += found + until.len();
            line = &self.text[whole.clone()];
            *blocks = Blocks::default();
        }
        if blocks.read(line, self.paragraph.is_some()) {
            let start = self.paragraph.as_ref().map_or(whole.start, |paragraph| paragraph.start);
            self.paragraph = Some(start..whole.end);
        }
    }

    /// Takes code and comments out of the paragraph, and keeps the rest.
    fn end_paragraph(&mut self) {
        let Some(paragraph) = self.paragraph.take() else { return };
        let text = &self.text[paragraph.clone()];
        let spans = code_spans(text);
        let mut closed_code = true;
        let (mut kept, mut at) = (0, 0);
        while let Some(found) = text[at..].find(['`', '<']) {
            let start = at + found;
            let end = if text[start..].starts_with('`') {
                let run = text[start..].len() - text[start..].trim_start_matches('`').len();
                match spans.get(&start) {
                    Some(end) => *end,
                    None => {
                        at = start + run;
                        continue;
                    }
                }
            } else {
                match Hidden::at(&text[start..]) {
                    Some(hidden) if hidden.may_end_later || closed_code => {
                        let inside = start + hidden.begins;
                        match find_ignoring_case(&text[inside..], hidden.until) {
                            Some(found) => inside + found + hidden.until.len(),
                            None if hidden.may_end_later => {
                                self.hidden_until = Some(hidden.until);
                                text.len()
                            }
                            None => {
                                // None further on either: it is not looked for again.
                                closed_code = false;
                                at = start + 1;
                                continue;
                            }
                        }
                    }
                    _ => {
                        at = start + 1;
                        continue;
                    }
                }
            };
            self.keep(paragraph.start + kept..paragraph.start + start);
            (kept, at) = (end, end);
        }
        self.keep(paragraph.start + kept..paragraph.end);
    }

    fn keep(&mut self, piece: Range<usize>) {
        if !piece.is_empty() {
            self.pieces.push(piece);
        }
    }
}

/// Something of HTML that is not read.
struct Hidden {
    /// How long what opens it is.
    begins: usize,
    until: &'static str,
    /// Over paragraphs, and to the end of the text when it never ends.
    may_end_later: bool,
}

impl Hidden {
    fn at(text: &str) -> Option<Self> {
        let opens = |tag: &str| {
            let name = text.get(1..=tag.len()).is_some_and(|name| name.eq_ignore_ascii_case(tag));
            name && text[1 + tag.len()..].starts_with(|c: char| c == '>' || c.is_whitespace())
        };
        if text.starts_with("<!--") {
            Some(Self { begins: 4, until: "-->", may_end_later: true })
        } else if opens("pre") {
            Some(Self { begins: 4, until: "</pre>", may_end_later: true })
        } else if opens("code") {
            Some(Self { begins: 5, until: "</code>", may_end_later: false })
        } else {
            None
        }
    }
}

/// `needle` has only ASCII, and is short.
fn find_ignoring_case(text: &str, needle: &str) -> Option<usize> {
    let windows = text.as_bytes().windows(needle.len());
    windows.enumerate().find(|(_, window)| window.eq_ignore_ascii_case(needle.as_bytes())).map(|(at, _)| at)
}

/// Where runs of backticks begin that are closed by one of the same length, and where each of those spans ends.
fn code_spans(text: &str) -> HashMap<usize, usize> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for (at, _) in text.match_indices('`') {
        match runs.last_mut() {
            Some(run) if run.end == at => run.end += 1,
            _ => runs.push(at..at + 1),
        }
    }
    let mut next_of_length = HashMap::new();
    let mut spans = HashMap::new();
    for run in runs.iter().rev() {
        if let Some(end) = next_of_length.insert(run.len(), run.end) {
            spans.insert(run.start, end);
        }
    }
    spans
}

/// What the lines so far mean for the next one.
#[derive(Default)]
struct Blocks {
    fence: Option<(char, usize)>,
    is_in_list: bool,
}

impl Blocks {
    /// Whether the line can only go on with a paragraph.
    fn is_plain(&self, line: &str, in_paragraph: bool) -> bool {
        let trimmed = line.trim();
        self.fence.is_none()
            && in_paragraph
            && !trimmed.is_empty()
            && !trimmed.starts_with('>')
            && list_item(trimmed).is_none()
            && opening_fence(trimmed).is_none()
    }

    /// Whether the line is the author's own prose.
    fn read(&mut self, line: &str, in_paragraph: bool) -> bool {
        let indent = indent(line);
        let mut trimmed = line.trim();
        if let Some((mark, length)) = self.fence {
            let closing = trimmed.len() >= length && trimmed.chars().all(|c| c == mark);
            if closing && (indent < 4 || self.is_in_list) {
                self.fence = None;
            }
            return false;
        }
        if trimmed.is_empty() {
            return false;
        }
        if indent >= 4 && !self.is_in_list && !in_paragraph {
            return false;
        }
        if indent < 2 {
            self.is_in_list = false;
        }
        while let Some(item) = list_item(trimmed) {
            self.is_in_list = true;
            trimmed = item;
        }
        if trimmed.starts_with('>') {
            return false;
        }
        self.fence = opening_fence(trimmed);
        self.fence.is_none()
    }
}

/// How far a line is moved in; a tab is four.
fn indent(line: &str) -> usize {
    line.chars().take_while(|c| matches!(c, ' ' | '\t')).map(|c| if c == '\t' { 4 } else { 1 }).sum()
}

/// The words of a list's item.
fn list_item(line: &str) -> Option<&str> {
    let marker = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let digits = line.len() - marker.len();
    let rest = match digits {
        0 => marker.strip_prefix(['-', '*', '+'])?,
        1..=9 => marker.strip_prefix(['.', ')'])?,
        _ => return None,
    };
    rest.starts_with([' ', '\t']).then(|| rest.trim_start())
}

fn opening_fence(line: &str) -> Option<(char, usize)> {
    let mark = line.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
    let info = line.trim_start_matches(mark);
    let length = line.len() - info.len();
    // With backticks after it, it is a span of code.
    let is_fence = length >= 3 && !(mark == '`' && info.contains('`'));
    is_fence.then_some((mark, length))
}
