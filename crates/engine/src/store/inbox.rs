//! What platforms delivered, once it is written down: taken by one process at a time, never forgotten before it has its
//! last word.

use hedgerow_core::environment::Actor;
use hedgerow_core::message::{DeliveryKey, RawEvent};
use hedgerow_core::run::MessageEnd;
use hedgerow_core::{ConversationId, MessageId, Timestamp};
use sqlx::AnyConnection;
use sqlx::any::AnyRow;

use super::error::{StoreError, Taken};
use super::events::NewEvent;
use super::row::{Row, free_text};
use super::{Claim, Served, Store};

macro_rules! columns {
    () => {
        "id, platform, delivery, meaning, lane, urgent, body, received_at, holder, held_until, attempts, begun_at, \
         conversation_id, author, said, handle"
    };
}

/// A message that somebody has taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivered {
    pub id: MessageId,
    pub raw: RawEvent,
    pub holder: String,
    pub held_until: Timestamp,
    /// How often it was taken, this time included.
    pub attempts: u64,
    /// When something began that must not happen twice.
    pub begun_at: Option<Timestamp>,
    pub conversation: Option<ConversationId>,
    pub author: Option<Actor>,
    pub said: Option<String>,
    /// What its platform needs to answer it.
    pub handle: Option<String>,
}

/// What a platform made of a delivery.
#[derive(Debug, Clone, Copy)]
pub struct Understood<'a> {
    pub conversation: ConversationId,
    pub author: &'a Actor,
    /// `None` for what nobody said.
    pub said: Option<&'a str>,
    pub handle: Option<&'a str>,
}

fn delivered(row: &AnyRow) -> Result<Delivered, StoreError> {
    let row = Row(row);
    Ok(Delivered {
        id: row.parsed("id")?,
        raw: RawEvent {
            platform: row.parsed("platform")?,
            delivery: DeliveryKey { id: row.text("delivery")?, meaning: row.maybe_text("meaning")? },
            lane: row.text("lane")?,
            urgent: row.flag("urgent")?,
            body: row.text("body")?,
            received_at: row.time("received_at")?,
        },
        holder: row.text("holder")?,
        held_until: row.time("held_until")?,
        attempts: row.number("attempts")?,
        begun_at: row.maybe_time("begun_at")?,
        conversation: row.maybe_parsed("conversation_id")?,
        author: row.maybe_parsed("author")?,
        said: row.maybe_text("said")?,
        handle: row.maybe_text("handle")?,
    })
}

/// Which of the messages that wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Which {
    All,
    /// Only what does not wait for its turn.
    Urgent,
}

/// The oldest of each lane that nobody is at, and everything urgent.
macro_rules! free {
    () => {
        "SELECT m.id FROM inbox AS m
         WHERE m.state = 'waiting' AND m.platform = $1 AND (m.lane = $2 OR $3 = 1) AND m.not_before <= $4
         AND (m.urgent = 1 OR $5 = 0 AND NOT EXISTS (
           SELECT 1 FROM inbox AS other WHERE other.platform = m.platform AND other.lane = m.lane
           AND other.urgent = 0 AND other.state <> 'done' AND (other.state = 'taken' OR other.id < m.id)))
         ORDER BY m.urgent DESC, m.id LIMIT $6"
    };
}

/// What a neighbour is just taking is passed over where the database can (`$skip`); where it cannot, it has one writer at
/// a time.
macro_rules! take {
    ($skip:literal) => {
        concat!(
            "UPDATE inbox SET state = 'taken', holder = $7, held_until = $8, attempts = attempts + 1 WHERE id IN (",
            free!(),
            $skip,
            ") RETURNING ",
            columns!()
        )
    };
}

const TAKE: &str = take!("");
const TAKE_PAST_NEIGHBOURS: &str = take!(" FOR UPDATE SKIP LOCKED");

impl Store {
    /// Takes up to `most` messages of a platform, the oldest first.
    pub async fn take_messages(
        &self,
        served: &Served,
        claim: &Claim<'_>,
        which: Which,
        most: u32,
    ) -> Result<Vec<Delivered>, StoreError> {
        let asked = |query, most: u32| {
            sqlx::query(query)
                .bind(served.platform.as_str())
                .bind(served.only.clone().unwrap_or_default())
                .bind(i64::from(served.only.is_none()))
                .bind(claim.now.as_millis())
                .bind(i64::from(which == Which::Urgent))
                .bind(i64::from(most))
        };
        // Most looks find nothing. Those must not hold up whoever writes a delivery down.
        if asked(free!(), 1).fetch_optional(&self.pool).await?.is_none() {
            return Ok(Vec::new());
        }
        let rows = asked(if self.is_postgres { TAKE_PAST_NEIGHBOURS } else { TAKE }, most)
            .bind(claim.holder.to_owned())
            .bind(claim.until.as_millis())
            .fetch_all(&self.pool)
            .await;
        let rows = match rows.map_err(StoreError::from) {
            // A neighbour took another of the same lane at this very moment; the next look sees it.
            Err(StoreError::Taken(Taken::Lane)) => return Ok(Vec::new()),
            rows => rows?,
        };
        let mut taken = rows.iter().map(delivered).collect::<Result<Vec<_>, _>>()?;
        taken.sort_by_key(|message| message.id);
        Ok(taken)
    }

    /// Messages that others have taken, for whoever knows which of them are gone.
    pub async fn taken_by_others(&self, served: &Served, holder: &str) -> Result<Vec<Delivered>, StoreError> {
        let rows = sqlx::query(concat!(
            "SELECT ",
            columns!(),
            " FROM inbox WHERE state = 'taken' AND holder <> $1 AND platform = $2 AND (lane = $3 OR $4 = 1) ORDER BY id"
        ))
        .bind(holder.to_owned())
        .bind(served.platform.as_str())
        .bind(served.only.clone().unwrap_or_default())
        .bind(i64::from(served.only.is_none()))
        .fetch_all(&self.pool)
        .await?;
        rows.iter().map(delivered).collect()
    }

    /// What this holder has taken.
    pub async fn taken_by(&self, holder: &str) -> Result<Vec<MessageId>, StoreError> {
        let rows = sqlx::query("SELECT id FROM inbox WHERE state = 'taken' AND holder = $1 ORDER BY id")
            .bind(holder.to_owned())
            .fetch_all(&self.pool)
            .await?;
        rows.iter().map(|row| Row(row).parsed("id")).collect()
    }

    /// A message that somebody has taken.
    pub async fn message(&self, id: MessageId) -> Result<Option<Delivered>, StoreError> {
        let row = sqlx::query(concat!("SELECT ", columns!(), " FROM inbox WHERE id = $1 AND state = 'taken'"))
            .bind(id.to_string())
            .fetch_optional(&self.pool)
            .await?;
        row.as_ref().map(delivered).transpose()
    }

    /// How a message ended. `None` while it has not.
    pub async fn message_end(&self, id: MessageId) -> Result<Option<MessageEnd>, StoreError> {
        let row = sqlx::query("SELECT outcome FROM inbox WHERE id = $1")
            .bind(id.to_string())
            .fetch_optional(&self.pool)
            .await?;
        row.map_or(Ok(None), |row| Row(&row).maybe_parsed("outcome"))
    }

    /// Takes a message over from a holder that is gone. `false` when it has moved on meanwhile.
    pub async fn take_over_message(&self, message: &Delivered, claim: &Claim<'_>) -> Result<bool, StoreError> {
        let taken = sqlx::query(
            "UPDATE inbox SET holder = $3, held_until = $4 WHERE id = $1 AND holder = $2 AND held_until = $5",
        )
        .bind(message.id.to_string())
        .bind(message.holder.clone())
        .bind(claim.holder.to_owned())
        .bind(claim.until.as_millis())
        .bind(message.held_until.as_millis())
        .execute(&self.pool)
        .await?;
        Ok(taken.rows_affected() == 1)
    }

    /// Keeps everything this holder has for longer.
    pub async fn renew_claims(&self, holder: &str, until: Timestamp) -> Result<(), StoreError> {
        let mut tx = self.pool.begin().await?;
        for table in [
            "UPDATE inbox SET held_until = $2 WHERE state = 'taken' AND holder = $1",
            "UPDATE outbox SET held_until = $2 WHERE state = 'sending' AND holder = $1",
        ] {
            sqlx::query(table).bind(holder.to_owned()).bind(until.as_millis()).execute(&mut *tx).await?;
        }
        Ok(tx.commit().await?)
    }

    /// What the platform made of it, and, for something that was said, the event that tells of it. `false` when it is
    /// somebody else's by now.
    pub async fn prepared(
        &self,
        message: &Delivered,
        holder: &str,
        understood: &Understood<'_>,
    ) -> Result<bool, StoreError> {
        let Understood { conversation, author, said, handle } = *understood;
        let mut tx = self.pool.begin().await?;
        let written = sqlx::query(
            "UPDATE inbox SET conversation_id = $3, author = $4, said = $5, handle = $6 WHERE id = $1 AND holder = $2",
        )
        .bind(message.id.to_string())
        .bind(holder.to_owned())
        .bind(conversation.to_string())
        .bind(free_text(&author.to_string()))
        .bind(said.map(free_text))
        .bind(handle.map(free_text))
        .execute(&mut *tx)
        .await?;
        // One that is prepared again was told of the first time.
        if said.is_some() && message.said.is_none() {
            let event = NewEvent::new(message.raw.received_at, author, "message").in_conversation(conversation);
            event.detail(message.id.to_string()).write(&mut tx).await?;
        }
        tx.commit().await?;
        Ok(written.rows_affected() == 1)
    }

    /// From here on it is not done again. `false` when it is somebody else's by now.
    pub async fn begin_message(&self, id: MessageId, holder: &str, now: Timestamp) -> Result<bool, StoreError> {
        begin(&mut *self.pool.acquire().await?, id, holder, now).await
    }

    /// Lets go of a message that nothing was done for yet; it is taken again after a while. It only waited, so that this
    /// was no attempt at it.
    pub async fn put_back(&self, id: MessageId, holder: &str, not_before: Timestamp) -> Result<bool, StoreError> {
        self.let_go(id, holder, not_before, 1).await
    }

    /// The same for a message at which somebody failed or died.
    pub async fn put_back_tried(&self, id: MessageId, holder: &str, not_before: Timestamp) -> Result<bool, StoreError> {
        self.let_go(id, holder, not_before, 0).await
    }

    async fn let_go(
        &self,
        id: MessageId,
        holder: &str,
        not_before: Timestamp,
        uncounted: i64,
    ) -> Result<bool, StoreError> {
        let back = sqlx::query(
            "UPDATE inbox SET state = 'waiting', holder = NULL, held_until = NULL, not_before = $3,
             attempts = attempts - $4 WHERE id = $1 AND holder = $2 AND begun_at IS NULL",
        )
        .bind(id.to_string())
        .bind(holder.to_owned())
        .bind(not_before.as_millis())
        .bind(uncounted)
        .execute(&self.pool)
        .await?;
        Ok(back.rows_affected() == 1)
    }
}

/// Marks the point after which a message is not done again.
pub(super) async fn begin(
    connection: &mut AnyConnection,
    id: MessageId,
    holder: &str,
    now: Timestamp,
) -> Result<bool, StoreError> {
    let begun = sqlx::query("UPDATE inbox SET begun_at = $3 WHERE id = $1 AND holder = $2 AND begun_at IS NULL")
        .bind(id.to_string())
        .bind(holder.to_owned())
        .bind(now.as_millis())
        .execute(connection)
        .await?;
    Ok(begun.rows_affected() == 1)
}

/// A message has had its last word. `false` when it is somebody else's by now.
pub(super) async fn end(
    connection: &mut AnyConnection,
    id: MessageId,
    holder: &str,
    end: MessageEnd,
    now: Timestamp,
) -> Result<bool, StoreError> {
    let ended = sqlx::query(
        "UPDATE inbox SET state = 'done', holder = NULL, held_until = NULL, body = '', done_at = $3, outcome = $4
         WHERE id = $1 AND holder = $2 AND state = 'taken'",
    )
    .bind(id.to_string())
    .bind(holder.to_owned())
    .bind(now.as_millis())
    .bind(end.as_str())
    .execute(connection)
    .await?;
    Ok(ended.rows_affected() == 1)
}
