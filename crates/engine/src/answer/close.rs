//! An issue or pull request came to its end, or back from it. Takes the same road as a message, so that order is kept.
//!
//! What is told may be late, repeated or out of order, so the forge is asked how it stands now, just before anything is
//! done (`standing`).

use std::sync::Arc;
use std::time::{Duration, Instant};

use hedgerow_core::environment::Actor;
use hedgerow_core::message::Closed;
use hedgerow_core::platform::ConversationKey;
use hedgerow_core::provider::NoProgress;
use hedgerow_core::run::{MessageEnd, SessionEnd};
use hedgerow_core::{Codebase, Environment, State, Work};
use tokio::time::sleep;

use super::ending::write_end;
use crate::dispatch::Desk;
use crate::engine::{Asking, Request, Swept, SweptOutcome};
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

/// What became of an environment at the end of what it was for.
enum Left {
    /// And what is said about it.
    Yes(Option<String>),
    /// It was reopened meanwhile.
    NotSo,
    GoingDown,
}

/// Whether anybody ever worked on what was closed. Most issues of a forge are none of our business.
pub(super) async fn concerns_us(desk: &Desk, closed: &Closed) -> Outcome<bool> {
    let engine = &desk.engine;
    if engine.store().known_conversation(&closed.conversation).await?.is_some() {
        return Ok(true);
    }
    let works = works(closed);
    let mut holding = Vec::new();
    for codebase in engine.codebases().await? {
        let live = engine.store().live(codebase.id).await?;
        let trashed = engine.store().trashed(codebase.id).await?;
        if live.iter().chain(&trashed).any(|environment| works.iter().any(|work| environment.holds(work))) {
            holding.push(codebase.id);
        }
    }
    // Which clone a repository is may have to be asked of its forge: only when one of them is concerned.
    if holding.is_empty() {
        return Ok(false);
    }
    Ok(codebases(desk, closed, None).await?.iter().any(|codebase| holding.contains(&codebase.id)))
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

    /// 1. Whoever works in the environment finishes. 2. The session ends. 3. The conversation lets go of it, and it goes to
    ///    the trash unless somebody else uses it or it holds work.
    ///
    /// `None` when the server goes down first.
    async fn close(&self) -> Outcome<Option<Vec<String>>> {
        let environments = self.environments().await?;
        let mut words = Vec::new();
        for environment in &environments {
            match self.leave(environment).await? {
                Left::Yes(said) => words.extend(said),
                Left::NotSo => return Ok(Some(words)),
                Left::GoingDown => return Ok(None),
            }
        }
        if environments.is_empty() && self.closed.is_allowed && self.has_session().await? {
            match self.is_still_so().await {
                Some(true) => self.end_session().await?,
                Some(false) => {}
                None => return Ok(None),
            }
        }
        Ok(Some(words))
    }

    async fn leave(&self, environment: &Environment) -> Outcome<Left> {
        let engine = &self.desk.engine;
        let deadline = Instant::now() + PATIENCE;
        let _turn = tokio::select! {
            () = self.desk.closes() => return Ok(Left::GoingDown),
            turn = self.desk.turns.take(environment.id) => turn,
        };
        loop {
            let Some(environment) = engine.store().environment(environment.id).await? else {
                return Ok(Left::Yes(None));
            };
            if engine.at_work_in(&environment).await?.is_none() || Instant::now() > deadline {
                match self.is_still_so().await {
                    Some(true) => self.end_session().await?,
                    Some(false) => return Ok(Left::NotSo),
                    None => return Ok(Left::GoingDown),
                }
                let Some(swept) = self.let_go(&environment).await? else { return Ok(Left::GoingDown) };
                if !environment.state.is_live() {
                    // Told late, or told again: that was said before.
                    return Ok(Left::Yes(None));
                }
                // Somebody may have come in between our looking and our removing.
                let came = swept.outcome == SweptOutcome::Kept && engine.at_work_in(&environment).await?.is_some();
                if !came || Instant::now() > deadline {
                    return Ok(Left::Yes(messages::closed(&swept)));
                }
            }
            tokio::select! {
                () = self.desk.closes() => return Ok(Left::GoingDown),
                () = sleep(AGAIN) => {}
            }
        }
    }

    /// What the conversation was called when its repository had another name ends with it.
    async fn let_go_of_former_names(&self, environment: &Environment) -> Outcome<()> {
        let (engine, key) = (&self.desk.engine, &self.conversation.key);
        let Some(forge) = engine.settings().forges.of(key.platform) else { return Ok(()) };
        let now = |other: &ConversationKey| {
            let (name, number) = other.id.split_once('#')?;
            Some((forge.repository(&forge.clone_url(&name.parse().ok()?))?, number.to_owned()))
        };
        for other in engine.store().conversations_of(environment.id).await? {
            if other != *key && other.platform == key.platform && now(&other).is_some() && now(&other) == now(key) {
                engine.store().let_go_of(environment.id, Some(&other), engine.now()).await?;
            }
        }
        Ok(())
    }

    /// `None` when the server goes down first.
    async fn let_go(&self, environment: &Environment) -> Outcome<Option<Swept>> {
        let (engine, key) = (&self.desk.engine, &self.conversation.key);
        self.let_go_of_former_names(environment).await?;
        let codebase = engine.codebase_of(environment).await?;
        if let Some(hosted) = engine.settings().forges.of_codebase(&codebase)
            && environment.state.is_live()
        {
            if self.record(environment, &hosted).await?.is_none() {
                return Ok(None);
            }
            let others = engine.store().conversations_of(environment.id).await?;
            if !others.iter().any(|other| other != key) {
                let Some(open) = self.open_pull_request(environment, &hosted).await else { return Ok(None) };
                if let Some(because) = open {
                    return engine.keep_on_close(key, environment, because).await.map(Some);
                }
            }
        }
        engine.cleanup_on_close(key, environment, &self.by).await.map(Some)
    }

    async fn has_session(&self) -> Outcome<bool> {
        Ok(self.desk.engine.store().active_session(self.conversation.id).await?.is_some())
    }

    async fn end_session(&self) -> Outcome<()> {
        let engine = &self.desk.engine;
        engine.store().end_session(self.conversation.id, SessionEnd::Closed, engine.now()).await?;
        Ok(())
    }

    /// Brings its environment back from the trash, if it is there. `None` when the server goes down first.
    async fn reopen(&self) -> Outcome<Option<Vec<String>>> {
        let engine = &self.desk.engine;
        let Some(work) = self.closed.hints.work.clone() else { return Ok(Some(Vec::new())) };
        for codebase in codebases(&self.desk, &self.closed, Some(&self.conversation)).await? {
            let trashed = engine.trash(Some(&codebase)).await?;
            if !trashed.iter().any(|environment| environment.holds(&work) && self.closed.is_allowed) {
                continue;
            }
            match self.is_still_so().await {
                Some(true) => {}
                Some(false) => return Ok(Some(Vec::new())),
                None => return Ok(None),
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

    /// The environment the conversation refers to, and those of the work that was closed.
    async fn environments(&self) -> Outcome<Vec<Environment>> {
        let store = self.desk.engine.store();
        let mut found = Vec::new();
        if let Some(id) = self.conversation.environment {
            found.extend(store.environment(id).await?.filter(|environment| environment.state != State::Destroyed));
        }
        for codebase in codebases(&self.desk, &self.closed, Some(&self.conversation)).await? {
            for work in works(&self.closed) {
                let known = store.live_by_work(codebase.id, &work).await?;
                found.extend(known.filter(|known| found.iter().all(|other| other.id != known.id)));
            }
        }
        found.retain(|environment| self.may_touch(environment));
        Ok(found)
    }

    /// Who may not ask for things lets go of nothing but what a fork brought.
    fn may_touch(&self, environment: &Environment) -> bool {
        self.closed.is_allowed || environment.is_fork
    }
}

/// What was closed. Reviewing a pull request is a work of its own, and ends with it.
fn works(closed: &Closed) -> Vec<Work> {
    match &closed.hints.work {
        Some(Work::PullRequest(number) | Work::Review(number)) => {
            vec![Work::PullRequest(*number), Work::Review(*number)]
        }
        Some(work) => vec![work.clone()],
        None => Vec::new(),
    }
}

/// The codebases of the repository. Where none is named: the conversation's own, else the only one there is.
async fn codebases(desk: &Desk, closed: &Closed, conversation: Option<&Conversation>) -> Outcome<Vec<Codebase>> {
    if let Some(repository) = &closed.repository {
        return desk.engine.codebases_of(closed.conversation.platform, repository).await;
    }
    let mut all = desk.engine.codebases().await?;
    match conversation.and_then(|conversation| conversation.codebase) {
        Some(id) => all.retain(|codebase| codebase.id == id),
        None if all.len() > 1 => all.clear(),
        None => {}
    }
    Ok(all)
}
