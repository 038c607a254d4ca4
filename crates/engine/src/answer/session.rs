//! Which session a turn continues.

use hedgerow_core::run::SessionEnd;
use hedgerow_core::{SessionId, Timestamp};

use super::Story;
use super::place::Ground;
use crate::failure::Outcome;
use crate::store::Session;

impl Story {
    /// The conversation's session, if it is this assistant's; otherwise a new one. It goes along wherever the
    /// conversation works. The second answer is whether it is new.
    pub(super) async fn session(&self, assistant: &str, ground: &Ground) -> Outcome<(Session, bool)> {
        let environment = ground.environment().map(|environment| environment.id);
        let active = self.desk.engine.store().active_session(self.conversation.id).await?;
        let because = match active {
            Some(active) if active.assistant != assistant => Some(SessionEnd::Assistant),
            Some(active) if active.environment != environment => {
                self.desk.engine.store().move_session(active.id, environment).await?;
                return Ok((Session { environment, ..active }, false));
            }
            Some(active) => return Ok((active, false)),
            None => None,
        };
        let new = Session {
            id: SessionId::new(),
            conversation: self.conversation.id,
            assistant: assistant.to_owned(),
            assistant_session: None,
            environment,
            last_command: None,
            conclusion: None,
            started_at: Timestamp::from_millis(0),
            ended: None,
        };
        Ok((self.start(new, because).await?, true))
    }

    /// A new session in the place of one that is of no more use.
    pub(super) async fn replace_session(&self, old: &Session, because: SessionEnd) -> Outcome<Session> {
        let new = Session { id: SessionId::new(), assistant_session: None, conclusion: None, ..old.clone() };
        self.start(new, Some(because)).await
    }

    async fn start(&self, new: Session, because: Option<SessionEnd>) -> Outcome<Session> {
        let (store, now) = (self.desk.engine.store(), self.desk.engine.now());
        if let Some(because) = because {
            store.end_session(self.conversation.id, because, now).await?;
        }
        let new = Session { started_at: now, ..new };
        store.start_session(&new).await?;
        Ok(new)
    }

    /// What the assistant remembered of a session that it is to resume, for when it is not at hand. Without it the session
    /// may be unknown, which is told when it happens.
    pub(super) async fn memory(&self, session: &Session) -> Option<Vec<u8>> {
        session.assistant_session.as_ref()?;
        match self.desk.engine.store().memory(session.id).await {
            Ok(memory) => memory,
            Err(error) => {
                tracing::warn!(%error, "what an assistant remembers of a session cannot be read");
                None
            }
        }
    }

    /// What the last session of this conversation concluded, for the one that comes after it.
    pub(super) async fn last_conclusion(&self) -> Option<String> {
        let last = self.desk.engine.store().last_session(self.conversation.id).await.ok().flatten()?;
        last.conclusion
    }
}
