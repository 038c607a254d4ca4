//! What platforms deliver: written down before it is acknowledged, and recognised when it comes again.

use hedgerow_core::MessageId;
use hedgerow_core::message::{Accepted, RawEvent};
use hedgerow_core::platform::PlatformKind;
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

    /// Whether a delivery was written down whose meaning begins so, in whatever state it is.
    pub async fn knows(&self, platform: PlatformKind, meaning: &str) -> Result<bool, StoreError> {
        let length = i64::try_from(meaning.chars().count()).unwrap_or(i64::MAX);
        let row = sqlx::query("SELECT count(*) AS many FROM inbox WHERE platform = $1 AND substr(meaning, 1, $3) = $2")
            .bind(platform.as_str())
            .bind(meaning)
            .bind(length)
            .fetch_one(&self.pool)
            .await?;
        Ok(Row(&row).number::<u64>("many")? > 0)
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

async fn insert(connection: &mut AnyConnection, id: MessageId, raw: &RawEvent) -> Result<bool, StoreError> {
    let written = sqlx::query(
        "INSERT INTO inbox (id, platform, delivery, meaning, lane, urgent, body, received_at, state)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 'waiting') ON CONFLICT DO NOTHING",
    )
    .bind(id.to_string())
    .bind(raw.platform.as_str())
    .bind(free_text(&raw.delivery.id))
    .bind(raw.delivery.meaning.as_deref().map(free_text))
    .bind(free_text(&raw.lane))
    .bind(i64::from(raw.urgent))
    .bind(free_text(&raw.body))
    .bind(raw.received_at.as_millis())
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
