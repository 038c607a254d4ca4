//! The pieces of a Markdown text where its author speaks: no code, no quote, nothing that is hidden.

use std::ops::Range;

use hedgerow_core::markdown::{self, Doubt};

/// In their order, none touching another.
pub(super) fn pieces(text: &str) -> Vec<Range<usize>> {
    let read = markdown::read(text, Doubt::Shows);
    let mut others: Vec<_> = [read.hidden, read.code, read.code_elements, read.quoted].concat();
    others.sort_by_key(|range| range.start);
    let mut pieces = Vec::new();
    let mut at = 0;
    for other in others {
        if at < other.start {
            pieces.push(at..other.start);
        }
        at = at.max(other.end);
    }
    if at < text.len() {
        pieces.push(at..text.len());
    }
    pieces
}
