//! One turn of an assistant, driven to its end: what it says is written down and shown as it comes, its lease is kept, and
//! whatever is to end it does.

mod log;

use std::future::poll_fn;
use std::pin::Pin;
use std::time::{Duration, Instant};

use hedgerow_core::assistant::{Assistant, AssistantError, Outcome as Answer, Turn, Update, Updates};
use hedgerow_core::platform::{ConversationKey, Glimpse, Live, Platform};
use hedgerow_core::run::RunState;
use hedgerow_core::{Lease, RunId, SessionId};
use tokio::time::{sleep, sleep_until};

use crate::dispatch::{Desk, Stop};
pub(crate) use log::RunLog;

/// Most that is kept of what an assistant says before its answer.
const LONGEST_TEXT: usize = 256 * 1024;
/// Longest that a platform may take to show something.
const LONGEST_SHOW: Duration = Duration::from_millis(500);
/// Longest to wait for what an assistant started to be gone.
const LONGEST_END: Duration = Duration::from_secs(20);

/// How a turn ended.
#[derive(Debug)]
pub(crate) enum End {
    Answered(Answer),
    Failed(AssistantError),
    Stopped,
    /// It ran for so long.
    TooLong(Duration),
    /// It said nothing for so long.
    Silent(Duration),
    /// The server goes down.
    Shutdown,
    /// The lease could not be kept, so somebody else may be in the environment by now.
    LeaseLost,
}

impl End {
    pub(crate) const fn state(&self) -> RunState {
        match self {
            Self::Answered(_) => RunState::Done,
            Self::Stopped => RunState::Stopped,
            Self::Failed(_) | Self::TooLong(_) | Self::Silent(_) => RunState::Failed,
            Self::Shutdown | Self::LeaseLost => RunState::Interrupted,
        }
    }

    /// For the log, where the state does not say it.
    pub(crate) fn why(&self) -> Option<String> {
        match self {
            Self::Answered(_) | Self::Stopped => None,
            Self::Failed(error) => Some(error.to_string()),
            Self::TooLong(limit) => Some(format!("it ran for {} s", limit.as_secs())),
            Self::Silent(limit) => Some(format!("nothing was heard for {} s", limit.as_secs())),
            Self::Shutdown => Some("the server went down".to_owned()),
            Self::LeaseLost => Some("the lease could not be kept".to_owned()),
        }
    }

    /// Whether the session is of no more use to its assistant.
    pub(crate) const fn ends_session(&self) -> bool {
        matches!(self, Self::Failed(error) if error.forgets_session())
    }
}

/// What a turn left.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) end: End,
    /// What it said on the way.
    pub(crate) text: String,
}

/// A turn to be driven.
pub(crate) struct Drive<'a> {
    pub(crate) desk: &'a Desk,
    pub(crate) assistant: &'a dyn Assistant,
    pub(crate) lease: &'a Lease,
    /// The session that it is a turn of.
    pub(crate) session: SessionId,
    pub(crate) platform: &'a dyn Platform,
    pub(crate) to: &'a ConversationKey,
    pub(crate) timeout: Duration,
    pub(crate) idle_timeout: Duration,
}

impl Drive<'_> {
    /// Drives it to its end. When this returns nothing of it is at work any more.
    pub(crate) async fn turn(&self, turn: Turn, log: &mut RunLog) -> Ran {
        let run = turn.run;
        // What came before it took its time, and a lease that has run out by now is found out before anything begins.
        if !matches!(self.desk.engine.renew(self.lease).await, Ok(true)) {
            return Ran { end: End::LeaseLost, text: String::new() };
        }
        self.show(run, Glimpse::Started).await;
        let mut updates = self.assistant.run(self.lease, turn);
        let mut text = String::new();
        let end = self.follow(run, &mut updates, &mut text, log).await;
        drop(updates);
        match tokio::time::timeout(LONGEST_END, self.desk.assistants.gone(run)).await {
            // Of a turn that was cut short, too: the next may be elsewhere.
            Ok(Some(memory)) => drop(log.hear(self.session, Update::Memory(memory))),
            Ok(None) => {}
            Err(_) => {
                tracing::error!(%run, "what an assistant started is still at work");
                crate::dispatch::end_processes(run).await;
            }
        }
        self.show(run, Glimpse::Ended).await;
        Ran { end, text }
    }

    async fn follow(&self, run: RunId, updates: &mut Updates, text: &mut String, log: &mut RunLog) -> End {
        let mut ear = self.desk.stops.listen(run);
        // One that was asked for before there was an ear is found by the next look at the store.
        let too_long = sleep_until((Instant::now() + self.timeout).into());
        let lost = self.keep_lease();
        let (mut too_long, mut lost) = (std::pin::pin!(too_long), std::pin::pin!(lost));
        loop {
            let update = tokio::select! {
                biased;
                stop = ear.stopped() => return match stop {
                    Stop::Asked => End::Stopped,
                    Stop::Shutdown => End::Shutdown,
                },
                () = &mut lost => return End::LeaseLost,
                () = &mut too_long => return End::TooLong(self.timeout),
                () = sleep(self.idle_timeout) => return End::Silent(self.idle_timeout),
                update = next(updates) => update,
            };
            let update = match update {
                Some(Ok(Update::Finished(answer))) => return End::Answered(answer),
                Some(Ok(update)) => update,
                Some(Err(error)) => return End::Failed(error),
                None => return End::Failed(AssistantError::Failed("it ended without an answer".to_owned())),
            };
            if let Update::Text(piece) = &update
                && text.len() < LONGEST_TEXT
            {
                text.push_str(piece);
            }
            if let Some(glimpse) = log.hear(self.session, update) {
                self.show(run, glimpse).await;
            }
        }
    }

    /// A platform that does not answer misses it: while we wait here nobody keeps the lease or hears a stop.
    async fn show(&self, run: RunId, what: Glimpse) {
        let live = Live { run, what };
        if tokio::time::timeout(LONGEST_SHOW, self.platform.show(self.to, &live)).await.is_err() {
            tracing::debug!(%run, "a platform does not show what happens");
        }
    }

    /// Renews the lease for as long as it can. Returns while it is still ours, early enough to stop: a run whose lease has
    /// passed to somebody else must not touch anything any more.
    async fn keep_lease(&self) {
        let lease = self.desk.engine.settings().runs.lease;
        let mut good_until = Instant::now() + lease * 3 / 4;
        loop {
            let pause = (lease / 4).min(good_until.saturating_duration_since(Instant::now()));
            sleep(pause).await;
            let began = Instant::now();
            let left = good_until.saturating_duration_since(began);
            match tokio::time::timeout(left, self.desk.engine.renew(self.lease)).await {
                Ok(Ok(true)) => good_until = began + lease * 3 / 4,
                Ok(Ok(false)) => return,
                Ok(Err(error)) => {
                    tracing::warn!(%error, "a lease could not be renewed");
                    sleep(Duration::from_millis(500).min(left)).await;
                }
                Err(_) => {}
            }
            if Instant::now() >= good_until {
                return;
            }
        }
    }
}

async fn next(updates: &mut Updates) -> Option<Result<Update, AssistantError>> {
    poll_fn(|context| Pin::as_mut(updates).poll_next(context)).await
}
