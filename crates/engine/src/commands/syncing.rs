//! `/worktree sync`: the base's news.

use super::Asked;
use crate::engine::Engine;
use crate::failure::Outcome;
use crate::replies;

impl Engine {
    pub(super) async fn sync_for(&self, asked: &Asked<'_>) -> Outcome<String> {
        let environment = self.require_current(asked).await?;
        let synced = self.sync(&environment, asked.by).await;
        let synced = self.or_busy(&environment, synced).await?;
        Ok(replies::synced_in_chat(&synced))
    }
}
