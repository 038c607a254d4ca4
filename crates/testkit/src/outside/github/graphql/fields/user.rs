//! People and bots.

use super::shown;
use crate::outside::github::graphql::thing::{Found, Missing, value};
use crate::outside::github::state::World;

/// What all who act have. Their number is not among it: for that it must be said of which kind they are.
pub(super) fn of_actor(world: &World, id: u64, name: &str) -> Found {
    let user = world.show_user(id);
    match name {
        // Bots have no `[bot]` here, other than in REST.
        "login" => value(world.login(id).trim_end_matches("[bot]")),
        "url" => shown(&user, "html_url"),
        "avatarUrl" => shown(&user, "avatar_url"),
        _ => Err(Missing::Unknown),
    }
}

pub(super) fn field(world: &World, id: u64, name: &str) -> Found {
    let user = world.show_user(id);
    match name {
        "id" => shown(&user, "node_id"),
        "databaseId" => shown(&user, "id"),
        "name" if user["type"] == "User" => shown(&user, "login"),
        "isViewer" => value(false),
        _ => of_actor(world, id, name),
    }
}
