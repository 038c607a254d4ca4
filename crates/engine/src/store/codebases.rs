//! Codebases: who is registered, and the row whose lock makes "count, then insert" one step.

use std::path::Path;

use hedgerow_core::environment::Actor;
use hedgerow_core::{Codebase, CodebaseId, Timestamp};
use sqlx::AnyConnection;
use sqlx::any::AnyRow;

use super::Store;
use super::error::StoreError;
use super::events::NewEvent;
use super::row::{Row, path_text};

macro_rules! columns {
    () => {
        "id, name, path, folder, remote, remote_name, base_branch, fingerprint, created_at"
    };
}

macro_rules! select {
    ($rest:literal) => {
        concat!("SELECT ", columns!(), " FROM codebases WHERE ", $rest)
    };
}

fn codebase(row: &AnyRow) -> Result<Codebase, StoreError> {
    let row = Row(row);
    Ok(Codebase {
        id: row.parsed("id")?,
        name: row.text("name")?,
        path: row.path("path")?,
        folder: row.text("folder")?,
        remote: row.maybe_text("remote")?,
        remote_name: row.maybe_text("remote_name")?,
        base_branch: row.maybe_branch("base_branch")?,
        fingerprint: row.text("fingerprint")?,
        created_at: row.time("created_at")?,
    })
}

/// Holds the codebase still until the transaction ends. Must be its first statement: that takes SQLite's only
/// write lock before anything is read, and PostgreSQL's lock of the row. A forgotten codebase is `Stale` unless
/// `even_forgotten`.
pub(super) async fn lock(
    connection: &mut AnyConnection,
    id: CodebaseId,
    even_forgotten: bool,
) -> Result<(), StoreError> {
    let locked =
        sqlx::query("UPDATE codebases SET touched = touched + 1 WHERE id = $1 AND (forgotten_at IS NULL OR $2 = 1)")
            .bind(id.to_string())
            .bind(i64::from(even_forgotten))
            .execute(connection)
            .await?;
    if locked.rows_affected() == 1 { Ok(()) } else { Err(StoreError::Stale) }
}

impl Store {
    /// `Taken` when its name, path or folder belongs to another.
    pub async fn add_codebase(&self, codebase: &Codebase, by: &Actor) -> Result<(), StoreError> {
        let mut tx = self.pool.begin().await?;
        sqlx::query(concat!("INSERT INTO codebases (", columns!(), ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)"))
            .bind(codebase.id.to_string())
            .bind(codebase.name.clone())
            .bind(path_text(&codebase.path)?)
            .bind(codebase.folder.clone())
            .bind(codebase.remote.clone())
            .bind(codebase.remote_name.clone())
            .bind(codebase.base_branch.as_ref().map(ToString::to_string))
            .bind(codebase.fingerprint.clone())
            .bind(codebase.created_at.as_millis())
            .execute(&mut *tx)
            .await?;
        let event = NewEvent::new(codebase.created_at, by, "codebase-added").of_codebase(codebase.id);
        event.write(&mut tx).await?;
        Ok(tx.commit().await?)
    }

    /// All that are registered, by name.
    pub async fn codebases(&self) -> Result<Vec<Codebase>, StoreError> {
        let rows = sqlx::query(select!("forgotten_at IS NULL ORDER BY name")).fetch_all(&self.pool).await?;
        rows.iter().map(codebase).collect()
    }

    /// Also one that was forgotten: its history still needs a name.
    pub async fn codebase(&self, id: CodebaseId) -> Result<Option<Codebase>, StoreError> {
        let row = sqlx::query(select!("id = $1")).bind(id.to_string()).fetch_optional(&self.pool).await?;
        row.as_ref().map(codebase).transpose()
    }

    pub async fn codebase_named(&self, name: &str) -> Result<Option<Codebase>, StoreError> {
        let row = sqlx::query(select!("name = $1 AND forgotten_at IS NULL"))
            .bind(name.to_owned())
            .fetch_optional(&self.pool)
            .await?;
        row.as_ref().map(codebase).transpose()
    }

    pub async fn codebase_at(&self, path: &Path) -> Result<Option<Codebase>, StoreError> {
        let row = sqlx::query(select!("path = $1 AND forgotten_at IS NULL"))
            .bind(path_text(path)?)
            .fetch_optional(&self.pool)
            .await?;
        row.as_ref().map(codebase).transpose()
    }

    /// Puts a forgotten codebase back on the list, with its history and its trash. `None` when this path was never
    /// on it; `Taken` when its name or folder has gone to another.
    pub async fn revive_codebase(
        &self,
        path: &Path,
        by: &Actor,
        now: Timestamp,
    ) -> Result<Option<Codebase>, StoreError> {
        let mut tx = self.pool.begin().await?;
        // Written before anything is read: SQLite refuses who reads first and finds that somebody wrote meanwhile.
        let rows = sqlx::query(concat!(
            "UPDATE codebases SET forgotten_at = NULL WHERE id =
             (SELECT id FROM codebases WHERE path = $1 AND forgotten_at IS NOT NULL ORDER BY forgotten_at DESC LIMIT 1)
             RETURNING ",
            columns!()
        ))
        .bind(path_text(path)?)
        .fetch_all(&mut *tx)
        .await?;
        let Some(known) = rows.first().map(codebase).transpose()? else { return Ok(None) };
        NewEvent::new(now, by, "codebase-revived").of_codebase(known.id).write(&mut tx).await?;
        tx.commit().await?;
        Ok(Some(known))
    }

    /// Writes down that a person has accepted this configuration.
    pub async fn set_fingerprint(
        &self,
        id: CodebaseId,
        fingerprint: &str,
        by: &Actor,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let mut tx = self.pool.begin().await?;
        lock(&mut tx, id, false).await?;
        sqlx::query("UPDATE codebases SET fingerprint = $2 WHERE id = $1")
            .bind(id.to_string())
            .bind(fingerprint.to_owned())
            .execute(&mut *tx)
            .await?;
        let event = NewEvent::new(now, by, "configuration-accepted").of_codebase(id).detail(fingerprint);
        event.write(&mut tx).await?;
        Ok(tx.commit().await?)
    }

    /// The remote has another address now.
    pub async fn set_remote(&self, id: CodebaseId, remote: Option<&str>) -> Result<(), StoreError> {
        sqlx::query("UPDATE codebases SET remote = $2 WHERE id = $1")
            .bind(id.to_string())
            .bind(remote.map(str::to_owned))
            .execute(&self.pool)
            .await?;
        Ok(())
    }

    /// Takes it off the list; its history stays. `InUse` while it has live environments, `Stale` when it is
    /// forgotten already.
    pub async fn forget_codebase(&self, id: CodebaseId, by: &Actor, now: Timestamp) -> Result<(), StoreError> {
        let mut tx = self.pool.begin().await?;
        lock(&mut tx, id, false).await?;
        if super::environments::count_live(&mut tx, id).await? > 0 {
            return Err(StoreError::InUse);
        }
        sqlx::query("UPDATE codebases SET forgotten_at = $2 WHERE id = $1")
            .bind(id.to_string())
            .bind(now.as_millis())
            .execute(&mut *tx)
            .await?;
        sqlx::query("UPDATE conversations SET codebase_id = NULL WHERE codebase_id = $1")
            .bind(id.to_string())
            .execute(&mut *tx)
            .await?;
        NewEvent::new(now, by, "codebase-forgotten").of_codebase(id).write(&mut tx).await?;
        Ok(tx.commit().await?)
    }
}
