//! The fields that are known, thing by thing.

mod checks;
mod issue;
mod mutation;
mod pull;
mod query;
mod repository;
mod talk;
mod user;

use serde_json::Value;

use super::thing::{Found, Missing, Thing, value};
use crate::outside::github::access::Who;
use crate::outside::github::state::World;

pub(super) fn find(world: &mut World, who: &Who, of: &Thing, name: &str, arguments: &Value) -> Found {
    if let Some(found) = talk::of_anything(world, who, of, name) {
        return found;
    }
    match of {
        Thing::Query => query::field(world, who, name, arguments),
        Thing::Mutation => mutation::field(world, who, name, &arguments["input"]),
        Thing::Payload(..) if name == "clientMutationId" => value(Value::Null),
        Thing::Payload(_, fields) => fields.get(name).cloned().ok_or(Missing::Unknown),
        Thing::Plain(_, fields) => fields.get(name).cloned().map_or(Err(Missing::Unknown), value),
        Thing::Actor(id) => user::of_actor(world, *id, name),
        Thing::User(id) => user::field(world, *id, name),
        Thing::Repository(id) => repository::field(world, who, *id, name, arguments),
        Thing::Ref(id, full) => repository::of_ref(world, *id, full, name),
        Thing::Issue(id, number) => issue::field(world, *id, *number, name, arguments),
        Thing::Pull(id, number) => pull::field(world, *id, *number, name, arguments),
        Thing::ReviewRequest(user) => match name {
            "requestedReviewer" => Ok(super::thing::Out::Thing(Thing::Either(Box::new(Thing::User(*user)), false))),
            _ => Err(Missing::Unknown),
        },
        Thing::Comment(id, number, comment) => talk::of_comment(world, (*id, *number, *comment), name, arguments),
        Thing::Review(id, number, review) => talk::of_review(world, (*id, *number, *review), name, arguments),
        Thing::ReviewComment(id, number, comment) => {
            talk::of_review_comment(world, (*id, *number, *comment), name, arguments)
        }
        Thing::Thread(id, number, thread) => talk::of_thread(world, (*id, *number, *thread), name, arguments),
        Thing::Reaction(reaction) => talk::of_reaction(reaction, name),
        Thing::Commit(id, sha) => checks::of_commit(world, *id, sha, name, arguments),
        Thing::PullCommit(id, sha) => match name {
            "commit" => Ok(super::thing::Out::Thing(Thing::Commit(*id, sha.clone()))),
            _ => Err(Missing::Unknown),
        },
        Thing::Rollup(id, sha) => checks::of_rollup(world, *id, sha, name, arguments),
        Thing::CheckRun(check) => checks::of_run(check, name),
        Thing::StatusContext(check) => checks::of_status(check, name),
        Thing::Either(inner, true) if name == "id" => find(world, who, inner, name, arguments),
        Thing::Either(..) | Thing::Connection(..) => Err(Missing::Unknown),
    }
}

/// A field of what REST shows, under its name there.
pub(super) fn shown(shown: &Value, key: &str) -> Found {
    value(shown[key].clone())
}
