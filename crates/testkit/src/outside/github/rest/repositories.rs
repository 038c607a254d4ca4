//! A repository itself, and who may what in it.

use serde_json::json;

use super::At;
use crate::outside::github::call::{Answered, Refusal, fine, not_found, refused};
use crate::outside::github::git::bare;
use crate::outside::github::state::{Role, World};

pub(super) fn answer(world: &World, at: &At<'_>, rest: &[&str]) -> Answered {
    let repository = world.repository(at.repository);
    match (at.call.method.as_str(), rest) {
        ("GET", []) => {
            let role = world.may(&at.call.who, repository);
            let mut shown = world.show_repository(at.repository);
            shown["permissions"] = permissions(role);
            if let Some(parent) = repository.fork_of {
                shown["parent"] = world.show_repository(parent);
            }
            fine(shown)
        }
        ("GET", ["collaborators", login, "permission"]) => {
            // Only who may write learns what others may.
            let asker = at.demand(world, Role::Read)?;
            if asker == 0 || world.may(&at.call.who, repository) < Role::Write {
                return Err(refused(403, "Must have push access to view collaborator permission."));
            }
            let user = world.known_user(login).ok_or_else(not_found)?;
            let role = world.role(repository, user.id);
            let mut shown = world.show_user(user.id);
            shown["permissions"] = permissions(role);
            shown["role_name"] = json!(role.name());
            fine(json!({"permission": role.permission(), "user": shown, "role_name": role.name()}))
        }
        ("GET", ["branches", branch @ ..]) if !branch.is_empty() => {
            let branch = branch.join("/");
            let sha = bare::rev(&repository.path, &format!("refs/heads/{branch}"));
            let sha = sha.ok_or_else(|| refused(404, "Branch not found"))?;
            let is_protected = repository.protected.contains(&format!("refs/heads/{branch}"));
            fine(json!({"name": branch, "commit": world.show_commit(at.repository, &sha), "protected": is_protected}))
        }
        ("GET", ["git", "ref", name @ ..]) if !name.is_empty() => {
            let name = format!("refs/{}", name.join("/"));
            let sha = bare::rev(&repository.path, &name).ok_or_else(not_found)?;
            fine(json!({"ref": name, "object": {"type": "commit", "sha": sha}}))
        }
        _ => Err(Refusal::Unknown),
    }
}

fn permissions(role: Role) -> serde_json::Value {
    json!({
        "admin": role >= Role::Admin, "maintain": role >= Role::Maintain, "push": role >= Role::Write,
        "triage": role >= Role::Triage, "pull": role >= Role::Read,
    })
}
