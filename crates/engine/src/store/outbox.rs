//! What we say: written with the change it tells of, taken by one sender at a time, in the order of its conversation.

use hedgerow_core::environment::Actor;
use hedgerow_core::platform::ConversationKey;
use hedgerow_core::{ConversationId, EnvironmentId, MessageId, ReplyId, RunId, Timestamp};
use sqlx::AnyConnection;
use sqlx::any::AnyRow;

use super::error::StoreError;
use super::events::NewEvent;
use super::row::{Row, free_text};
use super::{Claim, Served, Store};

/// Something to say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewReply {
    pub conversation: ConversationId,
    /// The message it answers; none for what automation tells.
    pub message: Option<MessageId>,
    pub words: String,
}

/// A reply that its sender has taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outgoing {
    pub id: ReplyId,
    pub to: ConversationKey,
    pub words: String,
    pub last: bool,
    pub holder: String,
    pub held_until: Timestamp,
    /// How often it was taken, this time included.
    pub attempts: u64,
    /// How often it may have arrived without our knowing.
    pub doubts: u64,
    pub written_at: Timestamp,
    /// The run whose last word begins with this.
    pub run: Option<RunId>,
    /// What the platform needs to answer the message that this is about.
    pub handle: Option<String>,
}

macro_rules! columns {
    () => {
        "outbox.id AS id, words, last, holder, held_until, attempts, doubts, written_at, run_id,
         (SELECT handle FROM inbox WHERE inbox.id = outbox.message_id) AS handle,
         (SELECT platform FROM conversations WHERE conversations.id = outbox.conversation_id) AS platform,
         (SELECT platform_id FROM conversations WHERE conversations.id = outbox.conversation_id) AS platform_id"
    };
}

fn outgoing(row: &AnyRow) -> Result<Outgoing, StoreError> {
    let row = Row(row);
    Ok(Outgoing {
        id: row.parsed("id")?,
        to: ConversationKey { platform: row.parsed("platform")?, id: row.text("platform_id")? },
        words: row.text("words")?,
        last: row.flag("last")?,
        holder: row.text("holder")?,
        held_until: row.time("held_until")?,
        attempts: row.number("attempts")?,
        doubts: row.number("doubts")?,
        written_at: row.time("written_at")?,
        run: row.maybe_parsed("run_id")?,
        handle: row.maybe_text("handle")?,
    })
}

/// The oldest unsent reply of each conversation.
macro_rules! take {
    ($skip:literal) => {
        concat!(
            "UPDATE outbox SET state = 'sending', holder = $1, held_until = $2, attempts = attempts + 1 WHERE id IN (
               SELECT o.id FROM outbox AS o JOIN conversations AS c ON c.id = o.conversation_id
               WHERE o.state = 'waiting' AND c.platform = $3 AND (c.platform_id = $4 OR $5 = 1) AND o.not_before <= $6
               AND NOT EXISTS (
                 SELECT 1 FROM outbox AS other WHERE other.conversation_id = o.conversation_id
                 AND other.state IN ('waiting', 'sending') AND other.id < o.id)
               ORDER BY o.id LIMIT $7",
            $skip,
            ") RETURNING ",
            columns!()
        )
    };
}

const TAKE: &str = take!("");
const TAKE_PAST_NEIGHBOURS: &str = take!(" FOR UPDATE OF o SKIP LOCKED");

macro_rules! sending {
    ($whose:literal) => {
        concat!(
            "SELECT ",
            columns!(),
            " FROM outbox WHERE state = 'sending' AND ",
            $whose,
            " AND conversation_id IN
              (SELECT id FROM conversations WHERE platform = $2 AND (platform_id = $3 OR $4 = 1)) ORDER BY outbox.id"
        )
    };
}

/// How sending went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sent {
    Yes,
    /// Another try, not before then.
    Later {
        not_before: Timestamp,
        why: String,
    },
    /// It may have arrived, or not. Another try, not before then.
    Unclear {
        not_before: Timestamp,
        why: String,
    },
    /// Never.
    No {
        why: String,
    },
}

impl Store {
    /// Says something that is not the last word on its message.
    pub async fn say(&self, reply: &NewReply, now: Timestamp) -> Result<ReplyId, StoreError> {
        let mut tx = self.pool.begin().await?;
        let id = write(&mut tx, reply, Standing::default(), now).await?;
        tx.commit().await?;
        Ok(id)
    }

    /// Tells a conversation of the environment it works in now. `None` when it was told of that one already.
    pub async fn introduce(
        &self,
        reply: &NewReply,
        environment: EnvironmentId,
        now: Timestamp,
    ) -> Result<Option<ReplyId>, StoreError> {
        let mut tx = self.pool.begin().await?;
        let told = sqlx::query(
            "UPDATE conversations SET told_environment_id = $2
             WHERE id = $1 AND told_environment_id IS DISTINCT FROM $2",
        )
        .bind(reply.conversation.to_string())
        .bind(environment.to_string())
        .execute(&mut *tx)
        .await?;
        if told.rows_affected() == 0 {
            return Ok(None);
        }
        let id = write(&mut tx, reply, Standing::default(), now).await?;
        tx.commit().await?;
        Ok(Some(id))
    }

    /// Takes up to `most` replies of a platform, one of each conversation, the oldest first.
    pub async fn take_replies(
        &self,
        served: &Served,
        claim: &Claim<'_>,
        most: u32,
    ) -> Result<Vec<Outgoing>, StoreError> {
        let rows = sqlx::query(if self.is_postgres { TAKE_PAST_NEIGHBOURS } else { TAKE })
            .bind(claim.holder.to_owned())
            .bind(claim.until.as_millis())
            .bind(served.platform.as_str())
            .bind(served.only.clone().unwrap_or_default())
            .bind(i64::from(served.only.is_none()))
            .bind(claim.now.as_millis())
            .bind(i64::from(most))
            .fetch_all(&self.pool)
            .await?;
        let mut taken = rows.iter().map(outgoing).collect::<Result<Vec<_>, _>>()?;
        taken.sort_by_key(|reply| reply.id);
        Ok(taken)
    }

    /// Replies that others are sending, for whoever knows which of them are gone.
    pub async fn sending_by_others(&self, served: &Served, holder: &str) -> Result<Vec<Outgoing>, StoreError> {
        self.sending(sending!("holder <> $1"), served, holder).await
    }

    /// Replies that this holder is sending.
    pub async fn sending_by(&self, served: &Served, holder: &str) -> Result<Vec<Outgoing>, StoreError> {
        self.sending(sending!("holder = $1"), served, holder).await
    }

    async fn sending(&self, query: &'static str, served: &Served, holder: &str) -> Result<Vec<Outgoing>, StoreError> {
        let rows = sqlx::query(query)
            .bind(holder.to_owned())
            .bind(served.platform.as_str())
            .bind(served.only.clone().unwrap_or_default())
            .bind(i64::from(served.only.is_none()))
            .fetch_all(&self.pool)
            .await?;
        rows.iter().map(outgoing).collect()
    }

    /// Writes down how sending went. `false` when it is somebody else's by now.
    pub async fn settle_reply(
        &self,
        id: ReplyId,
        holder: &str,
        sent: &Sent,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        self.settle_as_of(id, holder, None, sent, now).await
    }

    /// Writes down what became of a reply whose sender is gone. `false` when it has moved on meanwhile.
    pub async fn settle_for(&self, gone: &Outgoing, sent: &Sent, now: Timestamp) -> Result<bool, StoreError> {
        self.settle_as_of(gone.id, &gone.holder, Some(gone.held_until), sent, now).await
    }

    async fn settle_as_of(
        &self,
        id: ReplyId,
        holder: &str,
        held_until: Option<Timestamp>,
        sent: &Sent,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let (state, not_before, why) = match sent {
            Sent::Yes => ("sent", None, None),
            Sent::Later { not_before, why } | Sent::Unclear { not_before, why } => {
                ("waiting", Some(*not_before), Some(why))
            }
            Sent::No { why } => ("failed", None, Some(why)),
        };
        let settled = sqlx::query(
            "UPDATE outbox SET state = $3, holder = NULL, held_until = NULL, not_before = coalesce($4, not_before),
             ended_at = $5, error = $6, doubts = doubts + $7
             WHERE id = $1 AND holder = $2 AND held_until = coalesce($8, held_until)",
        )
        .bind(id.to_string())
        .bind(holder.to_owned())
        .bind(state)
        .bind(not_before.map(Timestamp::as_millis))
        .bind(not_before.is_none().then_some(now.as_millis()))
        .bind(why.map(|why| free_text(why)))
        .bind(i64::from(matches!(sent, Sent::Unclear { .. })))
        .bind(held_until.map(Timestamp::as_millis))
        .execute(&self.pool)
        .await?;
        Ok(settled.rows_affected() == 1)
    }

    /// When the first of the replies of a platform that can be sent next is due. `None` when none waits for its time.
    pub async fn next_reply_due(&self, served: &Served) -> Result<Option<Timestamp>, StoreError> {
        let row = sqlx::query(
            "SELECT min(o.not_before) AS due FROM outbox AS o JOIN conversations AS c ON c.id = o.conversation_id
             WHERE o.state = 'waiting' AND c.platform = $1 AND (c.platform_id = $2 OR $3 = 1)
             AND NOT EXISTS (
               SELECT 1 FROM outbox AS other WHERE other.conversation_id = o.conversation_id
               AND other.state IN ('waiting', 'sending') AND other.id < o.id)",
        )
        .bind(served.platform.as_str())
        .bind(served.only.clone().unwrap_or_default())
        .bind(i64::from(served.only.is_none()))
        .fetch_one(&self.pool)
        .await?;
        Row(&row).maybe_time("due")
    }

    /// How many replies of a platform are not sent yet.
    pub async fn unsent(&self, served: &Served) -> Result<u64, StoreError> {
        let row = sqlx::query(
            "SELECT count(*) AS many FROM outbox WHERE state IN ('waiting', 'sending') AND conversation_id IN
             (SELECT id FROM conversations WHERE platform = $1 AND (platform_id = $2 OR $3 = 1))",
        )
        .bind(served.platform.as_str())
        .bind(served.only.clone().unwrap_or_default())
        .bind(i64::from(served.only.is_none()))
        .fetch_one(&self.pool)
        .await?;
        Row(&row).number("many")
    }
}

/// What a reply is to its message.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Standing {
    pub(super) last: bool,
    /// The run whose last word it begins.
    pub(super) run: Option<RunId>,
}

/// Writes a reply, and the event that tells of it.
pub(super) async fn write(
    connection: &mut AnyConnection,
    reply: &NewReply,
    standing: Standing,
    now: Timestamp,
) -> Result<ReplyId, StoreError> {
    let id = ReplyId::new();
    sqlx::query(
        "INSERT INTO outbox (id, conversation_id, message_id, words, last, written_at, run_id, state)
         VALUES ($1, $2, $3, $4, $5, $6, $7, 'waiting')",
    )
    .bind(id.to_string())
    .bind(reply.conversation.to_string())
    .bind(reply.message.map(|id| id.to_string()))
    .bind(free_text(&reply.words))
    .bind(i64::from(standing.last))
    .bind(now.as_millis())
    .bind(standing.run.map(|run| run.to_string()))
    .execute(&mut *connection)
    .await?;
    let event = NewEvent::new(now, &Actor::automation(), "reply").in_conversation(reply.conversation);
    event.detail(id.to_string()).write(connection).await?;
    Ok(id)
}
