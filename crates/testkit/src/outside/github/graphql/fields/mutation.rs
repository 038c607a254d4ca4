//! What can be changed by GraphQL.

use std::collections::BTreeMap;

use serde_json::Value;

use super::query;
use crate::outside::github::access::Who;
use crate::outside::github::graphql::thing::{Found, Missing, Out, Thing, thing};
use crate::outside::github::state::{Node, Role, World};

/// The names of reactions here and in REST.
const WORDS: [(&str, &str); 8] = [
    ("THUMBS_UP", "+1"),
    ("THUMBS_DOWN", "-1"),
    ("LAUGH", "laugh"),
    ("HOORAY", "hooray"),
    ("CONFUSED", "confused"),
    ("HEART", "heart"),
    ("ROCKET", "rocket"),
    ("EYES", "eyes"),
];

/// The word for a reaction of REST.
pub(super) fn word(content: &str) -> &'static str {
    WORDS.iter().find(|(_, rest)| *rest == content).map_or("EYES", |(word, _)| word)
}

pub(super) fn field(world: &mut World, who: &Who, name: &str, input: &Value) -> Found {
    let by = match who {
        Who::Holder(token) => token.who,
        _ => return Err(Missing::Wrong("FORBIDDEN", "Resource not accessible by integration".to_owned())),
    };
    let text = |name: &str| input[name].as_str().unwrap_or_default();
    let find = |world: &World, name: &str| {
        let missing =
            || Missing::NotFound(format!("Could not resolve to a node with the global id of '{}'", text(name)));
        let node = Node::read(text(name)).ok_or_else(missing)?;
        query::find(world, who, node).map(|found| (node, found)).ok_or_else(missing)
    };
    match name {
        "addReaction" | "removeReaction" => {
            let (node, found) = find(world, "subjectId")?;
            let wrong = || Missing::Wrong("UNPROCESSABLE", format!("`{}` is no reaction", text("content")));
            let (_, content) = WORDS.iter().find(|(word, _)| *word == text("content")).ok_or_else(wrong)?;
            let reaction = if name == "addReaction" {
                world.reacts(node, by, content).map(|(reaction, _)| reaction)
            } else {
                world.unreacts(node, |reaction| reaction.who == by && reaction.content == *content)
            };
            let reaction = reaction.map_or(Out::Nothing, |reaction| Out::Thing(Thing::Reaction(reaction)));
            payload("ReactionPayload", [("reaction", reaction), ("subject", either(found))])
        }
        "addComment" => {
            let (_, found) = find(world, "subjectId")?;
            let (Thing::Issue(id, number) | Thing::Pull(id, number)) = found else { return Err(Missing::Unknown) };
            let comment = world.comments(id, number, by, text("body"));
            let edge = Thing::Payload("Edge", [("node", Out::Thing(Thing::Comment(id, number, comment)))].into());
            payload("AddCommentPayload", [("commentEdge", Out::Thing(edge)), ("subject", either(found))])
        }
        "updateIssueComment" => {
            let (_, found) = find(world, "id")?;
            let Thing::Comment(id, number, comment) = found else { return Err(Missing::Unknown) };
            demands_writer(world, who, id)?;
            world.edits_comment(id, number, comment, by, text("body"));
            payload("UpdateIssueCommentPayload", [("issueComment", Out::Thing(found))])
        }
        "resolveReviewThread" | "unresolveReviewThread" => {
            let (_, found) = find(world, "threadId")?;
            let Thing::Thread(id, number, wanted) = found else { return Err(Missing::Unknown) };
            demands_writer(world, who, id)?;
            let threads = &mut world.issue_mut(id, number).pull_mut().threads;
            for thread in threads.iter_mut().filter(|thread| thread.id == wanted) {
                thread.is_resolved = name == "resolveReviewThread";
            }
            payload("ResolveReviewThreadPayload", [("thread", Out::Thing(found))])
        }
        "markPullRequestReadyForReview" | "convertPullRequestToDraft" => {
            let (_, found) = find(world, "pullRequestId")?;
            let Thing::Pull(id, number) = found else { return Err(Missing::Unknown) };
            demands_writer(world, who, id)?;
            world.changes_draft(id, number, by, name == "convertPullRequestToDraft");
            payload("PullRequestPayload", [("pullRequest", Out::Thing(found))])
        }
        _ => Err(Missing::Unknown),
    }
}

/// The subject of something can be of several kinds.
fn either(found: Thing) -> Out {
    Out::Thing(Thing::Either(Box::new(found), true))
}

fn payload<const N: usize>(kind: &'static str, fields: [(&'static str, Out); N]) -> Found {
    thing(Thing::Payload(kind, BTreeMap::from(fields)))
}

fn demands_writer(world: &World, who: &Who, repository: u64) -> Result<(), Missing> {
    if world.may(who, world.repository(repository)) >= Role::Write {
        return Ok(());
    }
    Err(Missing::Wrong("FORBIDDEN", "Resource not accessible by personal access token".to_owned()))
}
