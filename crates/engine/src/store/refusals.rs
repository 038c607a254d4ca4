//! Those who may not ask: told once in a conversation, and nothing else is done or kept for them.

use hedgerow_core::environment::Actor;
use hedgerow_core::platform::ConversationKey;
use hedgerow_core::run::MessageEnd;
use hedgerow_core::{ConversationId, Timestamp};

use super::error::StoreError;
use super::outbox::Standing;
use super::row::{Row, free_text};
use super::{Delivered, NewReply, Store, inbox, outbox};

/// Somebody who may not ask, and what they are told.
#[derive(Debug, Clone, Copy)]
pub struct Refusing<'a> {
    pub conversation: &'a ConversationKey,
    /// By the id that never changes.
    pub author: &'a Actor,
    pub handle: Option<&'a str>,
    pub words: &'a str,
}

impl Store {
    /// Ends a message whose author may not ask: with a sentence the first time in its conversation, without one later.
    /// Decided and written in one transaction, so that two at once are told once. `false` when the message is somebody
    /// else's by now.
    pub async fn refuse(
        &self,
        message: &Delivered,
        holder: &str,
        refusing: &Refusing<'_>,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let mut tx = self.pool.begin().await?;
        // Holds the row, so that who else is refused there at this moment waits. Its last activity stays: nothing happens.
        let rows = sqlx::query(
            "INSERT INTO conversations (id, platform, platform_id, created_at, last_activity_at)
             VALUES ($1, $2, $3, $4, $4)
             ON CONFLICT (platform, platform_id) DO UPDATE SET last_activity_at = conversations.last_activity_at
             RETURNING id",
        )
        .bind(ConversationId::new().to_string())
        .bind(refusing.conversation.platform.as_str())
        .bind(refusing.conversation.id.clone())
        .bind(now.as_millis())
        .fetch_all(&mut *tx)
        .await?;
        let row = rows.first().ok_or_else(|| anyhow::anyhow!("the database gave no conversation back"))?;
        let conversation: ConversationId = Row(row).parsed("id")?;
        let author = free_text(&refusing.author.to_string());
        let told = sqlx::query(
            "SELECT count(*) AS many FROM inbox WHERE conversation_id = $1 AND author = $2 AND refused = 1 AND id <> $3",
        )
        .bind(conversation.to_string())
        .bind(author.clone())
        .bind(message.id.to_string())
        .fetch_one(&mut *tx)
        .await?;
        let is_told = Row(&told).number::<u64>("many")? > 0;
        let end = if is_told { MessageEnd::Ignored } else { MessageEnd::Answered };
        if !inbox::end(&mut tx, message.id, holder, end, now).await? {
            return Ok(false);
        }
        sqlx::query("UPDATE inbox SET refused = 1, conversation_id = $2, author = $3, handle = $4 WHERE id = $1")
            .bind(message.id.to_string())
            .bind(conversation.to_string())
            .bind(author)
            .bind(refusing.handle.map(free_text))
            .execute(&mut *tx)
            .await?;
        if !is_told {
            let reply = NewReply { conversation, message: Some(message.id), words: refusing.words.to_owned() };
            outbox::write(&mut tx, &reply, Standing { last: true, run: None }, now).await?;
        }
        tx.commit().await?;
        Ok(true)
    }
}
