//! Pull requests.

use serde_json::{Value, json};

use super::At;
use super::issues::sort;
use crate::outside::github::call::{
    Answer, Answered, Refusal, created, fine, invalid, not_found, refused, wrong_field,
};
use crate::outside::github::deeds::Draft;
use crate::outside::github::git::{Way, bare};
use crate::outside::github::state::{Issue, Role, World};

pub(super) fn answer(world: &mut World, at: &At<'_>, rest: &[&str]) -> Answered {
    match (at.call.method.as_str(), rest) {
        ("GET", ["pulls"]) => list(world, at),
        ("POST", ["pulls"]) => open(world, at),
        ("GET", ["pulls", number]) => {
            let number = at.pull(world, number)?.number;
            fine(world.show_whole_pull(at.repository, number))
        }
        ("PATCH", ["pulls", number]) => change(world, at, number),
        ("GET", ["pulls", number, "files"]) => {
            let pull = at.pull(world, number)?.pull();
            at.call.page(bare::files(&world.repository(at.repository).path, &pull.base, &pull.head))
        }
        ("GET", ["pulls", number, "commits"]) => {
            let pull = at.pull(world, number)?.pull();
            let commits = bare::between(&world.repository(at.repository).path, &pull.base, &pull.head);
            at.call.page(commits.iter().map(|sha| world.show_commit(at.repository, sha)).collect())
        }
        ("GET", ["pulls", number, "merge"]) => {
            let is_merged = at.pull(world, number)?.is_merged();
            if is_merged { Ok(Answer::new(204, Value::Null)) } else { Err(not_found()) }
        }
        ("PUT", ["pulls", number, "merge"]) => {
            let number = at.pull(world, number)?.number;
            let by = at.demand(world, Role::Write)?;
            let way = match at.call.body["merge_method"].as_str() {
                Some("squash") => Way::Squash,
                Some("rebase") => Way::Rebase,
                _ => Way::Merge,
            };
            let sha = world.merges(at.repository, number, by, way).map_err(|why| refused(405, why))?;
            fine(json!({"sha": sha, "merged": true, "message": "Pull Request successfully merged"}))
        }
        _ => Err(Refusal::Unknown),
    }
}

fn list(world: &World, at: &At<'_>) -> Answered {
    let call = at.call;
    let (state, head, base) = (call.asks("state"), call.asks("head"), call.asks("base"));
    let wanted = |issue: &&Issue| {
        let Some(pull) = &issue.pull else { return false };
        let state = match state.as_deref() {
            Some("all") => true,
            Some("closed") => !issue.is_open,
            _ => issue.is_open,
        };
        // GitHub ignores a head that names no owner.
        let head = head.as_deref().and_then(|head| head.split_once(':')).is_none_or(|(owner, branch)| {
            let is_owner = |id: u64| world.repository(id).owner.eq_ignore_ascii_case(owner);
            pull.head_branch == branch && pull.head_repository.is_some_and(is_owner)
        });
        state && head && base.as_deref().is_none_or(|base| pull.base_branch == base) && issue.gone.is_none()
    };
    let mut found: Vec<&Issue> = world.repository(at.repository).issues.values().filter(wanted).collect();
    sort(&mut found, call.asks("sort").as_deref(), call.asks("direction").as_deref());
    call.page(found.iter().map(|issue| world.show_pull(at.repository, issue.number)).collect())
}

fn open(world: &mut World, at: &At<'_>) -> Answered {
    let by = at.writer(world)?;
    let text = |name: &str| at.call.text("PullRequest", name);
    let (title, head, base) = (text("title")?, text("head")?, text("base")?);
    let place = world.repository(at.repository);
    let (owner, branch) = head.split_once(':').unwrap_or((&place.owner, head));
    // A fork keeps the name of what it is a fork of.
    let from =
        world.repository_named(owner, &place.name).ok_or_else(|| wrong_field("PullRequest", "head", "invalid"))?;
    if world.may(&at.call.who, from) < Role::Write {
        return Err(refused(403, "Resource not accessible by personal access token"));
    }
    let draft = Draft {
        number: None,
        title: title.to_owned(),
        body: at.call.body["body"].as_str().map(str::to_owned),
        head_repository: from.id,
        head_branch: branch.to_owned(),
        base_branch: base.to_owned(),
        is_early: at.call.body["draft"] == true,
        linked: Vec::new(),
    };
    let number = world.opens_pull(at.repository, by, &draft).map_err(|(field, why)| match field {
        Some(field) => wrong_field("PullRequest", field, &why),
        None => invalid("PullRequest", &why),
    })?;
    created(world.show_whole_pull(at.repository, number))
}

fn change(world: &mut World, at: &At<'_>, number: &str) -> Answered {
    let (number, author) = at.pull(world, number).map(|issue| (issue.number, issue.author))?;
    let by = super::comments::own(world, at, author)?;
    let body = &at.call.body;
    world.edits(at.repository, number, by, body["title"].as_str(), body["body"].as_str());
    if let Some(base) = body["base"].as_str() {
        world.changes_base(at.repository, number, by, base);
    }
    match body["state"].as_str() {
        Some("closed") => world.closes(at.repository, number, by, None),
        Some("open") => world.reopens(at.repository, number, by),
        _ => {}
    }
    fine(world.show_whole_pull(at.repository, number))
}
