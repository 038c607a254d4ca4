//! The end of an issue or pull request: its conversation lets go, and the environment goes with the last that used it.

use hedgerow_core::cleanup::Want;
use hedgerow_core::environment::Actor;
use hedgerow_core::platform::ConversationKey;
use hedgerow_core::{Environment, State};

use crate::cleanup::Terms;
use crate::engine::{Engine, Swept, SweptOutcome};
use crate::failure::Outcome;

impl Engine {
    /// A conversation was closed that used this environment.
    ///
    /// 1. Its reference goes, whatever becomes of the environment.
    /// 2. While another conversation refers to it, it stays: an issue and its pull request share one.
    /// 3. Otherwise it is judged like any that automation removes.
    ///
    /// Harmless when the close is told late or twice.
    pub async fn cleanup_on_close(
        &self,
        conversation: &ConversationKey,
        environment: &Environment,
        by: &Actor,
    ) -> Outcome<Swept> {
        self.store.let_go_of(environment.id, Some(conversation), self.clock.now()).await?;
        let kept = |row: &Environment, why: &str| Ok(Swept::of(row, SweptOutcome::Kept, why.to_owned()));
        let now = match self.store.environment(environment.id).await? {
            Some(row) if row.state.is_live() => row,
            Some(row) if row.state == State::Trashed => return kept(&row, "it is in the trash already"),
            Some(row) => return kept(&row, "it is gone already"),
            None => return kept(environment, "it is gone already"),
        };
        let codebase = self.codebase_of(&now).await?;
        let terms = Terms { want: Want::Closed, dry_run: false, by };
        Ok(self.sweep(&codebase, vec![now], terms).await.remove(0))
    }

    /// The same, when something else than a conversation uses the environment: only the reference goes.
    pub(crate) async fn keep_on_close(
        &self,
        conversation: &ConversationKey,
        environment: &Environment,
        because: String,
    ) -> Outcome<Swept> {
        self.store.let_go_of(environment.id, Some(conversation), self.clock.now()).await?;
        Ok(Swept::of(environment, SweptOutcome::Kept, because))
    }
}
