//! Looking for what was missed: while nobody listened, while there was no room, or because a delivery went astray.
//!
//! What is found is the same event, under the same key, as its delivery would have been. What was heard is not heard again.
//! Only what can be told for sure is looked for: what is edited later on, requests for reviews, reopenings and deleted
//! branches leave no trace that says what was meant, and in words that somebody else changed nobody's wish is certain.
//! What came with an issue from another repository was said there.

mod found;
mod gather;
mod origin;
mod redeliver;
mod watch;

use hedgerow_core::message::{Accepted, Inbox};
use hedgerow_core::platform::{PlatformError, PlatformKind};
use hedgerow_core::{RepositoryName, Timestamp};

use super::GitHub;
use super::heard::What;
use super::payload::Told;
use gather::Gathered;

pub use redeliver::redeliver_missed;
pub use watch::{Diary, Looked, keep_looking};

/// What a look came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CaughtUp {
    /// Handed in now.
    pub found: usize,
    /// Looked at, and heard before.
    pub known: usize,
    /// Everything up to here was looked at. Where there is too much at once, the next look goes on from here.
    pub until: Timestamp,
}

/// From when on something is looked for.
#[derive(Debug, Clone, Copy)]
pub struct Window {
    /// What is older is not for us, however late it is seen.
    pub oldest: Timestamp,
    /// Only what changed since then is looked at.
    pub since: Timestamp,
    pub now: Timestamp,
}

/// Hands in what happened in a repository and was not heard.
pub async fn catch_up(
    github: &GitHub,
    inbox: &dyn Inbox,
    repository: &RepositoryName,
    window: Window,
) -> Result<CaughtUp, PlatformError> {
    let Gathered { mut told, until, .. } = Box::pin(Gathered::within(github, repository, window)).await?;
    // In the order it happened: what is closed was talked about before.
    told.sort_by_key(|(at, _)| *at);
    let mut caught_up = CaughtUp { found: 0, known: 0, until };
    for (_, told) in told {
        if is_known(inbox, &told).await {
            caught_up.known += 1;
            continue;
        }
        if !is_meant(github, repository, &told, window).await? {
            continue;
        }
        let told = with_who_closed(github, repository, told).await?;
        let delivery = format!("found:{}", told.meaning);
        match inbox.accept(told.heard.raw(delivery, told.meaning, window.now)).await {
            Accepted::Queued(_) => caught_up.found += 1,
            Accepted::Duplicate(_) => caught_up.known += 1,
            Accepted::Busy => return Err(PlatformError::Transient("there is no room in the inbox".to_owned())),
        }
    }
    Ok(caught_up)
}

/// Whether it was delivered: as it is, or as it was before an edit.
async fn is_known(inbox: &dyn Inbox, told: &Told) -> bool {
    let about = told.unless_known.as_ref().unwrap_or(&told.meaning);
    inbox.knows(PlatformKind::Github, about).await
}

/// Whether who wrote the words asks with them, here and in our time.
async fn is_meant(
    github: &GitHub,
    repository: &RepositoryName,
    told: &Told,
    window: Window,
) -> Result<bool, PlatformError> {
    let What::Asked(asked) = &told.heard.what else { return Ok(true) };
    let is_meant = origin::of(github, repository, &asked.node_id).await?.is_some_and(|origin| origin.is_meant(window));
    if !is_meant {
        tracing::debug!(
            conversation = told.heard.conversation(),
            "what is there to find is old, was changed by somebody else, or came from another repository"
        );
    }
    Ok(is_meant)
}

/// Lists do not always say who closed something; the thing itself does.
async fn with_who_closed(github: &GitHub, repository: &RepositoryName, mut told: Told) -> Result<Told, PlatformError> {
    let is_told = !matches!(told.heard.what, What::Closed { .. }) || told.heard.sender.id != 0;
    if !is_told && let Some(person) = gather::who_closed(github, repository, told.heard.number).await? {
        told.heard.sender = person;
    }
    Ok(told)
}

#[cfg(test)]
mod tests;
