//! Repositories and their refs.

use serde_json::{Value, json};

use super::shown;
use crate::outside::github::access::Who;
use crate::outside::github::git::bare;
use crate::outside::github::graphql::thing::{Found, Missing, Out, Thing, list, maybe, thing, value};
use crate::outside::github::state::{Issue, World};

pub(super) fn field(world: &World, who: &Who, id: u64, name: &str, arguments: &Value) -> Found {
    let repository = world.repository(id);
    let rest = world.show_repository(id);
    match name {
        "id" => shown(&rest, "node_id"),
        "databaseId" => value(id),
        "name" => value(repository.name.clone()),
        "nameWithOwner" => value(repository.full_name()),
        "url" => shown(&rest, "html_url"),
        "sshUrl" => shown(&rest, "ssh_url"),
        "isPrivate" => value(repository.is_private),
        "isFork" => value(repository.fork_of.is_some()),
        "isArchived" => value(false),
        "visibility" => value(if repository.is_private { "PRIVATE" } else { "PUBLIC" }),
        "parent" => maybe(repository.fork_of.map(Thing::Repository)),
        "owner" => {
            let owner = &rest["owner"];
            thing(Thing::Plain("RepositoryOwner", json!({"login": owner["login"], "id": owner["node_id"]})))
        }
        "viewerPermission" => value(world.may(who, repository).name().to_ascii_uppercase()),
        "defaultBranchRef" => thing(Thing::Ref(id, format!("refs/heads/{}", repository.default_branch))),
        "ref" => {
            let wanted = arguments["qualifiedName"].as_str().unwrap_or_default();
            let full = if wanted.starts_with("refs/") { wanted.to_owned() } else { format!("refs/heads/{wanted}") };
            maybe(bare::rev(&repository.path, &full).map(|_| Thing::Ref(id, full)))
        }
        "object" => {
            let wanted = arguments["oid"].as_str().or_else(|| arguments["expression"].as_str()).unwrap_or_default();
            let found =
                bare::rev(&repository.path, wanted).map(|sha| Thing::Either(Box::new(Thing::Commit(id, sha)), false));
            maybe(found)
        }
        "issue" => numbered(repository.issues.get(&number(arguments)), arguments, "an Issue", |issue| {
            issue.pull.is_none().then_some(Thing::Issue(id, issue.number))
        }),
        "pullRequest" => numbered(repository.issues.get(&number(arguments)), arguments, "a PullRequest", |issue| {
            issue.pull.is_some().then_some(Thing::Pull(id, issue.number))
        }),
        "issueOrPullRequest" => {
            numbered(repository.issues.get(&number(arguments)), arguments, "an issue or pull request", |issue| {
                Some(Thing::Either(Box::new(of(id, issue)), false))
            })
        }
        "issues" | "pullRequests" => {
            let wants_pulls = name == "pullRequests";
            let found = repository.issues.values().filter(|issue| {
                issue.pull.is_some() == wants_pulls && issue.gone.is_none() && is_wanted(issue, arguments)
            });
            list(found.map(|issue| of(id, issue)), arguments)
        }
        _ => Err(Missing::Unknown),
    }
}

fn of(id: u64, issue: &Issue) -> Thing {
    if issue.pull.is_some() { Thing::Pull(id, issue.number) } else { Thing::Issue(id, issue.number) }
}

fn number(arguments: &Value) -> u64 {
    arguments["number"].as_u64().unwrap_or_default()
}

fn numbered(found: Option<&Issue>, arguments: &Value, what: &str, take: impl FnOnce(&Issue) -> Option<Thing>) -> Found {
    let found = found.filter(|issue| issue.gone.is_none()).and_then(take);
    let missing = || format!("Could not resolve to {what} with the number of {}.", number(arguments));
    found.map(Out::Thing).ok_or_else(|| Missing::NotFound(missing()))
}

fn is_wanted(issue: &Issue, arguments: &Value) -> bool {
    let state = state(issue);
    let states = &arguments["states"];
    let states = match states {
        Value::Array(states) => states.iter().any(|wanted| wanted == state),
        Value::Null => true,
        one => one == state,
    };
    let of_branch =
        |name: &str, branch: fn(&Issue) -> &str| arguments[name].as_str().is_none_or(|wanted| branch(issue) == wanted);
    states
        && of_branch("headRefName", |issue| &issue.pull().head_branch)
        && of_branch("baseRefName", |issue| &issue.pull().base_branch)
}

/// `OPEN`, `CLOSED`, `MERGED`.
pub(super) fn state(issue: &Issue) -> &'static str {
    match (issue.is_open, issue.is_merged()) {
        (true, _) => "OPEN",
        (false, true) => "MERGED",
        (false, false) => "CLOSED",
    }
}

pub(super) fn of_ref(world: &World, id: u64, full: &str, name: &str) -> Found {
    let short = full.splitn(3, '/').nth(2).unwrap_or(full);
    match name {
        "name" => value(short),
        "prefix" => value(full.trim_end_matches(short)),
        "target" => {
            let sha = bare::rev(&world.repository(id).path, full);
            maybe(sha.map(|sha| Thing::Either(Box::new(Thing::Commit(id, sha)), false)))
        }
        _ => Err(Missing::Unknown),
    }
}
