//! What a remote's URL says: whose repository it is, and whether it may be cloned.

use hedgerow_core::{Kind, UserError};

use crate::engine::Source;
use crate::failure::Outcome;

/// The owner and name of a repository on a host, from any form of its URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Identity {
    pub(crate) owner: String,
    pub(crate) repository: String,
}

impl Identity {
    /// From `https://host/owner/name.git`, `ssh://git@host:22/owner/name` or `git@host:owner/name.git`. A folder of this
    /// machine has no owner, and what it is called there says little about what people call the checkout.
    pub(crate) fn of(url: &str) -> Option<Self> {
        let path = match url.split_once("://") {
            Some(("file", _)) => return None,
            Some((_, rest)) => rest.split_once('/')?.1,
            None => url.split_once(':').filter(|(host, _)| !host.contains('/'))?.1,
        };
        let mut parts = path.trim_matches('/').rsplit('/').filter(|part| !part.is_empty());
        let repository = without_suffix(parts.next()?).to_owned();
        Some(Self { owner: parts.next()?.to_owned(), repository })
    }

    /// `owner-repo`
    pub(crate) fn folder(&self) -> String {
        format!("{}-{}", self.owner, self.repository)
    }
}

/// The last part of a URL or path, as the name of a clone.
pub(crate) fn last_part(url: &str) -> &str {
    without_suffix(url.trim_end_matches('/').rsplit(['/', ':']).next().unwrap_or(url))
}

fn without_suffix(name: &str) -> &str {
    name.strip_suffix(".git").unwrap_or(name)
}

/// The URL without a user's name or password and without its query, for rows and messages.
pub(crate) fn without_credentials(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let rest = &rest[..rest.find(['?', '#']).unwrap_or(rest.len())];
    let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    if !has_good_port(host) {
        // A password with a `/` in it looks like this.
        return format!("{scheme}://…");
    }
    format!("{scheme}://{host}{path}")
}

/// A text of git's with every URL in it stripped of what could be secret.
pub(crate) fn without_secrets(text: &str) -> String {
    let is_edge = |c: char| c.is_ascii_whitespace() || "'\"<>()".contains(c);
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        let begin = rest[..at].rfind(is_edge).map_or(0, |edge| edge + 1);
        let end = rest[at..].find(is_edge).map_or(rest.len(), |edge| at + edge);
        clean.push_str(&rest[..begin]);
        clean.push_str(&without_credentials(&rest[begin..end]));
        rest = &rest[end..];
    }
    clean.push_str(rest);
    clean
}

fn has_good_port(host: &str) -> bool {
    let after_address = host.rsplit(']').next().unwrap_or(host);
    after_address.split_once(':').is_none_or(|(_, port)| port.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Tokens that forges give out, used in the place of a name.
fn is_token(user: &str) -> bool {
    let prefixes = ["ghp_", "gho_", "ghs_", "ghu_", "github_pat_", "glpat-", "x-token-auth"];
    user.len() >= 40 || prefixes.iter().any(|prefix| user.starts_with(prefix))
}

/// What the terminal may clone: https, ssh, and folders of this machine.
pub(crate) fn check_clone_url(url: &str) -> Outcome<()> {
    let bad = |why: &str, hint: &str| {
        let shown: String = without_credentials(url).escape_debug().collect();
        Err(UserError::new(Kind::Usage, format!("`{shown}` cannot be cloned: {why}")).hint(hint).into())
    };
    if url.is_empty() || url.starts_with('-') || url.chars().any(char::is_control) {
        return bad("it is not a URL", "give an https or ssh URL, or a folder");
    }
    if url.contains("::") && !url.contains("://") {
        return bad("such URLs run a program", "give an https or ssh URL, or a folder");
    }
    match url.split_once("://") {
        Some(("https" | "ssh" | "file" | "http", rest)) => {
            let host = rest.split('/').next().unwrap_or_default();
            let user = host.rsplit_once('@').map_or("", |(user, _)| user);
            if user.contains(':') || is_token(user) {
                return bad("it carries a password", "leave it out; git's credential helpers supply it");
            }
            if !has_good_port(host) {
                return bad("it is not a URL", "give an https or ssh URL, or a folder");
            }
            Ok(())
        }
        Some((scheme, _)) => bad(&format!("`{scheme}` is not supported"), "give an https or ssh URL, or a folder"),
        None => Ok(()),
    }
}

/// What a chat may have cloned: https and ssh. A folder of this machine is nobody's to name from elsewhere.
pub(crate) fn check_clone_url_from_chat(url: &str) -> Outcome<()> {
    check_clone_url(url)?;
    let is_remote = match url.split_once("://") {
        Some((scheme, rest)) => matches!(scheme, "https" | "ssh") && !rest.starts_with(['/', '-']),
        None => Source::is_url(url),
    };
    if is_remote {
        return Ok(());
    }
    Err(UserError::new(Kind::Usage, "only an https or ssh URL can be cloned from here")
        .hint("`/clone <url>` with one that begins with `https` or `ssh`")
        .into())
}

impl Source {
    /// Whether a text is a URL and not a path: `scheme://…`, or `host:path` as ssh has it, a colon before any slash.
    pub fn is_url(text: &str) -> bool {
        let is_host = |first: &str| first.contains(':') && !first.starts_with(['.', ':', '-', '~']);
        text.contains("://") || text.split('/').next().is_some_and(is_host)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_of_a_url_names_the_same_repository() {
        let forms = [
            "https://github.com/acme/shop.git",
            "https://github.com/acme/shop/",
            "ssh://git@github.com:22/acme/shop.git",
            "git@github.com:acme/shop.git",
            "https://user:secret@github.com/acme/shop",
        ];
        for url in forms {
            assert_eq!(Identity::of(url).map(|identity| identity.folder()).as_deref(), Some("acme-shop"), "{url}");
        }
        for path in ["/srv/git/shop.git", "file:///srv/git/shop", "../shop"] {
            assert_eq!(Identity::of(path), None, "{path}");
            assert_eq!(last_part(path), "shop");
        }
    }

    #[test]
    fn credentials_never_leave_the_url() {
        assert_eq!(without_credentials("https://u:p@host/a/b"), "https://host/a/b");
        assert_eq!(without_credentials("https://host/a@b"), "https://host/a@b");
        assert_eq!(without_credentials("https://u:p@host/a?private_token=x#y"), "https://host/a");
        let told = without_secrets("fatal: unable to access 'https://u:p@host/a?token=x': no (see ssh://k@h/b)");
        assert_eq!(told, "fatal: unable to access 'https://host/a': no (see ssh://h/b)");
        assert_eq!(without_credentials("https://u:pass/word@host/a"), "https://…");
        assert_eq!(without_credentials("ssh://git@[::1]:22/a"), "ssh://[::1]:22/a");
    }

    #[test]
    fn a_chat_names_no_folder_of_this_machine() {
        for good in ["https://h/a/b", "https://alice@h:8443/a", "git@h:a/b", "ssh://git@h/a", "h:a"] {
            assert!(check_clone_url_from_chat(good).is_ok(), "{good}");
        }
        for bad in ["file:///srv/x", "/srv/x", "../x", "x", "~/x", "~a:b", "./a:b", "http://h/a", "https:///etc"]
            .into_iter()
            .chain(["FILE:///srv/x", "ssh://-oProxyCommand=id/x", "https://u:p@h/r", "", ":x", "-h:x"])
        {
            assert!(check_clone_url_from_chat(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn urls_are_told_from_paths() {
        for url in ["https://example.com/x.git", "file:///srv/x", "git@example.com:acme/shop.git", "host:x"] {
            assert!(Source::is_url(url), "{url}");
        }
        for path in [".", "/srv/x", "shop", "./a:b", "sub/a:b", "~/x"] {
            assert!(!Source::is_url(path), "{path}");
        }
    }

    #[test]
    fn urls_that_would_run_something_are_refused() {
        for bad in
            ["", "-oProxyCommand=id", "--upload-pack=id", "ext::sh -c id", "https://u:p@h/r", "ftp://h/r", "a\nb"]
                .into_iter()
                .chain(["https://ghp_0123@h/r", "https://u:p/w@h/r", "ext::https://h/r"])
        {
            assert!(check_clone_url(bad).is_err(), "{bad}");
        }
        for good in
            ["https://h/a/b", "https://alice@h:8443/a", "git@h:a/b", "ssh://git@h/a", "file:///srv/x", "/srv/x", "../x"]
        {
            assert!(check_clone_url(good).is_ok(), "{good}");
        }
    }
}
