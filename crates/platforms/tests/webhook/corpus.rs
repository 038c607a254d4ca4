//! Every type of event there is.

use std::fs;
use std::path::{Path, PathBuf};

use hedgerow_platforms::github::heard::{Heard, What};
use hedgerow_platforms::github::payload::events;
use serde_json::Value;

use crate::door::Door;

/// The deliveries of one type.
pub(crate) fn payloads(event: &str) -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/payloads/{event}.json"));
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[tokio::test]
async fn every_event_there_is_gets_a_friendly_answer() {
    let door = Door::open();
    for event in events::ALL {
        let payloads = payloads(event);
        assert!(!payloads.is_empty(), "{event}");
        for (number, payload) in payloads.iter().enumerate() {
            let answer = door.deliver(event, &format!("{event}-{number}"), payload.to_string().as_bytes()).await;
            assert!(answer.status.is_success(), "{event} {number}: {} {}", answer.status, answer.body);
            if !events::USED.contains(event) {
                assert!(answer.body["ignored"].is_string(), "{event} {number}: {}", answer.body);
            }
        }
    }
    assert_eq!(door.deliver("event_of_next_year", "d", b"{}").await.status, 200);
}

/// By their meanings, in the order of the files.
#[tokio::test]
async fn of_all_events_exactly_these_are_for_us() {
    let door = Door::open();
    for event in events::ALL {
        for (number, payload) in payloads(event).iter().enumerate() {
            door.deliver(event, &format!("{event}-{number}"), payload.to_string().as_bytes()).await;
        }
    }
    let heard = door.inbox.kept();
    let meanings: Vec<&str> = heard.iter().filter_map(|raw| raw.delivery.meaning.as_deref()).collect();
    let expected = [
        "deleted:55:issue-42:delete-0",
        "deleted:55:dependabot/cargo/serde-1.0:delete-2",
        "deleted:55:issue-43:delete-3",
        "comment:1:2026-05-03T10:02:00Z",
        "comment:11:2026-05-03T10:02:00Z",
        "comment:15:2026-05-03T10:06:00Z",
        "issue:4200:opened",
        "issue:4500:2026-05-03T10:05:00Z",
        "closed:4700:2026-05-03T10:30:00Z",
        "reopened:4700:2026-05-03T10:05:00Z",
        "transferred:4800",
        "closed:4900:deleted",
        "pull:9900:opened",
        "pull:9700:opened",
        "pull:9900:2026-05-03T10:15:00Z",
        "closed:9900:2026-05-03T10:40:00Z",
        "closed:9600:2026-05-03T10:41:00Z",
        "reopened:9600:2026-05-03T10:15:00Z",
        // The second request in the same second is the same.
        "review-request:9900:2026-05-03T10:15:00Z",
        "review:3:2026-05-03T10:21:00Z",
        "review:32:2026-05-03T10:21:00Z",
        "review-comment:2:2026-05-03T10:20:00Z",
        "review-comment:22:2026-05-03T10:25:00Z",
    ];
    assert_eq!(meanings, expected);
    for raw in &heard {
        let read = Heard::read(raw).expect("what is kept can be read");
        assert_eq!(raw.lane, read.conversation());
        let is_status = matches!(&read.what, What::Asked(asked) if asked.text == "/status");
        assert_eq!(raw.urgent, is_status, "{}", raw.body);
    }
}

#[tokio::test]
#[ignore = "set HEDGEROW_PAYLOADS to a folder of <event>/<anything>.json"]
async fn deliveries_of_a_folder_get_a_friendly_answer() {
    let folder = std::env::var_os("HEDGEROW_PAYLOADS").expect("HEDGEROW_PAYLOADS names a folder");
    let files = below(Path::new(&folder));
    assert!(!files.is_empty(), "there is no payload in {}", Path::new(&folder).display());
    let door = Door::open();
    for (number, file) in files.iter().enumerate() {
        let event = file.parent().and_then(Path::file_name).and_then(|name| name.to_str()).expect("<event>/<file>");
        let body = fs::read(file).expect("it can be read");
        let answer = door.deliver(event, &format!("d-{number}"), &body).await;
        assert!(answer.status.is_success(), "{}: {} {}", file.display(), answer.status, answer.body);
        for broken in crate::broken::variants(&serde_json::from_slice(&body).expect("it is JSON"), 200) {
            let answer = door.deliver(event, "broken", broken.as_bytes()).await;
            assert!(!answer.status.is_server_error(), "{}: {}", file.display(), answer.status);
        }
    }
}

fn below(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files: Vec<PathBuf> = entries
        .flat_map(|entry| {
            let path = entry.expect("an entry").path();
            if path.is_dir() { below(&path) } else { vec![path] }
        })
        .filter(|path| path.extension().is_some_and(|ending| ending == "json"))
        .collect();
    files.sort();
    files
}
