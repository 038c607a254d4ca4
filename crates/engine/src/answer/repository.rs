//! The codebase of a forge's event: a clone of its own repository, and no other.

use hedgerow_core::command::{self, Command, Parsed, Worktree};
use hedgerow_core::platform::Mark;
use hedgerow_core::{Codebase, Kind, RepositoryName, UserError};

use super::Story;
use crate::failure::Outcome;
use crate::hosting::not_here;
use crate::replies::{self, messages};

impl Story {
    /// The conversation's own codebase, when it is of that repository or an admin asks; else the one clone there is. With
    /// several the author is asked; with none it is cloned, where the forge's settings say so.
    pub(super) async fn codebase_of(&self, repository: &RepositoryName) -> Outcome<Result<Option<Codebase>, String>> {
        let (engine, forge) = (&self.desk.engine, self.conversation.key.platform);
        if let Some(mut own) = self.own_codebase(&self.conversation).await? {
            if engine.is_of(&mut own, forge, repository).await? || engine.is_admin(&self.by).await? {
                return Ok(Ok(Some(own)));
            }
            return Err(elsewhere(repository).into());
        }
        let mut all = engine.codebases_of(forge, repository).await?;
        if let Some(name) = &self.said.codebase {
            all.retain(|codebase| codebase.name == *name);
        }
        let found = match all.len() {
            1 => all.remove(0),
            0 if self.said.codebase.is_none() && engine.clones(forge) && self.needs_codebase() => {
                self.cloned(repository).await?
            }
            0 => return Err(not_here(repository).into()),
            _ => {
                let names: Vec<String> = all.into_iter().map(|codebase| codebase.name).collect();
                return Ok(Err(replies::which_clone(&names)));
            }
        };
        engine.store().set_codebase(self.conversation.id, found.id).await?;
        Ok(Ok(Some(found)))
    }

    /// Whether a codebase is of the repository that was spoken about. Elsewhere its numbers mean something else.
    pub(super) fn is_of_its_repository(&self, codebase: &Codebase) -> bool {
        let Some(repository) = &self.said.repository else { return true };
        let hosted = self.desk.engine.settings().forges.of_codebase(codebase);
        hosted.is_some_and(|hosted| hosted.repository == *repository)
    }

    async fn cloned(&self, repository: &RepositoryName) -> Outcome<Codebase> {
        let engine = &self.desk.engine;
        self.marks.set(Mark::Working);
        engine.store().say(&self.reply(messages::cloning(repository)), engine.now()).await?;
        self.desk.wake_replies.notify_one();
        let _place = self.desk.cloning.acquire().await;
        engine.clone_hosted(self.conversation.key.platform, repository, &self.by).await
    }

    /// Whether what was said comes to nothing without a codebase. A command that only looks is no reason to clone.
    fn needs_codebase(&self) -> bool {
        match command::parse(&self.said.text) {
            Parsed::NotACommand
            | Parsed::Template { .. }
            | Parsed::Command(Command::Worktree(Worktree::Create { .. })) => true,
            Parsed::Command(_) | Parsed::Wrong { .. } | Parsed::Unknown { .. } => false,
        }
    }

    /// Whether what was said can be dealt with although its codebase is not known, or not to be worked on from here.
    pub(super) fn goes_on_without(&self) -> bool {
        if self.said.repository.is_none() {
            return self.said.text.trim_start().starts_with('/');
        }
        match command::parse(&self.said.text) {
            Parsed::Wrong { .. }
            | Parsed::Unknown { .. }
            | Parsed::Command(Command::Help | Command::Repo { .. } | Command::Repos) => true,
            // What another repository's codebase holds is nobody's business here.
            Parsed::Command(_) if self.conversation.codebase.is_some() => false,
            Parsed::Command(_) => !self.needs_codebase(),
            Parsed::NotACommand | Parsed::Template { .. } => false,
        }
    }
}

/// An admin had chosen another repository's codebase here.
fn elsewhere(repository: &RepositoryName) -> UserError {
    let what = format!("this conversation works on another repository than `{repository}`, which only an admin may do");
    UserError::new(Kind::Protected, what).hint("`/repos` lists the clones of this one, and `/repo <name>` chooses one")
}
