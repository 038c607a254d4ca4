//! What we say on GitHub: one comment for an answer, shown before as a live comment when the run takes a while, and reactions.
//!
//! Our comments begin with [`markers`], so that one that arrived without our knowing, and one that a dead process left, are
//! found again.

mod live;
mod markers;
mod pen;
mod sheet;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use hedgerow_core::RepositoryName;
use hedgerow_core::platform::{ConversationKey, Glimpse, Live, Mark, PlatformError, Reply};
use serde::de::IgnoredAny;
use serde_json::json;

use super::GitHub;
use super::client::CallError;
use super::format::formatted;
use super::handle::Handle;
use live::{Follower, Runs, Slot, Tempo};
use pen::{Own, Pen};

/// Longest for a reaction.
const LONGEST_REACTION: Duration = Duration::from_secs(10);

const REACT: &str = "mutation($subject: ID!, $content: ReactionContent!) {
  addReaction(input: { subjectId: $subject, content: $content }) { clientMutationId }
}";

/// What is being said just now.
#[derive(Debug, Default)]
pub(super) struct Talk {
    runs: Runs,
    tempo: Tempo,
}

impl GitHub {
    /// Says something: as the run's live comment if it has one, else as a new comment.
    pub(super) async fn comment(&self, to: &ConversationKey, reply: &Reply) -> Result<(), PlatformError> {
        let handle = reply.handle.as_deref().and_then(Handle::read);
        let pen = self.pen(to).map(|pen| Pen { thread: handle.and_then(|handle| thread_of(&handle, &pen)), ..pen })?;
        let said = match reply.run.and_then(|run| self.talk.runs.slot(run)) {
            Some(slot) => {
                let mut slot = slot.lock().await;
                slot.is_closed = true;
                in_place_of_live(&pen, &mut slot, reply).await
            }
            None => anew(&pen, reply, reply.run.is_some() || reply.is_repeat).await,
        };
        said.map_err(|error| pen.explain(error))
    }

    #[expect(clippy::unused_async, reason = "a platform may take its time to show something; this one never does")]
    pub(super) async fn show_live(&self, to: &ConversationKey, live: &Live) {
        let runs = &self.talk.runs;
        if live.what != Glimpse::Started {
            return runs.change(live.run, |sheet| sheet.see(&live.what));
        }
        let Ok(pen) = self.pen(to) else { return };
        let Some((sheet, slot)) = runs.begin(live.run) else { return };
        let follower = Follower {
            run: live.run,
            conversation: to.id.clone(),
            pen,
            threads: Arc::clone(&runs.threads),
            sheet,
            slot,
            tempo: self.talk.tempo,
            bot_name: self.config.bot_name.clone(),
        };
        // It ends with the run: see there.
        tokio::spawn(follower.follow());
    }

    pub(super) async fn react(&self, handle: &str, mark: Mark) {
        let Some(handle) = Handle::read(handle) else { return };
        let conversation = format!("{}#{}", handle.repository, handle.number);
        let content = match mark {
            Mark::Seen => "EYES",
            Mark::Working => "ROCKET",
            Mark::Done => "THUMBS_UP",
            Mark::Failed => "CONFUSED",
        };
        match mark {
            Mark::Seen => {}
            Mark::Working => self.talk.runs.enter_thread(conversation, handle.review_comment),
            Mark::Done | Mark::Failed => self.talk.runs.leave_thread(&conversation, handle.review_comment),
        }
        let Ok(repository) = handle.repository.parse::<RepositoryName>() else { return };
        let variables = json!({ "subject": handle.node, "content": content });
        let call = self.client.graphql::<IgnoredAny>(&repository, REACT, variables);
        match tokio::time::timeout(LONGEST_REACTION, Box::pin(call)).await {
            Ok(Ok(_)) => {}
            Ok(Err(error)) => tracing::debug!(%repository, content, %error, "no reaction"),
            Err(_) => tracing::debug!(%repository, content, "no reaction in time"),
        }
    }

    /// To write in a conversation, such as `acme/shop#42`.
    fn pen(&self, to: &ConversationKey) -> Result<Pen, PlatformError> {
        let place = to.id.rsplit_once('#').and_then(|(repository, number)| {
            Some((repository.parse::<RepositoryName>().ok()?, number.parse::<u64>().ok()?))
        });
        let Some((repository, number)) = place else {
            return Err(PlatformError::Refused(format!("`{}` is no issue and no pull request of GitHub", to.id)));
        };
        Ok(Pen { client: Arc::clone(&self.client), repository, number, thread: None })
    }
}

/// The thread to answer in, if the message stood in one of this very pull request.
fn thread_of(handle: &Handle, pen: &Pen) -> Option<u64> {
    let is_here = handle.number == pen.number
        && handle.repository.parse().is_ok_and(|name: RepositoryName| name == pen.repository);
    handle.review_comment.filter(|_| is_here)
}

/// Says the last word of a run that this process drove from its start.
async fn in_place_of_live(pen: &Pen, slot: &mut Slot, reply: &Reply) -> Result<(), CallError> {
    let is_ours = slot.reply.as_ref().is_none_or(|key| *key == reply.idempotency_key);
    // Of an answer in several parts the first takes the place.
    if !is_ours {
        return anew(pen, reply, reply.is_repeat).await;
    }
    if slot.is_unsure {
        anew(pen, reply, true).await?;
    } else if let Some(comment) = slot.comment {
        // To do it twice is to do it once, so nobody asks whether it was done.
        match pen.rewrite(comment, &body(reply)).await {
            Err(CallError::NotFound(_)) => {
                slot.comment = None;
                anew(pen, reply, reply.is_repeat).await?;
            }
            other => other?,
        }
    } else {
        anew(pen, reply, reply.is_repeat).await?;
    }
    slot.reply = Some(reply.idempotency_key.clone());
    Ok(())
}

/// Says something of which only GitHub may know whether it is there already. `look`: see there first.
async fn anew(pen: &Pen, reply: &Reply, look: bool) -> Result<(), CallError> {
    let own = if look { own(pen).await? } else { Vec::new() };
    if own.iter().any(|own| own.marks.is_reply(&reply.idempotency_key)) {
        return Ok(());
    }
    let is_live = |own: &&Own| reply.run.is_some_and(|run| own.marks.is_live(run));
    if let Some(live) = own.iter().find(is_live) {
        match pen.rewrite(live.written, &body(reply)).await {
            Err(CallError::NotFound(_)) => {}
            other => return other,
        }
    }
    pen.write(&body(reply)).await.map(drop)
}

/// Our comments there. As long as nobody knows them nothing is said: it could be there already.
async fn own(pen: &Pen) -> Result<Vec<Own>, CallError> {
    let error = match pen.own().await {
        Err(CallError::NotFound(what)) => {
            // What is gone or has moved is not tried again.
            pen.require_place().await?;
            what
        }
        Err(error) if !error.is_transient() => error.to_string(),
        other => return other,
    };
    Err(CallError::transient(format!("it is not known whether it was said before: {error}")))
}

/// What a reply is as a comment.
fn body(reply: &Reply) -> String {
    let run = reply.run.map(markers::of_run).unwrap_or_default();
    format!("{run}{}{}", markers::of_reply(&reply.idempotency_key), formatted(&reply.text))
}
