//! What a command of a chat does: the same acts as the verbs of the terminal, one file per group.
//!
//! A command needs no agent. Its whole answer is one text; a refusal is a failure with what to do next, as everywhere.
//! Whoever calls has decided which codebase the conversation is about, and takes one message of it at a time.

mod codebase;
mod conversation;
mod looking;
mod proposing;
mod roles;
mod status;
mod sweeping;
mod syncing;
mod templates;
mod worktree;

use hedgerow_core::command::{Command, Worktree};
use hedgerow_core::environment::Actor;
use hedgerow_core::provider::Progress;
use hedgerow_core::{Codebase, Environment, Hints, Kind, MessageId, RepositoryName, UserError};

use crate::engine::Engine;
use crate::failure::{Failure, Outcome};
use crate::hosting::not_here;
use crate::replies;
use crate::store::Conversation;

/// Who asks for what, where.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    /// As the store has it now.
    pub conversation: &'a Conversation,
    pub message: MessageId,
    pub by: &'a Actor,
    pub lane: &'a str,
    pub hints: &'a Hints,
    /// The repository of a forge that is talked about. Another is an admin's to choose there.
    pub repository: Option<&'a RepositoryName>,
    /// The names of the assistants there are.
    pub assistants: &'a [String],
    /// What the conversation is about, if that is known.
    pub codebase: Option<&'a Codebase>,
}

impl Engine {
    /// Does what a command asks for, and says so.
    pub async fn command(&self, asked: &Asked<'_>, command: &Command, progress: &dyn Progress) -> Outcome<String> {
        if let Some(absent) = replies::absent(command) {
            return Ok(absent);
        }
        let answer = match command {
            Command::Help => replies::help(),
            Command::Status => self.tell_status(asked).await?,
            Command::Clone { url, name } => Box::pin(self.clone_for(asked, url, name.as_deref(), progress)).await?,
            Command::Repos => self.tell_codebases(asked).await?,
            Command::Repo { name } => self.choose_codebase(asked, name).await?,
            Command::RepoRemove { name } => Box::pin(self.forget_for(asked, name)).await?,
            Command::SetCwd { subfolder } => self.choose_subfolder(asked, subfolder).await?,
            Command::GetCwd => self.tell_subfolder(asked).await?,
            Command::Assistant { name: Some(name) } => self.choose_assistant(asked, name).await?,
            Command::Assistant { name: None } => self.tell_assistants(asked).await?,
            Command::Reset => self.reset(asked).await?,
            Command::Stop => self.stop(asked).await?,
            Command::Undo => Box::pin(self.undo_for(asked)).await?,
            Command::Worktree(worktree) => Box::pin(self.worktree(asked, worktree, progress)).await?,
            Command::Commands => self.tell_templates(asked).await?,
            Command::CommandSet { name, path } => self.set_template(asked, name, path).await?,
            Command::LoadCommands { folder } => self.load_templates(asked, folder).await?,
        };
        Ok(replies::shortened(&answer, replies::LONGEST))
    }

    async fn worktree(&self, asked: &Asked<'_>, worktree: &Worktree, progress: &dyn Progress) -> Outcome<String> {
        match worktree {
            Worktree::Create { branch, base } => self.create_for(asked, branch, base.as_ref(), progress).await,
            Worktree::List => self.tell_environments(asked).await,
            Worktree::Remove { name, force } => self.remove_for(asked, name.as_deref(), *force).await,
            Worktree::Restore { name } => self.restore_for(asked, name.as_deref()).await,
            Worktree::Link { work } => self.link(asked, work).await,
            Worktree::Cleanup { what, dry_run } => self.cleanup_for(asked, *what, *dry_run).await,
            Worktree::Orphans => self.tell_worktrees(asked).await,
            Worktree::Keep => self.pin_for(asked, true).await,
            Worktree::Unkeep => self.pin_for(asked, false).await,
            Worktree::Diff => self.tell_diff(asked).await,
            Worktree::Sync => self.sync_for(asked).await,
            Worktree::Pr => self.propose_for(asked).await,
            Worktree::Setup | Worktree::Merge(_) | Worktree::Abort => {
                Err(anyhow::anyhow!("`/worktree {worktree}` is in the table and has no act").into())
            }
        }
    }

    /// The codebase of the conversation; otherwise the person is asked, with the list.
    async fn require_chosen<'a>(&self, asked: &Asked<'a>) -> Outcome<&'a Codebase> {
        if let Some(codebase) = asked.codebase {
            return Ok(codebase);
        }
        let names: Vec<String> = self.choosable(asked).await?.into_iter().map(|codebase| codebase.name).collect();
        Err(match asked.repository {
            None => UserError::new(Kind::Usage, replies::which_codebase(&names)),
            Some(_) if !names.is_empty() => UserError::new(Kind::Usage, replies::which_clone(&names)),
            Some(repository) if self.clones(asked.conversation.key.platform) => {
                let error = UserError::new(Kind::NotFound, format!("I have no clone of `{repository}` yet"));
                error.hint("say what is to be done, and it is cloned")
            }
            Some(repository) => not_here(repository),
        }
        .into())
    }

    /// The live environment that the conversation works in.
    async fn current(&self, asked: &Asked<'_>) -> Outcome<Option<Environment>> {
        let Some(id) = asked.conversation.environment else { return Ok(None) };
        Ok(self.store.environment(id).await?.filter(|environment| environment.state.is_live()))
    }

    async fn require_current(&self, asked: &Asked<'_>) -> Outcome<Environment> {
        if let Some(environment) = self.current(asked).await? {
            return Ok(environment);
        }
        // Without a codebase that is the first thing to choose.
        self.require_chosen(asked).await?;
        Err(UserError::new(Kind::NotFound, "this conversation has no environment yet")
            .hint("say what is to be done, and it gets one")
            .hint("or choose: `/worktree create <branch>`, `/worktree link <work>`; `/worktree list` shows them")
            .into())
    }

    /// A refusal because somebody is at work there, as people in a chat can act on it.
    async fn or_busy<T>(&self, environment: &Environment, done: Outcome<T>) -> Outcome<T> {
        match done {
            Err(Failure::User(error)) if error.kind == Kind::Busy => {
                let running = self.store.running_in(environment.id).await?;
                Err(replies::busy(environment.name(), running.as_ref(), error).into())
            }
            other => other,
        }
    }
}
