//! Which issues a pull request says it closes, in its own words: GitHub's keywords in all of their forms.
//!
//! GitHub links by itself only what is written in a pull request towards the default branch; people mean it elsewhere
//! too. What stands in code, in a quote or in a comment of HTML is not said.

use hedgerow_core::RepositoryName;

use super::prose;

/// Most links that are kept of one issue or pull request.
pub(super) const MOST_LINKS: usize = 20;

const KEYWORDS: [&str; 9] = ["close", "closes", "closed", "fix", "fixes", "fixed", "resolve", "resolves", "resolved"];

/// The numbers that follow a keyword, each once, in the order of their first.
pub(super) fn closing_words(body: &str, repository: &RepositoryName, web_url: &str) -> Vec<u64> {
    // Whatever is left out parts words.
    let said = prose::pieces(body).into_iter().map(|piece| &body[piece]).collect::<Vec<_>>().join(" ");
    let mut found = Vec::new();
    for (at, word) in words(&said) {
        if !KEYWORDS.iter().any(|keyword| keyword.eq_ignore_ascii_case(word)) {
            continue;
        }
        if let Some(number) = after_keyword(&said[at + word.len()..], repository, web_url)
            && !found.contains(&number)
        {
            found.push(number);
        }
    }
    found.truncate(MOST_LINKS);
    found
}

/// The words of a text and where each begins. A hyphen joins: `hot-fix` is one word.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_inside = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    text.split(move |c| !is_inside(c))
        .filter(|word| !word.is_empty())
        .map(|word| (word.as_ptr().addr() - text.as_ptr().addr(), word))
}

/// `: #42`, ` GH-42`, ` acme/shop#42`, ` https://github.com/acme/shop/issues/42`. Without a colon there is a space.
fn after_keyword(rest: &str, repository: &RepositoryName, web_url: &str) -> Option<u64> {
    let colon = rest.strip_prefix(':');
    let reference = colon.unwrap_or(rest).trim_start_matches([' ', '\t']);
    if colon.is_none() && reference.len() == rest.len() {
        return None;
    }
    let own = repository.to_string();
    let forms = ["#".to_owned(), "GH-".to_owned(), format!("{own}#"), format!("{web_url}/{own}/issues/")];
    forms.iter().find_map(|form| without_prefix(reference, form).and_then(number))
}

/// Without regard to case, as GitHub reads names, keywords and hosts.
fn without_prefix<'a>(text: &'a str, prefix: &str) -> Option<&'a str> {
    let (start, rest) = text.split_at_checked(prefix.len())?;
    start.eq_ignore_ascii_case(prefix).then_some(rest)
}

/// The number that a text begins with, if it ends there: `42`, `42.` and `42)`, but not `42nd`.
fn number(text: &str) -> Option<u64> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    let ends = !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_');
    let is_plain = !digits.starts_with('0') && digits.len() <= 10;
    (ends && is_plain).then(|| digits.parse().ok()).flatten()
}

#[cfg(test)]
mod tests;
