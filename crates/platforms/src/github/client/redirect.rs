//! Where a redirect leads.
//!
//! A repository that was renamed is found under its id, and what was asked is asked there, once. Anything else that is not
//! where it was has moved: an issue that was transferred is not the one that was asked about, and no token goes to anybody
//! else. Of the address that is named only the id is used.

use reqwest::{Method, Url, header};

use super::wire::{Answer, Ask};
use super::{Bearer, CallError, Client};
use hedgerow_core::RepositoryName;

/// The same thing in a repository that has another name by now.
#[derive(Debug, PartialEq, Eq)]
struct Onward {
    repository: u64,
    url: Url,
    /// The repository by the name that was asked for.
    by_name: Url,
    name: RepositoryName,
}

impl Client {
    /// Asks until there is an answer to take, also where a redirect leads to the same thing.
    pub(super) async fn exchange(&self, ask: &Ask, bearer: &Bearer) -> Result<Answer, CallError> {
        let answer = self.attempts(ask, bearer).await?;
        if !answer.status.is_redirection() {
            return Ok(answer);
        }
        let Some(onward) = onward(&self.api, ask, &answer) else { return Err(CallError::Moved) };
        if may_be_transferred(ask) && !self.is_renamed(&onward, bearer).await? {
            return Err(CallError::Moved);
        }
        tracing::debug!(name = %onward.name, repository = onward.repository, "a repository has another name by now");
        self.led_on.lock().expect("nobody panics while holding it").insert(onward.name);
        let ask = Ask { url: onward.url, ..ask.clone() };
        let answer = self.attempts(&ask, bearer).await?;
        if answer.status.is_redirection() {
            return Err(CallError::Moved);
        }
        Ok(Answer { led_to: Some(onward.repository), ..answer })
    }

    /// Whether this name led on to another before.
    pub(crate) fn was_led_on(&self, name: &RepositoryName) -> bool {
        self.led_on.lock().expect("nobody panics while holding it").contains(name)
    }

    /// An issue that was transferred can have the same number in its new place by chance; the repository itself stays then.
    async fn is_renamed(&self, to: &Onward, bearer: &Bearer) -> Result<bool, CallError> {
        let ask = Ask {
            method: Method::GET,
            url: to.by_name.clone(),
            body: None,
            resource: super::Resource::Rest,
            repeatable: true,
        };
        match self.attempts(&ask, bearer).await {
            Ok(answer) => Ok(onward(&self.api, &ask, &answer).is_some_and(|found| found.repository == to.repository)),
            Err(CallError::NotFound(_)) => Ok(false),
            Err(error) => Err(error),
        }
    }
}

fn may_be_transferred(ask: &Ask) -> bool {
    ask.url.path().contains("/issues/")
}

fn onward(api: &Url, ask: &Ask, answer: &Answer) -> Option<Onward> {
    let is_same_verb = match answer.status.as_u16() {
        301 | 307 | 308 => true,
        302 => ask.method == Method::GET,
        _ => false,
    };
    let named = answer.headers.get(header::LOCATION)?.to_str().ok()?;
    let named = ask.url.join(named).ok().filter(|url| is_same_verb && url.origin() == api.origin())?;
    let base = api.path().trim_end_matches('/');
    let asked = ask.url.path().strip_prefix(base)?.strip_prefix("/repos/")?;
    let (owner, rest) = asked.split_once('/')?;
    let (name, rest) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let led = named.path().strip_prefix(base)?.strip_prefix("/repositories/")?;
    let (id, led) = led.split_at(led.find('/').unwrap_or(led.len()));
    if decoded(led) != decoded(rest) {
        return None;
    }
    let with_path = |path: &str| {
        let mut url = ask.url.clone();
        url.set_path(path);
        url
    };
    let repository: u64 = id.parse().ok()?;
    let mut by_name = with_path(&format!("{base}/repos/{owner}/{name}"));
    by_name.set_query(None);
    let url = with_path(&format!("{base}/repositories/{repository}{rest}"));
    Some(Onward { repository, url, by_name, name: RepositoryName::new(owner, name)? })
}

/// A path in one spelling: a slash in the name of a branch is written in two ways.
fn decoded(path: &str) -> Vec<u8> {
    let (mut all, mut rest) = (Vec::with_capacity(path.len()), path.as_bytes());
    while let Some((first, after)) = rest.split_first() {
        let pair = after.get(..2).filter(|_| *first == b'%').and_then(|pair| std::str::from_utf8(pair).ok());
        let byte = pair.and_then(|pair| u8::from_str_radix(pair, 16).ok());
        all.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { &after[2..] } else { after };
    }
    all
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderMap;
    use reqwest::StatusCode;

    use super::super::Resource;
    use super::*;

    fn led(api: &str, method: Method, path: &str, status: u16, location: &str) -> Option<String> {
        let api = Url::parse(api).expect("a URL");
        let url = Url::parse(&format!("{}{path}", api.as_str().trim_end_matches('/'))).expect("a URL");
        let ask = Ask { method, url, body: None, resource: Resource::Rest, repeatable: true };
        let headers = HeaderMap::from_iter([(header::LOCATION, location.parse().expect("a header"))]);
        let status = StatusCode::from_u16(status).expect("a status");
        onward(&api, &ask, &Answer { status, headers, body: Vec::new(), led_to: None }).map(|onward| onward.url.into())
    }

    #[test]
    fn the_same_thing_is_asked_for_in_a_repository_of_another_name() {
        let table = [
            ("https://api.github.com", "/repos/a/b", "https://api.github.com/repositories/7", "/repositories/7"),
            (
                "https://ghe.example/api/v3",
                "/repos/a/b/issues?state=all&page=2",
                "https://ghe.example/api/v3/repositories/7/issues",
                "/repositories/7/issues?state=all&page=2",
            ),
            (
                "https://api.github.com",
                "/repos/a/b/branches/x%2Fy",
                "https://api.github.com/repositories/7/branches/x/y",
                "/repositories/7/branches/x%2Fy",
            ),
            ("http://127.0.0.1:8", "/repos/a/b/pulls/5", "/repositories/7/pulls/5", "/repositories/7/pulls/5"),
        ];
        for (api, path, location, expected) in table {
            let found = led(api, Method::GET, path, 301, location);
            assert_eq!(found, Some(format!("{api}{expected}")), "{path}");
        }
    }

    #[test]
    fn what_leads_elsewhere_is_not_followed() {
        let api = "https://api.github.com";
        for (path, location) in [
            ("/repos/a/b/issues/5", "https://api.github.com/repositories/7/issues/6"),
            ("/repos/a/b/issues/5/comments", "https://api.github.com/repositories/7/issues/5"),
            ("/repos/a/b/issues", "https://evil.example/repositories/7/issues"),
            ("/repos/a/b/issues", "http://api.github.com/repositories/7/issues"),
            ("/repos/a/b/issues", "https://api.github.com:444/repositories/7/issues"),
            ("/repos/a/b/issues", "//evil.example/repositories/7/issues"),
            ("/repos/a/b/issues", "https://api.github.com/repos/c/d/issues"),
            ("/repos/a/b/issues", "https://api.github.com/repositories/x/issues"),
            ("/repos/a/b/issues", "https://api.github.com/repositories/7/../8/issues/1"),
            ("/user", "https://api.github.com/repositories/7"),
            ("/repos/a/b/issues", "nonsense"),
        ] {
            assert_eq!(led(api, Method::GET, path, 301, location), None, "{path} {location}");
        }
    }

    #[test]
    fn only_what_keeps_the_verb_leads_a_change_on() {
        let follows = |method: &Method, status| {
            let to = "https://api.github.com/repositories/7/pulls";
            led("https://api.github.com", method.clone(), "/repos/a/b/pulls", status, to).is_some()
        };
        for (status, reads, writes) in
            [(301, true, true), (302, true, false), (303, false, false), (307, true, true), (308, true, true)]
        {
            assert_eq!(follows(&Method::GET, status), reads, "{status}");
            assert_eq!(follows(&Method::POST, status), writes, "{status}");
        }
    }
}
