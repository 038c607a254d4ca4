//! `/worktree create`, `remove`, `restore`, `link`, `keep`: which environment a conversation works in.

use hedgerow_core::platform::ConversationKey;
use hedgerow_core::provider::Progress;
use hedgerow_core::run::SessionEnd;
use hedgerow_core::{BranchName, Codebase, Environment, Hints, Kind, UserError, Work};

use super::Asked;
use crate::engine::{Asking, Engine, Request};
use crate::failure::Outcome;
use crate::replies::{self, Voice};
use crate::store::Scope;

/// So many names are read at a glance.
const MOST_NAMES: usize = 8;

impl Engine {
    /// An environment on that very branch, whichever the conversation worked in so far.
    pub(super) async fn create_for(
        &self,
        asked: &Asked<'_>,
        branch: &BranchName,
        base: Option<&BranchName>,
        progress: &dyn Progress,
    ) -> Outcome<String> {
        let codebase = self.require_chosen(asked).await?;
        let work = Work::Task(branch.to_string());
        let hints = Hints { work: Some(work.clone()), base_branch: base.cloned(), ..Hints::default() };
        let request = Request {
            codebase: codebase.clone(),
            work,
            hints,
            branch: Some(branch.clone()),
            conversation: Some(Asking { conversation: asked.conversation.id, environment: None }),
            by: asked.by.clone(),
            reopened: false,
        };
        let resolved = self.resolve(&request, progress).await?;
        self.work_in(asked, &resolved.environment).await?;
        Ok(replies::introduction(&resolved, &request.hints, None, self.clock.now()))
    }

    pub(super) async fn remove_for(&self, asked: &Asked<'_>, name: Option<&str>, force: bool) -> Outcome<String> {
        let environment = match name {
            Some(name) => self.require_environment(self.require_chosen(asked).await?, name).await?,
            None => self.require_current(asked).await?,
        };
        self.require_owner(asked.by, &environment, "remove").await?;
        let users = self.store.conversations_of(environment.id).await?;
        let removed = self.remove_from(Some(&asked.conversation.key), &environment, force, asked.by).await;
        let removed = self.or_busy(&environment, removed).await?;
        self.end_sessions(&users).await?;
        Ok(replies::removed_in_chat(&removed))
    }

    /// What these conversations worked in was removed, and what was said about it with it.
    pub(super) async fn end_sessions(&self, users: &[ConversationKey]) -> Outcome<()> {
        for key in users {
            if let Some(conversation) = self.store.known_conversation(key).await? {
                self.store.end_session(conversation.id, SessionEnd::Removed, self.clock.now()).await?;
            }
        }
        Ok(())
    }

    pub(super) async fn restore_for(&self, asked: &Asked<'_>, name: Option<&str>) -> Outcome<String> {
        let codebase = self.require_chosen(asked).await?;
        let name = match name {
            Some(name) => name.to_owned(),
            None => self.last_removed(asked, codebase).await?,
        };
        let resolved = self.restore(codebase, &name, asked.by).await?;
        self.work_in(asked, &resolved.environment).await?;
        Ok(replies::introduction(&resolved, &Hints::default(), None, self.clock.now()))
    }

    /// What `/worktree restore` alone brings back: what the conversation worked in last, or what its own work had. When
    /// neither is in the trash, the person says which one.
    async fn last_removed(&self, asked: &Asked<'_>, codebase: &Codebase) -> Outcome<String> {
        let trashed = self.store.trashed(codebase.id).await?;
        let told = self.store.told(asked.conversation.id).await?;
        let work = asked.hints.work.clone().unwrap_or_else(|| Work::Thread(asked.conversation.key.id.clone()));
        let last = trashed.iter().find(|old| Some(old.id) == told);
        if let Some(old) = last.or_else(|| trashed.iter().find(|old| old.holds(&work))) {
            return Ok(old.id.to_string());
        }
        let error = UserError::new(Kind::Usage, "this conversation has no environment in the trash");
        let names: Vec<&str> = trashed.iter().map(Environment::name).take(MOST_NAMES).collect();
        Err(match names.as_slice() {
            [] => error.hint(format!("the trash of `{}` is empty", codebase.name)),
            names => error.hint(format!("`/worktree restore <name>` brings one back: {}", names.join(", "))),
        }
        .into())
    }

    /// The conversation works in the environment of another work from now on.
    pub(super) async fn link(&self, asked: &Asked<'_>, work: &str) -> Outcome<String> {
        let codebase = self.require_chosen(asked).await?;
        let found = self.store.find(codebase.id, work, Scope::Live).await?;
        let Some(environment) = found.filter(|found| found.works.iter().any(|named| named.name == work)) else {
            let error = UserError::new(Kind::NotFound, format!("No worktree found for `{work}`"));
            let is_trashed = self.store.find(codebase.id, work, Scope::Trashed).await?.is_some();
            let way = if is_trashed { Voice::Chat.restore(work) } else { "/worktree list".to_owned() };
            let why = if is_trashed { "it is in the trash" } else { "those there are" };
            return Err(error.hint(format!("{why}: `{way}`")).into());
        };
        if !environment.state.is_usable() {
            let what = format!("`{work}` is {} and cannot be worked in now", environment.state);
            return Err(UserError::new(Kind::Busy, what).hint("try again later").into());
        }
        // A stranger's pull request must not bring a stranger's words into a maintainer's files.
        if asked.hints.is_fork {
            self.require_owner(asked.by, &environment, "link a fork's pull request to").await?;
        }
        self.work_in(asked, &environment).await?;
        Ok(replies::linked(environment.name()))
    }

    pub(super) async fn pin_for(&self, asked: &Asked<'_>, is_pinned: bool) -> Outcome<String> {
        let environment = self.require_current(asked).await?;
        let environment = self.pin(&environment, is_pinned, asked.by).await?;
        Ok(replies::pinned(environment.name(), is_pinned))
    }

    /// The conversation works in this environment and has been told so; its session goes on there.
    async fn work_in(&self, asked: &Asked<'_>, environment: &Environment) -> Outcome<()> {
        let id = asked.conversation.id;
        self.store.point(id, Some(environment.id), self.clock.now()).await?;
        self.store.set_told(id, environment.id).await?;
        if let Some(session) = self.store.active_session(id).await? {
            self.store.move_session(session.id, Some(environment.id)).await?;
        }
        Ok(())
    }
}
