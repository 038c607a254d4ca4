//! The words of a paragraph, a heading or a row of a table: code in them, HTML, and what links hide.

use std::collections::{HashMap, HashSet};

use super::elements::{self, Next};
use super::tag::{self, Shape};
use super::{Doubt, Found, definition};

/// What is known of the words as a whole.
pub(super) struct Words<'a> {
    pub(super) text: &'a str,
    pub(super) is_row: bool,
    pub(super) doubt: Doubt,
    /// The labels that lead somewhere.
    pub(super) labels: &'a HashSet<String>,
}

/// What was looked for and is not there any more.
#[derive(Default)]
struct Missing {
    marks: HashSet<&'static str>,
}

impl Missing {
    /// Behind the next such mark.
    fn find(&mut self, text: &str, from: usize, mark: &'static str) -> Option<usize> {
        if self.marks.contains(mark) {
            return None;
        }
        let end = text.get(from..)?.find(mark).map(|end| from + end + mark.len());
        if end.is_none() {
            self.marks.insert(mark);
        }
        end
    }
}

impl Words<'_> {
    /// Reads the words from `from` on.
    pub(super) fn read(&self, from: usize) -> Found {
        let (text, bytes) = (self.text, self.text.as_bytes());
        let mut found = Found::default();
        let mut missing = Missing::default();
        let runs = Runs::of(text);
        let mut brackets: Vec<(usize, bool)> = Vec::new();
        let mut at = from;
        while let Some(next) = text[at..].find(['\\', '`', '<', '[', ']']) {
            at += next;
            match bytes[at] {
                b'\\' => at += 1 + usize::from(bytes.get(at + 1).is_some_and(u8::is_ascii_punctuation)),
                b'`' => {
                    let len = bytes[at..].iter().take_while(|byte| **byte == b'`').count();
                    match runs.closing(at + len, len).filter(|end| !self.is_cut(at, *end)) {
                        Some(end) => {
                            found.code.push(at..end);
                            at = end;
                        }
                        None => at += len,
                    }
                }
                b'<' => match self.html(at, &mut missing, &mut found) {
                    Next::At(next) => at = next,
                    Next::Nothing => {
                        found.nothing_from = Some(at);
                        return found;
                    }
                },
                b'[' => {
                    brackets.push((at, at > from && bytes[at - 1] == b'!'));
                    at += 1;
                }
                _ => at = brackets.pop().map_or(at + 1, |bracket| self.link(bracket, at, &mut found)),
            }
        }
        found
    }

    /// A row is cut at its bars before anything else is read in it.
    fn is_cut(&self, start: usize, end: usize) -> bool {
        self.is_row && self.doubt == Doubt::Hides && self.text[start..end].contains('|')
    }

    /// What is behind the text of a link, which ends here.
    fn link(&self, (open, is_image): (usize, bool), close: usize, found: &mut Found) -> usize {
        let after = close + 1;
        let mut hide_image = || {
            if is_image && self.doubt == Doubt::Hides {
                found.hidden.push(open + 1..close);
            }
        };
        if let Some(tail) = definition::tail(self.text, after) {
            hide_image();
            found.hidden.extend(tail.title);
            return tail.end;
        }
        if self.doubt == Doubt::Shows {
            return after;
        }
        if let Some(end) = definition::label(self.text, after) {
            if self.leads(after + 1, end - 1) {
                hide_image();
                found.hidden.push(after..end);
                return end;
            }
        } else if self.leads(open + 1, close) {
            hide_image();
        }
        after
    }

    fn leads(&self, start: usize, end: usize) -> bool {
        end - start < 1000 * 4 && self.labels.contains(&definition::normal(&self.text[start..end]))
    }

    fn html(&self, start: usize, missing: &mut Missing, found: &mut Found) -> Next {
        let rest = &self.text[start..];
        if let Some(end) = autolink(rest) {
            return Next::At(start + end);
        }
        let (begin, mark) = if rest.starts_with("<!--") {
            ("<!--", "-->")
        } else if rest.starts_with("<?") {
            ("<?", "?>")
        } else if rest.starts_with("<![CDATA[") {
            ("<![CDATA[", "]]>")
        } else if rest.strip_prefix("<!").is_some_and(|name| name.starts_with(|c: char| c.is_ascii_alphabetic())) {
            ("<!", ">")
        } else {
            return match tag::read(self.text, start) {
                Shape::Tag(tag) => elements::seen(self.text, start, &tag, self.doubt, found),
                Shape::Unclosed | Shape::None => Next::At(start + 1),
            };
        };
        let inner_start = start + begin.len();
        let Some(end) = missing.find(self.text, inner_start, mark) else { return Next::At(inner_start) };
        found.hidden.push(start..end);
        if self.doubt == Doubt::Shows {
            return Next::At(end);
        }
        match Trust::of(begin, &self.text[inner_start..end - mark.len()]) {
            Trust::Whole => Next::At(end),
            Trust::Words => {
                found.hidden.push(start..self.text.len());
                Next::At(self.text.len())
            }
            Trust::Nothing => Next::Nothing,
        }
    }
}

/// How far readers agree on what is hidden between the marks, and on what comes after them.
enum Trust {
    Whole,
    /// Some take the marks for words, and find other things in them.
    Words,
    /// A browser ends it earlier, and what it finds in the rest may go on behind it.
    Nothing,
}

impl Trust {
    fn of(begin: &str, inner: &str) -> Self {
        match begin {
            "<!--" if inner.contains("--!>") => Self::Nothing,
            "<!--" if inner.starts_with('>') || inner.starts_with("->") => Self::Words,
            "<!--" if inner.contains("--") || inner.ends_with('-') => Self::Words,
            "<!" if inner.contains('<') => Self::Words,
            _ if inner.split_once('>').is_some_and(|(_, later)| later.contains('<')) && begin != "<!--" => {
                Self::Nothing
            }
            _ => Self::Whole,
        }
    }
}

/// Where an address in angle brackets ends: people see all of it.
fn autolink(rest: &str) -> Option<usize> {
    let inner = rest.strip_prefix('<')?;
    let end = inner.find(|c: char| c == '>' || c == '<' || c.is_ascii_whitespace() || c.is_ascii_control())?;
    let address = &inner[..end];
    let is_scheme = |scheme: &str| {
        (2..=32).contains(&scheme.len())
            && scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+.-".contains(&byte))
    };
    let is_address = address.split_once(':').is_some_and(|(scheme, _)| is_scheme(scheme));
    let is_name = |name: &str| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-_+".contains(&byte))
    };
    let is_mail = address.split_once('@').is_some_and(|(name, host)| is_name(name) && is_name(host));
    (inner[end..].starts_with('>') && (is_address || is_mail)).then_some(end + 2)
}

/// The runs of backticks of a text, by their length.
struct Runs {
    ends: HashMap<usize, Vec<usize>>,
}

impl Runs {
    fn of(text: &str) -> Self {
        let mut ends: HashMap<usize, Vec<usize>> = HashMap::new();
        let mut run = 0;
        for (at, byte) in text.bytes().chain([b' ']).enumerate() {
            if byte == b'`' {
                run += 1;
            } else if run > 0 {
                ends.entry(run).or_default().push(at);
                run = 0;
            }
        }
        Self { ends }
    }

    /// Where the next run of this length ends that begins here or later.
    fn closing(&self, from: usize, len: usize) -> Option<usize> {
        let ends = self.ends.get(&len)?;
        ends.get(ends.partition_point(|end| *end < from + len)).copied()
    }
}
