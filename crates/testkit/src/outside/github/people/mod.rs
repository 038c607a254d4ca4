//! The people's side, as stories tell it: who opens, says, pushes, merges. What they do is delivered before they go on.

mod control;
mod door;
mod issue;
mod post;
mod pull;
mod pull_builder;
mod repository;

pub(crate) use control::control;
pub use issue::{CommentId, GitHubIssue, Said};
pub use pull::GitHubPull;
pub use pull_builder::NewPull;
pub use repository::GitHubRepository;
