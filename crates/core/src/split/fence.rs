//! Code fences of Markdown: what opens one, what closes it, and how it is opened again.

/// A fence that is open.
#[derive(Debug)]
pub(super) struct Fence {
    /// What stands before it on the lines that belong to it: indentation, and the marks of a quote.
    lead: String,
    quotes: usize,
    mark: char,
    len: usize,
    info: String,
}

impl Fence {
    /// The fence that a line opens: three or more backticks or tildes, in a list or quote if need be.
    ///
    /// Any indentation will do. Markdown wants less than four columns beyond the list it is in, and to know the list is
    /// to read all of it; a line of backticks that is meant as something else is rare.
    pub(super) fn opened_by(line: &str) -> Option<Self> {
        let (lead, quotes, rest) = containers(line);
        let mark = rest.chars().next().filter(|c| matches!(c, '`' | '~'))?;
        let info = rest.trim_start_matches(mark);
        let len = rest.len() - info.len();
        let is_code_span = mark == '`' && info.contains('`');
        (len >= 3 && !is_code_span).then(|| Self { lead, quotes, mark, len, info: info.trim_end().to_owned() })
    }

    pub(super) fn is_closed_by(&self, line: &str) -> bool {
        let (quotes, rest) = quoted(line, self.quotes);
        let after = rest.trim_start_matches(self.mark);
        quotes == self.quotes && rest.len() - after.len() >= self.len && after.trim().is_empty()
    }

    /// Whether a line is outside the quote that the fence is in, which ends it.
    pub(super) fn is_left_by(&self, line: &str) -> bool {
        quoted(line, self.quotes).0 < self.quotes
    }

    pub(super) fn reopening(&self) -> String {
        format!("{}{}", self.closing(), self.info)
    }

    pub(super) fn closing(&self) -> String {
        let marks: String = std::iter::repeat_n(self.mark, self.len).collect();
        format!("{}{marks}", self.lead)
    }

    /// Characters that a part spends on closing it, with the line break before.
    pub(super) const fn closing_cost(&self) -> usize {
        // All that can be in a lead is ASCII.
        1 + self.lead.len() + self.len
    }

    /// Characters that a part spends on opening it again and closing it.
    pub(super) fn cost(&self) -> usize {
        2 * self.closing_cost() + self.info.chars().count()
    }
}

/// What a line begins with: the same without the marks of lists, how many quotes there are, and the rest.
fn containers(line: &str) -> (String, usize, &str) {
    let mut lead = String::new();
    let mut quotes = 0;
    let mut rest = line;
    while let Some(c) = rest.chars().next() {
        if c == ' ' || c == '\t' {
            lead.push(c);
            rest = &rest[1..];
        } else if c == '>' {
            lead.push('>');
            quotes += 1;
            rest = &rest[1..];
        } else if let Some(len) = list_mark(rest) {
            lead.extend(std::iter::repeat_n(' ', len));
            rest = &rest[len..];
        } else {
            break;
        }
    }
    (lead, quotes, rest)
}

/// How long the mark of a list item is: `-`, `*`, `+`, `1.` or `1)`, and a space after it.
fn list_mark(text: &str) -> Option<usize> {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let marks: &[char] = if digits == 0 { &['-', '*', '+'] } else { &['.', ')'] };
    let after = text[digits..].strip_prefix(marks)?;
    (digits <= 9 && after.starts_with([' ', '\t'])).then_some(digits + 1)
}

/// How many quotes, up to `most`, a line begins with, and what is in them.
fn quoted(line: &str, most: usize) -> (usize, &str) {
    let mut rest = line.trim_start();
    let mut quotes = 0;
    while quotes < most
        && let Some(inner) = rest.strip_prefix('>')
    {
        rest = inner.trim_start();
        quotes += 1;
    }
    (quotes, rest)
}
