//! A tag of HTML, as a browser takes it apart.

use std::ops::Range;

#[derive(Debug)]
pub(super) struct Tag<'a> {
    pub(super) name: &'a str,
    pub(super) is_closing: bool,
    /// Each with the white space before it, and its name.
    pub(super) attributes: Vec<(Range<usize>, &'a str)>,
    pub(super) end: usize,
    /// Whether it is a tag between words too; in a block of HTML a browser takes much more for one.
    pub(super) is_plain: bool,
}

#[derive(Debug)]
pub(super) enum Shape<'a> {
    Tag(Tag<'a>),
    /// It begins and does not end.
    Unclosed,
    None,
}

/// The name that a text begins with.
pub(super) fn name(text: &str) -> &str {
    let starts = text.starts_with(|c: char| c.is_ascii_alphabetic());
    if starts { &text[..text.bytes().take_while(|byte| is_in_name(*byte)).count()] } else { "" }
}

const fn is_in_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'-'
}

const fn is_in_attribute(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b':' | b'.' | b'-')
}

/// A tag between words: from the first character that does not belong in one, it is none.
pub(super) fn read(text: &str, at: usize) -> Shape<'_> {
    take(text, at, true)
}

/// A tag in a block of HTML.
pub(super) fn read_any(text: &str, at: usize) -> Shape<'_> {
    take(text, at, false)
}

fn take(text: &str, start: usize, only_plain: bool) -> Shape<'_> {
    let bytes = text.as_bytes();
    let is_closing = text[start..].starts_with("</");
    let mut at = start + 1 + usize::from(is_closing);
    if bytes.get(start) != Some(&b'<') || !bytes.get(at).is_some_and(u8::is_ascii_alphabetic) {
        return Shape::None;
    }
    // Between words it is given up at once, for there may be another at every character.
    let is_out = |byte: u8, is_in: fn(u8) -> bool| only_plain && !is_in(byte);
    let name_end = until(bytes, at, |byte| is_white(byte) || matches!(byte, b'/' | b'>') || is_out(byte, is_in_name));
    let mut tag = Tag { name: &text[at..name_end], is_closing, attributes: Vec::new(), end: 0, is_plain: true };
    tag.is_plain = name(tag.name).len() == tag.name.len();
    at = name_end;
    loop {
        if only_plain && !tag.is_plain {
            return Shape::None;
        }
        let before = at;
        at = until(bytes, at, |byte| !is_white(byte));
        match bytes.get(at) {
            None => return Shape::Unclosed,
            Some(b'>') => {
                tag.end = at + 1;
                return Shape::Tag(tag);
            }
            Some(b'/') => {
                at += 1;
                tag.is_plain &= !is_closing && bytes.get(at) == Some(&b'>');
                continue;
            }
            Some(_) => {}
        }
        // The first character belongs to a name, whatever it is.
        let is_end = |byte| is_white(byte) || matches!(byte, b'/' | b'>' | b'=') || is_out(byte, is_in_attribute);
        let name_end = until(bytes, at + 1, is_end);
        let name = bytes.get(at..name_end).unwrap_or_default();
        let is_begun = !name.first().is_some_and(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'-'));
        tag.is_plain &= before < at && !is_closing && is_begun && name.iter().all(|byte| is_in_attribute(*byte));
        if only_plain && !tag.is_plain {
            return Shape::None;
        }
        let Some(end) = value(bytes, name_end, only_plain, &mut tag.is_plain) else { return Shape::Unclosed };
        tag.attributes.push((before..end, text.get(at..name_end).unwrap_or_default()));
        at = end;
    }
}

/// Where an attribute ends whose name ends here. `None` when its value does not end.
fn value(bytes: &[u8], name_end: usize, only_plain: bool, is_plain: &mut bool) -> Option<usize> {
    let equals = until(bytes, name_end, |byte| !is_white(byte));
    if bytes.get(equals) != Some(&b'=') {
        return Some(name_end);
    }
    let start = until(bytes, equals + 1, |byte| !is_white(byte));
    match bytes.get(start) {
        None => None,
        Some(quote @ (b'"' | b'\'')) => {
            let end = until(bytes, start + 1, |byte| byte == *quote);
            (end < bytes.len()).then_some(end + 1)
        }
        Some(_) => {
            let is_odd = |byte: &u8| b"\"'=<`".contains(byte);
            let end = until(bytes, start, |byte| is_white(byte) || byte == b'>' || only_plain && is_odd(&byte));
            *is_plain &= end > start && !bytes[start..end].iter().any(is_odd);
            *is_plain &= !bytes.get(end).is_some_and(is_odd);
            Some(end)
        }
    }
}

fn until(bytes: &[u8], from: usize, is_end: impl Fn(u8) -> bool) -> usize {
    let from = from.min(bytes.len());
    from + bytes[from..].iter().take_while(|byte| !is_end(**byte)).count()
}

const fn is_white(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | b'\x0c')
}
