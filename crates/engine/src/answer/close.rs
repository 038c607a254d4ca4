//! An issue or pull request came to its end, or back from it. Takes the same road as a message, so that order is kept.

use std::sync::Arc;
use std::time::{Duration, Instant};

use hedgerow_core::environment::Actor;
use hedgerow_core::message::Closed;
use hedgerow_core::provider::NoProgress;
use hedgerow_core::run::{MessageEnd, SessionEnd};
use hedgerow_core::{Environment, State};
use tokio::time::sleep;

use super::ending::write_end;
use crate::dispatch::Desk;
use crate::engine::{Asking, Request, SweptOutcome};
use crate::failure::{Failure, Outcome};
use crate::replies::{self, messages};
use crate::store::{Conversation, Delivered, NewReply};

/// How often to look whether a run has ended that another process drives.
const AGAIN: Duration = Duration::from_millis(250);
/// Longest to wait for that.
const PATIENCE: Duration = Duration::from_hours(24);

/// A closing whose turn it is.
pub(super) struct Closing {
    pub(super) desk: Arc<Desk>,
    pub(super) delivered: Delivered,
    pub(super) closed: Closed,
    pub(super) conversation: Conversation,
    pub(super) by: Actor,
}

impl Closing {
    pub(super) async fn tell(&self) -> Outcome<()> {
        let told = if self.closed.reopened { self.reopen().await } else { self.close().await };
        let words = match told {
            Ok(words) => words,
            // Another try would meet the same; who can do something about it reads why.
            Err(error @ Failure::User(_)) => Some(vec![replies::failure(&error, None)]),
            Err(error) => return Err(error),
        };
        let Some(words) = words else {
            // Going down: it waits for the next server.
            let store = self.desk.engine.store();
            store.put_back(self.delivered.id, &self.desk.holder, hedgerow_core::Timestamp::from_millis(0)).await?;
            return Ok(());
        };
        let reply = |words| NewReply { conversation: self.conversation.id, message: Some(self.delivered.id), words };
        write_end(&self.desk, self.delivered.id, MessageEnd::Answered, words.into_iter().map(reply).collect()).await
    }

    /// 1. The session ends. 2. Whoever works in the environment finishes. 3. The conversation lets go of it, and it goes to
    ///    the trash unless somebody else uses it or it holds work.
    ///
    /// `None` when the server goes down first.
    async fn close(&self) -> Outcome<Option<Vec<String>>> {
        let engine = &self.desk.engine;
        engine.store().end_session(self.conversation.id, SessionEnd::Closed, engine.now()).await?;
        let Some(environment) = self.environment().await? else { return Ok(Some(Vec::new())) };
        let deadline = Instant::now() + PATIENCE;
        let _turn = tokio::select! {
            () = self.desk.closes() => return Ok(None),
            turn = self.desk.turns.take(environment.id) => turn,
        };
        loop {
            let Some(environment) = engine.store().environment(environment.id).await? else {
                return Ok(Some(Vec::new()));
            };
            if engine.at_work_in(&environment).await?.is_none() || Instant::now() > deadline {
                let swept = engine.cleanup_on_close(&self.conversation.key, &environment, &self.by).await?;
                if !environment.state.is_live() {
                    // Told late, or told again: that was said before.
                    return Ok(Some(Vec::new()));
                }
                // Somebody may have come in between our looking and our removing.
                let came = swept.outcome == SweptOutcome::Kept && engine.at_work_in(&environment).await?.is_some();
                if !came || Instant::now() > deadline {
                    return Ok(Some(messages::closed(&swept).into_iter().collect()));
                }
            }
            tokio::select! {
                () = self.desk.closes() => return Ok(None),
                () = sleep(AGAIN) => {}
            }
        }
    }

    /// Brings its environment back from the trash, if it is there.
    async fn reopen(&self) -> Outcome<Option<Vec<String>>> {
        let engine = &self.desk.engine;
        let Some(work) = self.closed.hints.work.clone() else { return Ok(Some(Vec::new())) };
        for codebase in self.codebases().await? {
            let trashed = engine.trash(Some(&codebase)).await?;
            if !trashed.iter().any(|environment| environment.holds(&work)) {
                continue;
            }
            let conversation =
                Asking { conversation: self.conversation.id, environment: self.conversation.environment };
            let request = Request {
                codebase,
                work,
                hints: self.closed.hints.clone(),
                branch: None,
                conversation: Some(conversation),
                by: self.by.clone(),
                reopened: true,
            };
            let resolved = engine.resolve(&request, &NoProgress).await?;
            let words = replies::introduction(&resolved, &request.hints, None, engine.now());
            return Ok(Some(vec![words]));
        }
        Ok(Some(Vec::new()))
    }

    /// The environment the conversation refers to, else the one of the work that was closed.
    async fn environment(&self) -> Outcome<Option<Environment>> {
        let store = self.desk.engine.store();
        if let Some(id) = self.conversation.environment {
            return Ok(store.environment(id).await?.filter(|environment| environment.state != State::Destroyed));
        }
        let Some(work) = &self.closed.hints.work else { return Ok(None) };
        for codebase in self.codebases().await? {
            if let Some(environment) = store.live_by_work(codebase.id, work).await? {
                return Ok(Some(environment));
            }
        }
        Ok(None)
    }

    /// The conversation's codebase. A conversation that never talked has none, unless there is only one.
    async fn codebases(&self) -> Outcome<Vec<hedgerow_core::Codebase>> {
        let mut all = self.desk.engine.codebases().await?;
        match self.conversation.codebase {
            Some(id) => all.retain(|codebase| codebase.id == id),
            None if all.len() > 1 => all.clear(),
            None => {}
        }
        Ok(all)
    }
}
