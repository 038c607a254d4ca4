//! Conversations, and the environment each one points at.

use std::path::PathBuf;

use hedgerow_core::platform::ConversationKey;
use hedgerow_core::{CodebaseId, ConversationId, EnvironmentId, Timestamp};
use sqlx::any::AnyRow;

use super::Store;
use super::error::StoreError;
use super::row::Row;

macro_rules! columns {
    () => {
        "id, platform, platform_id, parent_id, codebase_id, environment_id, assistant, subfolder, created_at, \
         last_activity_at"
    };
}

/// A place where people talk, as the store remembers it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conversation {
    pub id: ConversationId,
    pub key: ConversationKey,
    /// The conversation it branched off from.
    pub parent: Option<ConversationId>,
    pub codebase: Option<CodebaseId>,
    pub environment: Option<EnvironmentId>,
    pub assistant: Option<String>,
    /// Where in the environment the assistant starts.
    pub subfolder: Option<PathBuf>,
    pub created_at: Timestamp,
    pub last_activity_at: Timestamp,
}

fn key(row: &Row<'_>) -> Result<ConversationKey, StoreError> {
    Ok(ConversationKey { platform: row.parsed("platform")?, id: row.text("platform_id")? })
}

fn conversation(row: &AnyRow) -> Result<Conversation, StoreError> {
    let row = Row(row);
    Ok(Conversation {
        id: row.parsed("id")?,
        key: key(&row)?,
        parent: row.maybe_parsed("parent_id")?,
        codebase: row.maybe_parsed("codebase_id")?,
        environment: row.maybe_parsed("environment_id")?,
        assistant: row.maybe_text("assistant")?,
        subfolder: row.maybe_text("subfolder")?.map(PathBuf::from),
        created_at: row.time("created_at")?,
        last_activity_at: row.time("last_activity_at")?,
    })
}

impl Store {
    /// The conversation of this name, made if it is new. Its last activity is now.
    pub async fn conversation(&self, key: &ConversationKey, now: Timestamp) -> Result<Conversation, StoreError> {
        // Read to the end: SQLite commits a statement when its last row is fetched.
        let rows = sqlx::query(concat!(
            "INSERT INTO conversations (id, platform, platform_id, created_at, last_activity_at)
             VALUES ($1, $2, $3, $4, $4)
             ON CONFLICT (platform, platform_id) DO UPDATE SET last_activity_at = excluded.last_activity_at
             RETURNING ",
            columns!()
        ))
        .bind(ConversationId::new().to_string())
        .bind(key.platform.as_str())
        .bind(key.id.clone())
        .bind(now.as_millis())
        .fetch_all(&self.pool)
        .await?;
        let row = rows.first().ok_or_else(|| anyhow::anyhow!("the database gave no conversation back"))?;
        conversation(row)
    }

    /// Points a conversation at an environment (and so at its codebase), or at none.
    pub async fn point(
        &self,
        id: ConversationId,
        environment: Option<EnvironmentId>,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        sqlx::query(
            "UPDATE conversations SET environment_id = $2, last_activity_at = $3,
             codebase_id = coalesce((SELECT codebase_id FROM environments WHERE id = $2), codebase_id) WHERE id = $1",
        )
        .bind(id.to_string())
        .bind(environment.map(|id| id.to_string()))
        .bind(now.as_millis())
        .execute(&self.pool)
        .await?;
        Ok(())
    }

    /// The conversations that point at an environment, oldest first.
    pub async fn conversations_of(&self, environment: EnvironmentId) -> Result<Vec<ConversationKey>, StoreError> {
        let rows = sqlx::query(
            "SELECT platform, platform_id FROM conversations WHERE environment_id = $1 ORDER BY created_at, id",
        )
        .bind(environment.to_string())
        .fetch_all(&self.pool)
        .await?;
        rows.iter().map(|row| key(&Row(row))).collect()
    }

    /// Which conversations point at which environment of a codebase, oldest first; for lists.
    pub async fn conversations_in(
        &self,
        codebase: CodebaseId,
    ) -> Result<Vec<(EnvironmentId, ConversationKey)>, StoreError> {
        let rows = sqlx::query(
            "SELECT environment_id, platform, platform_id FROM conversations
             WHERE environment_id IN (SELECT id FROM environments WHERE codebase_id = $1) ORDER BY created_at, id",
        )
        .bind(codebase.to_string())
        .fetch_all(&self.pool)
        .await?;
        rows.iter().map(|row| Ok((Row(row).parsed("environment_id")?, key(&Row(row))?))).collect()
    }
}
