//! Cuts a long text into parts that a platform takes, where it hurts least.
//!
//! Every platform has a longest message. What an assistant writes is Markdown, so a cut must not leave a code fence open:
//! it is closed at the end of one part and opened again in the next.

mod fence;
#[cfg(test)]
mod tests;

use unicode_segmentation::UnicodeSegmentation as _;

use fence::Fence;

/// Parts of at most `longest` characters, none of them blank. A text that fits is returned as it is, a blank one has no
/// parts.
///
/// The cut is at the last border between paragraphs (or before or after a code fence) that fits, else at the last line,
/// else word, else character as people see it. White space goes at the cuts and at the end. A code fence is opened again
/// with its own marker and info string; one that would take more than half of a part is cut like plain text.
pub fn split(text: &str, longest: usize) -> Vec<String> {
    let longest = longest.max(1);
    if text.trim().is_empty() {
        return Vec::new();
    }
    if fits(text, longest) {
        return vec![text.to_owned()];
    }
    let page = Page::of(text, longest);
    let mut parts = Vec::new();
    let mut from = 0;
    while from < text.len() {
        let opening = page.fence_at(from).map(|fence| fence.reopening() + "\n").unwrap_or_default();
        let room = longest.saturating_sub(opening.chars().count()).max(1);
        let end = page.end_of_part(from, room);
        if !text[from..end].trim().is_empty() {
            let closing = page.fence_at(end).map(|fence| format!("\n{}", fence.closing())).unwrap_or_default();
            parts.push(format!("{opening}{}{closing}", text[from..end].trim_end()));
        }
        from = page.after_cut(end);
    }
    parts
}

/// The part of a text that [`split`] would send first, and all the rest as one. The rest is blank when there is none.
pub fn split_off(text: &str, longest: usize) -> (String, String) {
    let longest = longest.max(1);
    if fits(text, longest) {
        return (text.to_owned(), String::new());
    }
    let page = Page::of(text, longest);
    let end = page.end_of_part(0, longest);
    let from = page.after_cut(end);
    let opening = page.fence_at(from).map(|fence| fence.reopening() + "\n").unwrap_or_default();
    let closing = |at| page.fence_at(at).map(|fence| format!("\n{}", fence.closing())).unwrap_or_default();
    let first = format!("{}{}", text[..end].trim_end(), closing(end));
    let rest = text[from..].trim_end();
    if rest.is_empty() {
        return (first, String::new());
    }
    (first, format!("{opening}{rest}{}", closing(text.len())))
}

fn fits(text: &str, room: usize) -> bool {
    // Bytes are never fewer than characters, and are counted at once.
    text.len() <= room || text.chars().nth(room).is_none()
}

/// A text whose lines are known for what they are to its code fences.
struct Page<'a> {
    text: &'a str,
    lines: Vec<Line>,
    fences: Vec<Fence>,
}

struct Line {
    start: usize,
    /// Before the line break.
    end: usize,
    kind: Kind,
}

/// What a line is; the number is that of the fence.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Plain,
    Open(usize),
    Inside(usize),
    Close(usize),
}

/// How good a place to cut is.
#[derive(Clone, Copy)]
enum Border {
    Word,
    Line,
    Block,
}

impl<'a> Page<'a> {
    fn of(text: &'a str, longest: usize) -> Self {
        let mut page = Self { text, lines: Vec::new(), fences: Vec::new() };
        // The fence that is open, and whether it is short enough to be opened again in every part.
        let mut open: Option<(Fence, bool)> = None;
        let mut start = 0;
        for line in text.split('\n') {
            let at = page.fences.len();
            if open.as_ref().is_some_and(|(fence, _)| fence.is_left_by(line)) {
                page.fences.extend(open.take().map(|(fence, _)| fence));
            }
            let kind = match open.take() {
                Some((fence, is_short)) => {
                    let closes = fence.is_closed_by(line);
                    if closes {
                        page.fences.push(fence);
                    } else {
                        open = Some((fence, is_short));
                    }
                    match (is_short, closes) {
                        (false, _) => Kind::Plain,
                        (true, true) => Kind::Close(at),
                        (true, false) => Kind::Inside(at),
                    }
                }
                None => match Fence::opened_by(line) {
                    Some(fence) => {
                        let is_short = fits(line, longest / 2) && fence.cost() <= longest / 2;
                        open = Some((fence, is_short));
                        if is_short { Kind::Open(page.fences.len()) } else { Kind::Plain }
                    }
                    None => Kind::Plain,
                },
            };
            page.lines.push(Line { start, end: start + line.len(), kind });
            start += line.len() + 1;
        }
        page.fences.extend(open.map(|(fence, _)| fence));
        page
    }

    fn line_at(&self, at: usize) -> usize {
        self.lines.partition_point(|line| line.start <= at) - 1
    }

    fn is_blank(&self, line: &Line) -> bool {
        self.text[line.start..line.end].trim().is_empty()
    }

    /// The fence that is open at a place, so that a part which ends there must close it.
    fn fence_at(&self, at: usize) -> Option<&Fence> {
        let line = &self.lines[self.line_at(at)];
        match line.kind {
            Kind::Inside(fence) => Some(&self.fences[fence]),
            Kind::Close(fence) if at == line.start => Some(&self.fences[fence]),
            Kind::Open(fence) if at == self.text.len() && at > line.start => Some(&self.fences[fence]),
            _ => None,
        }
    }

    /// What closing the fence that is open there takes.
    fn closing_at(&self, at: usize) -> usize {
        self.fence_at(at).map_or(0, Fence::closing_cost)
    }

    /// Where the part that begins at `from` ends.
    fn end_of_part(&self, from: usize, room: usize) -> usize {
        let end = self.text.len();
        if fits(&self.text[from..end], room.saturating_sub(self.closing_at(end))) {
            return end;
        }
        self.last_border(from, room).or_else(|| self.last_grapheme(from, room)).unwrap_or_else(|| {
            let rest = &self.text[from..];
            rest.char_indices().nth(room).map_or(end, |(offset, _)| from + offset)
        })
    }

    /// The last of the best borders that fit.
    fn last_border(&self, from: usize, room: usize) -> Option<usize> {
        let mut best = [None; 3];
        let mut line = self.line_at(from);
        // Whether there is anything to see before the border; and if it is in a fence, inside that fence.
        let (mut is_seen, mut is_seen_inside) = (false, false);
        let mut visible = 0;
        let mut before = None;
        for (count, (offset, c)) in self.text[from..].char_indices().enumerate() {
            let at = from + offset;
            if self.lines.get(line + 1).is_some_and(|next| next.start == at) {
                line += 1;
            }
            let kind = self.lines[line].kind;
            let is_worth_it = match kind {
                Kind::Inside(_) | Kind::Close(_) => is_seen_inside,
                Kind::Plain | Kind::Open(_) => is_seen,
            };
            if is_worth_it
                && let Some(border) = self.border(from, at, line, before)
                && visible + self.closing_at(at) <= room
            {
                best[border as usize] = Some(at);
            }
            if !c.is_whitespace() {
                visible = count + 1;
                is_seen = true;
                is_seen_inside = matches!(kind, Kind::Inside(_));
            }
            if visible > room {
                break;
            }
            before = Some(c);
        }
        best.into_iter().rev().flatten().next()
    }

    /// What a cut at `at` would be, if it can be cut there. `before` is the character before it.
    fn border(&self, from: usize, at: usize, line: usize, before: Option<char>) -> Option<Border> {
        let here = &self.lines[line];
        if at == here.start {
            let above = self.lines[..line].last()?;
            let is_outside = matches!(here.kind, Kind::Plain | Kind::Open(_));
            let is_edge = matches!(here.kind, Kind::Open(_)) || matches!(above.kind, Kind::Close(_));
            let is_block = is_outside && (is_edge || self.is_blank(here) || self.is_blank(above));
            return Some(if is_block { Border::Block } else { Border::Line });
        }
        let rest = &self.text[at..here.end];
        let is_gap = rest.starts_with(char::is_whitespace) && before.is_some_and(|c| !c.is_whitespace());
        (is_gap && !rest.trim().is_empty() && self.is_harmless(from, at, here)).then_some(Border::Word)
    }

    /// Whether neither half of a line that is cut looks like a fence that the whole is not.
    fn is_harmless(&self, from: usize, at: usize, line: &Line) -> bool {
        let halves = [&self.text[line.start.max(from)..at], self.text[at..line.end].trim_start()];
        match line.kind {
            Kind::Plain => halves.iter().all(|half| Fence::opened_by(half).is_none()),
            Kind::Inside(fence) => halves.iter().all(|half| !self.fences[fence].is_closed_by(half)),
            Kind::Open(_) | Kind::Close(_) => false,
        }
    }

    /// The last place between two characters, as people see them, that fits: not inside an emoji and its modifiers.
    fn last_grapheme(&self, from: usize, room: usize) -> Option<usize> {
        let window =
            self.text[from..].char_indices().nth(room + 1).map_or(self.text.len(), |(offset, _)| from + offset);
        let mut count = 0;
        let mut places = Vec::new();
        for (offset, grapheme) in self.text[from..window].grapheme_indices(true) {
            let at = from + offset;
            if offset > 0 && count + self.closing_at(at) <= room {
                places.push(at);
            }
            count += grapheme.chars().count();
        }
        let harmless = |at: &&usize| {
            let line = &self.lines[self.line_at(**at)];
            **at == line.start || self.is_harmless(from, **at, line)
        };
        // Among so many places one will do, unless the text is made of nothing but fences.
        places.iter().rev().take(64).find(harmless).or(places.last()).copied()
    }

    /// Where the next part begins: past the white space at the cut, and past a fence's end that the part before has.
    fn after_cut(&self, end: usize) -> usize {
        let mut index = self.line_at(end);
        let mut at = end;
        if at > self.lines[index].start {
            let line = &self.lines[index];
            let rest = &self.text[at.min(line.end)..line.end];
            if !rest.trim().is_empty() {
                return at + (rest.len() - rest.trim_start().len());
            }
            index += 1;
        }
        while let Some(line) = self.lines.get(index) {
            at = line.start;
            if !self.is_blank(line) && !matches!(line.kind, Kind::Close(_)) {
                return at;
            }
            index += 1;
        }
        self.text.len()
    }
}
