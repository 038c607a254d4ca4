//! What assistants remember of their sessions, so that a session outlives its environment and its machine.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use hedgerow_core::{RunId, SessionId, Timestamp};

use super::Store;
use super::error::StoreError;
use super::row::{Row, wrong};

/// Most bytes of one memory. A session that is longer is near the end of what any model holds.
pub const LONGEST_MEMORY: usize = 24 << 20;
/// Sessions are lines of JSON: the quickest level makes a tenth of them.
const LEVEL: i32 = 1;

impl Store {
    /// Keeps what an assistant remembers of a session in the place of what it remembered before. `false`, and nothing is
    /// kept, when the run it comes from is over.
    ///
    /// # Errors
    /// When it is longer than [`LONGEST_MEMORY`], or the store does not answer.
    pub async fn remember(
        &self,
        session: SessionId,
        run: RunId,
        memory: Vec<u8>,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        if memory.len() > LONGEST_MEMORY {
            return Err(anyhow::anyhow!("a memory of {} bytes is too long to be kept", memory.len()).into());
        }
        let packed = tokio::task::spawn_blocking(move || zstd::encode_all(memory.as_slice(), LEVEL))
            .await
            .map_err(anyhow::Error::new)?
            .map_err(anyhow::Error::new)?;
        let kept = sqlx::query(
            "INSERT INTO memories (session_id, body, saved_at)
             SELECT $1, $2, $3 FROM runs WHERE id = $4 AND state = 'running'
             ON CONFLICT (session_id) DO UPDATE SET body = excluded.body, saved_at = excluded.saved_at",
        )
        .bind(session.to_string())
        .bind(BASE64_STANDARD.encode(packed))
        .bind(now.as_millis())
        .bind(run.to_string())
        .execute(&self.pool)
        .await?;
        Ok(kept.rows_affected() == 1)
    }

    /// What an assistant remembered of a session.
    pub async fn memory(&self, session: SessionId) -> Result<Option<Vec<u8>>, StoreError> {
        let row = sqlx::query("SELECT body FROM memories WHERE session_id = $1")
            .bind(session.to_string())
            .fetch_optional(&self.pool)
            .await?;
        let Some(row) = row else { return Ok(None) };
        let packed = BASE64_STANDARD.decode(Row(&row).text("body")?).map_err(|error| wrong("body", error))?;
        let unpack = move || zstd::bulk::decompress(&packed, LONGEST_MEMORY);
        let memory = tokio::task::spawn_blocking(unpack).await.map_err(anyhow::Error::new)?;
        memory.map(Some).map_err(|error| wrong("body", error))
    }
}
