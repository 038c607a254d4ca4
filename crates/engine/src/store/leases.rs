//! Leases of environments: one holder at a time, by the caller's clock. The epoch rises with each lease, so
//! that a holder who overslept is told apart from the one who came after.

use hedgerow_core::{EnvironmentId, Timestamp};

use super::Store;
use super::error::StoreError;
use super::row::{Row, stored};

impl Store {
    /// The new lease's epoch, or `None` while somebody else's runs (also when there is no such environment).
    pub async fn take_lease(
        &self,
        id: EnvironmentId,
        owner: &str,
        now: Timestamp,
        ttl_seconds: i64,
    ) -> Result<Option<u64>, StoreError> {
        // Read to the end: SQLite commits a statement when its last row is fetched.
        let rows = sqlx::query(
            "UPDATE environments SET lease_owner = $2, lease_until = $3, lease_epoch = lease_epoch + 1
             WHERE id = $1 AND (lease_until IS NULL OR lease_until <= $4) RETURNING lease_epoch",
        )
        .bind(id.to_string())
        .bind(owner.to_owned())
        .bind(now.plus_seconds(ttl_seconds).as_millis())
        .bind(now.as_millis())
        .fetch_all(&self.pool)
        .await?;
        rows.first().map(|row| Row(row).number("lease_epoch")).transpose()
    }

    /// Keeps a lease for longer. `false` when it has passed to somebody else or was given back.
    pub async fn renew_lease(
        &self,
        id: EnvironmentId,
        epoch: u64,
        now: Timestamp,
        ttl_seconds: i64,
    ) -> Result<bool, StoreError> {
        let renewed = sqlx::query(
            "UPDATE environments SET lease_until = $3 WHERE id = $1 AND lease_epoch = $2 AND lease_until IS NOT NULL",
        )
        .bind(id.to_string())
        .bind(stored(epoch)?)
        .bind(now.plus_seconds(ttl_seconds).as_millis())
        .execute(&self.pool)
        .await?;
        Ok(renewed.rows_affected() == 1)
    }

    /// Gives a lease back; one of an older epoch is somebody else's by now and stays.
    pub async fn release_lease(&self, id: EnvironmentId, epoch: u64) -> Result<(), StoreError> {
        sqlx::query(
            "UPDATE environments SET lease_owner = NULL, lease_until = NULL WHERE id = $1 AND lease_epoch = $2",
        )
        .bind(id.to_string())
        .bind(stored(epoch)?)
        .execute(&self.pool)
        .await?;
        Ok(())
    }

    /// Ends a lease whose owner is known to be gone.
    pub async fn end_lease_of(&self, id: EnvironmentId, owner: &str) -> Result<(), StoreError> {
        sqlx::query(
            "UPDATE environments SET lease_owner = NULL, lease_until = NULL WHERE id = $1 AND lease_owner = $2",
        )
        .bind(id.to_string())
        .bind(owner.to_owned())
        .execute(&self.pool)
        .await?;
        Ok(())
    }

    /// Every lease that runs now, and who holds it.
    pub async fn leases(&self, now: Timestamp) -> Result<Vec<(EnvironmentId, String)>, StoreError> {
        let rows = sqlx::query("SELECT id, lease_owner FROM environments WHERE lease_until > $1 ORDER BY id")
            .bind(now.as_millis())
            .fetch_all(&self.pool)
            .await?;
        rows.iter().map(|row| Ok((Row(row).parsed("id")?, Row(row).text("lease_owner")?))).collect()
    }

    /// Who holds the environment now.
    pub async fn lease_holder(&self, id: EnvironmentId, now: Timestamp) -> Result<Option<String>, StoreError> {
        let row = sqlx::query("SELECT lease_owner FROM environments WHERE id = $1 AND lease_until > $2")
            .bind(id.to_string())
            .bind(now.as_millis())
            .fetch_optional(&self.pool)
            .await?;
        row.as_ref().map(|row| Row(row).text("lease_owner")).transpose()
    }
}
