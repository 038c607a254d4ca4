//! `/worktree pr`: push, and open a pull request.

use super::Asked;
use crate::engine::Engine;
use crate::failure::Outcome;
use crate::replies;

impl Engine {
    pub(super) async fn propose_for(&self, asked: &Asked<'_>) -> Outcome<String> {
        let environment = self.require_current(asked).await?;
        let proposed = self.propose(&environment, asked.by).await;
        let proposed = self.or_busy(&environment, proposed).await?;
        Ok(replies::proposed(&proposed))
    }
}
