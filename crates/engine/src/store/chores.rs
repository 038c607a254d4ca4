//! Chores: what one process at a time does every so often. Who has one, until when, and when it was begun last.

use hedgerow_core::Timestamp;

use super::Store;
use super::error::StoreError;
use super::row::Row;

/// A chore as it was last written. One that nobody ever began is all `None`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Chore {
    /// Who is at it, or died at it.
    pub holder: Option<String>,
    /// The holder moves this on while it works; beyond it another may take over.
    pub held_until: Option<Timestamp>,
    pub began_at: Option<Timestamp>,
    pub ended_at: Option<Timestamp>,
}

impl Store {
    pub async fn chore(&self, name: &str) -> Result<Chore, StoreError> {
        let row = sqlx::query("SELECT holder, held_until, began_at, ended_at FROM chores WHERE name = $1")
            .bind(name.to_owned())
            .fetch_optional(&self.pool)
            .await?;
        let Some(row) = row else { return Ok(Chore::default()) };
        let row = Row(&row);
        Ok(Chore {
            holder: row.maybe_text("holder")?,
            held_until: row.maybe_time("held_until")?,
            began_at: row.maybe_time("began_at")?,
            ended_at: row.maybe_time("ended_at")?,
        })
    }

    /// Begins a chore, provided that it is still as it was seen: of any number who saw the same, one gets `true`.
    pub async fn take_chore(
        &self,
        name: &str,
        seen: &Chore,
        holder: &str,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<bool, StoreError> {
        sqlx::query("INSERT INTO chores (name) VALUES ($1) ON CONFLICT (name) DO NOTHING")
            .bind(name.to_owned())
            .execute(&self.pool)
            .await?;
        let taken = sqlx::query(
            "UPDATE chores SET holder = $2, held_until = $3, began_at = $4, ended_at = NULL WHERE name = $1
             AND holder IS NOT DISTINCT FROM $5 AND held_until IS NOT DISTINCT FROM $6
             AND began_at IS NOT DISTINCT FROM $7",
        )
        .bind(name.to_owned())
        .bind(holder.to_owned())
        .bind(until.as_millis())
        .bind(now.as_millis())
        .bind(seen.holder.clone())
        .bind(seen.held_until.map(Timestamp::as_millis))
        .bind(seen.began_at.map(Timestamp::as_millis))
        .execute(&self.pool)
        .await?;
        Ok(taken.rows_affected() == 1)
    }

    /// Keeps a chore for longer. `false` when it has passed to somebody else.
    pub async fn renew_chore(
        &self,
        name: &str,
        holder: &str,
        began_at: Timestamp,
        until: Timestamp,
    ) -> Result<bool, StoreError> {
        let renewed =
            sqlx::query("UPDATE chores SET held_until = $4 WHERE name = $1 AND holder = $2 AND began_at = $3")
                .bind(name.to_owned())
                .bind(holder.to_owned())
                .bind(began_at.as_millis())
                .bind(until.as_millis())
                .execute(&self.pool)
                .await?;
        Ok(renewed.rows_affected() == 1)
    }

    /// This round of it is done. One that has passed to somebody else stays theirs.
    pub async fn end_chore(
        &self,
        name: &str,
        holder: &str,
        began_at: Timestamp,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        sqlx::query(
            "UPDATE chores SET holder = NULL, held_until = NULL, ended_at = $4
             WHERE name = $1 AND holder = $2 AND began_at = $3",
        )
        .bind(name.to_owned())
        .bind(holder.to_owned())
        .bind(began_at.as_millis())
        .bind(now.as_millis())
        .execute(&self.pool)
        .await?;
        Ok(())
    }
}
