//! A message cut into words, and words written so that they are cut the same way again.

/// A word of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word {
    pub text: String,
    /// It began with a quote, so it is never an option.
    pub quoted: bool,
}

/// Cuts at white space; `"…"` keeps white space, and inside it `\"` and `\\` stand for themselves.
pub(super) fn split(text: &str) -> Result<Vec<Word>, UnclosedQuote> {
    let mut words = Vec::new();
    let mut rest = text.trim_start().chars().peekable();
    while let Some(first) = rest.peek() {
        let mut word = Word { text: String::new(), quoted: is_quote(*first) };
        while let Some(c) = rest.next_if(|c| !c.is_whitespace()) {
            if is_quote(c) {
                quoted(&mut rest, &mut word.text)?;
            } else {
                word.text.push(c);
            }
        }
        words.push(word);
        while rest.next_if(|c| c.is_whitespace()).is_some() {}
    }
    Ok(words)
}

/// A quote that is opened and never closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct UnclosedQuote;

fn quoted(rest: &mut impl Iterator<Item = char>, into: &mut String) -> Result<(), UnclosedQuote> {
    loop {
        match rest.next().ok_or(UnclosedQuote)? {
            c if is_quote(c) => return Ok(()),
            '\\' => match rest.next().ok_or(UnclosedQuote)? {
                c if is_quote(c) || c == '\\' => into.push(c),
                c => into.extend(['\\', c]),
            },
            c => into.push(c),
        }
    }
}

/// Phones turn `"` into a curly one while people type.
const fn is_quote(c: char) -> bool {
    matches!(c, '"' | '\u{201c}' | '\u{201d}')
}

/// The name of an option, without its dashes. Phones also turn `--` into one long dash.
pub(super) fn option(word: &Word) -> Option<&str> {
    if word.quoted {
        return None;
    }
    word.text.strip_prefix("--").or_else(|| word.text.strip_prefix(['\u{2013}', '\u{2014}', '-']))
}

/// The word, in quotes where it needs them.
pub(super) fn write(word: &str) -> String {
    let plain = !word.is_empty()
        && !word.starts_with(['-', '\u{2013}', '\u{2014}'])
        && !word.contains(|c: char| c.is_whitespace() || is_quote(c));
    if plain {
        return word.to_owned();
    }
    let mut out = String::from('"');
    for c in word.chars() {
        if is_quote(c) || c == '\\' {
            out.push('\\');
        }
        out.push(c);
    }
    out.push('"');
    out
}
