//! The App: what it signs, and what it gets for it.

use hedgerow_testkit::outside::github::{self, GitHub, Role};
use serde_json::json;

use crate::caller::{caller, nobody};
use crate::hook::Hook;

fn signed(github: &GitHub, issuer: &str, lives: i64) -> String {
    github::signed(&json!({"iat": github.now() - 60, "exp": github.now() + lives, "iss": issuer}))
}

#[tokio::test]
async fn an_installation_gets_a_token_for_one_repository_and_for_an_hour() {
    let github = GitHub::start().await;
    let (shop, other) = (github.repository("acme/shop").private(), github.repository("acme/other").private());
    let app = caller(&github, &signed(&github, &github.app_id(), 540));
    assert_eq!(app.gets("/app").await.json()["slug"], "hedgerow");
    let installation = app.gets("/repos/acme/shop/installation").await.json()["id"].to_string();
    let path = format!("/app/installations/{installation}/access_tokens");
    let given = app.calls("POST", &path, json!({"repositories": ["shop"]})).await;
    assert_eq!(given.status, 201);
    let token = given.json()["token"].as_str().expect("a token").to_owned();
    let bot = caller(&github, &token);
    assert_eq!(bot.gets("/repos/acme/shop").await.status, 200);
    assert_eq!(bot.gets("/repos/acme/other").await.status, 404);
    shop.issue(1).opened_by("alice").await;
    let said = bot.calls("POST", "/repos/acme/shop/issues/1/comments", json!({"body": "hello"})).await.json();
    assert_eq!((said["user"]["login"].as_str(), said["user"]["type"].as_str()), (Some("hedgerow[bot]"), Some("Bot")));
    github.time_passes(std::time::Duration::from_secs(3601));
    assert_eq!(bot.gets("/repos/acme/shop").await.status, 401);
    let app = caller(&github, &signed(&github, &github.app_id(), 540));
    assert_eq!(app.calls("POST", &path, json!({"repositories": ["unknown"]})).await.status, 422);
    let other = other.without_app();
    assert_eq!(app.gets("/repos/acme/other/installation").await.status, 404);
    drop(other);
}

#[tokio::test]
async fn what_is_signed_wrongly_is_refused() {
    let github = GitHub::start().await;
    let id = github.app_id();
    for (issuer, lives) in [("1", 540), (id.as_str(), 3600), (id.as_str(), -1)] {
        let app = caller(&github, &signed(&github, issuer, lives));
        assert_eq!(app.gets("/app").await.status, 401, "{issuer} {lives}");
    }
    let good = signed(&github, &id, 540);
    let forged = format!("{}x", &good[..good.len() - 1]);
    assert_eq!(caller(&github, &forged).gets("/app").await.status, 401);
    assert_eq!(caller(&github, &github.token_of("alice")).gets("/app").await.status, 401);
    assert_eq!(nobody(&github).gets("/app").await.status, 401);
}

#[tokio::test]
async fn what_was_not_delivered_is_found_and_sent_again() {
    let (github, hook) = (GitHub::start().await, Hook::start().await);
    github.delivers_to(&hook.url, "secret");
    github.delivers_by_app();
    let repo = github.repository("acme/shop").with("root", Role::Admin);
    let issue = repo.issue(1).opened_by("alice").await;
    github.drops_deliveries(1);
    issue.says("alice", "lost").await;
    let app = caller(&github, &signed(&github, &github.app_id(), 540));
    let page = app.gets("/app/hook/deliveries?per_page=1").await;
    let next = page.header("link").expect("more").to_owned();
    assert!(next.contains("cursor=v1_"), "{next}");
    let newest = &page.json()[0];
    assert_eq!((newest["event"].as_str(), newest["status_code"].as_u64()), (Some("issue_comment"), Some(502)));
    let again = app.calls("POST", &format!("/app/hook/deliveries/{}/attempts", newest["id"]), json!(null)).await;
    assert_eq!(again.status, 202);
    github.settled().await;
    assert_eq!(hook.whats(), ["issues opened", "issue_comment created"]);
    let code = github.manifest_accepted("My Hedgerow");
    let made = nobody(&github).calls("POST", &format!("/app-manifests/{code}/conversions"), json!(null)).await;
    assert_eq!((made.status, made.json()["name"].as_str()), (201, Some("My Hedgerow")));
    assert!(made.json()["pem"].as_str().is_some_and(|pem| pem.starts_with("-----BEGIN")));
}
