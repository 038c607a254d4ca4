//! The door of a running server: every kind of delivery, signed and not, large, slow and of other types.

use std::fs;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use hedgerow_testkit::http::{Answered, Ask, Connection, ask};
use hedgerow_testkit::outside::github::{GitHub, GitHubIssue};
use serde_json::Value;

use super::town::{BOT, SECRET, Town};

const PATH: &str = "/webhooks/github";
const LARGEST: usize = 25 * 1024 * 1024;
const PING: &[u8] = br#"{"zen": "Keep it logically awesome.", "hook_id": 1}"#;

/// A delivery without a signature.
fn unsigned(event: &str, guid: &str) -> Ask {
    Ask::new("POST", PATH)
        .header("Content-Type", "application/json")
        .header("X-GitHub-Delivery", guid)
        .header("X-GitHub-Event", event)
}

pub(super) fn delivery(event: &str, guid: &str, body: &[u8]) -> Ask {
    unsigned(event, guid).header("X-Hub-Signature-256", &GitHub::signature(SECRET, body)).bytes(body)
}

async fn is_alive(address: SocketAddr) {
    let answer = ask(address, &delivery("ping", "alive", PING)).await;
    assert_eq!(answer.status, 200, "{answer:?}");
}

/// A comment of alice that was told to nobody, and what its delivery says.
async fn held_back(town: &Town, issue: &GitHubIssue, text: &str) -> String {
    town.github.holds_back();
    issue.says("alice", text).await;
    town.github.last_delivery("issue_comment", "created").body
}

fn spoke(issue: &GitHubIssue) -> bool {
    issue.comments().iter().any(|said| said.author == BOT)
}

/// Whether the last comment is ours, and so is its last line.
fn is_answered(issue: &GitHubIssue, line: &str) -> bool {
    issue.comments().last().is_some_and(|last| last.author == BOT && last.text.lines().last() == Some(line))
}

#[tokio::test(flavor = "multi_thread")]
async fn every_payload_there_is_leaves_the_server_alive() {
    let (town, shop) = Town::opens().await;
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../platforms/tests/payloads");
    let files = fs::read_dir(folder).expect("payloads").map(|file| file.expect("a file").path());
    let mut many = 0;
    for file in files.filter(|file| file.extension().is_some_and(|extension| extension == "json")) {
        let event = file.file_stem().expect("a name").to_string_lossy().into_owned();
        let payloads: Vec<Value> = serde_json::from_slice(&fs::read(&file).expect("read")).expect("an array");
        for (number, payload) in payloads.iter().enumerate() {
            let body = payload.to_string();
            let answer =
                ask(town.server.address(), &delivery(&event, &format!("{event}-{number}"), body.as_bytes())).await;
            assert!((200..300).contains(&answer.status), "{event} {number}: {answer:?}");
            many += 1;
        }
    }
    assert!(many > 70, "{many} payloads");
    is_alive(town.server.address()).await;
    let issue = shop.issue(4200).opened_by("alice").await;
    issue.says("alice", "@hedgerow say I am here.").await;
    town.is_quiet().await;
    assert!(is_answered(&issue, "I am here."), "{}", issue.transcript());
}

#[tokio::test(flavor = "multi_thread")]
async fn only_what_is_signed_with_one_of_the_secrets_comes_in() {
    let (town, shop) =
        Town::with(&[("GITHUB_WEBHOOK_SECRET", "the-old-secret-of-two, a-secret-between-the-two")]).await;
    let address = town.server.address();
    let issue = shop.issue(1).opened_by("alice").await;
    let body = held_back(&town, &issue, "@hedgerow /status").await;
    let body = body.as_bytes();
    let right = GitHub::signature(SECRET, body);
    let wrong = [
        None,
        Some(GitHub::signature("another-secret-than-theirs", body)),
        Some(GitHub::signature("", body)),
        Some(GitHub::signature(SECRET, b"another body")),
        Some(right.replace("sha256=", "sha1=")),
        Some(right[..right.len() - 1].to_owned()),
        Some(format!("{right}0")),
        Some("sha256=".to_owned()),
        Some("nonsense".to_owned()),
    ];
    for shown in wrong {
        let mut ask_it = unsigned("issue_comment", "forged").bytes(body);
        if let Some(shown) = &shown {
            ask_it = ask_it.header("X-Hub-Signature-256", shown);
        }
        let answer = ask(address, &ask_it).await;
        assert_eq!(answer.status, 401, "{shown:?}: {answer:?}");
        assert!(!answer.text.contains(SECRET) && !answer.text.contains("the-old-secret"), "{answer:?}");
    }
    assert_eq!(town.desk.rows("inbox").await.len(), 0);
    let old = GitHub::signature("the-old-secret-of-two", body);
    let signed_so = |shown: &str| unsigned("issue_comment", "taken").header("X-Hub-Signature-256", shown).bytes(body);
    assert_eq!(ask(address, &signed_so(&old)).await.status, 202);
    assert_eq!(ask(address, &signed_so(&right)).await.status, 200, "it was there before");
    town.is_quiet().await;
    assert!(spoke(&issue));
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_secret_nothing_comes_in_however_it_is_signed() {
    let (town, shop) = Town::with(&[("GITHUB_WEBHOOK_SECRET", "")]).await;
    let issue = shop.issue(1).opened_by("alice").await;
    let body = held_back(&town, &issue, "@hedgerow /status").await;
    for shown in [None, Some(""), Some(SECRET)] {
        let ask_it = unsigned("issue_comment", "unsigned").bytes(body.as_bytes());
        let signed = shown.map(|secret| GitHub::signature(secret, body.as_bytes()));
        let ask_it = signed.iter().fold(ask_it, |ask_it, shown| ask_it.header("X-Hub-Signature-256", shown));
        let answer = ask(town.server.address(), &ask_it).await;
        assert_eq!(answer.status, 401, "{answer:?}");
        assert!(answer.message().contains("GITHUB_WEBHOOK_SECRET"), "{answer:?}");
    }
    assert_eq!(town.desk.rows("inbox").await.len(), 0);
}

/// JSON of exactly this size, with spaces in it.
fn padded(body: &str, size: usize) -> Vec<u8> {
    let mut bytes = body.as_bytes().to_vec();
    bytes.resize(size, b' ');
    bytes
}

#[tokio::test(flavor = "multi_thread")]
async fn as_large_as_github_sends_is_taken_and_nothing_larger() {
    let (town, shop) = Town::opens().await;
    let address = town.server.address();
    let issue = shop.issue(1).opened_by("alice").await;
    let body = held_back(&town, &issue, "@hedgerow /status").await;
    let largest = padded(&body, LARGEST);
    let answer = ask(address, &delivery("issue_comment", "largest", &largest)).await;
    assert_eq!(answer.status, 202, "{answer:?}");
    let too_large = padded(&body, LARGEST + 1);
    assert_eq!(refused(address, &delivery("issue_comment", "larger", &too_large)).await, Some(413));
    // The same where nobody announces how much will come.
    let head = unsigned("issue_comment", "endless")
        .header("X-Hub-Signature-256", &GitHub::signature(SECRET, &too_large))
        .header("Transfer-Encoding", "chunked");
    let mut connection = Connection::open(address).await;
    connection.write(&head.wire()).await;
    for piece in too_large.chunks(1024 * 1024) {
        connection.write(&[format!("{:x}\r\n", piece.len()).as_bytes(), piece, b"\r\n"].concat()).await;
    }
    let answer = connection.answer().await.map(|answer| answer.status);
    assert!(answer.is_none_or(|status| status == 413), "{answer:?}");
    is_alive(address).await;
    town.is_quiet().await;
    assert_eq!(town.desk.rows("inbox").await.len(), 1);
    assert!(town.server.most_memory() < 300 * 1024 * 1024);
}

/// The answer to what is sent while nobody reads on: only its head goes out before.
async fn refused(address: SocketAddr, ask: &Ask) -> Option<u16> {
    let wire = ask.wire();
    let end = wire.windows(4).position(|four| four == b"\r\n\r\n").expect("a head") + 4;
    let mut connection = Connection::open(address).await;
    connection.write(&wire[..end]).await;
    connection.answer().await.map(|answer| answer.status)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_does_not_come_holds_up_nobody() {
    let (town, _) = Town::opens().await;
    let address = town.server.address();
    let begun = Instant::now();
    let mut slow = Vec::new();
    // As many large ones as are read at once, and more.
    for _ in 0..20 {
        let body = padded("{}", 2 * 1024 * 1024);
        let wire = delivery("issues", "slow", &body).wire();
        let mut connection = Connection::open(address).await;
        connection.write(&wire[..1000]).await;
        slow.push(connection);
    }
    is_alive(address).await;
    assert!(begun.elapsed() < Duration::from_secs(10), "others are answered meanwhile");
    for connection in &mut slow {
        let answer = connection.answer().await;
        assert_eq!(answer.map(|answer| answer.status), Some(408));
    }
    assert!(begun.elapsed() < Duration::from_mins(1), "none of them is waited for long");
    is_alive(address).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_form_is_read_and_what_else_it_is_called_does_not_matter() {
    let (town, shop) = Town::opens().await;
    let address = town.server.address();
    let issue = shop.issue(1).opened_by("alice").await;
    let as_kind = |guid: &str, kind: &str, body: &[u8]| {
        let ask = Ask::new("POST", PATH).header("X-GitHub-Delivery", guid).header("X-GitHub-Event", "issue_comment");
        ask.header("Content-Type", kind).header("X-Hub-Signature-256", &GitHub::signature(SECRET, body)).bytes(body)
    };
    let form = "application/x-www-form-urlencoded";
    let mut taken = Vec::new();
    for (number, kind) in [form, "text/plain", "application/octet-stream", "nonsense"].into_iter().enumerate() {
        let body = held_back(&town, &issue, "@hedgerow /status").await;
        let body = if kind == form { format!("payload={}", encoded(&body)) } else { body };
        taken.push(ask(address, &as_kind(&format!("kind-{number}"), kind, body.as_bytes())).await.status);
    }
    assert_eq!(taken, [202; 4]);
    let refused = |answer: Answered| assert_eq!((answer.status, answer.kind().as_str()), (400, "usage"), "{answer:?}");
    refused(ask(address, &as_kind("no-field", form, b"other=1")).await);
    refused(ask(address, &as_kind("json-as-form", form, PING)).await);
    refused(ask(address, &as_kind("form-as-json", "application/json", b"payload=%7B%7D")).await);
    refused(ask(address, &as_kind("empty", "application/json", b"")).await);
    town.is_quiet().await;
    assert_eq!(town.desk.rows("inbox").await.len(), 4);
}

fn encoded(text: &str) -> String {
    text.bytes()
        .map(|byte| if byte.is_ascii_alphanumeric() { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_delivery_that_was_saved_and_is_replayed_is_answered() {
    let (town, shop) = Town::opens().await;
    let issue = shop.issue(1).opened_by("alice").await;
    let body = held_back(&town, &issue, "@hedgerow say I was lost.").await;
    let file = town.desk.folder().join("issue_comment.created.json");
    fs::write(&file, body).expect("written");
    let (file, url) = (file.to_string_lossy().into_owned(), format!("http://{}", town.server.address()));
    let cli = town.desk.cli.clone().env("GITHUB_WEBHOOK_SECRET", SECRET);
    let replay = || cli.run(town.desk.folder(), &["github", "replay", &file, "--url", &url]).success();
    assert!(replay().stdout().contains("202"));
    town.is_quiet().await;
    assert!(is_answered(&issue, "I was lost."), "{}", issue.transcript());
    assert!(replay().stdout().contains("200"), "it is known now");
    town.is_quiet().await;
    assert_eq!(town.runs().len(), 1);
}
