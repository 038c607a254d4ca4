//! The last word on a message: exactly one, whatever happened on the way.

use std::sync::Arc;
use std::time::{Duration, Instant};

use hedgerow_core::run::{MessageEnd, RunState, SessionEnd};
use hedgerow_core::{EnvironmentId, MessageId, RunId, Timestamp};
use tokio::task::JoinSet;
use tokio::time::timeout;
use tracing::Instrument as _;

use super::marking::Marks;
use super::prepare::{Prepared, prepare};
use super::{Story, Work};
use crate::checkpoints::AFTER_A_TURN;
use crate::dispatch::{Desk, end_processes, later};
use crate::failure::{Failure, Outcome};
use crate::outbox;
use crate::replies::{self, messages};
use crate::run::{End, Ran};
use crate::store::{Conclusion, Delivered, NewReply, RunEnd, Session, SessionNews, StoreError};

/// A message that was taken so often without ever being begun makes whoever takes it fail.
const MOST_ATTEMPTS: u64 = 10;
/// Longest pause before a message is tried again, in seconds.
const LONGEST_PAUSE: u64 = 300;
/// Longest that a platform may not be able to prepare a delivery, in seconds.
const LONGEST_WAIT: u64 = 24 * 60 * 60;
/// Longest that the last word waits for the store, in seconds.
const LONGEST_ABSENCE: u64 = 10 * 60;
/// Longest pause between two looks whether it is back.
const LONGEST_LOOK: Duration = Duration::from_secs(5);
/// Most that is kept of an answer for the session that comes after.
const CONCLUSION: usize = 2000;

/// How the story of a message ends.
pub(crate) enum Ending {
    Words(Box<Last>),
    /// It was not begun, and waits for the next server.
    PutBack,
    /// Somebody took it over; the last word is theirs.
    SomebodyElses,
    /// The last word is written.
    Concluded,
}

/// The last word, and what is written with it.
pub(crate) struct Last {
    words: String,
    end: MessageEnd,
    run: Option<RunEnd>,
    fence: Option<(EnvironmentId, u64)>,
    session: Option<SessionNews>,
}

impl Ending {
    pub(super) fn answered(words: String) -> Self {
        Self::Words(Box::new(Last { words, end: MessageEnd::Answered, run: None, fence: None, session: None }))
    }
}

impl Last {
    /// Said when the answer must not be: the lease it was made under is gone.
    fn without_lease(run: Option<RunEnd>) -> Self {
        let run = run.map(|end| RunEnd { state: RunState::Interrupted, why: End::LeaseLost.why(), ..end });
        Self { words: messages::lease_lost(), end: MessageEnd::Interrupted, run, fence: None, session: None }
    }
}

/// What its author reads of a failure; the log has the rest.
pub(super) fn failed(failure: &Failure, run: Option<RunId>) -> Ending {
    if let Failure::Internal(error) = failure {
        tracing::error!(?error, "a message could not be answered");
    }
    let words = replies::failure(failure, run);
    let run = run.map(|run| RunEnd { run, state: RunState::Failed, why: Some(failure.to_string()) });
    Ending::Words(Box::new(Last { words, end: MessageEnd::Failed, run, fence: None, session: None }))
}

/// Deals with a message that was taken, to its last word or back into the queue.
pub(crate) async fn deal_with(desk: Arc<Desk>, delivered: Delivered) {
    let span = tracing::info_span!("message", id = %delivered.id, platform = %delivered.raw.platform);
    // A task of its own, so that a panic is its own; in a set, so that it goes when whoever waits for it does.
    let mut dealing = JoinSet::new();
    dealing.spawn(deal(Arc::clone(&desk), delivered.clone()).instrument(span.clone()));
    let broke = match dealing.join_next().await {
        Some(Ok(Ok(()))) | None => None,
        Some(Ok(Err(error))) => Some(error),
        Some(Err(panic)) => Some(Failure::Internal(anyhow::Error::new(panic))),
    };
    if let Some(error) = broke {
        give_up(&desk, &delivered, &error).instrument(span).await;
    }
    desk.wake_replies.notify_one();
    desk.wake_messages.notify_one();
}

async fn deal(desk: Arc<Desk>, delivered: Delivered) -> Outcome<()> {
    if delivered.attempts > MOST_ATTEMPTS {
        let error = anyhow::anyhow!("it was tried {} times without coming to anything", delivered.attempts - 1);
        return Err(error.into());
    }
    match prepare(&desk, &delivered).await? {
        Prepared::Nothing => write_end(&desk, delivered.id, MessageEnd::Ignored, Vec::new()).await,
        Prepared::Ended => Ok(()),
        Prepared::Later(why) => prepare_later(&desk, &delivered, &why).await,
        Prepared::Closed(closing) => closing.tell().await,
        Prepared::Said(story) => {
            let ending = match story.tell().await {
                Ok(ending) => ending,
                Err(error) => failed(&error, None),
            };
            story.conclude(ending).await
        }
    }
}

/// The message could not even be given a proper end. If it was not begun it waits for another try; otherwise its author
/// is told as much as can be told. When not even that can be written, it is left to whoever looks for what nobody is at.
async fn give_up(desk: &Desk, delivered: &Delivered, error: &Failure) {
    tracing::error!(?error, "a message could not be dealt with");
    if let Err(error) = settle(desk, delivered, error).await {
        tracing::error!(?error, "what became of a message could not be written down yet");
    }
}

async fn settle(desk: &Desk, delivered: &Delivered, error: &Failure) -> Outcome<()> {
    let store = desk.engine.store();
    // Somebody else's by now when it is not there.
    let Some(row) = store.message(delivered.id).await? else { return Ok(()) };
    if row.begun_at.is_none() && delivered.attempts <= MOST_ATTEMPTS {
        return try_again(desk, delivered).await;
    }
    let run = store.run_of(delivered.id).await?.map(|run| run.id);
    let words = replies::failure(error, run);
    let run = run.map(|run| RunEnd { run, state: RunState::Failed, why: Some(error.to_string()) });
    conclude(desk, &row, words, MessageEnd::Failed, run).await
}

/// Back into the queue, later each time.
async fn try_again(desk: &Desk, delivered: &Delivered) -> Outcome<()> {
    let pause = 1_u64.checked_shl(u32::try_from(delivered.attempts.min(20)).unwrap_or(20)).unwrap_or(LONGEST_PAUSE);
    let not_before = later(desk.engine.store_now().await?, Duration::from_secs(pause.min(LONGEST_PAUSE)));
    desk.engine.store().put_back_tried(delivered.id, &desk.holder, not_before).await?;
    Ok(())
}

/// The platform does not answer. It may be away for hours, so the message is patient: it waits half as long again as it
/// has waited so far, and is given up after a day, when nobody expects its answer.
async fn prepare_later(desk: &Desk, delivered: &Delivered, why: &str) -> Outcome<()> {
    let waited = desk.engine.now().seconds_since(delivered.raw.received_at).max(0).unsigned_abs();
    if waited > LONGEST_WAIT {
        tracing::error!(%why, "a delivery could not be prepared for a day and is given up");
        return write_end(desk, delivered.id, MessageEnd::Failed, Vec::new()).await;
    }
    tracing::warn!(%why, "a delivery is prepared again later");
    let pause = Duration::from_secs((waited / 2).clamp(1, LONGEST_PAUSE));
    let not_before = later(desk.engine.store_now().await?, pause);
    desk.engine.store().put_back(delivered.id, &desk.holder, not_before).await?;
    Ok(())
}

/// What a dispatcher that is gone had taken, now ours: what it had not begun waits again, what it had begun is told to be
/// interrupted and is not done again.
pub(crate) async fn after_a_death(desk: &Desk, delivered: Delivered) -> Outcome<()> {
    let store = desk.engine.store();
    if delivered.begun_at.is_none() {
        store.put_back_tried(delivered.id, &desk.holder, Timestamp::from_millis(0)).await?;
        return Ok(());
    }
    let run = store.run_of(delivered.id).await?;
    if let Some(run) = &run {
        end_processes(run.id).await;
    }
    let environment = match run.as_ref().and_then(|run| run.environment) {
        Some(id) => store.environment(id).await?,
        None => None,
    };
    let mut found = Vec::new();
    if let (Some(environment), Some(run)) = (&environment, &run)
        // Whoever has it now has looked before they began.
        && let Ok(held) = desk.engine.lease(environment).await
    {
        found = desk.engine.spring_left(run.id, &run.author).await;
        desk.engine.release(held).await?;
    }
    if let (Some(environment), Some(run)) = (&environment, &run)
        // So that `/undo` takes back this turn and not the one before.
        && let Err(error) = desk.engine.checkpoint(environment, Some(AFTER_A_TURN), &run.author).await
    {
        tracing::warn!(environment = %environment.id, %error, "a checkpoint could not be made");
    }
    let words = messages::interrupted(run.is_some(), environment.as_ref(), delivered.said.as_deref());
    let words = replies::all_overstepped(&found).into_iter().chain([words]).collect::<Vec<_>>().join("\n\n");
    tracing::warn!(id = %delivered.id, "a message was interrupted");
    let why = Some("the server stopped in the middle of it".to_owned());
    let run = run.map(|run| RunEnd { run: run.id, state: RunState::Interrupted, why });
    conclude(desk, &delivered, words, MessageEnd::Interrupted, run).await
}

/// The last word of somebody who is not in the story.
async fn conclude(
    desk: &Desk,
    delivered: &Delivered,
    words: String,
    end: MessageEnd,
    run: Option<RunEnd>,
) -> Outcome<()> {
    let message = delivered.id;
    let replies = delivered.conversation.map(|conversation| NewReply { conversation, message: Some(message), words });
    let replies = replies.into_iter().collect();
    let conclusion = Conclusion { message, holder: &desk.holder, end, replies, run, fence: None, session: None };
    let is_written = desk.engine.store().conclude(&conclusion, desk.engine.now()).await?;
    if is_written && let Some(platform) = desk.platform(delivered.raw.platform) {
        Marks::of(platform, delivered.handle.as_deref()).ended(end);
    }
    Ok(())
}

/// The end of something that is nobody's message.
pub(super) async fn write_end(desk: &Desk, message: MessageId, end: MessageEnd, replies: Vec<NewReply>) -> Outcome<()> {
    let conclusion = Conclusion { message, holder: &desk.holder, end, replies, run: None, fence: None, session: None };
    desk.engine.store().conclude(&conclusion, desk.engine.now()).await?;
    Ok(())
}

impl Story {
    /// Writes the last word down, in as many parts as the platform needs.
    pub(super) async fn conclude(&self, ending: Ending) -> Outcome<()> {
        let last = match ending {
            Ending::Words(last) => *last,
            Ending::PutBack => {
                let store = self.desk.engine.store();
                store.put_back(self.delivered.id, &self.desk.holder, Timestamp::from_millis(0)).await?;
                return Ok(());
            }
            Ending::SomebodyElses | Ending::Concluded => return Ok(()),
        };
        let run = last.run.clone();
        let is_fenced = last.fence.is_some();
        let mut written = self.write_patiently(last).await?;
        if written.is_none() && is_fenced {
            // The environment passed to somebody else in the last moment, so the answer is about what is no longer so.
            written = self.write_patiently(Last::without_lease(run)).await?;
        }
        match written {
            Some(end) => self.marks.ended(end),
            None => tracing::warn!("a message was taken over; its last word is somebody else's"),
        }
        self.desk.wake_replies.notify_one();
        Ok(())
    }

    /// How the message ended; `None` when its end is somebody else's by now. A store that is away for a moment does not cost
    /// the answer: what was done for it is not done again. Whoever goes down leaves it.
    async fn write_patiently(&self, last: Last) -> Outcome<Option<MessageEnd>> {
        let deadline = Instant::now() + Duration::from_secs(LONGEST_ABSENCE);
        let conclusion = self.conclusion(last);
        let mut pause = Duration::from_millis(100);
        loop {
            let error = match self.desk.engine.store().conclude(&conclusion, self.desk.engine.now()).await {
                Ok(is_written) => return Ok(is_written.then_some(conclusion.end)),
                Err(error @ StoreError::Taken(_)) => return Err(error.into()),
                Err(error) => error,
            };
            if self.desk.is_closing() || Instant::now() > deadline {
                return Err(error.into());
            }
            tracing::warn!(%error, "the last word on a message cannot be written down yet");
            let _ = timeout(pause, self.desk.closes()).await;
            pause = (pause * 2).min(LONGEST_LOOK);
        }
    }

    fn conclusion(&self, last: Last) -> Conclusion<'_> {
        let mut parts = outbox::parts(self.platform.as_ref(), &last.words);
        if parts.is_empty() {
            parts.push(messages::nothing_said());
        }
        Conclusion {
            message: self.delivered.id,
            holder: &self.desk.holder,
            end: last.end,
            replies: parts.into_iter().map(|part| self.reply(part)).collect(),
            run: last.run,
            fence: last.fence,
            session: last.session,
        }
    }
}

/// The last word on a turn.
pub(super) fn ended(
    run: RunId,
    work: &Work,
    session: &Session,
    ran: &Ran,
    notes: Vec<String>,
    granted: Option<String>,
) -> Ending {
    let state = ran.end.state();
    let end = match state {
        RunState::Done | RunState::Stopped | RunState::Running => MessageEnd::Answered,
        RunState::Failed => MessageEnd::Failed,
        RunState::Interrupted => MessageEnd::Interrupted,
    };
    let lease = work.ground.lease();
    let environment = work.ground.environment();
    let fence = environment.map(|environment| (environment.id, lease.epoch()));
    // Without the lease it is nobody's word about the environment, only ours about the run.
    let fence = fence.filter(|_| !matches!(ran.end, End::LeaseLost));
    // A session that goes no further concludes with what it said last.
    let is_over = ran.end.ends_session();
    let parting = Some(&ran.text).filter(|text| is_over && !text.trim().is_empty());
    let news = SessionNews {
        session: session.id,
        assistant_session: answer(&ran.end).and_then(|answer| answer.session.clone()),
        conclusion: answer(&ran.end).map(|answer| &answer.answer).or(parting).map(|text| clip(text)),
        last_command: work.prompt.template.clone(),
        ended: is_over.then_some(SessionEnd::Unknown),
    };
    let mut paragraphs = notes;
    // A turn that only had a wish has said enough.
    let is_all_said = granted.is_some() && answer(&ran.end).is_some_and(|answer| answer.answer.trim().is_empty());
    if !is_all_said {
        paragraphs.extend(messages::ended(ran, environment, work.assistant.name()));
    }
    paragraphs.extend(granted);
    let words = paragraphs.join("\n\n");
    Ending::Words(Box::new(Last {
        words,
        end,
        run: Some(RunEnd { run, state, why: ran.end.why() }),
        fence,
        session: Some(news),
    }))
}

const fn answer(end: &End) -> Option<&hedgerow_core::assistant::Outcome> {
    match end {
        End::Answered(answer) => Some(answer),
        _ => None,
    }
}

/// The end of a long answer is where it concludes.
fn clip(text: &str) -> String {
    let skip = text.chars().count().saturating_sub(CONCLUSION);
    text.chars().skip(skip).collect()
}
