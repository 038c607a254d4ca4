//! What a selection can be about.
#![expect(clippy::unnecessary_wraps, reason = "fields are the ends of functions that may know none")]

use std::collections::BTreeMap;

use serde_json::Value;

use crate::outside::github::state::{Check, Reaction, World};

#[derive(Debug, Clone)]
pub(super) enum Thing {
    Query,
    Mutation,
    /// What a mutation answers, under the names it has.
    Payload(&'static str, BTreeMap<&'static str, Out>),
    /// Somebody, by the few things that all who act have.
    Actor(u64),
    User(u64),
    Repository(u64),
    Issue(u64, u64),
    Pull(u64, u64),
    Comment(u64, u64, u64),
    Review(u64, u64, u64),
    ReviewComment(u64, u64, u64),
    Thread(u64, u64, u64),
    ReviewRequest(u64),
    Reaction(Reaction),
    Commit(u64, String),
    PullCommit(u64, String),
    /// A ref of a repository, by its whole name.
    Ref(u64, String),
    Rollup(u64, String),
    CheckRun(Check),
    StatusContext(Check),
    /// Something whose few fields are just values.
    Plain(&'static str, Value),
    /// One of several: nothing can be asked before it is said of which; `true` when it has an `id` anyhow.
    Either(Box<Thing>, bool),
    /// A list, and how it was asked for.
    Connection(Vec<Thing>, Value),
}

/// What a field is.
#[derive(Debug, Clone)]
pub(super) enum Out {
    Value(Value),
    Thing(Thing),
    Things(Vec<Thing>),
    Nothing,
}

/// Why a field is not there.
#[derive(Debug)]
pub(super) enum Missing {
    /// There is no such field.
    Unknown,
    /// There is no such thing, for this caller.
    NotFound(String),
    /// It cannot be asked, or not so.
    Wrong(&'static str, String),
}

pub(super) type Found = Result<Out, Missing>;

pub(super) fn value(value: impl Into<Value>) -> Found {
    Ok(Out::Value(value.into()))
}

pub(super) fn thing(thing: Thing) -> Found {
    Ok(Out::Thing(thing))
}

pub(super) fn maybe(found: Option<Thing>) -> Found {
    Ok(found.map_or(Out::Nothing, Out::Thing))
}

/// A list, of which the arguments take a part.
pub(super) fn list(things: impl IntoIterator<Item = Thing>, arguments: &Value) -> Found {
    thing(Thing::Connection(things.into_iter().collect(), arguments.clone()))
}

impl Thing {
    pub(super) fn kind(&self, world: &World) -> &'static str {
        match self {
            Self::Query => "Query",
            Self::Mutation => "Mutation",
            Self::Payload(kind, _) | Self::Plain(kind, _) => kind,
            Self::Actor(id) | Self::User(id) if world.users.get(id).is_some_and(|user| user.is_bot) => "Bot",
            Self::Actor(_) | Self::User(_) => "User",
            Self::Repository(_) => "Repository",
            Self::Issue(..) => "Issue",
            Self::Pull(..) => "PullRequest",
            Self::Comment(..) => "IssueComment",
            Self::Review(..) => "PullRequestReview",
            Self::ReviewComment(..) => "PullRequestReviewComment",
            Self::Thread(..) => "PullRequestReviewThread",
            Self::ReviewRequest(_) => "ReviewRequest",
            Self::Reaction(_) => "Reaction",
            Self::Commit(..) => "Commit",
            Self::PullCommit(..) => "PullRequestCommit",
            Self::Ref(..) => "Ref",
            Self::Rollup(..) => "StatusCheckRollup",
            Self::CheckRun(_) => "CheckRun",
            Self::StatusContext(_) => "StatusContext",
            Self::Either(inner, _) => inner.kind(world),
            Self::Connection(..) => "Connection",
        }
    }

    /// The thing as one of this kind. `None` when it is none.
    pub(super) fn narrowed(&self, kind: &str, world: &World) -> Option<Self> {
        const SHARED: [&str; 8] =
            ["Node", "Actor", "Comment", "Reactable", "Closable", "Labelable", "Lockable", "RepositoryNode"];
        let inner = match self {
            Self::Either(inner, _) => inner.as_ref(),
            other => other,
        };
        if inner.kind(world) == kind {
            return Some(if let Self::Actor(id) = inner { Self::User(*id) } else { inner.clone() });
        }
        SHARED.contains(&kind).then(|| inner.clone())
    }
}
