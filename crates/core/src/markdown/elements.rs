//! What is seen of a tag, and of what it holds.

use super::tag::Tag;
use super::{Doubt, Found};

/// The elements that GitHub keeps; of others it keeps the content, and nobody sees their names.
const KEPT: &str = "\
    a abbr b bdo blockquote br caption center cite code col colgroup dd del details dfn div dl dt em figcaption \
    figure font g-emoji h1 h2 h3 h4 h5 h6 hr i img input ins kbd label li mark ol p picture pre q rp rt ruby s \
    samp section small source span strike strong sub summary sup table tbody td tfoot th thead time tr tt u ul \
    var video wbr";

/// What these hold is not shown, or not in every case.
const UNSEEN: &str = "\
    audio canvas datalist iframe noembed noframes noscript object plaintext rp script style template textarea \
    title video xmp";

/// Elements that show code.
const CODE: &str = "code pre";

/// What is read next.
pub(super) enum Next {
    At(usize),
    /// Nothing of the text: what is seen of it cannot be told.
    Nothing,
}

/// Takes note of what is not seen of a tag, and of what it holds.
pub(super) fn seen(text: &str, start: usize, tag: &Tag<'_>, doubt: Doubt, found: &mut Found) -> Next {
    let is_one_of = |names: &str| names.split(' ').any(|name| name.eq_ignore_ascii_case(tag.name));
    if doubt == Doubt::Hides && !tag.is_closing && is_one_of(UNSEEN) {
        let Some(end) = closing(text, tag.end, tag.name) else { return Next::Nothing };
        let held = &text[tag.end..end];
        // Whether it is code, words or nothing to GitHub decides what more there would be in it.
        let is_plain = !held.contains('<') && !held.contains("\n\n") && !held.contains("\n\r\n");
        found.hidden.push(start..end);
        return if is_plain { Next::At(end) } else { Next::Nothing };
    }
    if doubt == Doubt::Hides && !is_one_of(KEPT) {
        found.hidden.push(start..tag.end);
    }
    for (whole, name) in &tag.attributes {
        if !name.eq_ignore_ascii_case("href") && !name.eq_ignore_ascii_case("src") {
            found.hidden.push(whole.clone());
        }
    }
    let is_inside = found.open_element.is_some() || found.elements.last().is_some_and(|element| element.end > start);
    if !tag.is_closing && !is_inside && is_one_of(CODE) && !found.has_no_end {
        match closing(text, tag.end, tag.name) {
            Some(end) => found.elements.push(start..end),
            None if tag.name.eq_ignore_ascii_case("pre") => found.open_element = Some(start),
            // None further on either: it is not looked for again.
            None => found.has_no_end = true,
        }
    }
    Next::At(tag.end)
}

/// Where the element ends, by its first closing tag: before that.
pub(super) fn closing(text: &str, from: usize, name: &str) -> Option<usize> {
    let is_name = |at: usize| {
        let end = at + 2 + name.len();
        text.get(at + 2..end).is_some_and(|found| found.eq_ignore_ascii_case(name))
            && !text[end..].starts_with(|c: char| c.is_ascii_alphanumeric() || c == '-')
    };
    text[from..].match_indices("</").map(|(at, _)| from + at).find(|at| is_name(*at))
}
