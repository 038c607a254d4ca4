//! Which repository of a GitHub the URL of a remote names.

use hedgerow_core::RepositoryName;

/// Where `ssh` answers besides the host itself, on the port of HTTPS: for people behind strict walls.
const SSH_OF_GITHUB: &str = "ssh.github.com";

/// The repository that `remote` names on the GitHub whose pages are at `web_url`, in whatever form git takes. `None`: it is
/// elsewhere, or nothing of the kind.
pub(super) fn repository(web_url: &str, remote: &str) -> Option<RepositoryName> {
    let (home, remote) = (Place::of(web_url)?, Place::of(remote.trim())?);
    if !remote.is_at(&home) {
        return None;
    }
    let path = if remote.is_web() { below(home.path, remote.path)? } else { remote.path };
    let path = path.trim_start_matches('/');
    let (owner, name) = path.split_once('/')?;
    RepositoryName::new(owner, name.strip_suffix(".git").unwrap_or(name))
}

/// What of a path is below another.
fn below<'a>(above: &str, path: &'a str) -> Option<&'a str> {
    path.strip_prefix(above).filter(|rest| above.is_empty() || rest.starts_with('/'))
}

/// The parts of a URL that tell where something is.
struct Place<'a> {
    scheme: &'a str,
    host: &'a str,
    port: Option<&'a str>,
    /// Without slashes at its end.
    path: &'a str,
}

impl<'a> Place<'a> {
    fn of(text: &'a str) -> Option<Self> {
        let (scheme, rest) = text.split_once("://").or_else(|| scp_form(text))?;
        let is_scp = !text.contains("://");
        let (authority, path) = if is_scp { rest.split_once(':')? } else { rest.split_once('/').unwrap_or((rest, "")) };
        let host_and_port = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
        let (host, port) =
            host_and_port.rsplit_once(':').map_or((host_and_port, None), |(host, port)| (host, Some(port)));
        // In an address of the sixth version colons are no ports.
        let (host, port) = if host_and_port.ends_with(']') { (host_and_port, None) } else { (host, port) };
        Some(Self { scheme, host, port, path: path.trim_end_matches('/') })
    }

    fn is_web(&self) -> bool {
        ["https", "http"].iter().any(|scheme| self.scheme.eq_ignore_ascii_case(scheme))
    }

    fn is_ssh(&self) -> bool {
        ["ssh", "git+ssh", "ssh+git"].iter().any(|scheme| self.scheme.eq_ignore_ascii_case(scheme))
    }

    /// The port, unless it is the one that everybody expects.
    fn special_port(&self) -> Option<&str> {
        let usual = if self.scheme.eq_ignore_ascii_case("https") { "443" } else { "80" };
        self.port.filter(|port| *port != usual)
    }

    /// Where ssh listens says nothing about the web; another port of the web is another GitHub.
    fn is_at(&self, home: &Self) -> bool {
        let is_host = self.host.eq_ignore_ascii_case(home.host);
        if self.is_web() {
            is_host && self.special_port() == home.special_port()
        } else {
            let is_other_door =
                home.host.eq_ignore_ascii_case("github.com") && self.host.eq_ignore_ascii_case(SSH_OF_GITHUB);
            self.is_ssh() && (is_host || is_other_door)
        }
    }
}

/// `git@github.com:acme/shop.git`, as ssh understands it: the colon comes before any slash.
fn scp_form(text: &str) -> Option<(&'static str, &str)> {
    let (host, _) = text.split_once(':')?;
    (!host.contains('/')).then_some(("ssh", text))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_remote_is_understood_in_every_form() {
        let table: &[(&str, &str)] = &[
            ("https://github.com", "https://github.com/acme/shop"),
            ("https://github.com", "https://github.com/acme/shop.git"),
            ("https://github.com", "https://github.com/acme/shop.git/"),
            ("https://github.com", "https://github.com:443/acme/shop/"),
            ("https://github.com", "HTTPS://GitHub.COM/Acme/Shop.git"),
            ("https://github.com", "http://github.com/acme/shop"),
            ("https://github.com", "https://alice@github.com/acme/shop.git"),
            ("https://github.com", "https://x-access-token:secret@github.com/acme/shop.git"),
            ("https://github.com", "git@github.com:acme/shop.git"),
            ("https://github.com", "github.com:acme/shop"),
            ("https://github.com", "git@GITHUB.com:/acme/shop.git/"),
            ("https://github.com", "ssh://git@github.com/acme/shop.git"),
            ("https://github.com", "ssh://git@github.com:22/acme/shop.git"),
            ("https://github.com", "ssh://git@ssh.github.com:443/acme/shop.git"),
            ("https://github.com", "git+ssh://git@github.com/acme/shop"),
            ("https://github.com", "  https://github.com/acme/shop.git\n"),
            ("https://ghe.example:8443", "https://ghe.example:8443/acme/shop"),
            ("https://ghe.example:8443", "git@ghe.example:acme/shop"),
            ("http://127.0.0.1:4000", "http://127.0.0.1:4000/acme/shop.git"),
            ("http://[::1]:4000", "http://[::1]:4000/acme/shop.git"),
            ("https://example.com/code", "https://example.com/code/acme/shop"),
        ];
        for (web, remote) in table {
            assert_eq!(repository(web, remote), RepositoryName::new("acme", "shop"), "{remote}");
        }
    }

    #[test]
    fn what_is_elsewhere_is_not_ours() {
        let table = [
            "https://gitlab.com/acme/shop",
            "https://github.com.evil.example/acme/shop",
            "https://evil.example/github.com/acme/shop",
            "https://github.com@evil.example/acme/shop",
            "https://notgithub.com/acme/shop",
            "https://ssh.github.com/acme/shop",
            "https://github.com:8443/acme/shop",
            "git@gitlab.com:acme/shop.git",
            "https://github.com/acme",
            "https://github.com/acme/shop/tree/main",
            "https://github.com/acme/shop?x=y",
            "https://github.com/acme/..",
            "https://github.com/acme/%2e%2e",
            "https://github.com/-acme/shop",
            "https://github.com//",
            "file://github.com/acme/shop",
            "/srv/github.com/acme/shop",
            "./github.com:acme/shop",
            "C:\\acme\\shop",
            "acme/shop",
            "",
        ];
        for remote in table {
            assert_eq!(repository("https://github.com", remote), None, "{remote}");
        }
        assert_eq!(repository("https://example.com/code", "https://example.com/codex/shop"), None);
        assert_eq!(repository("https://example.com/code", "https://example.com/acme/shop"), None);
    }

    proptest! {
        #[test]
        fn anything_at_all_can_be_asked_about(web in ".{0,40}", remote in ".{0,80}") {
            let _ = repository(&web, &remote);
            let _ = repository("https://github.com", &remote);
            let _ = repository("https://github.com", &format!("https://github.com/{remote}"));
            let _ = repository("https://github.com", &format!("git@github.com:{remote}"));
        }

        #[test]
        fn where_it_is_cloned_from_names_it(
            owner in "[A-Za-z0-9][A-Za-z0-9-]{0,38}",
            name in "[A-Za-z0-9_.][A-Za-z0-9_.-]{0,99}",
            web in prop::sample::select(vec!["https://github.com", "http://127.0.0.1:4000", "https://ghe.example:8443"]),
        ) {
            prop_assume!(!matches!(name.as_str(), "." | ".."));
            let this = RepositoryName::new(&owner, &name).expect("a good name");
            let found = repository(web, &super::super::forge::clone_url(web, &this)).expect("it is understood");
            prop_assert_eq!(found.to_string(), this.to_string());
        }
    }
}
