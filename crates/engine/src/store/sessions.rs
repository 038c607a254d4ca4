//! Sessions: an assistant's resumable context, at most one active in each conversation.

use hedgerow_core::run::SessionEnd;
use hedgerow_core::{ConversationId, EnvironmentId, RunId, SessionId, Timestamp};
use sqlx::AnyConnection;
use sqlx::any::AnyRow;

use super::Store;
use super::error::StoreError;
use super::row::{Row, free_text};

macro_rules! columns {
    () => {
        "id, conversation_id, assistant, assistant_session, environment_id, last_command, conclusion, started_at, \
         ended_at, ended_because"
    };
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    pub id: SessionId,
    pub conversation: ConversationId,
    pub assistant: String,
    /// The assistant's own name of it, once it has told.
    pub assistant_session: Option<String>,
    pub environment: Option<EnvironmentId>,
    /// The last template that was used in it.
    pub last_command: Option<String>,
    /// How its last turn ended.
    pub conclusion: Option<String>,
    pub started_at: Timestamp,
    pub ended: Option<(Timestamp, SessionEnd)>,
}

/// What a turn leaves in its session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionNews {
    pub session: SessionId,
    pub assistant_session: Option<String>,
    pub conclusion: Option<String>,
    pub last_command: Option<String>,
    /// It can go no further; the next turn begins another.
    pub ended: Option<SessionEnd>,
}

fn session(row: &AnyRow) -> Result<Session, StoreError> {
    let row = Row(row);
    Ok(Session {
        id: row.parsed("id")?,
        conversation: row.parsed("conversation_id")?,
        assistant: row.text("assistant")?,
        assistant_session: row.maybe_text("assistant_session")?,
        environment: row.maybe_parsed("environment_id")?,
        last_command: row.maybe_text("last_command")?,
        conclusion: row.maybe_text("conclusion")?,
        started_at: row.time("started_at")?,
        ended: row.maybe_time("ended_at")?.zip(row.maybe_parsed("ended_because")?),
    })
}

impl Store {
    /// The session that a conversation's next turn resumes.
    pub async fn active_session(&self, conversation: ConversationId) -> Result<Option<Session>, StoreError> {
        let row = sqlx::query(concat!(
            "SELECT ",
            columns!(),
            " FROM sessions WHERE conversation_id = $1 AND ended_at IS NULL"
        ))
        .bind(conversation.to_string())
        .fetch_optional(&self.pool)
        .await?;
        row.as_ref().map(session).transpose()
    }

    /// The session that ended last in a conversation.
    pub async fn last_session(&self, conversation: ConversationId) -> Result<Option<Session>, StoreError> {
        let row = sqlx::query(concat!(
            "SELECT ",
            columns!(),
            " FROM sessions WHERE conversation_id = $1 AND ended_at IS NOT NULL ORDER BY ended_at DESC, id DESC LIMIT 1"
        ))
        .bind(conversation.to_string())
        .fetch_optional(&self.pool)
        .await?;
        row.as_ref().map(session).transpose()
    }

    /// Starts a session. `Taken` when the conversation has one.
    pub async fn start_session(&self, begun: &Session) -> Result<(), StoreError> {
        sqlx::query(concat!(
            "INSERT INTO sessions (",
            columns!(),
            ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, NULL, NULL)"
        ))
        .bind(begun.id.to_string())
        .bind(begun.conversation.to_string())
        .bind(free_text(&begun.assistant))
        .bind(begun.assistant_session.as_deref().map(free_text))
        .bind(begun.environment.map(|id| id.to_string()))
        .bind(begun.last_command.as_deref().map(free_text))
        .bind(begun.conclusion.as_deref().map(free_text))
        .bind(begun.started_at.as_millis())
        .execute(&self.pool)
        .await?;
        Ok(())
    }

    /// Ends the conversation's session. `false` when it has none.
    pub async fn end_session(
        &self,
        conversation: ConversationId,
        because: SessionEnd,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let ended = sqlx::query(
            "UPDATE sessions SET ended_at = $2, ended_because = $3 WHERE conversation_id = $1 AND ended_at IS NULL",
        )
        .bind(conversation.to_string())
        .bind(now.as_millis())
        .bind(because.as_str())
        .execute(&self.pool)
        .await?;
        Ok(ended.rows_affected() == 1)
    }

    /// Keeps the assistant's own name of a session as soon as a run has told it. `false` when that run is over, or its
    /// session.
    pub async fn name_session(&self, id: SessionId, run: RunId, name: &str) -> Result<bool, StoreError> {
        let named = sqlx::query(
            "UPDATE sessions SET assistant_session = $2 WHERE id = $1 AND ended_at IS NULL
             AND EXISTS (SELECT 1 FROM runs WHERE runs.id = $3 AND runs.state = 'running')",
        )
        .bind(id.to_string())
        .bind(free_text(name))
        .bind(run.to_string())
        .execute(&self.pool)
        .await?;
        Ok(named.rows_affected() == 1)
    }

    /// The session goes on in another environment; without one, in the conversation's own folder.
    pub async fn move_session(&self, id: SessionId, environment: Option<EnvironmentId>) -> Result<(), StoreError> {
        sqlx::query("UPDATE sessions SET environment_id = $2 WHERE id = $1")
            .bind(id.to_string())
            .bind(environment.map(|id| id.to_string()))
            .execute(&self.pool)
            .await?;
        Ok(())
    }
}

/// Keeps what a turn told. What it did not tell stays.
pub(super) async fn note(connection: &mut AnyConnection, news: &SessionNews, now: Timestamp) -> Result<(), StoreError> {
    sqlx::query(
        "UPDATE sessions SET assistant_session = coalesce($2, assistant_session),
         conclusion = coalesce($3, conclusion), last_command = coalesce($4, last_command) WHERE id = $1",
    )
    .bind(news.session.to_string())
    .bind(news.assistant_session.as_deref().map(free_text))
    .bind(news.conclusion.as_deref().map(free_text))
    .bind(news.last_command.as_deref().map(free_text))
    .execute(&mut *connection)
    .await?;
    if let Some(because) = news.ended {
        sqlx::query("UPDATE sessions SET ended_at = $2, ended_because = $3 WHERE id = $1 AND ended_at IS NULL")
            .bind(news.session.to_string())
            .bind(now.as_millis())
            .bind(because.as_str())
            .execute(connection)
            .await?;
    }
    Ok(())
}
