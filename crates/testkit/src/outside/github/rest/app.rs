//! The App: itself, its installations and the tokens of those.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{At, hooks};
use crate::outside::github::APP_KEY;
use crate::outside::github::access::Who;
use crate::outside::github::call::{Answered, Call, Refusal, created, fine, not_found, refused};
use crate::outside::github::state::{Repository, Token, World, written};

/// How long a token of an installation is good.
const HOUR: i64 = 3600;

pub(super) fn answer(world: &mut World, call: &Call, segments: &[&str]) -> Answered {
    match (call.method.as_str(), segments) {
        ("POST", ["app-manifests", code, "conversions"]) => convert(world, code),
        ("GET", ["installation", "repositories"]) => {
            let Who::Holder(Token { only: Some(only), .. }) = &call.who else {
                return Err(refused(403, "You must authenticate with an installation access token"));
            };
            let all = only.iter().map(|id| world.show_repository(*id)).collect();
            call.page_in(all, |page, count| json!({"total_count": count, "repositories": page}))
        }
        (_, ["app", rest @ ..]) => {
            call.who.is_app()?;
            of_app(world, call, rest)
        }
        _ => Err(Refusal::Unknown),
    }
}

fn of_app(world: &mut World, call: &Call, rest: &[&str]) -> Answered {
    match (call.method.as_str(), rest) {
        ("GET", []) => fine(show(world)),
        ("GET", ["installations"]) => {
            let owners: BTreeSet<String> =
                world.app.installed.iter().map(|id| world.repository(*id).owner.clone()).collect();
            call.page(owners.iter().map(|owner| show_installation(world, owner)).collect())
        }
        ("GET", ["installations", id]) => {
            let owner = owner_of(world, id)?;
            fine(show_installation(world, &owner))
        }
        ("POST", ["installations", id, "access_tokens"]) => give_token(world, call, id),
        ("GET", ["hook", "config"]) => {
            let url = world.post.target.as_ref().map(|(url, _)| url.clone()).unwrap_or_default();
            fine(json!({"content_type": "json", "insecure_ssl": "0", "secret": "********", "url": url}))
        }
        ("PATCH", ["hook", "config"]) => {
            if let (Some(url), Some(target)) = (call.body["url"].as_str(), &mut world.post.target) {
                url.clone_into(&mut target.0);
            }
            fine(json!({"content_type": "json", "insecure_ssl": "0", "secret": "********", "url": call.body["url"]}))
        }
        (_, ["hook", "deliveries", rest @ ..]) => hooks::deliveries(world, call, rest, |delivery| delivery.is_of_app),
        _ => Err(Refusal::Unknown),
    }
}

fn permissions() -> Value {
    json!({"contents": "write", "issues": "write", "pull_requests": "write", "metadata": "read", "checks": "read", "statuses": "read"})
}

fn events() -> [&'static str; 11] {
    [
        "issues",
        "issue_comment",
        "pull_request",
        "pull_request_review",
        "pull_request_review_comment",
        "push",
        "delete",
        "check_suite",
        "check_run",
        "status",
        "repository",
    ]
}

fn show(world: &World) -> Value {
    let app = &world.app;
    json!({
        "id": app.id, "slug": app.slug, "node_id": format!("A_kwDO{:08x}", app.id), "client_id": "Iv23liFake0000000000",
        "name": app.slug, "description": "", "external_url": "https://example.com",
        "html_url": format!("{}/apps/{}", world.url, app.slug), "created_at": written(app.created_at),
        "updated_at": written(app.created_at), "permissions": permissions(),
        "events": events(),
        "installations_count": 1,
    })
}

fn show_installation(world: &World, owner: &str) -> Value {
    let id = World::installation(owner);
    json!({
        "id": id, "app_id": world.app.id, "app_slug": world.app.slug, "target_type": "Organization",
        "account": {"login": owner, "type": "Organization"}, "repository_selection": "selected",
        "access_tokens_url": format!("{}/api/v3/app/installations/{id}/access_tokens", world.url),
        "permissions": permissions(), "events": events(),
        "created_at": written(world.app.created_at), "updated_at": written(world.app.created_at),
        "suspended_at": null, "suspended_by": null, "single_file_name": null,
    })
}

/// The installation that covers a repository.
pub(super) fn installation_of(world: &World, at: &At<'_>) -> Answered {
    at.call.who.is_app()?;
    if !world.app.installed.contains(&at.repository) {
        return Err(not_found());
    }
    fine(show_installation(world, &world.repository(at.repository).owner))
}

fn owner_of(world: &World, installation: &str) -> Result<String, Refusal> {
    let mut owners = world.app.installed.iter().map(|id| world.repository(*id).owner.clone());
    owners.find(|owner| World::installation(owner).to_string() == installation).ok_or_else(not_found)
}

fn give_token(world: &mut World, call: &Call, installation: &str) -> Answered {
    let owner = owner_of(world, installation)?;
    let installed = world.app.installed.iter().map(|id| world.repository(*id));
    let all: Vec<&Repository> = installed.filter(|repository| repository.owner.eq_ignore_ascii_case(&owner)).collect();
    let names = call.body["repositories"].as_array();
    let ids = call.body["repository_ids"].as_array();
    let is_wanted = |repository: &&&Repository| {
        let by_name = names.is_some_and(|names| {
            names.iter().filter_map(Value::as_str).any(|name| name.eq_ignore_ascii_case(&repository.name))
        });
        let by_id = ids.is_some_and(|ids| ids.iter().any(|id| id == repository.id));
        by_name || by_id || (names.is_none() && ids.is_none())
    };
    let only: BTreeSet<u64> = all.iter().filter(is_wanted).map(|repository| repository.id).collect();
    let asked = names.map_or(0, Vec::len) + ids.map_or(0, Vec::len);
    if only.len() < asked {
        let message =
            "There is at least one repository that does not exist or is not accessible to the parent installation.";
        return Err(refused(422, message));
    }
    let (id, expires_at) = (world.id(), world.clock.now() + HOUR);
    let token = format!("ghs_fake{id:024}");
    let repositories: Vec<Value> = only.iter().map(|id| world.show_repository(*id)).collect();
    world.tokens.insert(token.clone(), Token { who: world.app.bot, only: Some(only), expires_at: Some(expires_at) });
    let permissions =
        if call.body["permissions"].is_object() { call.body["permissions"].clone() } else { permissions() };
    created(json!({
        "token": token, "expires_at": written(expires_at), "permissions": permissions,
        "repository_selection": "selected", "repositories": repositories,
    }))
}

/// The code that the browser brought back becomes an App, once.
fn convert(world: &mut World, code: &str) -> Answered {
    let name = world.manifests.remove(code).ok_or_else(not_found)?;
    let mut shown = show(world);
    shown["name"] = json!(name);
    shown["pem"] = json!(APP_KEY);
    shown["webhook_secret"] = json!("a secret that GitHub made up");
    shown["client_secret"] = json!("another secret that GitHub made up");
    created(shown)
}
