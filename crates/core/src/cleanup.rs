//! What cleanup and removal do with an environment: decided here, from facts, and nowhere else.
//!
//! [`judge`] speaks for automation (the timer, a close, making room) and [`may_remove`] for a person who asks. Both
//! refuse for the same reasons, so that a reason to keep someone's work is written once, in [`Refusal`].

mod limit;
mod refusal;

pub use limit::{Breakdown, Item, breakdown, limit_message};
pub use refusal::{Changes, Refusal};

use crate::environment::TrashedBecause;
use crate::id::Timestamp;
use crate::merged;
use crate::provider::{Condition, Facts};

/// What the configuration says about cleanup.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    /// Days without a message, commit, file change or run after which an environment is stale; 0 means never.
    pub stale_after_days: u32,
}

impl Default for Policy {
    fn default() -> Self {
        Self { stale_after_days: 14 }
    }
}

/// What Hedgerow itself knows about an environment: who uses it, how, and since when not.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "four facts that hold or not, each independent of the others")]
pub struct Usage {
    /// Conversations that refer to it, such as `github:acme/shop#42`, apart from the one that is asking or closing.
    pub conversations: Vec<String>,
    /// One of its conversations, whoever is asking, is on Telegram.
    pub telegram: bool,
    /// A run is active in it.
    pub running: bool,
    pub pinned: bool,
    pub adopted: bool,
    /// The last message or run.
    pub last_activity: Timestamp,
    /// Whether its work is in the base; `None` when nobody asked.
    pub verdict: Option<merged::Verdict>,
}

/// What a round of cleanup is looking for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Want {
    /// Only merged ones: `cleanup merged`, and making room.
    Merged,
    /// Only stale ones: `cleanup stale`.
    Stale,
    /// Merged or stale: the timer.
    Scheduled,
    /// The issue or pull request of this environment was closed.
    Closed,
}

/// What is to be done with an environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Into the trash.
    Remove(Because),
    Keep(Reason),
    /// Verifiably gone already: mark it destroyed and tidy git's registration of it.
    Forget,
    /// Its disk is away: mark it unreachable, touch nothing.
    Unreachable(String),
    /// Something else is in its place: park it as broken, touch nothing.
    Broken(String),
}

/// Why automation removes an environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Because {
    Merged(merged::Verdict),
    /// Nothing happened for so many days.
    Stale {
        days: u64,
    },
    Closed,
}

impl Because {
    pub const fn trashed(&self) -> TrashedBecause {
        match self {
            Self::Merged(_) => TrashedBecause::Merged,
            Self::Stale { .. } => TrashedBecause::Stale,
            Self::Closed => TrashedBecause::Closed,
        }
    }

    /// A short phrase for reports; `base` is what people call the base.
    pub fn phrase(&self, base: &str) -> String {
        match self {
            Self::Merged(verdict) => verdict.sentence(base),
            Self::Stale { days } => format!("stale: no activity for {}", count(*days, "day")),
            Self::Closed => "closed".to_owned(),
        }
    }
}

/// Why automation leaves an environment alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    /// A person would be refused too.
    Refused(Refusal),
    Adopted,
    Pinned,
    /// A Telegram conversation refers to it.
    Telegram,
    /// Its work is not in the base, or nobody could tell.
    NotMerged(merged::Verdict),
    /// It was used too lately, so many days ago.
    Active {
        days: u64,
    },
}

impl Reason {
    /// A short phrase for reports, such as `uncommitted changes` or `active 2 days ago`.
    pub fn phrase(&self) -> String {
        match self {
            Self::Refused(refusal) => refusal.phrase(),
            Self::Adopted => "adopted".to_owned(),
            Self::Pinned => "pinned".to_owned(),
            Self::Telegram => "used by a Telegram conversation".to_owned(),
            Self::NotMerged(verdict) => verdict.sentence("the base"),
            Self::Active { days: 0 } => "active today".to_owned(),
            Self::Active { days } => format!("active {} ago", count(*days, "day")),
        }
    }
}

/// What automation does with an environment.
///
/// Whether it is wanted at all is asked before what protects it, so that a report names a protection only where
/// that is what kept the environment.
pub fn judge(condition: &Condition, usage: &Usage, policy: &Policy, want: Want, now: Timestamp) -> Verdict {
    if usage.running {
        return Verdict::Keep(Reason::Refused(Refusal::Running));
    }
    let facts = match condition {
        Condition::Missing => return Verdict::Forget,
        Condition::Unreachable(why) => return Verdict::Unreachable(why.clone()),
        Condition::Foreign(why) => return Verdict::Broken(why.clone()),
        Condition::Unknown(why) => return Verdict::Keep(Reason::Refused(Refusal::Unknown(why.clone()))),
        Condition::Present(facts) => facts,
    };
    let because = match wanted(facts, usage, policy, want, now) {
        Ok(because) => because,
        Err(reason) => return Verdict::Keep(reason),
    };
    match protected(facts, usage) {
        Some(reason) => Verdict::Keep(reason),
        None => Verdict::Remove(because),
    }
}

/// Whether this round is about such an environment.
fn wanted(facts: &Facts, usage: &Usage, policy: &Policy, want: Want, now: Timestamp) -> Result<Because, Reason> {
    let merged = || match &usage.verdict {
        Some(verdict) if verdict.is_merged() => Ok(Because::Merged(verdict.clone())),
        Some(verdict) => Err(Reason::NotMerged(verdict.clone())),
        None => Err(Reason::NotMerged(merged::Verdict::Unknown("it was not looked at".to_owned()))),
    };
    let stale = || match stale_days(facts, usage, policy, now) {
        Ok(days) => Ok(Because::Stale { days }),
        Err(days) => Err(Reason::Active { days }),
    };
    match want {
        Want::Merged => merged(),
        Want::Stale => stale(),
        Want::Scheduled => merged().or_else(|_| stale()),
        Want::Closed if usage.conversations.is_empty() => Ok(Because::Closed),
        Want::Closed => Err(Reason::Refused(Refusal::UsedBy(usage.conversations.clone()))),
    }
}

/// What keeps automation from an environment that it would otherwise remove.
fn protected(facts: &Facts, usage: &Usage) -> Option<Reason> {
    if usage.adopted {
        return Some(Reason::Adopted);
    }
    if usage.pinned {
        return Some(Reason::Pinned);
    }
    if usage.telegram {
        return Some(Reason::Telegram);
    }
    Refusal::to_lose_work(facts).or_else(|| Refusal::to_break_lock(facts)).map(Reason::Refused)
}

/// Days since the last sign of life: `Ok` when that makes it stale, `Err` when not.
///
/// A sign of life in the future means that the clock went back; it counts as today.
fn stale_days(facts: &Facts, usage: &Usage, policy: &Policy, now: Timestamp) -> Result<u64, u64> {
    let signs = [Some(usage.last_activity), facts.last_commit_at, facts.last_change_at];
    let last = signs.into_iter().flatten().max().unwrap_or(usage.last_activity);
    let days = u64::try_from(now.seconds_since(last)).unwrap_or(0) / SECONDS_PER_DAY;
    let limit = u64::from(policy.stale_after_days);
    if limit > 0 && days >= limit { Ok(days) } else { Err(days) }
}

const SECONDS_PER_DAY: u64 = 24 * 60 * 60;

/// How a person's request to remove an environment is met.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Removal {
    /// Into the trash, from where `restore` brings it back.
    Trash,
    /// It is gone already; only our memory of it goes.
    Forget,
    /// Someone else made it: our reference goes, the folder stays.
    LetGo,
}

/// Whether an environment may be removed because a person asks.
///
/// `force` overrides what the trash makes good: other conversations, changes, a stopped operation, stranded
/// commits. It never overrides a run, an unclear condition, or a lock that someone else has set.
pub fn may_remove(condition: &Condition, usage: &Usage, force: bool) -> Result<Removal, Refusal> {
    if usage.running {
        return Err(Refusal::Running);
    }
    let facts = match condition {
        Condition::Missing => return Ok(Removal::Forget),
        Condition::Unreachable(why) => return Err(Refusal::Unreachable(why.clone())),
        Condition::Foreign(why) => return Err(Refusal::Foreign(why.clone())),
        Condition::Unknown(why) => return Err(Refusal::Unknown(why.clone())),
        Condition::Present(facts) => facts,
    };
    if !force && !usage.conversations.is_empty() {
        return Err(Refusal::UsedBy(usage.conversations.clone()));
    }
    if !force && usage.adopted {
        return Ok(Removal::LetGo);
    }
    let lost = Refusal::to_lose_work(facts).filter(|_| !force);
    match lost.or_else(|| Refusal::to_break_lock(facts)) {
        Some(refusal) => Err(refusal),
        None => Ok(Removal::Trash),
    }
}

/// `1 day`, `2 days`.
fn count(n: u64, noun: &str) -> String {
    if n == 1 { format!("1 {noun}") } else { format!("{n} {noun}s") }
}
