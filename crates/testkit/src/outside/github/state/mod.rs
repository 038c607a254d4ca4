//! What there is on the fake GitHub: people, repositories, what is said in them.

mod clock;
mod issue;
mod node;
mod people;
mod repository;
mod reviews;
mod world;

pub(crate) use clock::{read, written};
pub(crate) use issue::{Comment, Gone, Issue, Merge, Pull, Reaction};
pub(crate) use node::{Kind, Node};
pub use people::Role;
pub(crate) use people::Token;
pub(crate) use repository::{Check, Repository};
pub(crate) use reviews::{Review, ReviewComment, Thread};
pub(crate) use world::World;
