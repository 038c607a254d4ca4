//! Where the next page of a list is.

use axum::http::HeaderMap;
use reqwest::{Url, header};

/// Most pages of one list; each has up to a hundred things.
pub(super) const MOST_PAGES: usize = 50;

/// The next page, if GitHub names one. Only one of its own: the token goes there.
pub(super) fn next(headers: &HeaderMap, api: &Url) -> Option<Url> {
    let links = headers.get_all(header::LINK).iter().filter_map(|value| value.to_str().ok());
    let next = links.flat_map(|value| value.split(',')).find_map(|link| {
        let (address, parameters) = link.trim().strip_prefix('<')?.split_once('>')?;
        let is_next = parameters.split(';').any(|parameter| matches!(parameter.trim(), "rel=\"next\"" | "rel=next"));
        is_next.then_some(address)
    })?;
    Url::parse(next).ok().filter(|url| url.origin() == api.origin())
}

/// The path with the largest pages there are, unless it says how large they are to be.
pub(super) fn with_large_pages(path: &str) -> String {
    match path.split_once('?') {
        Some((_, query)) if query.split('&').any(|part| part.starts_with("per_page=")) => path.to_owned(),
        Some(_) => format!("{path}&per_page=100"),
        None => format!("{path}?per_page=100"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn next_of(link: &str) -> Option<String> {
        let headers = HeaderMap::from_iter([(header::LINK, link.parse().expect("a header"))]);
        let api = Url::parse("https://api.github.com").expect("a URL");
        next(&headers, &api).map(String::from)
    }

    #[test]
    fn the_next_page_is_followed_only_at_home() {
        let table: &[(&str, Option<&str>)] = &[
            (
                r#"<https://api.github.com/x?page=2>; rel="next", <https://api.github.com/x?page=9>; rel="last""#,
                Some("https://api.github.com/x?page=2"),
            ),
            (
                r#"<https://api.github.com/x?page=1>; rel="prev", <https://api.github.com/x?after=a>; rel="next""#,
                Some("https://api.github.com/x?after=a"),
            ),
            (r#"<https://api.github.com/x?page=9>; rel="last""#, None),
            (r#"<https://evil.example/x?page=2>; rel="next""#, None),
            (r#"<http://api.github.com/x?page=2>; rel="next""#, None),
            (r#"<https://api.github.com:444/x>; rel="next""#, None),
            (r#"</x?page=2>; rel="next""#, None),
            ("nonsense", None),
            ("", None),
        ];
        for (link, expected) in table {
            assert_eq!(next_of(link).as_deref(), *expected, "{link}");
        }
    }

    #[test]
    fn pages_are_large_unless_told_otherwise() {
        assert_eq!(with_large_pages("/comments"), "/comments?per_page=100");
        assert_eq!(with_large_pages("/comments?since=x"), "/comments?since=x&per_page=100");
        assert_eq!(with_large_pages("/comments?per_page=5"), "/comments?per_page=5");
    }
}
