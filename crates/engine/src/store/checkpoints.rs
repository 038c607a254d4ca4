//! Checkpoints of environments. git has them; the rows are what can be listed without asking it.

use hedgerow_core::{Checkpoint, CommitSha, EnvironmentId};
use sqlx::any::AnyRow;

use super::Store;
use super::error::StoreError;
use super::events::NewEvent;
use super::row::{Row, free_text, stored, wrong};

fn checkpoint(row: &AnyRow) -> Result<Checkpoint, StoreError> {
    let row = Row(row);
    Ok(Checkpoint {
        number: row.number("number")?,
        commit: CommitSha::parse(&row.text("commit_sha")?).map_err(|error| wrong("commit_sha", error))?,
        made_at: row.time("made_at")?,
        label: row.maybe_text("label")?,
    })
}

impl Store {
    /// The checkpoints of an environment, oldest first.
    pub async fn checkpoints(&self, environment: EnvironmentId) -> Result<Vec<Checkpoint>, StoreError> {
        let rows = sqlx::query(
            "SELECT number, made_at, commit_sha, label FROM checkpoints WHERE environment_id = $1 ORDER BY number",
        )
        .bind(environment.to_string())
        .fetch_all(&self.pool)
        .await?;
        rows.iter().map(checkpoint).collect()
    }

    /// Writes a checkpoint down. One that is there already stays as it is.
    pub async fn add_checkpoint(
        &self,
        environment: EnvironmentId,
        new: &Checkpoint,
        event: &NewEvent,
    ) -> Result<(), StoreError> {
        let mut transaction = self.pool.begin().await?;
        sqlx::query(
            "INSERT INTO checkpoints (environment_id, number, made_at, commit_sha, label) VALUES ($1, $2, $3, $4, $5)
             ON CONFLICT (environment_id, number) DO NOTHING",
        )
        .bind(environment.to_string())
        .bind(stored(new.number)?)
        .bind(new.made_at.as_millis())
        .bind(new.commit.to_string())
        .bind(new.label.as_deref().map(free_text))
        .execute(&mut *transaction)
        .await?;
        event.write(&mut transaction).await?;
        transaction.commit().await?;
        Ok(())
    }

    /// The numbers of all but the newest so many.
    pub async fn surplus_checkpoints(&self, environment: EnvironmentId, keep: usize) -> Result<Vec<u64>, StoreError> {
        let mut numbers: Vec<u64> =
            self.checkpoints(environment).await?.into_iter().map(|known| known.number).collect();
        numbers.truncate(numbers.len().saturating_sub(keep));
        Ok(numbers)
    }

    /// All checkpoints of one environment become another's.
    pub async fn move_checkpoints(&self, from: EnvironmentId, to: EnvironmentId) -> Result<(), StoreError> {
        sqlx::query("UPDATE checkpoints SET environment_id = $2 WHERE environment_id = $1")
            .bind(from.to_string())
            .bind(to.to_string())
            .execute(&self.pool)
            .await?;
        Ok(())
    }

    /// Forgets some checkpoints of an environment; without numbers, all.
    pub async fn forget_checkpoints(
        &self,
        environment: EnvironmentId,
        numbers: Option<&[u64]>,
    ) -> Result<(), StoreError> {
        let Some(numbers) = numbers else {
            sqlx::query("DELETE FROM checkpoints WHERE environment_id = $1")
                .bind(environment.to_string())
                .execute(&self.pool)
                .await?;
            return Ok(());
        };
        for number in numbers {
            sqlx::query("DELETE FROM checkpoints WHERE environment_id = $1 AND number = $2")
                .bind(environment.to_string())
                .bind(stored(*number)?)
                .execute(&self.pool)
                .await?;
        }
        Ok(())
    }
}
