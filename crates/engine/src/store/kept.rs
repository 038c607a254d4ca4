//! Whether something is known for which a repository keeps objects.

use hedgerow_core::SavedId;

use super::Store;
use super::error::StoreError;

impl Store {
    /// Whether there is a saved state of this id, on whatever machine, that has not expired.
    pub async fn is_saved(&self, id: SavedId) -> Result<bool, StoreError> {
        let row = sqlx::query("SELECT id FROM saved_states WHERE id = $1 AND expired_at IS NULL")
            .bind(id.to_string())
            .fetch_optional(&self.pool)
            .await?;
        Ok(row.is_some())
    }
}
