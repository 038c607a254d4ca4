//! `hedgerow github replay`: saved deliveries go through the real door of a real server.

use std::fs;
use std::path::PathBuf;

use hedgerow_testkit::cli::Said;
use hedgerow_testkit::outside::github::{GitHub, Role};

use crate::desk::Desk;
use crate::serving::Running;

const TOKEN: &str = "the-token-that-callers-show";
const SECRET: &str = "hunter3-hunter3-hunter3";

/// A desk that knows a GitHub with one comment for us, saved in a file.
async fn scene() -> (Desk, GitHub, PathBuf) {
    let github = GitHub::start().await;
    let repository = github.repository("acme/shop").with("alice", Role::Write).with("hedgerow", Role::Write);
    let issue = repository.issue(42).opened_by("alice").await;
    issue.says("alice", "@hedgerow /help").await;
    let mut desk = Desk::new().await;
    desk.configure("[github]\nclone = false");
    let cli = desk.cli.clone().env("GITHUB_TOKEN", github.token_of("hedgerow")).env("HEDGEROW_TOKEN", TOKEN);
    desk.cli = cli.env("GITHUB_API_URL", github.api_url()).env("GITHUB_WEBHOOK_SECRET", SECRET);
    let file = desk.folder().join("issue_comment.created.json");
    fs::write(&file, github.last_delivery("issue_comment", "created").body).expect("writes");
    (desk, github, file)
}

fn replay(desk: &Desk, server: &Running, line: &[&str]) -> Said {
    let url = format!("http://{}/", server.address());
    desk.run(&[&["github", "replay", "--url", &url], line].concat())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_saved_delivery_is_taken_once_and_known_after_that() {
    let (desk, _github, file) = scene().await;
    let file = file.to_string_lossy().into_owned();
    let server = Running::with_token(&desk, TOKEN);
    let said = replay(&desk, &server, &[&file]).success();
    assert!(said.stdout().contains("issue_comment  202  taken as message "), "{said}");
    let again = replay(&desk, &server, &[&file, "--json"]).success();
    let told: serde_json::Value = serde_json::from_str(&again.stdout()).expect("JSON");
    assert_eq!((&told["status"], &told["event"]), (&200.into(), &"issue_comment".into()));
    assert!(told["answer"]["duplicate"].is_string(), "{told}");
    let ping = desk.folder().join("ping.json");
    fs::write(&ping, r#"{"zen": "Keep it logically awesome.", "hook_id": 1}"#).expect("writes");
    let said = replay(&desk, &server, &[&ping.to_string_lossy()]).success();
    assert!(said.stdout().contains("ping  200  ignored: "), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_door_does_not_take_fails_the_replay() {
    let (desk, _github, file) = scene().await;
    let file = file.to_string_lossy().into_owned();
    let server = Running::with_token(&desk, TOKEN);
    let mut forger = Desk::new().await;
    forger.cli = forger.cli.clone().env("GITHUB_WEBHOOK_SECRET", "another-secret-than-theirs");
    let said = replay(&forger, &server, &[&file]);
    assert_eq!(said.status(), 1, "{said}");
    assert!(said.stdout().contains("401  the signature does not fit"), "{said}");
    let broken = desk.folder().join("issues.json");
    fs::write(&broken, "{").expect("writes");
    let said = replay(&desk, &server, &[&broken.to_string_lossy()]);
    assert!(said.status() == 1 && said.stdout().contains("issues  400  "), "{said}");
    assert!(!said.to_string().contains("hunter"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_replayed_is_refused_before_anything_is_sent() {
    let (desk, _github, file) = scene().await;
    let file = file.to_string_lossy().into_owned();
    let nobody = ["--url", "http://127.0.0.1:9"];
    let said = desk.run(&[&["github", "replay", &file], &nobody[..]].concat());
    assert_eq!(said.status(), 4, "{said}");
    assert!(said.stderr().contains("hint: start the server with `hedgerow serve`"), "{said}");
    let unnamed = desk.folder().join("2026.json");
    fs::write(&unnamed, "{}").expect("writes");
    for (line, told) in [
        (vec!["no-such-file.json"], "does not begin with an event"),
        (vec!["issues.json"], "cannot read issues.json"),
        (vec![unnamed.to_str().expect("text")], "does not begin with an event"),
        (vec![&file, &file, "--delivery", "x"], "`--delivery` is the id of one delivery"),
    ] {
        let said = desk.run(&[&["github", "replay"], &line[..], &nobody].concat());
        assert!(said.status() == 2 && said.stderr().contains(told), "{said}");
    }
    let said = Desk::new().await.run(&["github", "replay", &file]);
    assert!(said.status() == 2 && said.stderr().contains("no webhook secret is set"), "{said}");
}
