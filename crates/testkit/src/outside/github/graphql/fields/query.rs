//! Where a query begins.

use serde_json::{Value, json};

use crate::outside::github::access::Who;
use crate::outside::github::graphql::thing::{Found, Missing, Out, Thing, thing};
use crate::outside::github::state::{Kind, Node, Role, World};

pub(super) fn field(world: &World, who: &Who, name: &str, arguments: &Value) -> Found {
    match name {
        "viewer" => match who {
            Who::Holder(token) => thing(Thing::User(token.who)),
            _ => Err(Missing::Wrong("FORBIDDEN", "Resource not accessible by integration".to_owned())),
        },
        "repository" => {
            let text = |name: &str| arguments[name].as_str().unwrap_or_default();
            let (owner, name) = (text("owner"), text("name"));
            let old = world.old_names.get(&format!("{owner}/{name}").to_ascii_lowercase());
            // Here a repository that was renamed is found under its old name.
            let found = world.repository_named(owner, name).or_else(|| old.map(|id| world.repository(*id)));
            let found = found.filter(|found| !found.is_deleted && world.may(who, found) >= Role::Read);
            let missing = || format!("Could not resolve to a Repository with the name '{owner}/{name}'.");
            found.map(|found| Out::Thing(Thing::Repository(found.id))).ok_or_else(|| Missing::NotFound(missing()))
        }
        "user" => {
            let login = arguments["login"].as_str().unwrap_or_default();
            let missing = || format!("Could not resolve to a User with the login of '{login}'.");
            let found = world.known_user(login).filter(|user| !user.is_bot);
            found.map(|user| Out::Thing(Thing::User(user.id))).ok_or_else(|| Missing::NotFound(missing()))
        }
        "node" => {
            let id = arguments["id"].as_str().unwrap_or_default();
            let missing = || Missing::NotFound(format!("Could not resolve to a node with the global id of '{id}'"));
            let found = Node::read(id).and_then(|node| find(world, who, node)).ok_or_else(missing)?;
            thing(Thing::Either(Box::new(found), true))
        }
        "rateLimit" => thing(Thing::Plain("RateLimit", json!({"limit": 5000, "remaining": 4999, "cost": 1}))),
        _ => Err(Missing::Unknown),
    }
}

/// The thing behind a node id, if this caller may see it.
pub(super) fn find(world: &World, who: &Who, node: Node) -> Option<Thing> {
    let Node(kind, id) = node;
    match kind {
        Kind::User | Kind::Bot => return world.users.contains_key(&id).then_some(Thing::User(id)),
        Kind::Repository => {
            let found = world.repositories.get(&id).filter(|found| world.may(who, found) >= Role::Read);
            return found.map(|_| Thing::Repository(id));
        }
        _ => {}
    }
    for repository in world.repositories.values().filter(|found| world.may(who, found) >= Role::Read) {
        for issue in repository.issues.values().filter(|issue| issue.gone.is_none()) {
            let at = (repository.id, issue.number);
            let pull = issue.pull.as_ref();
            let found = match kind {
                Kind::Issue => (issue.id == id && pull.is_none()).then_some(Thing::Issue(at.0, at.1)),
                Kind::PullRequest => pull.filter(|pull| pull.id == id).map(|_| Thing::Pull(at.0, at.1)),
                Kind::Comment => issue.comment(id).map(|_| Thing::Comment(at.0, at.1, id)),
                Kind::Review => {
                    let is_there = pull.is_some_and(|pull| pull.reviews.iter().any(|review| review.id == id));
                    is_there.then_some(Thing::Review(at.0, at.1, id))
                }
                Kind::ReviewComment => {
                    let is_there = pull.is_some_and(|pull| pull.review_comments.iter().any(|comment| comment.id == id));
                    is_there.then_some(Thing::ReviewComment(at.0, at.1, id))
                }
                Kind::Thread => {
                    let is_there = pull.is_some_and(|pull| pull.threads.iter().any(|thread| thread.id == id));
                    is_there.then_some(Thing::Thread(at.0, at.1, id))
                }
                _ => None,
            };
            if found.is_some() {
                return found;
            }
        }
    }
    None
}
