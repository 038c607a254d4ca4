//! Who is behind a name, on platforms where names are unique and may pass to somebody else.

use hedgerow_core::Timestamp;
use hedgerow_core::platform::PlatformKind;

use super::Store;
use super::error::StoreError;
use super::row::{Row, free_text};

impl Store {
    /// The id of the person who was first seen behind this name; from now on this one, if nobody was. A name is the same
    /// in any case.
    pub async fn person_behind(
        &self,
        platform: PlatformKind,
        name: &str,
        id: &str,
        now: Timestamp,
    ) -> Result<String, StoreError> {
        // Most people were seen before, and reading holds up nobody.
        if let Some(known) = self.known_person(platform.as_str(), name).await? {
            return Ok(known);
        }
        sqlx::query(
            "INSERT INTO people (platform, name, person_id, seen_at) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING",
        )
        .bind(platform.as_str())
        .bind(key(name))
        .bind(free_text(id))
        .bind(now.as_millis())
        .execute(&self.pool)
        .await?;
        let known = self.known_person(platform.as_str(), name).await?;
        known.ok_or_else(|| anyhow::anyhow!("a person was written down and is not there").into())
    }

    /// The id behind a name, if anybody was ever seen behind it.
    pub async fn known_person(&self, platform: &str, name: &str) -> Result<Option<String>, StoreError> {
        let row = sqlx::query("SELECT person_id FROM people WHERE platform = $1 AND name = $2")
            .bind(platform.to_owned())
            .bind(key(name))
            .fetch_optional(&self.pool)
            .await?;
        row.as_ref().map(|row| Row(row).text("person_id")).transpose()
    }
}

fn key(name: &str) -> String {
    free_text(&name.to_lowercase())
}
