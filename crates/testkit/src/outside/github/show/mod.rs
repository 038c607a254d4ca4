//! Things as REST and the webhooks show them.

mod checks;
mod commits;
mod issue;
mod pull;
mod repository;
mod reviews;
mod user;

pub(crate) use user::REACTIONS;
