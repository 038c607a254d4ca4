//! Where a turn happens, and when: isolation is resolved, introduced, waited for and leased. Without it nothing runs.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use hedgerow_core::environment::{Exec, Place, Resolution};
use hedgerow_core::provider::{Condition, NoProgress, Note};
use hedgerow_core::run::SessionEnd;
use hedgerow_core::{Codebase, CodebaseId, Environment, Hints, Kind, Lease, UserError, Work};
use tokio::time::sleep;

use super::Story;
use super::prompt::Prompt;
use crate::dispatch::{Slot, Turn, end_processes};
use crate::engine::{Asking, Engine, Request, Resolved};
use crate::explain::Trouble;
use crate::failure::Outcome;
use crate::isolation::make_private;
use crate::lease::Held;
use crate::replies::{self, messages};
use crate::store::{Conversation, NewReply};

/// How often to try again what somebody else has now.
const AGAIN: Duration = Duration::from_millis(250);
/// How often whoever waits for their turn looks what is ahead of them, until they are told.
const GLANCE: Duration = Duration::from_millis(50);
/// Longer than the last run takes to put things away.
const A_WHILE: Duration = Duration::from_secs(5);
/// Longest to wait for an environment. Longer than any run: a message in an inbox is patient, and not for ever.
const PATIENCE: Duration = Duration::from_hours(24);

/// Where a turn happens. It is ours until it is released.
pub(super) enum Ground {
    Environment {
        environment: Box<Environment>,
        held: Held,
        _turn: Turn,
        _slot: Slot,
    },
    /// An empty folder of the conversation, without a codebase.
    Scratch {
        folder: PathBuf,
        lease: Lease,
        _slot: Slot,
    },
}

impl Ground {
    pub(super) fn place(&self) -> Place {
        match self {
            Self::Environment { environment, .. } => environment.place(),
            Self::Scratch { folder, lease, .. } => {
                Place { of: lease.of(), generation: 0, path: folder.clone(), branch: None, exec: Exec::Host }
            }
        }
    }

    pub(super) const fn lease(&self) -> &Lease {
        match self {
            Self::Environment { held, .. } => &held.lease,
            Self::Scratch { lease, .. } => lease,
        }
    }

    /// For the log.
    pub(super) fn name(&self) -> &str {
        self.environment().map_or("scratch", Environment::name)
    }

    pub(super) fn environment(&self) -> Option<&Environment> {
        match self {
            Self::Environment { environment, .. } => Some(environment),
            Self::Scratch { .. } => None,
        }
    }

    /// Where the conversation wants its assistant to start; a scratch folder has no inside.
    pub(super) fn subfolder(&self, conversation: &Conversation) -> Option<PathBuf> {
        match self {
            Self::Environment { .. } => conversation.subfolder.clone(),
            Self::Scratch { .. } => None,
        }
    }

    pub(super) async fn release(self, engine: &Engine) {
        if let Self::Environment { held, environment, .. } = self
            && let Err(error) = engine.release(held).await
        {
            tracing::warn!(environment = %environment.id, %error, "a lease could not be given back; it runs out by itself");
        }
    }
}

impl Story {
    /// The place of this turn, when it is ours. `None` when the server goes down first.
    pub(super) async fn ground(&self, codebase: Option<&Codebase>, prompt: &Prompt) -> Outcome<Option<Ground>> {
        match codebase {
            Some(codebase) if prompt.isolated || self.conversation.environment.is_some() => {
                self.environment(codebase).await
            }
            Some(codebase) => self.view(codebase).await,
            None => self.scratch().await,
        }
    }

    async fn environment(&self, codebase: &Codebase) -> Outcome<Option<Ground>> {
        let request = self.request(codebase);
        let deadline = Instant::now() + PATIENCE;
        let mut wait = Wait::begun();
        while Instant::now() < deadline {
            let Some(permit) = self.unless_closing(self.desk.resolving.acquire()).await else { return Ok(None) };
            let resolved = self.desk.engine.resolve(&request, &NoProgress).await;
            drop(permit);
            let resolved = match resolved {
                Err(error) if error.kind() == Kind::Busy => {
                    // Somebody is making, moving or removing it just now.
                    self.tell_busy(&mut wait).await?;
                    if self.unless_closing(sleep(AGAIN)).await.is_none() {
                        return Ok(None);
                    }
                    continue;
                }
                // Isolation is required: what cannot be had is told, and the assistant does not run.
                Err(error) => return Err(error),
                Ok(resolved) => resolved,
            };
            // Others' merged environments made room, which is no news for this conversation.
            let mut resolved = resolved;
            resolved.notes.retain(|note| !matches!(note, Note::MadeRoom { .. }));
            self.introduce(&resolved, codebase).await?;
            let environment = resolved.environment;
            let Some((turn, has_waited)) = self.turn(&environment, &mut wait).await? else { return Ok(None) };
            // Nobody moves an environment that somebody is at work in, so the head of a pull request is followed now.
            if has_waited && self.said.hints.pr_head.is_some() && !self.follow(&request, codebase, &environment).await?
            {
                continue;
            }
            match self.leased(environment, turn, &mut wait, deadline).await? {
                Leased::Yes(ground) => return Ok(Some(*ground)),
                Leased::GoingDown => return Ok(None),
                // It was removed, or moved, while we waited.
                Leased::Changed => {}
            }
        }
        Err(UserError::new(Kind::Busy, "the environment was in use for a whole day").hint("ask again").into())
    }

    /// Resolves once more, for what could not be done while somebody was at work. Whether it is still that environment.
    async fn follow(&self, request: &Request, codebase: &Codebase, environment: &Environment) -> Outcome<bool> {
        let Some(permit) = self.unless_closing(self.desk.resolving.acquire()).await else { return Ok(true) };
        let resolved = self.desk.engine.resolve(request, &NoProgress).await;
        drop(permit);
        match resolved {
            Ok(resolved) if resolved.environment.id == environment.id => {
                self.introduce(&resolved, codebase).await?;
                Ok(true)
            }
            Ok(_) => Ok(false),
            Err(error) if error.kind() == Kind::Busy => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Our turn in the environment, behind everyone of this process who came before, and whether we waited for it. `None`
    /// when the server goes down.
    async fn turn(&self, environment: &Environment, wait: &mut Wait) -> Outcome<Option<(Turn, bool)>> {
        if let Some(turn) = self.desk.turns.try_take(environment.id) {
            return Ok(Some((turn, false)));
        }
        let mut taking = std::pin::pin!(self.unless_closing(self.desk.turns.take(environment.id)));
        loop {
            tokio::select! {
                biased;
                turn = &mut taking => return Ok(turn.map(|turn| (turn, true))),
                () = sleep(if wait.told { PATIENCE } else { GLANCE }) => self.tell_ahead(environment, wait).await?,
            }
        }
    }

    /// A place among the runs, then the lease. While another process has it, our place is free for others.
    async fn leased(
        &self,
        environment: Environment,
        turn: Turn,
        wait: &mut Wait,
        deadline: Instant,
    ) -> Outcome<Leased> {
        let engine = &self.desk.engine;
        loop {
            let Some(slot) = self.unless_closing(self.desk.slots.take(Some(environment.codebase))).await else {
                return Ok(Leased::GoingDown);
            };
            match engine.lease_for_run(&environment).await {
                Ok(held) => {
                    let now = match self.under_the_lease(&environment).await {
                        Ok(now) => now,
                        Err(error) => {
                            engine.release(held).await?;
                            return Err(error);
                        }
                    };
                    let Some(environment) = now else {
                        engine.release(held).await?;
                        return Ok(Leased::Changed);
                    };
                    let environment = Box::new(environment);
                    return Ok(Leased::Yes(Box::new(Ground::Environment {
                        environment,
                        held,
                        _turn: turn,
                        _slot: slot,
                    })));
                }
                Err(busy) if busy.kind() == Kind::Busy && Instant::now() < deadline => {
                    drop(slot);
                    self.tell_ahead(&environment, wait).await?;
                    if self.unless_closing(sleep(AGAIN)).await.is_none() {
                        return Ok(Leased::GoingDown);
                    }
                    // Who waits for it to be removed must not wait for ever.
                    let row = engine.store().environment(environment.id).await?;
                    if !row.is_some_and(|row| row.state.is_usable()) {
                        return Ok(Leased::Changed);
                    }
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// The row as it is now that nobody else can change it, if it is still the place we were given. What somebody who
    /// died left at work in it is ended first, and counts as ended: whoever would tell their conversation so may never
    /// come, as when a window was killed and is not opened again.
    async fn under_the_lease(&self, environment: &Environment) -> Outcome<Option<Environment>> {
        let engine = &self.desk.engine;
        while let Some(left) = engine.store().running_in(environment.id).await? {
            end_processes(left.id).await;
            let found = engine.spring_left(left.id, &left.author).await;
            if !found.is_empty() {
                let words = replies::all_overstepped(&found).join("\n\n");
                let reply = NewReply { conversation: left.conversation, message: None, words };
                engine.store().say(&reply, engine.now()).await?;
            }
            engine.store().interrupt_run(left.id, engine.now()).await?;
        }
        let row = engine.store().environment(environment.id).await?;
        Ok(row.filter(|row| {
            row.state.is_usable() && row.generation == environment.generation && row.path == environment.path
        }))
    }

    fn request(&self, codebase: &Codebase) -> Request {
        let hints = if self.is_of_its_repository(codebase) { self.said.hints.clone() } else { Hints::default() };
        let work = hints.work.clone();
        let work = work.unwrap_or_else(|| Work::Thread(self.conversation.key.id.clone()));
        let conversation = Asking { conversation: self.conversation.id, environment: self.conversation.environment };
        Request {
            codebase: codebase.clone(),
            work,
            hints,
            branch: None,
            conversation: Some(conversation),
            by: self.by.clone(),
            reopened: false,
        }
    }

    /// Tells the conversation where it works now, once, and what its people should know about it.
    async fn introduce(&self, resolved: &Resolved, codebase: &Codebase) -> Outcome<()> {
        let engine = &self.desk.engine;
        if resolved.notes.iter().any(|note| matches!(note, Note::Lost { .. })) {
            engine.store().end_session(self.conversation.id, SessionEnd::Lost, engine.now()).await?;
        }
        let head = match (&self.said.hints.pr_head, &self.said.hints.work) {
            (Some(_), Some(Work::PullRequest(_) | Work::Review(_))) => {
                match engine.provider.glance(codebase, &resolved.environment).await {
                    Condition::Present(facts) => facts.head,
                    _ => None,
                }
            }
            _ => None,
        };
        let words = replies::introduction(resolved, &self.said.hints, head.as_ref(), engine.now());
        let warning = engine.sandbox_words().map(|warning| format!("\n• {warning}"));
        let words = words + warning.as_deref().unwrap_or_default();
        let reply = self.reply(words);
        let mut is_new = engine.store().introduce(&reply, resolved.environment.id, engine.now()).await?.is_some();
        if !is_new && resolved.resolution == Resolution::Restored {
            // They knew it, and know that it went.
            engine.store().say(&reply, engine.now()).await?;
            is_new = true;
        }
        if !is_new && !resolved.notes.is_empty() {
            engine.store().say(&self.reply(messages::notes(&resolved.notes)), engine.now()).await?;
        }
        self.desk.wake_replies.notify_one();
        Ok(())
    }

    /// Tells the author, once, what is ahead of them. Who is only putting things away is not worth a word.
    async fn tell_ahead(&self, environment: &Environment, wait: &mut Wait) -> Outcome<()> {
        if wait.told {
            return Ok(());
        }
        let engine = &self.desk.engine;
        let run = engine.store().running_in(environment.id).await?;
        if run.is_none() && wait.since.elapsed() < A_WHILE {
            return Ok(());
        }
        wait.told = true;
        let conversation = match &run {
            Some(run) => engine.store().conversation_by_id(run.conversation).await?,
            None => None,
        };
        let words = messages::ahead(environment, run.as_ref(), conversation.as_ref().map(|it| &it.key), engine.now());
        engine.store().say(&self.reply(words), engine.now()).await?;
        self.desk.wake_replies.notify_one();
        Ok(())
    }

    /// Tells the author, once, why nothing happens although nobody is at work for anyone.
    async fn tell_busy(&self, wait: &mut Wait) -> Outcome<()> {
        if wait.told || wait.since.elapsed() < A_WHILE {
            return Ok(());
        }
        wait.told = true;
        let engine = &self.desk.engine;
        engine.store().say(&self.reply(messages::being_changed()), engine.now()).await?;
        self.desk.wake_replies.notify_one();
        Ok(())
    }

    pub(super) fn reply(&self, words: String) -> NewReply {
        NewReply { conversation: self.conversation.id, message: Some(self.delivered.id), words }
    }

    /// An empty folder of the conversation, where an assistant may talk although there is no codebase.
    async fn scratch(&self) -> Outcome<Option<Ground>> {
        let engine = &self.desk.engine;
        if engine.store().active_session(self.conversation.id).await?.is_none() {
            engine.store().say(&self.reply(messages::no_codebase()), engine.now()).await?;
            self.desk.wake_replies.notify_one();
        }
        let folder = engine.scratch_folder(self.conversation.id);
        make_private(&folder).map_err(Trouble::folder(&folder))?;
        self.in_folder(folder, None).await
    }

    /// For a template that needs no isolation, in a conversation without an environment: the files of the base commit,
    /// which nobody can change, and not the main checkout.
    async fn view(&self, codebase: &Codebase) -> Outcome<Option<Ground>> {
        let folder = self.desk.engine.base_view(codebase, self.conversation.id).await?;
        self.in_folder(folder, Some(codebase.id)).await
    }

    async fn in_folder(&self, folder: PathBuf, codebase: Option<CodebaseId>) -> Outcome<Option<Ground>> {
        let Some(slot) = self.unless_closing(self.desk.slots.take(codebase)).await else { return Ok(None) };
        let lease = self.desk.engine.scratch_lease(self.conversation.id);
        Ok(Some(Ground::Scratch { folder, lease, _slot: slot }))
    }

    /// `None` when the server goes down first.
    async fn unless_closing<T>(&self, waited_for: impl Future<Output = T>) -> Option<T> {
        tokio::select! {
            biased;
            () = self.desk.closes() => None,
            done = waited_for => Some(done),
        }
    }
}

/// How long somebody waits for an environment, and whether they know for what.
struct Wait {
    since: Instant,
    told: bool,
}

impl Wait {
    fn begun() -> Self {
        Self { since: Instant::now(), told: false }
    }
}

/// What became of asking for the lease.
enum Leased {
    Yes(Box<Ground>),
    Changed,
    GoingDown,
}
