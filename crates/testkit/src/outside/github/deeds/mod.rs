//! What can be done on GitHub, by people and by callers of its API alike. Everything that is done is told.

mod checks;
mod closing;
mod issues;
mod linking;
mod pulls;
mod reactions;
mod repositories;
mod reviews;

pub(crate) use pulls::Draft;
pub(crate) use reviews::Remark;
