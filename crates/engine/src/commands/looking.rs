//! `/worktree list`, `orphans`, `diff`: what there is, and what changed.

use super::Asked;
use crate::engine::{Detail, Engine};
use crate::failure::Outcome;
use crate::replies;

impl Engine {
    pub(super) async fn tell_environments(&self, asked: &Asked<'_>) -> Outcome<String> {
        let codebase = self.require_chosen(asked).await?;
        let views = self.list(Some(codebase), Detail::Status).await?;
        Ok(replies::environments(&codebase.name, &views, asked.conversation.environment, self.clock.now()))
    }

    pub(super) async fn tell_worktrees(&self, asked: &Asked<'_>) -> Outcome<String> {
        let codebase = self.require_chosen(asked).await?;
        let worktrees = self.worktrees(codebase).await?;
        Ok(replies::worktrees(&codebase.name, &worktrees))
    }

    pub(super) async fn tell_diff(&self, asked: &Asked<'_>) -> Outcome<String> {
        let environment = self.require_current(asked).await?;
        let stat = self.diff(&environment, true).await?;
        let patch = self.diff(&environment, false).await?;
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Ok(replies::diff(environment.name(), &text(stat), &text(patch)))
    }
}
