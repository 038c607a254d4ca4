//! The blocks of a Markdown text, as CommonMark and GitHub's additions have them: line by line, in what holds them.

use std::ops::Range;

use super::cursor::Cursor;
use super::definition;
use super::starts::{self, End};

/// As many marks of lists are read in one line; GitHub reads as many.
const MOST_MARKS: usize = 100;

/// Something that holds lines.
#[derive(Debug)]
pub(super) struct Block {
    pub(super) kind: Kind,
    pub(super) lines: Vec<Line>,
    /// It is in a footnote.
    pub(super) is_note: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A paragraph or a heading.
    Words,
    /// A row of a table.
    Row,
    /// Here nothing is Markdown.
    Html,
    Code,
}

#[derive(Debug)]
pub(super) struct Line {
    /// Where the line begins, with the marks of what holds it.
    pub(super) start: usize,
    /// What is left of it, with its end.
    pub(super) content: Range<usize>,
    /// It has the mark of a quote. A line that only goes on with one is often meant as an answer to it.
    pub(super) is_quoted: bool,
    /// Where that is among all that is in the block.
    pub(super) joined: usize,
}

impl Block {
    /// All that is in it, without the marks of what holds it.
    pub(super) fn joined(&self, text: &str) -> String {
        self.lines.iter().map(|line| &text[line.content.clone()]).collect()
    }
}

enum Container {
    Quote,
    Item { width: usize, is_empty: bool },
    Note,
}

#[derive(PartialEq, Eq)]
enum Leaf {
    None,
    Paragraph,
    Table,
    Fence { mark: u8, len: usize },
    Indented,
    Html(End),
}

pub(super) fn blocks(text: &str) -> Vec<Block> {
    let mut reader =
        Reader { text, containers: Vec::new(), quotes: Vec::new(), notes: 0, leaf: Leaf::None, blocks: Vec::new() };
    let mut start = 0;
    while start < text.len() {
        let rest = &text[start..];
        let body = rest.find(['\r', '\n']).unwrap_or(rest.len());
        let end = body + if rest[body..].starts_with("\r\n") { 2 } else { usize::from(body < rest.len()) };
        reader.line(start, start + body, start + end);
        start += end;
    }
    reader.blocks
}

struct Reader<'a> {
    text: &'a str,
    containers: Vec<Container>,
    /// Which of them are quotes.
    quotes: Vec<usize>,
    /// How many of them are footnotes.
    notes: usize,
    /// What the last of the blocks is, while it is open.
    leaf: Leaf,
    blocks: Vec<Block>,
}

impl Reader<'_> {
    fn line(&mut self, start: usize, body_end: usize, end: usize) {
        let mut cursor = Cursor::new(&self.text[start..body_end]);
        let matched = self.matched(&mut cursor);
        let all = matched == self.containers.len();
        if all && self.goes_on(&cursor, start, end) {
            return;
        }
        if self.leaf != Leaf::Paragraph && !(all && self.leaf == Leaf::Table) {
            self.leaf = Leaf::None;
        }
        self.begin(cursor, matched, start, body_end, end);
    }

    /// How many of what is open hold the line too.
    fn matched(&self, cursor: &mut Cursor<'_>) -> usize {
        let last_is_empty = matches!(self.containers.last(), Some(Container::Item { is_empty: true, .. }));
        for (index, container) in self.containers.iter().enumerate() {
            if cursor.is_blank() && !last_is_empty && self.quotes.last().is_none_or(|quote| *quote < index) {
                return self.containers.len();
            }
            match *container {
                Container::Quote => {
                    if cursor.indent(4) > 3 || !cursor.rest().starts_with('>') {
                        return index;
                    }
                    enter_quote(cursor);
                }
                Container::Item { width, is_empty } => {
                    if cursor.indent(width) >= width {
                        cursor.skip_columns(width);
                    } else if !cursor.is_blank() || is_empty {
                        return index;
                    }
                }
                Container::Note => {
                    if cursor.indent(4) >= 4 {
                        cursor.skip_columns(4);
                    } else if !cursor.is_blank() {
                        return index;
                    }
                }
            }
        }
        self.containers.len()
    }

    /// Whether the line is a part of the code or the HTML that is open.
    fn goes_on(&mut self, cursor: &Cursor<'_>, start: usize, end: usize) -> bool {
        let is_blank = cursor.is_blank();
        match self.leaf {
            Leaf::Fence { mark, len } => {
                if cursor.indent(4) < 4 && starts::closes_fence(cursor.rest(), mark, len) {
                    self.leaf = Leaf::None;
                }
            }
            Leaf::Indented if is_blank || cursor.indent(4) >= 4 => {}
            Leaf::Html(End::Blank) if is_blank => return false,
            Leaf::Html(html_end) => {
                if html_end.is_in(cursor.rest()) {
                    self.leaf = Leaf::None;
                }
            }
            Leaf::None | Leaf::Paragraph | Leaf::Table | Leaf::Indented => return false,
        }
        self.add(start, start + cursor.at..end, self.containers.len());
        true
    }

    /// Begins what the line begins, or goes on with a paragraph.
    fn begin(&mut self, mut cursor: Cursor<'_>, matched: usize, start: usize, body_end: usize, end: usize) {
        let all = matched == self.containers.len();
        let was_paragraph = self.leaf == Leaf::Paragraph;
        let mut in_paragraph = all && was_paragraph;
        let mut may_be_lazy = was_paragraph;
        let mut has_opened = false;
        for depth in 0.. {
            if cursor.is_blank() {
                self.close_to(if has_opened { self.containers.len() } else { matched });
                return;
            }
            let (indent, rest) = (cursor.indent(4), cursor.rest());
            let content = start + cursor.at..end;
            if indent >= 4 {
                if may_be_lazy {
                    break;
                }
                self.close_unless(has_opened, matched);
                return self.open(Kind::Code, Leaf::Indented, start, content);
            }
            let container = if rest.starts_with('>') {
                enter_quote(&mut cursor);
                Container::Quote
            } else if let Some((kind, leaf)) = self.leaf_of(rest, in_paragraph) {
                self.close_unless(has_opened, matched);
                if let Some(kind) = kind {
                    self.open(kind, leaf, start, content);
                }
                return;
            } else if let Some(len) = starts::note(rest) {
                cursor.skip_mark(len);
                Container::Note
            } else if let Some(len) = starts::list_mark(rest, in_paragraph).filter(|_| depth < MOST_MARKS) {
                cursor.skip_mark(len);
                let gap = cursor.indent(5);
                let gap = if cursor.is_blank() || gap > 4 { 1 } else { gap };
                cursor.skip_columns(gap);
                Container::Item { width: indent + len + gap, is_empty: true }
            } else {
                break;
            };
            self.close_unless(has_opened, matched);
            self.enter(container);
            (has_opened, in_paragraph, may_be_lazy) = (true, false, false);
        }
        let content = body_end - cursor.rest().len()..end;
        if was_paragraph && !has_opened {
            let is_table = in_paragraph && self.begins_table(cursor.rest());
            self.add(start, content, matched);
            if is_table {
                self.leaf = Leaf::Table;
            }
        } else if self.leaf == Leaf::Table && all && !has_opened {
            self.open(Kind::Row, Leaf::Table, start, content);
        } else {
            self.close_unless(has_opened, matched);
            self.open(Kind::Words, Leaf::Paragraph, start, content);
        }
    }

    /// What a line begins that holds no blocks; without a kind it is only a line.
    fn leaf_of(&self, rest: &str, in_paragraph: bool) -> Option<(Option<Kind>, Leaf)> {
        if starts::is_heading(rest) {
            return Some((Some(Kind::Words), Leaf::None));
        }
        if let Some((mark, len)) = starts::fence(rest) {
            return Some((Some(Kind::Code), Leaf::Fence { mark, len }));
        }
        if let Some(end) = starts::html(rest, in_paragraph) {
            let is_over = end != End::Blank && end.is_in(rest);
            return Some((Some(Kind::Html), if is_over { Leaf::None } else { Leaf::Html(end) }));
        }
        let is_underline = in_paragraph && starts::is_underline(rest) && !self.has_only_definitions();
        (is_underline || starts::is_rule(rest)).then_some((None, Leaf::None))
    }

    /// Such a paragraph has no words that a line could be under.
    fn has_only_definitions(&self) -> bool {
        let joined = self.blocks.last().map(|block| block.joined(self.text)).unwrap_or_default();
        joined.starts_with('[') && definition::all(&joined).last().is_some_and(|last| last.whole.end == joined.len())
    }

    fn begins_table(&self, rest: &str) -> bool {
        let header = self.blocks.last().and_then(|block| block.lines.last());
        let header = header.map(|line| self.text[line.content.clone()].trim());
        starts::columns(rest.trim()).is_some_and(|count| header.is_some_and(|header| starts::cells(header) == count))
    }

    fn enter(&mut self, container: Container) {
        self.fill();
        match container {
            Container::Quote => self.quotes.push(self.containers.len()),
            Container::Note => self.notes += 1,
            Container::Item { .. } => {}
        }
        self.containers.push(container);
    }

    fn close_unless(&mut self, has_opened: bool, matched: usize) {
        if !has_opened {
            self.close_to(matched);
        }
    }

    fn close_to(&mut self, matched: usize) {
        for container in self.containers.drain(matched..) {
            self.notes -= usize::from(matches!(container, Container::Note));
        }
        self.quotes.truncate(self.quotes.partition_point(|quote| *quote < matched));
        self.leaf = Leaf::None;
    }

    fn open(&mut self, kind: Kind, leaf: Leaf, start: usize, content: Range<usize>) {
        self.fill();
        self.blocks.push(Block { kind, lines: Vec::new(), is_note: self.notes > 0 });
        self.leaf = leaf;
        self.add(start, content, self.containers.len());
    }

    fn add(&mut self, start: usize, content: Range<usize>, matched: usize) {
        let is_quoted = self.quotes.first().is_some_and(|quote| *quote < matched);
        if let Some(block) = self.blocks.last_mut() {
            let joined = block.lines.last().map_or(0, |line| line.joined + line.content.len());
            block.lines.push(Line { start, content, is_quoted, joined });
        }
    }

    fn fill(&mut self) {
        if let Some(Container::Item { is_empty, .. }) = self.containers.last_mut() {
            *is_empty = false;
        }
    }
}

fn enter_quote(cursor: &mut Cursor<'_>) {
    cursor.skip_mark(1);
    cursor.skip_columns(1);
}
