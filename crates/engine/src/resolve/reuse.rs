//! Keep and reuse: the environment the conversation refers to, or the one this work has already.

use std::time::Duration;

use hedgerow_core::environment::Actor;
use hedgerow_core::provider::{Advance, Head, Note, Presence, Progress};
use hedgerow_core::{CommitSha, Environment, Kind, State, UserError, Work};
use tokio::time::{Instant, sleep};

use super::Asked;
use crate::engine::Engine;
use crate::failure::{Failure, Outcome};
use crate::store::NewEvent;

/// Longest wait for a neighbour that is making or removing the same environment.
pub(super) const PATIENCE: Duration = Duration::from_mins(10);

impl Engine {
    /// The environment the conversation refers to, if it can still be used. Otherwise the reference goes.
    pub(super) async fn keep(&self, asked: &mut Asked<'_>) -> Outcome<Option<Environment>> {
        let Some(asking) = asked.request.conversation.clone() else { return Ok(None) };
        let Some(id) = asking.environment.filter(|_| !asked.notes.iter().any(|note| matches!(note, Note::Lost { .. })))
        else {
            return Ok(None);
        };
        let why = match self.store.environment(id).await? {
            None => "it is not known any more".to_owned(),
            Some(environment) if environment.codebase != asked.request.codebase.id => {
                "it belongs to another codebase".to_owned()
            }
            Some(environment) if environment.state.is_usable() => match self.lost(asked, &environment).await? {
                None if asked.works.iter().any(|named| environment.holds(&named.work)) => {
                    return self.follow_head(asked, environment).await.map(Some);
                }
                // Reading a pull request and working on it are two things, in two places.
                None if is_the_other_of_two(asked, &environment) => return Ok(None),
                None => return Ok(Some(environment)),
                Some(lost) => lost.last_error.unwrap_or_default(),
            },
            Some(environment) => format!("it is {}", environment.state),
        };
        let name = match self.store.environment(id).await? {
            Some(environment) => environment.name().to_owned(),
            None => id.short(),
        };
        self.store.point(asking.conversation, None, self.clock.now()).await?;
        asked.notes.push(Note::Lost { environment: name, why });
        Ok(None)
    }

    /// The live environment of this work, or of the very branch it would be on.
    pub(super) async fn reuse(&self, asked: &mut Asked<'_>, progress: &dyn Progress) -> Outcome<Option<Environment>> {
        let codebase = asked.request.codebase.id;
        let mut found = None;
        for named in &asked.works {
            if found.is_none() {
                found = self.store.live_by_work(codebase, &named.work).await?;
            }
        }
        // A named branch is meant exactly: another environment that happens to have the same work name is not it.
        let wanted = asked.request.branch.as_ref();
        let found = match found.filter(|environment| wanted.is_none_or(|branch| environment.branch == *branch)) {
            Some(environment) => Some(environment),
            None => {
                let holder = self.store.live_by_branch(codebase, &asked.plan.branch).await?;
                // That of a linked work is shared, which is the next question.
                holder.filter(|environment| !(asked.is_linked(environment) && self.can_share(asked, environment)))
            }
        };
        let Some(environment) = found else { return Ok(None) };
        let Some(environment) = self.settled(environment, progress).await? else { return Ok(None) };
        let environment = match environment.state {
            state if state.is_usable() => environment,
            State::Unreachable => self.returned(asked, &environment).await?,
            state => return Err(unusable(&environment, state)),
        };
        match self.lost(asked, &environment).await? {
            None => {}
            Some(gone) if gone.state == State::Destroyed => {
                let (name, why) = (gone.name().to_owned(), gone.last_error.unwrap_or_default());
                if !asked
                    .notes
                    .iter()
                    .any(|note| matches!(note, Note::Lost { environment, .. } if *environment == name))
                {
                    asked.notes.push(Note::Lost { environment: name, why });
                }
                return Ok(None);
            }
            Some(lost) => return Err(unusable(&lost, lost.state)),
        }
        self.add_works(asked, &environment).await?;
        let environment = self.follow_head(asked, environment).await?;
        Ok(Some(environment))
    }

    /// Waits while a neighbour is making or removing it. `None` when it is no more.
    async fn settled(&self, mut environment: Environment, progress: &dyn Progress) -> Outcome<Option<Environment>> {
        let started = Instant::now();
        let mut pause = Duration::from_millis(20);
        while matches!(environment.state, State::Creating | State::Removing) {
            if started.elapsed() > PATIENCE {
                return Err(unusable(&environment, environment.state));
            }
            progress.step("Waiting for another request for the same work");
            sleep(pause).await;
            pause = (pause * 2).min(Duration::from_millis(250));
            self.settle().await?;
            match self.store.environment(environment.id).await? {
                Some(now) if now.state.is_live() => environment = now,
                _ => return Ok(None),
            }
        }
        Ok(Some(environment))
    }

    /// `None` when the environment is on disk and ours. If not, it is marked as what it is, with the reason, and
    /// returned so.
    async fn lost(&self, asked: &Asked<'_>, environment: &Environment) -> Outcome<Option<Environment>> {
        let presence = self.provider.presence(&asked.request.codebase, environment);
        match presence {
            Presence::Here => Ok(None),
            // It is on another machine's disk, and only that machine can say how it is.
            _ if environment.node != self.settings.node => Err(elsewhere(environment)),
            Presence::Missing => {
                let held = self.lease(environment).await?;
                let forgotten =
                    self.forget_gone(&held, &asked.request.codebase, environment, &Actor::automation()).await;
                self.release(held).await?;
                forgotten?;
                let last_error = Some("its folder is gone".to_owned());
                Ok(Some(Environment { state: State::Destroyed, last_error, ..environment.clone() }))
            }
            Presence::Unreachable(_) | Presence::Foreign(_) => self.turn(environment, &presence).await,
        }
    }

    /// Its disk was away; perhaps it is back.
    async fn returned(&self, asked: &Asked<'_>, environment: &Environment) -> Outcome<Environment> {
        let presence = self.provider.presence(&asked.request.codebase, environment);
        match self.turn(environment, &presence).await? {
            Some(now) if now.state.is_usable() => Ok(now),
            Some(now) => Err(unusable(&now, now.state)),
            None => Err(unusable(environment, environment.state)),
        }
    }

    /// The environment is found under all names of this request from now on.
    pub(super) async fn add_works(&self, asked: &Asked<'_>, environment: &Environment) -> Outcome<()> {
        for named in asked.works.iter().filter(|named| !environment.holds(&named.work)) {
            if self.store.live_by_work(environment.codebase, &named.work).await?.is_some() {
                continue;
            }
            let event = NewEvent::new(self.clock.now(), &asked.request.by, "work-added").detail(named.name.clone());
            self.store.add_work(environment.id, named, &event).await?;
        }
        Ok(())
    }

    /// A pull request whose head has moved takes a clean environment along.
    pub(super) async fn follow_head(&self, asked: &mut Asked<'_>, environment: Environment) -> Outcome<Environment> {
        // Before any file of theirs is in it.
        let environment = self.known_as_fork(asked, environment).await?;
        let (Work::PullRequest(number) | Work::Review(number)) = asked.request.work else { return Ok(environment) };
        let Some(sha) = asked.hints.pr_head.clone() else { return Ok(environment) };
        let branch = asked.hints.pr_branch.clone().filter(|_| !asked.hints.is_fork);
        let placed_at = self.placed_at(&environment).await?;
        let head = Head { number, branch, sha, placed_at };
        let held = match self.lease(&environment).await {
            Ok(held) => held,
            // Someone works in it: their business comes first.
            Err(Failure::User(error)) if error.kind == Kind::Busy => return Ok(environment),
            Err(error) => return Err(error),
        };
        let advance = self.provider.advance(&held.lease, &asked.request.codebase, &environment, &head).await;
        self.release(held).await?;
        match advance? {
            Advance::Unchanged => Ok(environment),
            Advance::Kept => {
                asked.notes.push(Note::HeadMovedKept { to: head.sha });
                Ok(environment)
            }
            Advance::Moved { from, to } => {
                asked.notes.push(Note::MovedHead { to: to.clone() });
                let event =
                    NewEvent::new(self.clock.now(), &asked.request.by, "head-followed").shas(Some(from), Some(to));
                self.store.record(&event.of(environment.codebase, environment.id)).await?;
                Ok(environment)
            }
        }
    }

    /// An environment of a stranger's work is a stranger's from now on, however it came to be. One that a maintainer only
    /// linked their conversation to is not.
    pub(super) async fn known_as_fork(&self, asked: &Asked<'_>, environment: Environment) -> Outcome<Environment> {
        let is_theirs = asked.hints.is_fork && asked.works.iter().any(|named| environment.holds(&named.work));
        if environment.is_fork || !is_theirs {
            return Ok(environment);
        }
        let event = NewEvent::new(self.clock.now(), &asked.request.by, "became-a-forks");
        self.store.becomes_forks(&environment, &event).await?;
        Ok(Environment { is_fork: true, ..environment })
    }

    /// The commit that we put the environment at last, when it was made or when its head moved. What its branch held before
    /// is somebody's.
    async fn placed_at(&self, environment: &Environment) -> Outcome<Option<CommitSha>> {
        let placing = ["environment-created", "head-followed", "moved-onto-pull-request"];
        let events = self.store.events_of(environment.id).await?;
        let last = events.into_iter().rev().find(|event| placing.contains(&event.what.as_str()));
        Ok(last.and_then(|event| event.new_sha))
    }
}

fn elsewhere(environment: &Environment) -> Failure {
    let message = format!("`{}` is on the machine `{}`, which is not this one", environment.name(), environment.node);
    UserError::new(Kind::Failed, message).hint("ask there, or remove it there to have a new one here").into()
}

fn unusable(environment: &Environment, state: State) -> Failure {
    let name = environment.name();
    let error = match state {
        State::Unreachable => UserError::new(Kind::Failed, format!("`{name}` is there, but its disk is not"))
            .hint("mount the disk that holds it, then try again"),
        State::Creating | State::Removing => {
            UserError::new(Kind::Busy, format!("`{name}` is still being changed by another request"))
                .hint("try again later")
        }
        _ => UserError::new(Kind::Protected, format!("`{name}` is {state} and needs a look"))
            .hint("`hedgerow doctor` says what is wrong; nothing was changed"),
    };
    let error = match &environment.last_error {
        Some(why) => error.hint(why.clone()),
        None => error,
    };
    error.into()
}

/// Whether an environment is where a pull request is reviewed and it is to be worked on now, or the other way round.
fn is_the_other_of_two(asked: &Asked<'_>, environment: &Environment) -> bool {
    match asked.request.work {
        Work::PullRequest(number) => environment.holds(&Work::Review(number)),
        Work::Review(number) => environment.holds(&Work::PullRequest(number)),
        Work::Issue(_) | Work::Thread(_) | Work::Task(_) => false,
    }
}
