//! The story of one message, from what was delivered to the last word on it.

mod briefing;
mod close;
mod ending;
mod guarding;
mod marking;
mod place;
mod prepare;
mod prompt;
mod repository;
mod session;
mod standing;
mod wish;

use std::sync::Arc;
use std::time::{Duration, Instant};

use hedgerow_core::assistant::{Assistant, AssistantError, Turn, Usage};
use hedgerow_core::command::{self, Parsed};
use hedgerow_core::environment::Actor;
use hedgerow_core::message::Message;
use hedgerow_core::platform::{Mark, Platform};
use hedgerow_core::run::{RunState, SessionEnd};
use hedgerow_core::{Codebase, RunId};

use crate::checkpoints::{AFTER_A_TURN, BEFORE_A_TURN};
use crate::commands::Asked;
use crate::dispatch::Desk;
use crate::failure::{Failure, Outcome};
use crate::gateway::Pass;
use crate::replies::{self, messages};
use crate::run::{Drive, End, Ran, RunLog};
use crate::store::{Conversation, Delivered, Run, Session};
use briefing::Whereabouts;
use ending::Ending;
pub(crate) use ending::{after_a_death, deal_with};
use guarding::Guard;
use marking::Marks;
use place::Ground;
use prompt::Prompt;

/// A message that was prepared, and whose turn it is.
pub(crate) struct Story {
    desk: Arc<Desk>,
    platform: Arc<dyn Platform>,
    delivered: Delivered,
    said: Message,
    conversation: Conversation,
    /// Who asks.
    by: Actor,
    marks: Marks,
    prepared_at: Instant,
}

/// A turn that is ready to begin: who works, in which session, where, and for how long at most.
struct Work {
    assistant: Arc<dyn Assistant>,
    session: Session,
    is_new: bool,
    codebase: Option<Codebase>,
    ground: Ground,
    prompt: Prompt,
    limits: Limits,
}

#[derive(Clone, Copy)]
struct Limits {
    timeout: Duration,
    idle_timeout: Duration,
}

impl Story {
    /// 1. Which codebase. 2. A command needs no assistant. 3. A template, or what was said, is the prompt. 4. Isolation:
    ///    the environment, its introduction, our turn, a place among the runs, the lease; and whether its author may still
    ///    ask. 5. The session. 6. The run. 7. The last word. 8. The checkpoint, while the environment is still ours.
    pub(crate) async fn tell(&self) -> Outcome<Ending> {
        let codebase = match self.codebase().await {
            Ok(Ok(codebase)) => codebase,
            // A command may be what answers the question, or gets round the refusal.
            Ok(Err(_)) | Err(Failure::User(_)) if self.goes_on_without() => match self.said.repository {
                Some(_) => None,
                None => self.own_codebase(&self.conversation).await?,
            },
            Ok(Err(question)) => return Ok(Ending::answered(question)),
            Err(error) => return Err(error),
        };
        let prompt = match self.prompt(codebase.as_ref()).await? {
            Ok(prompt) => prompt,
            Err(answered) => return Ok(answered),
        };
        let (chosen, limits) = self.wishes(codebase.as_ref()).await?;
        let assistant = self.desk.assistants.require(chosen.as_deref())?;
        let Some(ground) = self.ground(codebase.as_ref(), &prompt).await? else { return Ok(Ending::PutBack) };
        match self.is_refused_by_now().await {
            Ok(false) => self.work(assistant, codebase, ground, prompt, limits).await,
            over => {
                ground.release(&self.desk.engine).await;
                over.map(|_| Ending::Concluded)
            }
        }
    }

    /// What is asked of the assistant; or the answer, when that needs none.
    async fn prompt(&self, codebase: Option<&Codebase>) -> Outcome<Result<Prompt, Ending>> {
        Ok(match command::parse(&self.said.text) {
            Parsed::NotACommand => Ok(Prompt::said(&self.said)),
            Parsed::Command(command) => Err(self.command(&command, codebase).await?),
            Parsed::Wrong { usage, why } => Err(Ending::answered(replies::wrong(usage, &why))),
            Parsed::Unknown { typed, nearest } => Err(Ending::answered(replies::unknown(&typed, nearest))),
            Parsed::Template { name, args } => match self.template(codebase, &name).await? {
                Some(template) => Ok(Prompt::template(&self.said, &name, &template, &args)),
                None => Err(Ending::answered(self.desk.engine.unknown_command(codebase, &name).await?)),
            },
        })
    }

    async fn command(&self, command: &command::Command, codebase: Option<&Codebase>) -> Outcome<Ending> {
        // What only looks may be asked again after a crash; anything else is done once.
        if !self.delivered.raw.urgent && !self.begin().await? {
            return Ok(Ending::SomebodyElses);
        }
        if is_slow(command) {
            self.marks.set(Mark::Working);
        }
        let assistants: Vec<String> = self.desk.assistants.names().into_iter().map(str::to_owned).collect();
        let asked = Asked {
            conversation: &self.conversation,
            message: self.delivered.id,
            by: &self.by,
            lane: &self.delivered.raw.lane,
            hints: &self.said.hints,
            repository: self.said.repository.as_ref(),
            assistants: &assistants,
            codebase,
        };
        let words = self.desk.engine.command(&asked, command, &hedgerow_core::provider::NoProgress).await?;
        Ok(Ending::answered(words))
    }

    /// The turn itself. Whatever becomes of it, the environment is let go of afterwards.
    async fn work(
        &self,
        assistant: Arc<dyn Assistant>,
        codebase: Option<Codebase>,
        ground: Ground,
        prompt: Prompt,
        limits: Limits,
    ) -> Outcome<Ending> {
        let (session, is_new) = match self.session(assistant.name(), &ground).await {
            Ok(session) => session,
            Err(error) => {
                ground.release(&self.desk.engine).await;
                return Err(error);
            }
        };
        let work = Work { assistant, session, is_new, codebase, ground, prompt, limits };
        self.checkpoint(&work.ground, BEFORE_A_TURN).await;
        let run = RunId::new();
        let ending = match self.run(run, &work).await {
            Ok(ending) => ending,
            Err(error) => ending::failed(&error, Some(run)),
        };
        let concluded = self.conclude(ending).await;
        self.checkpoint(&work.ground, AFTER_A_TURN).await;
        work.ground.release(&self.desk.engine).await;
        concluded.map(|()| Ending::Concluded)
    }

    /// Runs the assistant, a second time in a new session when it no longer knew the old one: then nothing has happened
    /// yet.
    async fn run(&self, run: RunId, work: &Work) -> Outcome<Ending> {
        if self.desk.is_closing() {
            return Ok(Ending::PutBack);
        }
        if !self.begin_run(run, work).await? {
            return Ok(Ending::SomebodyElses);
        }
        self.marks.set(Mark::Working);
        let began = Instant::now();
        tracing::info!(%run, assistant = work.assistant.name(), place = work.ground.name(), "a run begins");
        let guard = self.guard(run, &work.ground).await?;
        let mut log = RunLog::open(&self.desk.engine, run);
        let mut driven = self.drive_through(work, &guard, &mut log).await;
        let found = self.look_after(guard, &work.ground).await;
        // After what the run changed elsewhere is put back: nothing of that is pushed.
        let granted = match &mut driven {
            Ok((_, ran, _)) => self.grant(run, &work.ground, ran).await,
            Err(_) => None,
        };
        for told in found.iter().chain(&granted) {
            log.note(told.clone());
        }
        // Before the last word: who reads that finds the log whole.
        log.close().await;
        let (session, ran, mut notes) = driven?;
        notes.extend(found);
        log_end(run, &ran.end, began.elapsed());
        Ok(ending::ended(run, work, &session, &ran, notes, granted))
    }

    /// The turn, in the session that it ends in, and what is to be said about that.
    async fn drive_through(
        &self,
        work: &Work,
        guard: &Guard,
        log: &mut RunLog,
    ) -> Outcome<(Session, Ran, Vec<String>)> {
        let mut notes = Vec::new();
        let mut session = work.session.clone();
        let mut ran = self.drive(work, &session, work.is_new, guard, log).await;
        if matches!(ran.end, End::Failed(AssistantError::UnknownSession)) && session.assistant_session.is_some() {
            session = self.replace_session(&session, SessionEnd::Unknown).await?;
            log.note(messages::session_unknown());
            notes.push(messages::session_unknown());
            ran = self.drive(work, &session, true, guard, log).await;
        }
        Ok((session, ran, notes))
    }

    async fn drive(&self, work: &Work, session: &Session, is_new: bool, guard: &Guard, log: &mut RunLog) -> Ran {
        let codebase = work.ground.environment().map(|environment| environment.codebase);
        let pass = self.desk.engine.gateway().and_then(|gateway| gateway.open(guard.run, codebase, &self.by));
        let models = pass.as_ref().map(Pass::models);
        let turn = Turn { models, ..self.turn_of(work, session, is_new, guard).await };
        let drive = Drive {
            desk: &self.desk,
            assistant: work.assistant.as_ref(),
            lease: work.ground.lease(),
            session: session.id,
            platform: self.platform.as_ref(),
            to: &self.conversation.key,
            timeout: work.limits.timeout,
            idle_timeout: work.limits.idle_timeout,
        };
        let mut ran = drive.turn(turn, log).await;
        if let (End::Failed(error), Some(pass)) = (&mut ran.end, &pass) {
            pass.explain(error);
        }
        ran
    }

    /// All that the assistant is given.
    async fn turn_of(&self, work: &Work, session: &Session, is_new: bool, guard: &Guard) -> Turn {
        let last = if is_new || guard.bounds.is_fork { self.last_conclusion().await } else { None };
        let codebase = work.codebase.as_ref();
        let subfolder = work.ground.subfolder(&self.conversation);
        let briefing = briefing::briefing(&Whereabouts {
            codebase: codebase.map(|codebase| codebase.name.as_str()),
            environment: work.ground.environment(),
            is_on_forge: codebase.is_some_and(|codebase| self.desk.engine.is_on_forge(codebase)),
            subfolder: subfolder.as_ref().map(|folder| folder.display().to_string()),
            by: &self.by,
            author: &self.said.author,
        });
        Turn {
            run: guard.run,
            place: work.ground.place(),
            subfolder,
            prompt: work.prompt.written(last.as_deref()),
            briefing: Some(briefing),
            // The home of a stranger's turn is gone with it, and so is what its agent remembered.
            resume: session.assistant_session.clone().filter(|_| !guard.bounds.is_fork),
            memory: self.memory(session).await,
            disallowed_tools: work.prompt.disallowed_tools.clone(),
            variables: self.variables(&work.ground, codebase).await,
            models: None,
            bounds: guard.bounds.clone(),
        }
    }

    async fn begin(&self) -> Outcome<bool> {
        let engine = &self.desk.engine;
        Ok(engine.store().begin_message(self.delivered.id, &self.desk.holder, engine.now()).await?)
    }

    /// From here on the message is not done again, whatever happens.
    async fn begin_run(&self, run: RunId, work: &Work) -> Outcome<bool> {
        let environment = work.ground.environment();
        let row = Run {
            id: run,
            message: Some(self.delivered.id),
            conversation: self.conversation.id,
            codebase: environment.map(|environment| environment.codebase),
            environment: environment.map(|environment| environment.id),
            session: Some(work.session.id),
            assistant: work.assistant.name().to_owned(),
            author: self.by.clone(),
            state: RunState::Running,
            holder: self.desk.holder.clone(),
            epoch: work.ground.lease().epoch(),
            started_at: self.desk.engine.now(),
            ended_at: None,
            stop_asked_at: None,
            stop_asked_by: None,
            usage: Usage::default(),
        };
        Ok(self.desk.engine.store().begin_run(&row).await?)
    }

    /// Saves the state of the environment, for `/undo`. What cannot be saved costs an undo and not the answer; what is no
    /// longer ours is not touched.
    async fn checkpoint(&self, ground: &Ground, label: &str) {
        let Some(environment) = ground.environment() else { return };
        if !matches!(self.desk.engine.renew(ground.lease()).await, Ok(true)) {
            return;
        }
        let made = self.desk.engine.checkpoint_leased(ground.lease(), environment, Some(label), &self.by).await;
        if let Err(error) = made {
            tracing::warn!(environment = %environment.id, %error, "a checkpoint could not be made");
        }
    }
}

/// Whether people may wait for a command, as they do for a run.
const fn is_slow(command: &command::Command) -> bool {
    use command::{Command, Worktree};
    matches!(
        command,
        Command::Clone { .. }
            | Command::Worktree(Worktree::Create { .. } | Worktree::Sync | Worktree::Merge(_) | Worktree::Pr)
    )
}

/// One line for whoever runs the server: how each run ended, and why.
fn log_end(run: RunId, end: &End, took: Duration) {
    let (state, seconds) = (end.state(), took.as_secs());
    match end {
        End::Failed(error) => tracing::warn!(%run, %state, seconds, %error, "a run ended"),
        _ => tracing::info!(%run, %state, seconds, "a run ended"),
    }
}
