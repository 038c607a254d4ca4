//! Issues, and what pull requests have in common with them.

use serde_json::{Value, json};

use super::repository::state;
use super::shown;
use crate::outside::github::graphql::thing::{Found, Missing, Thing, list, thing, value};
use crate::outside::github::state::{World, written};

pub(super) fn field(world: &World, id: u64, number: u64, name: &str, arguments: &Value) -> Found {
    match name {
        "closedByPullRequestsReferences" => {
            let with_closed = arguments["includeClosedPrs"] == true;
            let pulls = world.closing_pulls(id, number).into_iter();
            let pulls = pulls.filter(|pull| with_closed || world.issue(id, *pull).is_open);
            list(pulls.map(|pull| Thing::Pull(id, pull)), arguments)
        }
        "stateReason" => {
            let reason = world.issue(id, number).state_reason.map(str::to_ascii_uppercase);
            value(reason.map_or(Value::Null, Value::from))
        }
        "databaseId" | "fullDatabaseId" => value(world.issue(id, number).id),
        _ => common(world, id, number, name, arguments),
    }
}

pub(super) fn common(world: &World, id: u64, number: u64, name: &str, arguments: &Value) -> Found {
    let issue = world.issue(id, number);
    let rest = world.show_issue(id, number);
    match name {
        "id" => shown(&rest, "node_id"),
        "number" => value(number),
        "title" => value(issue.title.clone()),
        "body" | "bodyText" => value(issue.text()),
        "state" => value(state(issue)),
        "closed" => value(!issue.is_open),
        "locked" => value(issue.is_locked),
        "url" => shown(&rest, "html_url"),
        "createdAt" => shown(&rest, "created_at"),
        "updatedAt" => shown(&rest, "updated_at"),
        "closedAt" => shown(&rest, "closed_at"),
        "author" => thing(Thing::Actor(issue.author)),
        "authorAssociation" => shown(&rest, "author_association"),
        "repository" => thing(Thing::Repository(id)),
        "comments" => list(issue.comments.iter().map(|comment| Thing::Comment(id, number, comment.id)), arguments),
        "reactions" => list(issue.reactions.iter().cloned().map(Thing::Reaction), arguments),
        "timelineItems" => {
            let event = |kind, fields| Thing::Either(Box::new(Thing::Plain(kind, fields)), false);
            // Of all that happened only these are kept, and they must be asked for as such.
            if arguments["itemTypes"] == json!(["TRANSFERRED_EVENT"]) {
                let at = |time: &i64| event("TransferredEvent", json!({"createdAt": written(*time)}));
                return list(issue.transferred_at.iter().map(at), arguments);
            }
            if arguments["itemTypes"] != json!(["RENAMED_TITLE_EVENT"]) {
                return Err(Missing::Unknown);
            }
            let renamed = issue.renames.iter().map(|(time, before)| {
                event("RenamedTitleEvent", json!({"createdAt": written(*time), "previousTitle": before}))
            });
            list(renamed, arguments)
        }
        "assignees" => list([], arguments),
        "labels" => {
            let label = |(_, name): &(u64, String)| Thing::Plain("Label", json!({"name": name, "color": "d73a4a"}));
            list(issue.labels.iter().map(label), arguments)
        }
        _ => Err(Missing::Unknown),
    }
}
