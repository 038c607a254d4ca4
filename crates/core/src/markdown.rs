//! What people see of a Markdown text on GitHub: what of it is code, what is quoted, and what is hidden.
//!
//! It follows CommonMark with GitHub's tables and footnotes, as far as something can be hidden by them: blocks line by line,
//! then the words of each. What comes after a block of HTML that does not end is not certain for anybody, and readers of
//! different ages do not agree on some marks; [`Doubt`] says what becomes of that. Each text is read in a time that grows
//! with its length only.

mod blocks;
mod cursor;
mod definition;
mod elements;
mod html;
mod starts;
mod tag;
mod words;

use std::collections::HashSet;
use std::ops::Range;

use blocks::{Block, Kind};
use definition::Definition;
use words::Words;

/// What becomes of words that may be hidden.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Doubt {
    /// Others wrote them: better one word too few than one that nobody saw.
    Hides,
    /// Somebody asks for something: no word of it that can be seen may be lost.
    Shows,
}

/// Pieces of a text. They may overlap, and come in any order.
#[derive(Debug, Default)]
pub struct Reading {
    /// Not seen on the page.
    pub hidden: Vec<Range<usize>>,
    /// Shown as it is. Nothing of it is hidden, unless it is in what is hidden as a whole.
    pub code: Vec<Range<usize>>,
    /// Elements of HTML that show code; in them there can be more HTML.
    pub code_elements: Vec<Range<usize>>,
    /// Somebody else said it.
    pub quoted: Vec<Range<usize>>,
}

/// What was found in one block, counted from where the block begins.
#[derive(Default)]
struct Found {
    hidden: Vec<Range<usize>>,
    code: Vec<Range<usize>>,
    elements: Vec<Range<usize>>,
    /// A `<code>` has no end, so none behind it has.
    has_no_end: bool,
    /// An element that shows code goes on behind the block.
    open_element: Option<usize>,
    /// A comment goes on behind the block.
    open_comment: Option<usize>,
    /// From here on nothing of the text is certain to be seen.
    nothing_from: Option<usize>,
}

pub fn read(text: &str, doubt: Doubt) -> Reading {
    let blocks = blocks::blocks(text);
    let texts: Vec<String> =
        blocks.iter().map(|block| if block.kind == Kind::Code { String::new() } else { block.joined(text) }).collect();
    let definitions: Vec<Vec<Definition>> = blocks
        .iter()
        .zip(&texts)
        .map(|(block, words)| if block.kind == Kind::Words { definition::all(words) } else { Vec::new() })
        .collect();
    let labels = definitions.iter().flatten().map(|definition| definition.label.clone()).collect();
    let mut reader = Reader { text, doubt, labels, reading: Reading::default(), comment: None, element: None };
    for ((block, words), definitions) in blocks.iter().zip(&texts).zip(&definitions) {
        if !reader.block(block, words, definitions) {
            break;
        }
    }
    let Reader { mut reading, comment, element, .. } = reader;
    reading.hidden.extend(comment.map(|start| start..text.len()));
    reading.code_elements.extend(element.map(|start| start..text.len()));
    reading
}

struct Reader<'a> {
    text: &'a str,
    doubt: Doubt,
    labels: HashSet<String>,
    reading: Reading,
    /// Where a comment began that did not end in its block.
    comment: Option<usize>,
    /// The same of an element that shows code.
    element: Option<usize>,
}

impl Reader<'_> {
    /// Whether there is anything to read behind the block.
    fn block(&mut self, block: &Block, words: &str, definitions: &[Definition]) -> bool {
        let whole = whole(block);
        if block.is_note && self.doubt == Doubt::Hides {
            // Footnotes that nothing leads to are not shown.
            self.reading.hidden.push(self.with_line_before(whole));
            return true;
        }
        let quoted = block.lines.iter().filter(|line| line.is_quoted);
        self.reading.quoted.extend(quoted.map(|line| line.start..line.content.end));
        let mut from = 0;
        if let Some(start) = self.comment {
            let end = if block.kind == Kind::Html { words.find("-->") } else { None };
            let Some(end) = end else { return true };
            from = end + 3;
            self.reading.hidden.push(start..place(block, &(end..from)).end);
            self.comment = None;
        }
        if let Some(start) = self.element
            && let Some(end) = elements::closing(words, from, "pre")
        {
            self.reading.code_elements.push(start..place(block, &(end..end + 1)).end);
            self.element = None;
        }
        let found = match block.kind {
            Kind::Code => {
                self.reading.code.push(whole);
                return true;
            }
            Kind::Html => html::read(words, from, self.doubt),
            Kind::Words | Kind::Row => {
                self.hide_definitions(block, words, definitions);
                let from = definitions.last().map_or(0, |last| last.whole.end);
                let is_row = block.kind == Kind::Row;
                Words { text: words, is_row, doubt: self.doubt, labels: &self.labels }.read(from)
            }
        };
        self.keep(block, found)
    }

    fn keep(&mut self, block: &Block, found: Found) -> bool {
        let places = |ranges: Vec<Range<usize>>| {
            ranges.into_iter().filter(|range| !range.is_empty()).map(|range| place(block, &range)).collect::<Vec<_>>()
        };
        let point = |at: Option<usize>| at.map(|at| place(block, &(at..at + 1)).start);
        self.reading.hidden.extend(places(found.hidden));
        self.reading.code.extend(places(found.code));
        self.reading.code_elements.extend(places(found.elements));
        self.comment = point(found.open_comment);
        self.element = self.element.or(point(found.open_element));
        if let Some(start) = point(found.nothing_from) {
            self.reading.hidden.push(start..self.text.len());
            return false;
        }
        true
    }

    /// Those that others put inside a paragraph are shown, but not by every reader.
    fn hide_definitions(&mut self, block: &Block, words: &str, definitions: &[Definition]) {
        let mut at = 0;
        for definition in definitions {
            self.hide_lines(block, &definition.whole);
            at = definition.whole.end;
        }
        if self.doubt == Doubt::Shows || block.kind == Kind::Row {
            return;
        }
        while at < words.len() {
            if let Some(definition) = definition::read(words, at) {
                self.hide_lines(block, &definition.whole);
                at = definition.whole.end;
            } else {
                at = words[at..].find(['\n', '\r']).map_or(words.len(), |end| at + end + 1);
            }
        }
    }

    /// Hides whole lines, unless something else began in the first of them.
    fn hide_lines(&mut self, block: &Block, lines: &Range<usize>) {
        let mut range = place(block, lines);
        let first = block.lines.partition_point(|line| line.content.end <= range.start);
        let start = block.lines.get(first).map_or(range.start, |line| line.start);
        if self.text[start..range.start].chars().all(|c| matches!(c, ' ' | '\t' | '>')) {
            range = self.with_line_before(start..range.end);
        }
        self.reading.hidden.push(range);
    }

    /// With the end of the line before, when nothing is behind.
    fn with_line_before(&self, lines: Range<usize>) -> Range<usize> {
        let before = &self.text[..lines.start];
        let is_last = lines.end == self.text.len() && !self.text.ends_with('\n');
        let start = before.strip_suffix('\n').filter(|_| is_last).map_or(lines.start, str::len);
        start..lines.end
    }
}

fn whole(block: &Block) -> Range<usize> {
    let start = block.lines.first().map_or(0, |line| line.start);
    start..block.lines.last().map_or(start, |line| line.content.end)
}

/// Where a piece of a block's words stands in the text; it has a character at least. With the marks of what holds its lines.
fn place(block: &Block, words: &Range<usize>) -> Range<usize> {
    let point = |at: usize| {
        let line = block.lines.partition_point(|line| line.joined <= at).saturating_sub(1);
        block.lines.get(line).map_or(at, |line| line.content.start + (at - line.joined))
    };
    point(words.start)..point(words.end - 1) + 1
}
