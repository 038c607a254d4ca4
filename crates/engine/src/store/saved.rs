//! Saved states: which there are, what is left of their environments in the trash, and how long they have been kept.

use std::path::PathBuf;

use hedgerow_core::saved::SavedState;
use hedgerow_core::{CodebaseId, Environment, EnvironmentId, SavedId, State, Timestamp};
use sqlx::any::AnyRow;

use super::error::StoreError;
use super::events::NewEvent;
use super::row::{Row, path_text, stored};
use super::{Store, save};

macro_rules! columns {
    () => {
        "id, environment_id, codebase_id, node, made_at, bytes, skipped, remains, aged, expired_at"
    };
}

macro_rules! select {
    ($rest:literal) => {
        concat!("SELECT ", columns!(), " FROM saved_states WHERE ", $rest)
    };
}

fn saved_state(row: &AnyRow) -> Result<SavedState, StoreError> {
    let row = Row(row);
    Ok(SavedState {
        id: row.parsed("id")?,
        environment: row.parsed("environment_id")?,
        codebase: row.parsed("codebase_id")?,
        node: row.text("node")?,
        made_at: row.time("made_at")?,
        bytes: row.number("bytes")?,
        skipped: row.number("skipped")?,
        remains: row.maybe_text("remains")?.map(PathBuf::from),
        aged: row.number("aged")?,
        expired_at: row.maybe_time("expired_at")?,
    })
}

impl Store {
    /// The saved state takes the place of an environment in the trash, whose row becomes history: from here on what is
    /// left of its files only has to be deleted.
    pub async fn replace_by_saved(
        &self,
        environment: &Environment,
        saved: &SavedState,
        event: &NewEvent,
    ) -> Result<(), StoreError> {
        let mut tx = self.pool.begin().await?;
        let gone = Environment { state: State::Destroyed, trash: None, ..environment.clone() };
        if !save::write(&mut tx, &gone, (State::Trashed, environment.generation), event).await? {
            return Err(StoreError::Stale);
        }
        let remains = saved.remains.as_deref().map(path_text).transpose()?;
        sqlx::query(concat!(
            "INSERT INTO saved_states (",
            columns!(),
            ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)"
        ))
        .bind(saved.id.to_string())
        .bind(saved.environment.to_string())
        .bind(saved.codebase.to_string())
        .bind(saved.node.clone())
        .bind(saved.made_at.as_millis())
        .bind(stored(saved.bytes)?)
        .bind(stored(saved.skipped)?)
        .bind(remains)
        .bind(stored(saved.aged)?)
        .bind(saved.expired_at.map(Timestamp::as_millis))
        .execute(&mut *tx)
        .await?;
        Ok(tx.commit().await?)
    }

    /// Nothing is left of the environment in the trash.
    pub async fn nothing_remains(&self, saved: &SavedState, event: &NewEvent) -> Result<(), StoreError> {
        let mut tx = self.pool.begin().await?;
        sqlx::query("UPDATE saved_states SET remains = NULL WHERE id = $1")
            .bind(saved.id.to_string())
            .execute(&mut *tx)
            .await?;
        event.clone().of(saved.codebase, saved.environment).write(&mut tx).await?;
        Ok(tx.commit().await?)
    }

    /// Its files are gone from the vault.
    pub async fn expire(&self, saved: &SavedState, at: Timestamp, event: &NewEvent) -> Result<(), StoreError> {
        let mut tx = self.pool.begin().await?;
        sqlx::query("UPDATE saved_states SET expired_at = $2 WHERE id = $1 AND expired_at IS NULL AND remains IS NULL")
            .bind(saved.id.to_string())
            .bind(at.as_millis())
            .execute(&mut *tx)
            .await?;
        event.clone().of(saved.codebase, saved.environment).write(&mut tx).await?;
        Ok(tx.commit().await?)
    }

    /// So many milliseconds more have passed for what the vault of this machine holds.
    pub async fn age_saved(&self, node: &str, millis: u64) -> Result<(), StoreError> {
        sqlx::query("UPDATE saved_states SET aged = aged + $2 WHERE node = $1 AND expired_at IS NULL")
            .bind(node.to_owned())
            .bind(stored(millis)?)
            .execute(&self.pool)
            .await?;
        Ok(())
    }

    /// What the vault of this machine holds, oldest first.
    pub async fn saved_here(&self, node: &str) -> Result<Vec<SavedState>, StoreError> {
        self.saved_states(select!("node = $1 AND expired_at IS NULL ORDER BY made_at, id"), node).await
    }

    /// Those whose environment is not yet deleted from the trash of this machine.
    pub async fn saved_with_remains(&self, node: &str) -> Result<Vec<SavedState>, StoreError> {
        self.saved_states(select!("node = $1 AND remains IS NOT NULL ORDER BY made_at, id"), node).await
    }

    /// What is saved of a codebase, newest first.
    pub async fn saved_of_codebase(&self, codebase: CodebaseId) -> Result<Vec<SavedState>, StoreError> {
        let select = select!("codebase_id = $1 AND expired_at IS NULL ORDER BY made_at DESC, id DESC");
        self.saved_states(select, &codebase.to_string()).await
    }

    /// What is saved of an environment, newest first.
    pub async fn saved_of(&self, environment: EnvironmentId) -> Result<Vec<SavedState>, StoreError> {
        let select = select!("environment_id = $1 AND expired_at IS NULL ORDER BY made_at DESC, id DESC");
        self.saved_states(select, &environment.to_string()).await
    }

    /// Whether there is a saved state of this id, on whatever machine, that has not expired.
    pub async fn is_saved(&self, id: SavedId) -> Result<bool, StoreError> {
        Ok(!self.saved_states(select!("id = $1 AND expired_at IS NULL"), &id.to_string()).await?.is_empty())
    }

    async fn saved_states(&self, select: &'static str, argument: &str) -> Result<Vec<SavedState>, StoreError> {
        let rows = sqlx::query(select).bind(argument.to_owned()).fetch_all(&self.pool).await?;
        rows.iter().map(saved_state).collect()
    }
}
