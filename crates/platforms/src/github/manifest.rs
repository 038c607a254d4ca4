//! What a GitHub App for Hedgerow must be: what it may do, what it is told, and the form in which GitHub is asked to make it.
//!
//! One list for the App that is made, for the words that explain it, and for the checks that it still is so.

use hedgerow_core::Secret;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::webhook;

/// Most characters of an App's name.
pub const LONGEST_NAME: usize = 34;

/// Something an App may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Permission {
    /// As the API has it.
    pub name: &'static str,
    /// As the pages of GitHub have it.
    pub title: &'static str,
    /// `read` or `write`.
    pub level: &'static str,
    pub why: &'static str,
}

const fn permission(name: &'static str, title: &'static str, level: &'static str, why: &'static str) -> Permission {
    Permission { name, title, level, why }
}

/// All that is needed. Neither `workflows` nor `administration` is: no agent changes what CI runs, or who may do what.
pub const PERMISSIONS: [Permission; 6] = [
    permission("contents", "Contents", "write", "fetch the repository and push branches"),
    permission("issues", "Issues", "write", "read issues, comment on them and react"),
    permission("pull_requests", "Pull requests", "write", "read and open pull requests, comment and answer reviews"),
    permission("metadata", "Metadata", "read", "see who may write to the repository; every App has it"),
    permission(
        "checks",
        "Checks",
        "read",
        "tell whether the checks of a pull request pass; for Apps, a token has no such permission",
    ),
    permission("statuses", "Commit statuses", "read", "the same, for CI that reports in the older way"),
];

/// An event that an App is told of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Subscription {
    pub name: &'static str,
    pub title: &'static str,
    pub why: &'static str,
}

const fn subscription(name: &'static str, title: &'static str, why: &'static str) -> Subscription {
    Subscription { name, title, why }
}

/// All that is needed.
pub const EVENTS: [Subscription; 6] = [
    subscription("issues", "Issues", "somebody opens an issue with a mention, closes or transfers one"),
    subscription("issue_comment", "Issue comment", "a mention in a comment, also of a pull request"),
    subscription(
        "pull_request",
        "Pull request",
        "one is opened with a mention, closed or merged; a review is asked for",
    ),
    subscription("pull_request_review", "Pull request review", "a mention in a review"),
    subscription("pull_request_review_comment", "Pull request review comment", "a mention on a line of code"),
    subscription("delete", "Branch or tag deletion", "the branch of an environment is gone"),
];

/// The App that is wanted.
#[derive(Debug, Clone, Copy)]
pub struct Wish<'a> {
    pub name: &'a str,
    /// Where the server is from outside, without a slash at its end.
    pub server_url: &'a str,
    /// Where GitHub sends the person who made it.
    pub redirect_url: Option<&'a str>,
}

/// The form that GitHub makes an App from. It is private: nobody but its owner can install it.
pub fn manifest(wish: &Wish<'_>) -> Value {
    let permissions: Map<String, Value> =
        PERMISSIONS.iter().map(|needed| (needed.name.to_owned(), needed.level.into())).collect();
    let mut manifest = json!({
        "name": wish.name,
        "url": wish.server_url,
        "description": "Hands work to coding agents, each in an isolated environment of its repository.",
        "hook_attributes": {"url": webhook_url(wish.server_url), "active": true},
        "public": false,
        "default_permissions": permissions,
        "default_events": EVENTS.map(|event| event.name),
    });
    if let Some(url) = wish.redirect_url {
        manifest["redirect_url"] = url.into();
    }
    manifest
}

pub fn webhook_url(server_url: &str) -> String {
    format!("{server_url}{}", webhook::PATH)
}

/// Where the form is posted to. `state` comes back with the person.
pub fn creation_url(web_url: &str, organization: Option<&str>, state: &str) -> String {
    match organization {
        Some(name) => format!("{web_url}/organizations/{name}/settings/apps/new?state={state}"),
        None => format!("{web_url}/settings/apps/new?state={state}"),
    }
}

/// Whether an organization can be called so.
pub fn is_organization(name: &str) -> bool {
    (1..=100).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
}

/// An App that was just made, with its secrets, which GitHub tells only once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Created {
    pub id: u64,
    pub slug: String,
    /// Its page, from where it is installed.
    pub html_url: String,
    pub private_key: Secret,
    pub webhook_secret: Option<Secret>,
}

/// Reads what GitHub answers.
///
/// # Errors
/// In words, without anything of the answer in them: it holds secrets.
pub fn read_created(body: &[u8]) -> Result<Created, String> {
    #[derive(Deserialize)]
    struct Given {
        id: u64,
        slug: String,
        html_url: String,
        pem: String,
        webhook_secret: Option<String>,
    }
    let given: Given =
        serde_json::from_slice(body).map_err(|_| "GitHub's answer is not that of an App that was made".to_owned())?;
    if !given.pem.contains("PRIVATE KEY-----") {
        return Err("GitHub's answer has no private key in it".to_owned());
    }
    let webhook_secret = given.webhook_secret.filter(|secret| !secret.is_empty()).map(Secret::new);
    Ok(Created {
        id: given.id,
        slug: given.slug,
        html_url: given.html_url,
        private_key: Secret::new(given.pem),
        webhook_secret,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_asks_for_what_is_needed_and_no_more() {
        let wish =
            Wish { name: "hedgerow", server_url: "https://h.example", redirect_url: Some("http://127.0.0.1:1/x") };
        let manifest = manifest(&wish);
        assert_eq!(manifest["hook_attributes"]["url"], "https://h.example/webhooks/github");
        assert_eq!(manifest["redirect_url"], "http://127.0.0.1:1/x");
        assert_eq!(manifest["public"], false);
        let expected = json!({"contents": "write", "issues": "write", "pull_requests": "write", "metadata": "read",
            "checks": "read", "statuses": "read"});
        assert_eq!(manifest["default_permissions"], expected, "neither workflows nor administration");
        let events = ["issues", "issue_comment", "pull_request", "pull_request_review", "pull_request_review_comment"];
        assert_eq!(manifest["default_events"], json!([&events[..], &["delete"]].concat()));
        let wish = Wish { redirect_url: None, ..wish };
        assert!(super::manifest(&wish).get("redirect_url").is_none());
    }

    #[test]
    fn the_form_goes_to_the_person_or_to_the_organization() {
        let person = creation_url("https://github.com", None, "s1");
        assert_eq!(person, "https://github.com/settings/apps/new?state=s1");
        let organization = creation_url("https://ghe.example", Some("acme"), "s1");
        assert_eq!(organization, "https://ghe.example/organizations/acme/settings/apps/new?state=s1");
        for (name, is_one) in
            [("acme", true), ("acme-2_x", true), ("", false), ("a/b", false), ("a b", false), ("é", false)]
        {
            assert_eq!(is_organization(name), is_one, "{name}");
        }
    }

    #[test]
    fn what_github_answers_is_read_and_never_repeated() {
        let whole = br#"{"id": 7, "slug": "hedgerow", "html_url": "https://github.com/apps/hedgerow", "client_id": "x",
            "pem": "-----BEGIN RSA PRIVATE KEY-----\nhunter2\n", "webhook_secret": "hunter3"}"#;
        let created = read_created(whole).expect("an App");
        assert_eq!((created.id, created.slug.as_str()), (7, "hedgerow"));
        assert!(created.private_key.reveal().contains("hunter2"));
        assert_eq!(created.webhook_secret.as_ref().map(Secret::reveal), Some("hunter3"));
        assert!(!format!("{created:?}").contains("hunter"));
        for wrong in [
            &b"hunter2"[..],
            b"{}",
            br#"{"id": "hunter2"}"#,
            b"[]",
            br#"{"id": 7, "slug": "s", "html_url": "u", "pem": "hunter2", "webhook_secret": null}"#,
        ] {
            let error = read_created(wrong).expect_err("not an App");
            assert!(!error.contains("hunter"), "{error}");
        }
    }
}
