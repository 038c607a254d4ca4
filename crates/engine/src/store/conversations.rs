//! Conversations, and the environment each one points at.

use std::path::{Path, PathBuf};

use hedgerow_core::platform::ConversationKey;
use hedgerow_core::{CodebaseId, ConversationId, EnvironmentId, Timestamp};
use sqlx::any::AnyRow;

use super::Store;
use super::error::StoreError;
use super::row::{Row, free_text, path_text};

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

    /// The conversation of this id.
    pub async fn conversation_by_id(&self, id: ConversationId) -> Result<Option<Conversation>, StoreError> {
        let row = sqlx::query(concat!("SELECT ", columns!(), " FROM conversations WHERE id = $1"))
            .bind(id.to_string())
            .fetch_optional(&self.pool)
            .await?;
        row.as_ref().map(conversation).transpose()
    }

    /// The conversation of this name, if there is one. Its last activity stays.
    pub async fn known_conversation(&self, key: &ConversationKey) -> Result<Option<Conversation>, StoreError> {
        let row =
            sqlx::query(concat!("SELECT ", columns!(), " FROM conversations WHERE platform = $1 AND platform_id = $2"))
                .bind(key.platform.as_str())
                .bind(key.id.clone())
                .fetch_optional(&self.pool)
                .await?;
        row.as_ref().map(conversation).transpose()
    }

    /// Where a conversation branched off from; the first that is told stays.
    pub async fn set_parent(&self, id: ConversationId, parent: ConversationId) -> Result<(), StoreError> {
        self.set(
            "UPDATE conversations SET parent_id = coalesce(parent_id, $2) WHERE id = $1 AND id <> $2",
            id,
            Some(parent.to_string()),
        )
        .await
    }

    /// Chooses a conversation's codebase. It refers to no environment of another.
    pub async fn set_codebase(&self, id: ConversationId, codebase: CodebaseId) -> Result<(), StoreError> {
        self.set(
            "UPDATE conversations SET codebase_id = $2, subfolder = CASE WHEN codebase_id = $2 THEN subfolder END,
             environment_id = (SELECT e.id FROM environments AS e
               WHERE e.id = conversations.environment_id AND e.codebase_id = $2) WHERE id = $1",
            id,
            Some(codebase.to_string()),
        )
        .await
    }

    pub async fn set_assistant(&self, id: ConversationId, assistant: &str) -> Result<(), StoreError> {
        self.set("UPDATE conversations SET assistant = $2 WHERE id = $1", id, Some(free_text(assistant))).await
    }

    /// Where in its environment a conversation's assistant starts; `None` is the top.
    pub async fn set_subfolder(&self, id: ConversationId, subfolder: Option<&Path>) -> Result<(), StoreError> {
        let subfolder = subfolder.map(path_text).transpose()?;
        self.set("UPDATE conversations SET subfolder = $2 WHERE id = $1", id, subfolder).await
    }

    async fn set(&self, update: &'static str, id: ConversationId, value: Option<String>) -> Result<(), StoreError> {
        sqlx::query(update).bind(id.to_string()).bind(value).execute(&self.pool).await?;
        Ok(())
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

    /// Lets conversations go of an environment: all of them, or `only` this one. One that refers to another by now keeps
    /// that.
    pub async fn let_go_of(
        &self,
        environment: EnvironmentId,
        only: Option<&ConversationKey>,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        sqlx::query(
            "UPDATE conversations SET environment_id = NULL, last_activity_at = $2
             WHERE environment_id = $1 AND ($5 = 1 OR platform = $3 AND platform_id = $4)",
        )
        .bind(environment.to_string())
        .bind(now.as_millis())
        .bind(only.map(|key| key.platform.as_str()).unwrap_or_default())
        .bind(only.map(|key| key.id.clone()).unwrap_or_default())
        .bind(i64::from(only.is_none()))
        .execute(&self.pool)
        .await?;
        Ok(())
    }

    /// The environment that a conversation was last told of, wherever that one is now.
    pub async fn told(&self, id: ConversationId) -> Result<Option<EnvironmentId>, StoreError> {
        let row = sqlx::query("SELECT told_environment_id FROM conversations WHERE id = $1")
            .bind(id.to_string())
            .fetch_optional(&self.pool)
            .await?;
        Ok(row.as_ref().map(|row| Row(row).maybe_parsed("told_environment_id")).transpose()?.flatten())
    }

    /// A conversation is being told of an environment in an answer; it need not be introduced once more.
    pub async fn set_told(&self, id: ConversationId, environment: EnvironmentId) -> Result<(), StoreError> {
        let update = "UPDATE conversations SET told_environment_id = $2 WHERE id = $1";
        self.set(update, id, Some(environment.to_string())).await
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
