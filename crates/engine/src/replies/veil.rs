//! A text without the machine in it: no absolute path, no address of a repository.

/// The text with every absolute path and every URL in it replaced by `…`. Commands such as `/worktree list` stay, and so
/// does what is relative: branches, files of a repository.
pub fn veiled(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    let mut before = ' ';
    while let Some(first) = rest.chars().next() {
        let end = if is_edge(before) { end_of_hidden(rest, before) } else { None };
        if let Some(end) = end {
            clean.push('…');
            rest = &rest[end..];
            before = '…';
        } else {
            clean.push(first);
            rest = &rest[first.len_utf8()..];
            before = first;
        }
    }
    clean
}

/// What a word can begin after.
fn is_edge(c: char) -> bool {
    c.is_whitespace() || "`'\"<>()[]{},;:=|".contains(c)
}

/// Where the path or URL at the beginning of this text ends; `None` when it begins with neither.
fn end_of_hidden(text: &str, before: char) -> Option<usize> {
    // In quotes a path may hold spaces; its end is that of the quotes, on the same line.
    let closing = match before {
        '`' | '\'' | '"' => text.find(['\n', before]).filter(|end| text[*end..].starts_with(before)),
        _ => None,
    };
    let is_end = |c: char| c.is_whitespace() || "`'\"<>()[]{},;|".contains(c);
    let end = text.find(is_end).unwrap_or(text.len());
    let word = &text[..end];
    if is_path(word) {
        return Some(closing.unwrap_or_else(|| trimmed(word)));
    }
    is_address(word).then(|| trimmed(word))
}

/// What ends a sentence is no part of the path before it.
fn trimmed(word: &str) -> usize {
    word.trim_end_matches(['.', ':', '!', '?']).len().max(1)
}

/// An absolute path. One slash and a word is a command.
fn is_path(word: &str) -> bool {
    let Some(rest) = word.strip_prefix('/').or_else(|| word.strip_prefix("~/")) else { return false };
    word.starts_with('~') || rest.starts_with('.') || rest.trim_end_matches('/').contains('/')
}

/// `scheme://…`, or `user@host:path` as ssh has it.
fn is_address(word: &str) -> bool {
    let scheme = word.split_once("://").map(|(scheme, rest)| (scheme, !rest.is_empty()));
    let has_scheme = scheme.is_some_and(|(scheme, is_more)| {
        is_more && !scheme.is_empty() && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
    });
    let has_host = word.split_once('@').is_some_and(|(user, rest)| {
        let host = rest.split_once(':').filter(|(_, path)| !path.is_empty()).map(|(host, _)| host);
        !user.is_empty() && !user.contains('/') && host.is_some_and(|host| !host.is_empty() && !host.contains('/'))
    });
    has_scheme || has_host
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_and_addresses_are_hidden() {
        let table = [
            ("cannot use /home/a/.hedgerow: full", "cannot use …: full"),
            ("is /tmp/x/y still there?", "is … still there?"),
            ("there is `/home/a b/c`, so", "there is `…`, so"),
            ("'/srv/a b/c' does not appear", "'…' does not appear"),
            ("in /.hedgerow.", "in …."),
            ("see ~/src/shop", "see …"),
            ("unable to access 'https://example.org/a/b': no", "unable to access '…': no"),
            ("file:///srv/x, ssh://git@h/x and git@h:a/b", "…, … and …"),
            ("GIT_DIR=/a/b", "GIT_DIR=…"),
            ("fatal:/a/b", "fatal:…"),
        ];
        for (text, expected) in table {
            assert_eq!(veiled(text), expected);
        }
    }

    #[test]
    fn what_people_say_and_type_stays() {
        for text in [
            "`/worktree list` and /stop, or `/worktree cleanup merged|stale`",
            "`feature/auth` is 1/2 done; see docs/a.md, a@b.org",
            "`it's` \u{1f980} ↑2 ↓1 - at 10:30 (`<name>`)",
            "",
            "/",
            "a // b",
        ] {
            assert_eq!(veiled(text), text);
        }
    }
}
