//! The settings of GitHub as people and other programs of the machine meet them.

use std::fs;

use crate::desk::Desk;
use crate::serving::Running;

const TOKEN: &str = "ghp_hunter2hunter2hunter2";
const SECRET: &str = "hunter3-hunter3-hunter3";

/// A desk whose server knows a GitHub that nobody answers for.
async fn desk() -> Desk {
    let mut desk = Desk::new().await;
    let nowhere = "http://127.0.0.1:9";
    desk.cli = desk.cli.clone().env("GITHUB_TOKEN", TOKEN).env("GITHUB_API_URL", nowhere);
    desk.cli = desk.cli.clone().env("HEDGEROW_TOKEN", "the-token-that-callers-show");
    desk
}

#[tokio::test(flavor = "multi_thread")]
async fn the_secrets_of_github_leave_the_environment_of_a_server() {
    let mut desk = desk().await;
    desk.cli = desk.cli.clone().env("GITHUB_WEBHOOK_SECRET", SECRET);
    let server = Running::with_token(&desk, "the-token-that-callers-show");
    // Closed to all but root, which is the point.
    if let Ok(environment) = fs::read(format!("/proc/{}/environ", server.id())) {
        let environment = String::from_utf8_lossy(&environment);
        assert!(environment.contains("GITHUB_API_URL="), "{environment}");
        for secret in ["hunter", "GITHUB_TOKEN", "GITHUB_WEBHOOK_SECRET"] {
            assert!(!environment.contains(secret), "{environment}");
        }
    }
    let described = server.api("GET", "/api/v1/openapi.json", &serde_json::json!(null));
    assert!(described["paths"]["/webhooks/github"]["post"].is_object(), "the door is there");
    let (status, log) = server.ends("TERM");
    assert_eq!(status, 0, "{log}");
    assert!(!log.contains("hunter"), "{log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_hears_nothing_of_github_says_so() {
    let server = Running::with_token(&desk().await, "the-token-that-callers-show");
    let (_, log) = server.ends("TERM");
    assert!(log.contains("no webhook secret is set, so no delivery of GitHub is accepted"), "{log}");

    let mut off = Desk::new().await;
    off.cli = off.cli.clone().env("GITHUB_WEBHOOK_SECRET", SECRET).env("HEDGEROW_TOKEN", "the-token-that-callers-show");
    let server = Running::with_token(&off, "the-token-that-callers-show");
    let described = server.api("GET", "/api/v1/openapi.json", &serde_json::json!(null));
    assert!(described["paths"]["/webhooks/github"].is_null(), "there is no door");
    let (_, log) = server.ends("TERM");
    assert!(log.contains("a webhook secret is set, and neither a token nor an App"), "{log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_doctor_without_a_network_warns_and_does_not_fail() {
    let desk = desk().await;
    let said = desk.run(&["doctor"]).success();
    assert!(said.stdout().contains("GitHub cannot be asked"), "{said}");
    assert!(said.stdout().contains("no webhook secret is set"), "{said}");
    assert!(!said.to_string().contains("hunter"), "{said}");
}
