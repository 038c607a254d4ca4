//! What the doctor says about a GitHub that answers.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use hedgerow_testkit::outside::github::{APP_KEY, GitHub, Role};
use serde_json::Value;

use crate::desk::Desk;

const SECRET: &str = "hunter3-hunter3-hunter3";

async fn desk(github: &GitHub, variables: &[(&str, &str)]) -> Desk {
    let mut desk = Desk::new().await;
    desk.cli = desk.cli.clone().env("GITHUB_API_URL", github.api_url()).env("GITHUB_WEBHOOK_SECRET", SECRET);
    for (name, value) in variables {
        desk.cli = desk.cli.clone().env(name, *value);
    }
    desk
}

/// The findings about GitHub: what, level, detail.
fn findings(desk: &Desk) -> Vec<(String, String, String)> {
    let said = desk.run(&["doctor", "--json"]);
    let all: Vec<Value> = serde_json::from_str(&said.stdout()).unwrap_or_else(|error| panic!("{error}: {said}"));
    let text = |finding: &Value, key: &str| finding[key].as_str().unwrap_or_default().to_owned();
    let found = all.iter().map(|found| (text(found, "what"), text(found, "level"), text(found, "detail")));
    found.filter(|(what, ..)| what.starts_with("github")).collect()
}

fn has(findings: &[(String, String, String)], what: &str, level: &str, words: &str) {
    let is_it = |(w, l, d): &(String, String, String)| w == what && l == level && d.contains(words);
    assert!(findings.iter().any(is_it), "{what} {level} {words}\n{findings:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_is_looked_at_and_what_it_may_do() {
    let github = GitHub::start().await;
    let shop = github.repository("acme/shop").with("hedgerow", Role::Admin);
    let desk = desk(&github, &[("GITHUB_TOKEN", &github.token_of("hedgerow"))]).await;
    let _ = desk.run(&["codebase", "add", &shop.clone_url()]).success();
    let found = findings(&desk);
    has(&found, "github", "fine", "we are `hedgerow`");
    has(&found, "github acme/shop", "fine", "the token may push to it");
    has(&found, "github acme/shop", "warning", "it has no webhook that ends with /webhooks/github");
    assert!(!found.iter().any(|(_, _, detail)| detail.contains("somebody else")), "{found:?}");

    github.delivers_to("http://127.0.0.1:9/webhooks/github", SECRET);
    has(&findings(&desk), "github acme/shop", "fine", "deliveries go to http://127.0.0.1:9/webhooks/github");
    shop.gives("hedgerow", Role::Read);
    let found = findings(&desk);
    has(&found, "github acme/shop", "problem", "the token may not push to it");
    has(&found, "github acme/shop", "fine", "its webhooks are not for this token to see");
    github.tokens_expire();
    has(&findings(&desk), "github", "problem", "GitHub does not know us");
    assert_eq!(desk.run(&["doctor"]).status(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_that_somebody_else_has_is_told() {
    let github = GitHub::start().await;
    github.user_id("hedgerow");
    let desk = desk(&github, &[("GITHUB_TOKEN", &github.token_of("our-bot"))]).await;
    has(&findings(&desk), "github", "warning", "`@hedgerow` is the account of somebody else");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_app_is_looked_at_and_where_it_is_installed() {
    let github = GitHub::start().await;
    let shop = github.repository("acme/shop");
    github.delivers_to("http://127.0.0.1:9/webhooks/github", SECRET);
    github.delivers_by_app();
    let desk = desk(&github, &[("GITHUB_APP_ID", &github.app_id())]).await;
    let key = desk.home().join("app.pem");
    fs::write(&key, APP_KEY).expect("writes");
    fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).expect("chmod");
    desk.configure(&format!("[github]\nprivate_key_file = \"{}\"", key.display()));
    let _ = desk.run(&["codebase", "add", &shop.clone_url()]).success();
    let found = findings(&desk);
    has(&found, "github", "fine", &format!("we are the App `{}[bot]`", github.app_slug()));
    has(&found, "github", "fine", "deliveries go to http://127.0.0.1:9/webhooks/github");
    has(&found, "github acme/shop", "fine", "the App is installed, with all it needs");
    let _ = shop.without_app();
    has(&findings(&desk), "github acme/shop", "problem", "the App is not installed on it");
}
