//! Hooks, and what they were sent.

use serde_json::{Value, json};

use super::At;
use crate::outside::github::call::{Answer, Answered, Call, Refusal, fine, not_found};
use crate::outside::github::delivery::{Delivery, Hooks, REPOSITORY_HOOK};
use crate::outside::github::state::{Role, World};

pub(super) fn answer(world: &mut World, at: &At<'_>, rest: &[&str]) -> Answered {
    at.demand(world, Role::Admin).map_err(|_| not_found())?;
    let ["hooks", rest @ ..] = rest else { return Err(Refusal::Unknown) };
    let name = world.repository(at.repository).full_name();
    let is_there = world.post.target.is_some() && world.post.mode.hooks != Hooks::App;
    let is_hook = |id: &str| is_there && id == REPOSITORY_HOOK.to_string();
    match (at.call.method.as_str(), rest) {
        ("GET", []) => {
            let hooks = if is_there { vec![show(world)] } else { Vec::new() };
            at.call.page(hooks)
        }
        ("GET", [id]) if is_hook(id) => fine(show(world)),
        ("GET", [id, "config"]) if is_hook(id) => fine(show(world)["config"].take()),
        (_, [id, "deliveries", rest @ ..]) if is_hook(id) => {
            deliveries(world, at.call, rest, |delivery| !delivery.is_of_app && delivery.repository == name)
        }
        ("GET", [_, ..]) => Err(not_found()),
        _ => Err(Refusal::Unknown),
    }
}

fn show(world: &World) -> Value {
    let url = world.post.target.as_ref().map(|(url, _)| url.clone());
    json!({
        "type": "Repository", "id": REPOSITORY_HOOK, "name": "web", "active": true, "events": ["*"],
        "config": {"content_type": "json", "insecure_ssl": "0", "url": url, "secret": "********"},
    })
}

/// Deliveries of one hook, newest first, one of them, or one again. Pages are told by cursors.
pub(super) fn deliveries(
    world: &mut World,
    call: &Call,
    rest: &[&str],
    is_ours: impl Fn(&Delivery) -> bool,
) -> Answered {
    let find = |world: &World, id: &str| {
        let all = world.post.deliveries.iter();
        all.enumerate().find(|(_, delivery)| is_ours(delivery) && delivery.id.to_string() == id).map(|(index, _)| index)
    };
    match (call.method.as_str(), rest) {
        ("GET", []) => {
            let newest = world.post.deliveries.iter().rev().filter(|delivery| is_ours(delivery));
            let start = call.asks("cursor").and_then(|cursor| cursor.strip_prefix("v1_")?.parse::<u64>().ok());
            let size = call.asks("per_page").and_then(|size| size.parse().ok()).unwrap_or(30).clamp(1, 100);
            let mut rest = newest.filter(|delivery| start.is_none_or(|start| delivery.id < start)).peekable();
            let page: Vec<&Delivery> = rest.by_ref().take(size).collect();
            let mut answer = Answer::new(200, page.iter().map(|delivery| world.show_delivery(delivery)).collect());
            if let (Some(last), true) = (page.last(), rest.peek().is_some()) {
                let url = format!("{}{}?per_page={size}&cursor=v1_{}", call.base, call.path, last.id);
                answer.headers.push(("link", format!("<{url}>; rel=\"next\"")));
            }
            Ok(answer)
        }
        ("GET", [id]) => {
            let index = find(world, id).ok_or_else(not_found)?;
            let delivery = &world.post.deliveries[index];
            let mut shown = world.show_delivery(delivery);
            let headers = json!({"X-GitHub-Event": delivery.event, "X-GitHub-Delivery": delivery.guid});
            shown["request"] = json!({"headers": headers, "payload": delivery.json()});
            shown["response"] = json!({"headers": {}, "payload": ""});
            shown["url"] = json!(world.post.target.as_ref().map(|(url, _)| url.clone()));
            fine(shown)
        }
        ("POST", [id, "attempts"]) => {
            let index = find(world, id).ok_or_else(not_found)?;
            world.redelivers(index);
            Ok(Answer::new(202, json!({})))
        }
        _ => Err(Refusal::Unknown),
    }
}
