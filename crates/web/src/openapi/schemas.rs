//! What goes in and out. A test compares each of these with a real answer, key by key.

use serde_json::{Value, json};

use super::reference;

pub(super) fn all() -> Value {
    json!({
        "Error": object(&["error"], json!({
            "error": object(&["kind", "message", "hints"], json!({
                "kind": {"type": "string", "enum": [
                    "usage", "protected", "not_found", "limit", "busy", "failed",
                    "unauthorized", "forbidden", "method_not_allowed", "too_large", "timeout",
                ]},
                "message": text(),
                "hints": list(text()),
            })),
        })),
        "NewMessage": object(&["text"], json!({
            "text": text(),
            "codebase": text(),
            "author": described("Who says it, when the caller speaks for others; otherwise `api`."),
        })),
        "Written": object(&["message_id"], json!({"message_id": id()})),
        "Message": object(&["author", "text", "final", "at", "message_id"], json!({
            "author": described("`http:<person>`, or the name of the bot."),
            "text": text(),
            "final": {"type": "boolean", "description": "The last word on a message."},
            "at": time(),
            "message_id": maybe("string"),
        })),
        "NewCodebase": object(&[], json!({
            "path": described("A folder of the server's machine; either this or `url`."),
            "url": described("Where to clone it from."),
            "name": text(),
        })),
        "Run": run(),
        "RunEvent": run_event(),
        "Usage": usage(),
        "Codebase": codebase(),
        "NewEnvironment": new_environment(),
        "Environment": environment(),
        "Removed": object(&["outcome", "branch_deleted", "undo", "environment"], json!({
            "outcome": {"type": "string", "enum": ["trashed", "was_gone", "let_go"]},
            "branch_deleted": flag(),
            "undo": maybe("string"),
            "environment": {"$ref": "#/components/schemas/Environment"},
        })),
        "Spending": object(&["codebases", "people"], json!({
            "codebases": list(reference("SpendingLine")),
            "people": list(reference("SpendingLine")),
        })),
        "SpendingLine": object(&["name", "day", "month"], json!({
            "name": maybe("string"),
            "day": reference("Spent"),
            "month": reference("Spent"),
        })),
        "Spent": spent(),
    })
}

fn run() -> Value {
    let required = [
        "id",
        "state",
        "assistant",
        "author",
        "conversation",
        "message_id",
        "codebase",
        "environment",
        "environment_id",
        "started_at",
        "ended_at",
        "seconds",
        "usage",
    ];
    object(
        &required,
        json!({
            "id": id(),
            "state": {"type": "string", "enum": ["running", "done", "failed", "stopped", "interrupted"]},
            "assistant": text(),
            "author": described("Who asked, as `platform:person`."),
            "conversation": described("Where, as `platform:name`."),
            "message_id": maybe("string"),
            "codebase": maybe("string"),
            "environment": maybe("string"),
            "environment_id": maybe("string"),
            "started_at": time(),
            "ended_at": maybe("string"),
            "seconds": number(),
            "usage": {"$ref": "#/components/schemas/Usage"},
        }),
    )
}

fn run_event() -> Value {
    object(
        &["seq", "at", "kind"],
        json!({
            "seq": number(),
            "at": time(),
            "kind": {"type": "string", "enum": ["session", "text", "tool", "plan", "usage", "note", "other", "end"]},
            "text": described("What was said; of an end, why."),
            "steps": list(object(&["text", "state"], json!({
                "text": text(),
                "state": {"type": "string", "enum": ["pending", "active", "done"]},
            }))),
            "usage": {"$ref": "#/components/schemas/Usage"},
            "state": described("How the run ended; only of an end."),
        }),
    )
}

fn usage() -> Value {
    object(
        &["input_tokens", "cached_tokens", "output_tokens", "cost_micros"],
        json!({
            "input_tokens": number(),
            "cached_tokens": number(),
            "output_tokens": number(),
            "cost_micros": {"type": ["integer", "null"], "description": "In millionths of a dollar, if somebody knows."},
        }),
    )
}

fn spent() -> Value {
    let required = ["calls", "input_tokens", "cached_tokens", "output_tokens", "cost_micros"];
    object(
        &required,
        json!({
            "calls": number(),
            "input_tokens": number(),
            "cached_tokens": number(),
            "output_tokens": number(),
            "cost_micros": {"type": "integer", "description": "In millionths of a dollar."},
        }),
    )
}

fn codebase() -> Value {
    let required = ["id", "name", "path", "folder", "remote", "remote_name", "base_branch", "created_at"];
    object(
        &required,
        json!({
            "id": id(),
            "name": text(),
            "path": text(),
            "folder": text(),
            "remote": maybe("string"),
            "remote_name": maybe("string"),
            "base_branch": maybe("string"),
            "created_at": time(),
            "is_new": {"type": "boolean", "description": "Only where one is added."},
        }),
    )
}

fn new_environment() -> Value {
    object(
        &[],
        json!({
            "codebase": described("Needed when there are several."),
            "work": described("`issue-42`, `pr-99`, `review-99`, `task-<words>` or `thread-<id>`; or else `branch`."),
            "branch": described("The head branch of a pull request; without `work`, the very branch to be on."),
            "base": described("The branch to begin from."),
            "description": text(),
            "sha": described("The head commit of a pull request, in full."),
            "fork": described_flag("The pull request comes from a fork."),
            "fixes": list(number()),
            "fixed_by": list(number()),
        }),
    )
}

fn environment() -> Value {
    let required = [
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
        "node",
    ];
    object(
        &required,
        json!({
            "id": id(),
            "codebase": text(),
            "works": list(text()),
            "provider": text(),
            "branch": text(),
            "base": maybe("string"),
            "base_sha": maybe("string"),
            "path": text(),
            "state": text(),
            "resolution": {"type": "string", "enum": ["kept", "reused", "shared", "adopted", "restored", "created"]},
            "adopted": flag(),
            "adopted_from": maybe("string"),
            "migrated_at": maybe("string"),
            "pinned": flag(),
            "dirty": maybe("boolean"),
            "ahead": maybe("integer"),
            "behind": maybe("integer"),
            "merged": maybe("string"),
            "conflicts": maybe("boolean"),
            "ports": {"type": ["array", "null"], "items": number()},
            "init": object(&["ran", "state", "error"], json!({
                "ran": flag(), "state": maybe("string"), "error": maybe("string"),
            })),
            "pr": {"type": ["object", "null"]},
            "description": maybe("string"),
            "keywords": list(text()),
            "related": object(&["issues", "prs"], json!({"issues": list(number()), "prs": list(number())})),
            "conversations": list(text()),
            "created_at": time(),
            "created_by": text(),
            "last_activity_at": time(),
            "disk_bytes": maybe("integer"),
            "node": text(),
        }),
    )
}

#[expect(clippy::needless_pass_by_value, reason = "made on the spot by every caller")]
fn object(required: &[&str], properties: Value) -> Value {
    json!({"type": "object", "required": required, "properties": properties})
}

#[expect(clippy::needless_pass_by_value, reason = "made on the spot by every caller")]
fn list(items: Value) -> Value {
    json!({"type": "array", "items": items})
}

fn maybe(kind: &str) -> Value {
    json!({"type": [kind, "null"]})
}

fn text() -> Value {
    json!({"type": "string"})
}

fn described(what: &str) -> Value {
    json!({"type": "string", "description": what})
}

fn described_flag(what: &str) -> Value {
    json!({"type": "boolean", "description": what})
}

fn flag() -> Value {
    json!({"type": "boolean"})
}

fn number() -> Value {
    json!({"type": "integer"})
}

fn id() -> Value {
    json!({"type": "string", "format": "uuid"})
}

fn time() -> Value {
    json!({"type": "string", "format": "date-time"})
}
