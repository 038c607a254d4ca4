//! What was said in a conversation, by people and by us, and what is forgotten of it in the end.

use hedgerow_core::environment::Actor;
use hedgerow_core::{ConversationId, MessageId, ReplyId, Timestamp};

use super::Store;
use super::error::StoreError;
use super::row::Row;

/// Something that was said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spoken {
    /// The message, or the message that it answers. `None` for what automation tells.
    pub message: Option<MessageId>,
    /// `None` when we said it.
    pub author: Option<Actor>,
    pub text: String,
    /// The last word on a message.
    pub last: bool,
    pub at: Timestamp,
}

/// Rows that one statement forgets at most, so that nobody waits long for it.
const BATCH: i64 = 500;

impl Store {
    /// The last `most` things said in a conversation, oldest first.
    pub async fn spoken(&self, conversation: ConversationId, most: u32) -> Result<Vec<Spoken>, StoreError> {
        let rows = sqlx::query(
            "SELECT id, id AS message_id, author, said AS words, 0 AS last, received_at AS at FROM inbox
             WHERE conversation_id = $1 AND said IS NOT NULL
             UNION ALL
             SELECT id, message_id, NULL AS author, words, last, written_at AS at FROM outbox WHERE conversation_id = $1
             ORDER BY at DESC, id DESC LIMIT $2",
        )
        .bind(conversation.to_string())
        .bind(i64::from(most))
        .fetch_all(&self.pool)
        .await?;
        let mut spoken = rows
            .iter()
            .map(|row| {
                let row = Row(row);
                Ok(Spoken {
                    message: row.maybe_parsed("message_id")?,
                    author: row.maybe_parsed("author")?,
                    text: row.text("words")?,
                    last: row.flag("last")?,
                    at: row.time("at")?,
                })
            })
            .collect::<Result<Vec<_>, StoreError>>()?;
        spoken.reverse();
        Ok(spoken)
    }

    /// What a message said, as long as it is remembered.
    pub async fn said(&self, id: MessageId) -> Result<Option<String>, StoreError> {
        let row =
            sqlx::query("SELECT said FROM inbox WHERE id = $1").bind(id.to_string()).fetch_optional(&self.pool).await?;
        row.as_ref().map_or(Ok(None), |row| Row(row).maybe_text("said"))
    }

    /// The words of a reply, the message it answers, and whether they are the last on it.
    pub async fn reply(&self, id: ReplyId) -> Result<Option<(String, Option<MessageId>, bool)>, StoreError> {
        let row = sqlx::query("SELECT words, message_id, last FROM outbox WHERE id = $1")
            .bind(id.to_string())
            .fetch_optional(&self.pool)
            .await?;
        let Some(row) = row else { return Ok(None) };
        let row = Row(&row);
        Ok(Some((row.text("words")?, row.maybe_parsed("message_id")?, row.flag("last")?)))
    }

    /// What was said in answer to a message so far, oldest first: its words, and whether they are the last.
    pub async fn replies_to(&self, message: MessageId) -> Result<Vec<(ReplyId, String, bool)>, StoreError> {
        let rows = sqlx::query("SELECT id, words, last FROM outbox WHERE message_id = $1 ORDER BY id")
            .bind(message.to_string())
            .fetch_all(&self.pool)
            .await?;
        rows.iter().map(Row).map(|row| Ok((row.parsed("id")?, row.text("words")?, row.flag("last")?))).collect()
    }

    /// Forgets a batch of what ended before then: runs with their logs, what was remembered of sessions, replies,
    /// messages. `true` when there may be more.
    pub async fn forget_talk(&self, before: Timestamp) -> Result<bool, StoreError> {
        let mut more = false;
        for statement in [
            "DELETE FROM runs WHERE id IN (SELECT id FROM runs WHERE state <> 'running' AND ended_at < $1 LIMIT $2)",
            "DELETE FROM memories WHERE session_id IN
             (SELECT memories.session_id FROM memories JOIN sessions ON sessions.id = memories.session_id
              WHERE sessions.ended_at < $1 LIMIT $2)",
            "DELETE FROM outbox WHERE id IN
             (SELECT id FROM outbox WHERE state IN ('sent', 'failed') AND ended_at < $1 LIMIT $2)",
            "DELETE FROM inbox WHERE id IN (SELECT id FROM inbox WHERE state = 'done' AND done_at < $1 LIMIT $2)",
        ] {
            let gone =
                sqlx::query(statement).bind(before.as_millis()).bind(BATCH).execute(&self.pool).await?.rows_affected();
            more |= gone == BATCH.unsigned_abs();
        }
        Ok(more)
    }
}
