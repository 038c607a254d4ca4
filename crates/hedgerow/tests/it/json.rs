//! What scripts rely on: the fields of `--json`, field by field.

use hedgerow_testkit::repo::{commit, write};
use serde_json::{Value, json};

use crate::desk::Desk;

/// Every field of an environment, in the order of the documentation.
const FIELDS: [&str; 29] = [
    "id",
    "codebase",
    "works",
    "provider",
    "branch",
    "base",
    "base_sha",
    "path",
    "state",
    "adopted",
    "adopted_from",
    "migrated_at",
    "pinned",
    "dirty",
    "ahead",
    "behind",
    "merged",
    "conflicts",
    "ports",
    "init",
    "pr",
    "description",
    "keywords",
    "related",
    "conversations",
    "created_at",
    "created_by",
    "last_activity_at",
    "disk_bytes",
];

fn keys(value: &Value) -> Vec<&str> {
    let mut keys: Vec<&str> = value.as_object().expect("an object").keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}

fn sorted(mut keys: Vec<&str>) -> Vec<&str> {
    keys.sort_unstable();
    keys
}

pub(crate) fn fields() -> Vec<&'static str> {
    sorted([&FIELDS[..], &["node"]].concat())
}

/// The fields that are the same in every run, as they should be.
fn assert_holds(found: &Value, expected: &Value) {
    for (name, value) in expected.as_object().expect("an object") {
        assert_eq!(&found[name], value, "{name} of {found:#}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_environment_has_every_field_of_the_documentation() {
    let desk = Desk::new().await;
    let made = desk.json(&["env", "create", "issue", "42", "--description", "the till"]);
    assert_eq!(keys(&made), sorted([&fields()[..], &["resolution"]].concat()));
    let place = desk.environment("issue-42");
    commit(&place, "till.txt", "open\n");
    write(&place, "notes.txt", "later\n");
    let base = desk.repo.rev("main").expect("main is there");
    let expected = json!({
        "id": made["id"], "codebase": "shop", "works": ["issue-42"], "provider": "worktree", "branch": "issue-42",
        "base": "main", "base_sha": base.as_str(), "path": place.to_string_lossy(), "state": "active",
        "adopted": false, "adopted_from": null, "migrated_at": null, "pinned": false,
        "dirty": true, "ahead": 1, "behind": 0, "merged": null, "conflicts": null, "ports": [4800, 4809],
        "init": {"ran": false, "state": null, "error": null}, "pr": null, "description": "the till", "keywords": [],
        "related": {"issues": [42], "prs": []}, "conversations": [],
        "created_at": made["created_at"], "created_by": "terminal:alice", "disk_bytes": null, "node": "workbench",
    });

    let list = desk.json(&["env", "list"]);
    assert_eq!(list.as_array().map(Vec::len), Some(1));
    for found in [&list[0], &desk.json(&["env", "show", "issue-42"])] {
        assert_eq!(keys(found), fields());
        assert_holds(found, &expected);
    }
    let list = desk.json(&["env", "list", "--full"]);
    for found in [&list[0], &desk.json(&["env", "show", "issue-42", "--full"])] {
        assert_eq!(keys(found), fields());
        assert_eq!((&found["merged"], &found["conflicts"]), (&json!("unmerged"), &json!(false)));
        assert!(found["disk_bytes"].as_u64().is_some_and(|bytes| bytes > 0), "{found:#}");
    }
    assert_eq!(desk.json(&["env", "create", "issue", "42"])["resolution"], "reused");
}

#[tokio::test(flavor = "multi_thread")]
async fn times_are_utc_and_ids_sort_by_age() {
    let desk = Desk::new().await;
    let first = desk.json(&["env", "create", "issue", "1"]);
    let second = desk.json(&["env", "create", "issue", "2"]);
    let text = |value: &Value, field: &str| value[field].as_str().expect("text").to_owned();
    assert!(text(&first, "id") < text(&second, "id"));
    for field in ["created_at", "last_activity_at"] {
        let time = text(&first, field);
        assert!(time.len() == "2026-05-03T10:00:00Z".len() && time.ends_with('Z'), "{time}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_way_to_an_environment_is_named() {
    let desk = Desk::new().await;
    let resolution = |args: &[&str]| desk.json(args)["resolution"].clone();
    assert_eq!(resolution(&["env", "create", "issue", "42"]), "created");
    assert_eq!(resolution(&["env", "create", "issue", "42"]), "reused");
    assert_eq!(resolution(&["env", "create", "pr", "99", "--branch", "issue-42", "--fixes", "42"]), "shared");
    desk.repo.git(&["worktree", "add", "--quiet", "-b", "feature/auth", "../by-hand"]);
    assert_eq!(resolution(&["env", "create", "pr", "7", "--branch", "feature/auth"]), "adopted");
    let _ = desk.run(&["env", "remove", "issue-42"]).success();
    assert_eq!(resolution(&["env", "restore", "issue-42"]), "restored");
}

#[tokio::test(flavor = "multi_thread")]
async fn each_verb_answers_a_script() {
    let desk = Desk::new().await;
    let added = desk.json(&["codebase", "add"]);
    let codebase = ["base_branch", "created_at", "folder", "id", "name", "path", "remote", "remote_name"];
    assert_eq!(keys(&added), sorted([&codebase[..], &["is_new"]].concat()));
    assert_eq!((&added["name"], &added["is_new"]), (&json!("shop"), &json!(true)));
    assert_eq!(keys(&desk.json(&["codebase", "list"])[0]), codebase);
    assert_eq!(desk.json(&["codebase", "show"])["environments"], 0);
    assert_eq!(desk.json(&["codebase", "trust", "shop"]), json!({"codebase": "shop", "can_run": []}));

    desk.json(&["env", "create", "issue", "42"]);
    let place = desk.environment("issue-42");
    write(&place, "README.md", "Hello there\n");
    assert_eq!(desk.json(&["env", "path", "issue-42"]), json!({"path": place.to_string_lossy()}));
    let diff = desk.json(&["env", "diff", "issue-42"]);
    assert_eq!(keys(&diff), ["branch", "id", "patch"]);
    assert!(diff["patch"].as_str().is_some_and(|patch| patch.contains("+Hello there")), "{diff:#}");
    assert_eq!(keys(&desk.json(&["env", "diff", "issue-42", "--stat"])), ["branch", "id", "stat"]);
    assert_eq!(desk.json(&["env", "keep", "issue-42"])["pinned"], true);
    assert_eq!(desk.json(&["env", "unkeep", "issue-42"])["pinned"], false);

    let orphans = desk.json(&["env", "orphans"]);
    let worktree = ["branch", "environment", "environment_id", "head", "is_main", "known", "locked", "missing", "path"];
    assert_eq!(keys(&orphans[0]), worktree);
    let ours = orphans.as_array().expect("an array").iter().find(|found| found["known"] == true).expect("ours");
    assert_eq!((&ours["environment"], &ours["branch"]), (&json!("issue-42"), &json!("issue-42")));

    let swept = desk.json(&["env", "cleanup", "merged", "--dry-run"]);
    assert_eq!(keys(&swept[0]), ["because", "branch", "name", "outcome", "path"]);
    assert_eq!(swept[0]["outcome"], "kept");

    let removed = desk.json(&["env", "remove", "issue-42", "--force"]);
    assert_eq!(keys(&removed), ["branch_deleted", "environment", "outcome", "undo"]);
    assert_eq!((&removed["outcome"], &removed["undo"]), (&json!("trashed"), &json!("hedgerow env restore issue-42")));
    let trash = desk.json(&["env", "trash"]);
    assert_eq!(keys(&trash[0]), sorted([&fields()[..], &["trash"]].concat()));
    assert_eq!(keys(&trash[0]["trash"]), ["at", "because", "branch_deleted", "head", "path"]);

    let findings = desk.json(&["doctor"]);
    assert_eq!(keys(&findings[0]), ["detail", "fixed", "hint", "level", "what"]);
    let removed = desk.json(&["codebase", "remove", "shop"]);
    assert_eq!(keys(&removed), ["codebase", "environments", "undo"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_error_is_one_object_on_stderr_and_stdout_stays_empty() {
    let desk = Desk::new().await;
    desk.json(&["env", "create", "issue", "42"]);
    write(&desk.environment("issue-42"), "notes.txt", "later\n");
    for (args, status, kind) in [
        (&["env", "remove", "issue-42", "--json"][..], 3, "protected"),
        (&["env", "show", "nope", "--json"], 4, "not_found"),
        (&["env", "create", "issue", "none", "--json"], 2, "usage"),
    ] {
        let said = desk.run(args);
        assert_eq!((said.status(), said.stdout().as_str()), (status, ""), "{said}");
        let error: Value = serde_json::from_str(&said.stderr()).expect("stderr is one object");
        assert_eq!(error["error"]["kind"], kind, "{said}");
        assert!(error["error"]["message"].is_string() && error["error"]["hints"].is_array(), "{said}");
    }
}
