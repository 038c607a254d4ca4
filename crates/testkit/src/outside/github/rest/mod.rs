//! The REST API: which call is which.

mod app;
mod checks;
mod comments;
mod hooks;
mod issues;
mod pulls;
mod reactions;
mod repositories;
mod review_comments;
mod reviews;

use serde_json::json;

use super::call::{Answer, Answered, Call, Refusal, decoded, fine, not_found, refused};
use super::state::{Gone, Issue, Role, World};

/// Where a call is: the repository, and what comes after its name.
pub(super) struct At<'a> {
    pub(super) repository: u64,
    pub(super) call: &'a Call,
}

pub(super) fn answer(world: &mut World, call: &Call) -> Answered {
    let segments: Vec<String> = call.path.split('/').skip(1).map(decoded).collect();
    let segments: Vec<&str> = segments.iter().map(String::as_str).collect();
    match (call.method.as_str(), segments.as_slice()) {
        ("GET", ["user"]) => {
            let user = call.who.user()?;
            if world.app.bot == user {
                return Err(refused(403, "Resource not accessible by integration"));
            }
            fine(world.show_user(user))
        }
        ("GET", ["users", login]) => {
            let user = world.known_user(login).ok_or_else(not_found)?.id;
            fine(world.show_user(user))
        }
        ("GET", ["rate_limit"]) => {
            fine(json!({"resources": {"core": {"limit": 5000, "remaining": 4999, "reset": world.clock.now() + 3600}}}))
        }
        ("GET", ["meta" | ""]) => fine(json!({"verifiable_password_authentication": false})),
        (_, ["app" | "app-manifests" | "installation", ..]) => app::answer(world, call, &segments),
        (_, ["repos", owner, name, rest @ ..]) => {
            let repository = find(world, call, owner, name, rest)?;
            of_repository(world, &At { repository, call }, rest)
        }
        (_, ["repositories", id, rest @ ..]) => {
            let is_there = |id: &u64| world.repositories.get(id).is_some_and(|found| !found.is_deleted);
            let repository = id.parse().ok().filter(is_there).ok_or_else(not_found)?;
            of_repository(world, &At { repository, call }, rest)
        }
        _ => Err(Refusal::Unknown),
    }
}

/// The repository of a name. One that was renamed answers where it is now.
fn find(world: &World, call: &Call, owner: &str, name: &str, rest: &[&str]) -> Result<u64, Refusal> {
    if let Some(repository) = world.repository_named(owner, name) {
        return if repository.is_deleted { Err(not_found()) } else { Ok(repository.id) };
    }
    let old = format!("{owner}/{name}").to_ascii_lowercase();
    let id = world.old_names.get(&old).ok_or_else(not_found)?;
    let id = id.to_string();
    let path: Vec<&str> = ["repositories", &id].into_iter().chain(rest.iter().copied()).collect();
    let query = if call.query.is_empty() { String::new() } else { format!("?{}", call.query) };
    Err(moved(&format!("{}/{}{query}", call.base, path.join("/"))))
}

/// 301: it is somewhere else now.
pub(super) fn moved(url: &str) -> Refusal {
    let body = json!({"message": "Moved Permanently", "url": url, "documentation_url": "https://docs.github.com/rest"});
    let mut answer = Answer::new(301, body);
    answer.headers.push(("location", url.to_owned()));
    Refusal::Said(answer)
}

fn of_repository(world: &mut World, at: &At<'_>, rest: &[&str]) -> Answered {
    let call = at.call;
    if let ("GET", ["installation"]) = (call.method.as_str(), rest) {
        return app::installation_of(world, at);
    }
    at.demand(world, Role::Read)?;
    match rest {
        [] | ["collaborators" | "branches" | "git", ..] => repositories::answer(world, at, rest),
        ["commits", ..] => checks::answer(world, at, rest),
        ["hooks", ..] => hooks::answer(world, at, rest),
        [.., "reactions"] | [.., "reactions", _] => reactions::answer(world, at, rest),
        ["issues", "comments", ..] | ["issues", _, "comments"] => comments::answer(world, at, rest),
        ["issues", ..] => issues::answer(world, at, rest),
        ["pulls", "comments", ..] | ["pulls", _, "comments", ..] => review_comments::answer(world, at, rest),
        ["pulls", _, "reviews", ..] | ["pulls", _, "requested_reviewers"] => reviews::answer(world, at, rest),
        ["pulls", ..] => pulls::answer(world, at, rest),
        _ => Err(Refusal::Unknown),
    }
}

impl At<'_> {
    /// Makes sure that the caller may at least this; who it is.
    pub(super) fn demand(&self, world: &World, role: Role) -> Result<u64, Refusal> {
        world.demand(&self.call.who, world.repository(self.repository), role)
    }

    /// The user who writes something.
    pub(super) fn writer(&self, world: &World) -> Result<u64, Refusal> {
        self.call.who.user()?;
        self.demand(world, Role::Read)
    }

    /// An issue or pull request that is there; where it went otherwise.
    pub(super) fn issue<'w>(&self, world: &'w World, number: &str) -> Result<&'w Issue, Refusal> {
        let repository = world.repository(self.repository);
        let number: u64 = number.parse().map_err(|_| not_found())?;
        let issue = repository.issues.get(&number).ok_or_else(not_found)?;
        match issue.gone {
            None => Ok(issue),
            Some(Gone::Deleted) => Err(refused(410, "This issue was deleted")),
            Some(Gone::Transferred(to, number)) => {
                Err(moved(&format!("{}/repositories/{to}/issues/{number}", self.call.base)))
            }
        }
    }

    pub(super) fn pull<'w>(&self, world: &'w World, number: &str) -> Result<&'w Issue, Refusal> {
        self.issue(world, number).and_then(|issue| issue.pull.as_ref().map(|_| issue).ok_or_else(not_found))
    }
}
