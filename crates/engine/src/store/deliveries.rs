//! What platforms deliver: written down before it is acknowledged, and recognised when it comes again.

use hedgerow_core::message::{Accepted, RawEvent};
use hedgerow_core::platform::PlatformKind;
use hedgerow_core::{MessageId, Timestamp};
use sqlx::AnyConnection;

use super::error::StoreError;
use super::row::{Row, free_text};
use super::{Served, Store};

impl Store {
    /// Writes deliveries down in one transaction and says what became of each, in their order. When this returns they
    /// are on disk. With `room` for no more, only what was seen before is recognised.
    pub async fn deliver(&self, batch: &[RawEvent], limit: u32) -> Result<Vec<Accepted>, StoreError> {
        let mut tx = self.pool.begin().await?;
        let mut answers = Vec::with_capacity(batch.len());
        let mut room: Option<u64> = None;
        for raw in batch {
            let id = MessageId::new();
            if insert(&mut tx, id, raw).await? {
                // Counted under the write lock of the first row of the batch, so that it is counted once.
                let left = match room {
                    Some(left) => left,
                    None => u64::from(limit) + 1 - waiting(&mut tx).await?.min(u64::from(limit) + 1),
                };
                if left == 0 {
                    sqlx::query("DELETE FROM inbox WHERE id = $1").bind(id.to_string()).execute(&mut *tx).await?;
                    answers.push(Accepted::Busy);
                } else {
                    answers.push(Accepted::Queued(id));
                }
                room = Some(left.saturating_sub(1));
            } else {
                answers.push(Accepted::Duplicate(known(&mut tx, raw).await?));
            }
        }
        tx.commit().await?;
        Ok(answers)
    }

    /// Whether a delivery of this meaning, or about this thing, was written down, in whatever state it is.
    pub async fn knows(&self, platform: PlatformKind, about: &str) -> Result<bool, StoreError> {
        let row =
            sqlx::query("SELECT count(*) AS many FROM inbox WHERE platform = $1 AND (about = $2 OR meaning = $3)")
                .bind(platform.as_str())
                .bind(free_text(about.trim_end_matches(':')))
                .bind(free_text(about))
                .fetch_one(&self.pool)
                .await?;
        Ok(Row(&row).number::<u64>("many")? > 0)
    }

    /// When a platform last delivered something that was written down.
    pub async fn last_delivery(&self, platform: PlatformKind) -> Result<Option<Timestamp>, StoreError> {
        let row = sqlx::query("SELECT received_at FROM inbox WHERE platform = $1 ORDER BY received_at DESC LIMIT 1")
            .bind(platform.as_str())
            .fetch_optional(&self.pool)
            .await?;
        row.map(|row| Row(&row).time("received_at")).transpose()
    }

    /// Since when, and how far, a platform has looked for what it missed at a place.
    pub async fn looked(
        &self,
        platform: PlatformKind,
        place: &str,
    ) -> Result<Option<(Timestamp, Timestamp)>, StoreError> {
        let row = sqlx::query("SELECT since, until FROM looks WHERE platform = $1 AND place = $2")
            .bind(platform.as_str())
            .bind(place.to_lowercase())
            .fetch_optional(&self.pool)
            .await?;
        row.map(|row| Ok((Row(&row).time("since")?, Row(&row).time("until")?))).transpose()
    }

    /// A place keeps the time since when it was first looked at.
    pub async fn set_looked(
        &self,
        platform: PlatformKind,
        place: &str,
        (since, until): (Timestamp, Timestamp),
    ) -> Result<(), StoreError> {
        sqlx::query(
            "INSERT INTO looks (platform, place, since, until) VALUES ($1, $2, $3, $4)
             ON CONFLICT (platform, place) DO UPDATE SET until = excluded.until",
        )
        .bind(platform.as_str())
        .bind(place.to_lowercase())
        .bind(since.as_millis())
        .bind(until.as_millis())
        .execute(&self.pool)
        .await?;
        Ok(())
    }

    /// How many messages wait, of all platforms.
    pub async fn waiting(&self) -> Result<u64, StoreError> {
        waiting(&mut *self.pool.acquire().await?).await
    }

    /// How many messages of a platform have not had their last word.
    pub async fn unfinished(&self, served: &Served) -> Result<u64, StoreError> {
        let row = sqlx::query(
            "SELECT count(*) AS many FROM inbox WHERE state <> 'done' AND platform = $1 AND (lane = $2 OR $3 = 1)",
        )
        .bind(served.platform.as_str())
        .bind(served.only.clone().unwrap_or_default())
        .bind(i64::from(served.only.is_none()))
        .fetch_one(&self.pool)
        .await?;
        Row(&row).number("many")
    }

    /// How many messages of a lane wait for their turn.
    pub async fn waiting_in_lane(&self, platform: PlatformKind, lane: &str) -> Result<u64, StoreError> {
        let row =
            sqlx::query("SELECT count(*) AS many FROM inbox WHERE state = 'waiting' AND platform = $1 AND lane = $2")
                .bind(platform.as_str())
                .bind(lane.to_owned())
                .fetch_one(&self.pool)
                .await?;
        Row(&row).number("many")
    }
}

/// The thing that a meaning is about: `comment:7` of `comment:7:2026-05-03T10:00:00Z`.
fn about(meaning: &str) -> Option<&str> {
    let (end, _) = meaning.match_indices(':').nth(1)?;
    Some(&meaning[..end])
}

async fn insert(connection: &mut AnyConnection, id: MessageId, raw: &RawEvent) -> Result<bool, StoreError> {
    let written = sqlx::query(
        "INSERT INTO inbox (id, platform, delivery, meaning, lane, urgent, body, received_at, about, state)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, 'waiting') ON CONFLICT DO NOTHING",
    )
    .bind(id.to_string())
    .bind(raw.platform.as_str())
    .bind(free_text(&raw.delivery.id))
    .bind(raw.delivery.meaning.as_deref().map(free_text))
    .bind(free_text(&raw.lane))
    .bind(i64::from(raw.urgent))
    .bind(free_text(&raw.body))
    .bind(raw.received_at.as_millis())
    .bind(raw.delivery.meaning.as_deref().and_then(about).map(free_text))
    .execute(connection)
    .await?;
    Ok(written.rows_affected() == 1)
}

/// The message that came first of those that are the same.
async fn known(connection: &mut AnyConnection, raw: &RawEvent) -> Result<MessageId, StoreError> {
    let rows = sqlx::query("SELECT id FROM inbox WHERE platform = $1 AND (delivery = $2 OR meaning = $3) ORDER BY id")
        .bind(raw.platform.as_str())
        .bind(free_text(&raw.delivery.id))
        .bind(raw.delivery.meaning.as_deref().map(free_text))
        .fetch_all(connection)
        .await?;
    let row = rows.first().ok_or_else(|| anyhow::anyhow!("a message was seen before and is not there"))?;
    Row(row).parsed("id")
}

async fn waiting(connection: &mut AnyConnection) -> Result<u64, StoreError> {
    let row = sqlx::query("SELECT count(*) AS many FROM inbox WHERE state = 'waiting'").fetch_one(connection).await?;
    Row(&row).number("many")
}
