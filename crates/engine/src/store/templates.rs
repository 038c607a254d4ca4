//! Prompt templates of a codebase: under which name which file of its base branch is found.

use std::path::PathBuf;

use hedgerow_core::environment::Actor;
use hedgerow_core::{CodebaseId, Timestamp};

use super::Store;
use super::error::StoreError;
use super::row::{Row, free_text, path_text};

impl Store {
    /// The templates of a codebase by name.
    pub async fn templates(&self, codebase: CodebaseId) -> Result<Vec<(String, PathBuf)>, StoreError> {
        let rows = sqlx::query("SELECT name, path FROM templates WHERE codebase_id = $1 ORDER BY name")
            .bind(codebase.to_string())
            .fetch_all(&self.pool)
            .await?;
        rows.iter().map(|row| Ok((Row(row).text("name")?, Row(row).path("path")?))).collect()
    }

    pub async fn template(&self, codebase: CodebaseId, name: &str) -> Result<Option<PathBuf>, StoreError> {
        let row = sqlx::query("SELECT path FROM templates WHERE codebase_id = $1 AND name = $2")
            .bind(codebase.to_string())
            .bind(free_text(name))
            .fetch_optional(&self.pool)
            .await?;
        row.as_ref().map(|row| Row(row).path("path")).transpose()
    }

    /// Sets which file a name stands for.
    pub async fn set_template(
        &self,
        codebase: CodebaseId,
        name: &str,
        path: &std::path::Path,
        by: &Actor,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        sqlx::query(
            "INSERT INTO templates (codebase_id, name, path, added_at, added_by) VALUES ($1, $2, $3, $4, $5)
             ON CONFLICT (codebase_id, name) DO UPDATE SET path = excluded.path, added_at = excluded.added_at,
             added_by = excluded.added_by",
        )
        .bind(codebase.to_string())
        .bind(free_text(name))
        .bind(path_text(path)?)
        .bind(now.as_millis())
        .bind(free_text(&by.to_string()))
        .execute(&self.pool)
        .await?;
        Ok(())
    }
}
