//! `/status`: everything about a conversation at a glance.

use hedgerow_core::State;

use super::Asked;
use crate::engine::{Detail, Engine};
use crate::failure::Outcome;
use crate::replies::{self, Census, Standing};

impl Engine {
    pub(super) async fn tell_status(&self, asked: &Asked<'_>) -> Outcome<String> {
        let conversation = asked.conversation;
        let environment = match self.current(asked).await? {
            Some(environment) => Some(self.view(&environment, Detail::Status).await?),
            None => None,
        };
        let own_run = self.store.running_of(conversation.id).await?;
        let run = match (own_run, conversation.environment) {
            (None, Some(id)) => self.store.running_in(id).await?,
            (own, _) => own,
        };
        let tool = match &run {
            Some(run) => self.store.last_tool(run.id).await?,
            None => None,
        };
        let census = match asked.codebase {
            Some(codebase) => Some(Census {
                states: self.store.live(codebase.id).await?.iter().map(|environment| environment.state).collect(),
                trashed: self.store.trashed(codebase.id).await?.len(),
            }),
            None => None,
        };
        Ok(replies::status(&Standing {
            conversation,
            codebase: asked.codebase.map(|codebase| codebase.name.as_str()),
            environment: environment.as_ref(),
            session: self.store.active_session(conversation.id).await?.as_ref(),
            run: run.as_ref(),
            tool: tool.as_deref(),
            waiting: self.store.waiting_in_lane(conversation.key.platform, asked.lane).await?,
            census: census.as_ref(),
            sandbox: self.sandbox_words().as_deref(),
            now: self.clock.now(),
        }))
    }
}

impl Census {
    /// How many environments are in each state, in the order of an environment's life.
    pub(crate) fn counted(&self) -> Vec<(State, usize)> {
        let count = |state: State| self.states.iter().filter(|other| **other == state).count();
        State::ALL.iter().map(|state| (*state, count(*state))).filter(|(_, count)| *count > 0).collect()
    }
}
