//! Runs: one turn of an assistant each, and the one transaction that gives a message its last word.

use hedgerow_core::assistant::Usage;
use hedgerow_core::environment::Actor;
use hedgerow_core::run::{MessageEnd, RunState};
use hedgerow_core::{CodebaseId, ConversationId, EnvironmentId, MessageId, RunId, SessionId, Timestamp};
use sqlx::AnyConnection;
use sqlx::any::AnyRow;

use super::error::StoreError;
use super::events::NewEvent;
use super::outbox::{NewReply, Standing};
use super::row::{Row, free_text, stored};
use super::sessions::{self, SessionNews};
use super::{Store, inbox, outbox, run_events};

macro_rules! columns {
    () => {
        "id, message_id, conversation_id, codebase_id, environment_id, session_id, assistant, author, state, holder, \
         epoch, started_at, ended_at, stop_asked_at, stop_asked_by, input_tokens, cached_tokens, output_tokens, \
         cost_micros"
    };
}

/// A turn of an assistant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    pub id: RunId,
    /// `None` once the message is forgotten.
    pub message: Option<MessageId>,
    pub conversation: ConversationId,
    pub codebase: Option<CodebaseId>,
    pub environment: Option<EnvironmentId>,
    pub session: Option<SessionId>,
    pub assistant: String,
    pub author: Actor,
    pub state: RunState,
    pub holder: String,
    /// The lease it runs under.
    pub epoch: u64,
    pub started_at: Timestamp,
    pub ended_at: Option<Timestamp>,
    pub stop_asked_at: Option<Timestamp>,
    pub stop_asked_by: Option<Actor>,
    /// What it has used, as the assistant says.
    pub usage: Usage,
}

fn run(row: &AnyRow) -> Result<Run, StoreError> {
    let row = Row(row);
    Ok(Run {
        id: row.parsed("id")?,
        message: row.maybe_parsed("message_id")?,
        conversation: row.parsed("conversation_id")?,
        codebase: row.maybe_parsed("codebase_id")?,
        environment: row.maybe_parsed("environment_id")?,
        session: row.maybe_parsed("session_id")?,
        assistant: row.text("assistant")?,
        author: row.parsed("author")?,
        state: row.parsed("state")?,
        holder: row.text("holder")?,
        epoch: row.number("epoch")?,
        started_at: row.time("started_at")?,
        ended_at: row.maybe_time("ended_at")?,
        stop_asked_at: row.maybe_time("stop_asked_at")?,
        stop_asked_by: row.maybe_parsed("stop_asked_by")?,
        usage: Usage {
            input_tokens: row.number("input_tokens")?,
            cached_tokens: row.number("cached_tokens")?,
            output_tokens: row.number("output_tokens")?,
            cost_micros: row.maybe_number("cost_micros")?,
        },
    })
}

/// The end of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunEnd {
    pub run: RunId,
    pub state: RunState,
    /// For its log, where the state alone does not say it.
    pub why: Option<String>,
}

/// The end of a message, with everything that is written in the same moment.
#[derive(Debug, Clone)]
pub struct Conclusion<'a> {
    pub message: MessageId,
    /// Who must still have the message.
    pub holder: &'a str,
    pub end: MessageEnd,
    /// The last word, in as many parts as it needs. Empty only for what is ignored.
    pub replies: Vec<NewReply>,
    /// The run that ends with it, and how.
    pub run: Option<RunEnd>,
    /// The environment and the epoch of the lease that must still be ours.
    pub fence: Option<(EnvironmentId, u64)>,
    pub session: Option<SessionNews>,
}

impl Store {
    /// Writes down that a run begins, in the moment after which its message is not done again. `false` when the message
    /// is somebody else's by now.
    pub async fn begin_run(&self, begun: &Run) -> Result<bool, StoreError> {
        let message = begun.message.ok_or_else(|| anyhow::anyhow!("a run begins with a message"))?;
        let mut tx = self.pool.begin().await?;
        if !inbox::begin(&mut tx, message, &begun.holder, begun.started_at).await? {
            return Ok(false);
        }
        sqlx::query(concat!(
            "INSERT INTO runs (",
            columns!(),
            ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, NULL, NULL, NULL, 0, 0, 0, NULL)"
        ))
        .bind(begun.id.to_string())
        .bind(message.to_string())
        .bind(begun.conversation.to_string())
        .bind(begun.codebase.map(|id| id.to_string()))
        .bind(begun.environment.map(|id| id.to_string()))
        .bind(begun.session.map(|id| id.to_string()))
        .bind(free_text(&begun.assistant))
        .bind(free_text(&begun.author.to_string()))
        .bind(RunState::Running.as_str())
        .bind(begun.holder.clone())
        .bind(stored(begun.epoch)?)
        .bind(begun.started_at.as_millis())
        .execute(&mut *tx)
        .await?;
        let event = NewEvent::new(begun.started_at, &begun.author, "run-started").in_conversation(begun.conversation);
        event.placed(begun.codebase, begun.environment).detail(begun.id.to_string()).write(&mut tx).await?;
        tx.commit().await?;
        Ok(true)
    }

    /// Gives a message its last word. All of it or nothing: `false` when the message or the lease is somebody else's.
    pub async fn conclude(&self, conclusion: &Conclusion<'_>, now: Timestamp) -> Result<bool, StoreError> {
        let mut tx = self.pool.begin().await?;
        if !inbox::end(&mut tx, conclusion.message, conclusion.holder, conclusion.end, now).await? {
            return Ok(false);
        }
        if let Some((environment, epoch)) = conclusion.fence
            && !is_still_leased(&mut tx, environment, epoch).await?
        {
            return Ok(false);
        }
        if let Some(end) = &conclusion.run {
            end_run(&mut tx, end, now).await?;
        }
        if let Some(news) = &conclusion.session {
            sessions::note(&mut tx, news, now).await?;
        }
        let count = conclusion.replies.len();
        for (position, reply) in conclusion.replies.iter().enumerate() {
            // What was shown of the run while it was on becomes the first part of its answer.
            let run = conclusion.run.as_ref().map(|end| end.run).filter(|_| position == 0);
            outbox::write(&mut tx, reply, Standing { last: position + 1 == count, run }, now).await?;
        }
        tx.commit().await?;
        Ok(true)
    }

    /// Writes down that a run is over whose process is gone. Its message has its last word from whoever settles that.
    pub async fn interrupt_run(&self, id: RunId, now: Timestamp) -> Result<(), StoreError> {
        let mut tx = self.pool.begin().await?;
        end_run(&mut tx, &RunEnd { run: id, state: RunState::Interrupted, why: None }, now).await?;
        Ok(tx.commit().await?)
    }

    /// The run of a message, if it came so far.
    pub async fn run_of(&self, message: MessageId) -> Result<Option<Run>, StoreError> {
        self.one_run(concat!("SELECT ", columns!(), " FROM runs WHERE message_id = $1"), &message.to_string()).await
    }

    pub async fn run(&self, id: RunId) -> Result<Option<Run>, StoreError> {
        self.one_run(concat!("SELECT ", columns!(), " FROM runs WHERE id = $1"), &id.to_string()).await
    }

    /// The newest runs, newest first; of one codebase, or of all.
    pub async fn newest_runs(&self, codebase: Option<CodebaseId>, most: u32) -> Result<Vec<Run>, StoreError> {
        let rows = match codebase {
            Some(codebase) => {
                sqlx::query(concat!(
                    "SELECT ",
                    columns!(),
                    " FROM runs WHERE codebase_id = $1 ORDER BY id DESC LIMIT $2"
                ))
                .bind(codebase.to_string())
                .bind(i64::from(most))
                .fetch_all(&self.pool)
                .await?
            }
            None => {
                sqlx::query(concat!("SELECT ", columns!(), " FROM runs ORDER BY id DESC LIMIT $1"))
                    .bind(i64::from(most))
                    .fetch_all(&self.pool)
                    .await?
            }
        };
        rows.iter().map(run).collect()
    }

    /// The runs whose id begins so; two are enough to know that it says too little.
    pub async fn runs_beginning(&self, prefix: &str) -> Result<Vec<Run>, StoreError> {
        // Only what an id can hold: nothing of it means something to LIKE.
        let is_id = prefix.len() <= 36 && prefix.chars().all(|c| c.is_ascii_hexdigit() || c == '-');
        if prefix.is_empty() || !is_id {
            return Ok(Vec::new());
        }
        let rows = sqlx::query(concat!("SELECT ", columns!(), " FROM runs WHERE id LIKE $1 ORDER BY id DESC LIMIT 2"))
            .bind(format!("{}%", prefix.to_ascii_lowercase()))
            .fetch_all(&self.pool)
            .await?;
        rows.iter().map(run).collect()
    }

    /// The run that is on in an environment.
    pub async fn running_in(&self, environment: EnvironmentId) -> Result<Option<Run>, StoreError> {
        const SELECT: &str =
            concat!("SELECT ", columns!(), " FROM runs WHERE environment_id = $1 AND state = 'running' ORDER BY id");
        self.one_run(SELECT, &environment.to_string()).await
    }

    /// The run that is on in a conversation.
    pub async fn running_of(&self, conversation: ConversationId) -> Result<Option<Run>, StoreError> {
        const SELECT: &str =
            concat!("SELECT ", columns!(), " FROM runs WHERE conversation_id = $1 AND state = 'running' ORDER BY id");
        self.one_run(SELECT, &conversation.to_string()).await
    }

    async fn one_run(&self, select: &'static str, argument: &str) -> Result<Option<Run>, StoreError> {
        let row = sqlx::query(select).bind(argument.to_owned()).fetch_optional(&self.pool).await?;
        row.as_ref().map(run).transpose()
    }

    /// Asks for the end of a run, wherever it is. `false` when it has ended.
    pub async fn ask_to_stop(&self, id: RunId, by: &Actor, now: Timestamp) -> Result<bool, StoreError> {
        let asked = sqlx::query(
            "UPDATE runs SET stop_asked_at = coalesce(stop_asked_at, $2), stop_asked_by = coalesce(stop_asked_by, $3)
             WHERE id = $1 AND state = 'running'",
        )
        .bind(id.to_string())
        .bind(now.as_millis())
        .bind(free_text(&by.to_string()))
        .execute(&self.pool)
        .await?;
        Ok(asked.rows_affected() == 1)
    }

    /// The runs of a holder that somebody wants to end.
    pub async fn runs_to_stop(&self, holder: &str) -> Result<Vec<RunId>, StoreError> {
        let rows = sqlx::query(
            "SELECT id FROM runs WHERE holder = $1 AND state = 'running' AND stop_asked_at IS NOT NULL ORDER BY id",
        )
        .bind(holder.to_owned())
        .fetch_all(&self.pool)
        .await?;
        rows.iter().map(|row| Row(row).parsed("id")).collect()
    }

    /// How many runs are remembered, by how they stand.
    pub async fn count_runs(&self) -> Result<Vec<(RunState, u64)>, StoreError> {
        let rows = sqlx::query("SELECT state, count(*) AS many FROM runs GROUP BY state ORDER BY state")
            .fetch_all(&self.pool)
            .await?;
        rows.iter().map(|row| Ok((Row(row).parsed("state")?, Row(row).number("many")?))).collect()
    }

    /// The runs that are on now, of all holders.
    pub async fn running(&self) -> Result<Vec<Run>, StoreError> {
        let rows = sqlx::query(concat!("SELECT ", columns!(), " FROM runs WHERE state = 'running' ORDER BY id"))
            .fetch_all(&self.pool)
            .await?;
        rows.iter().map(run).collect()
    }
}

/// Ends a run that is on, with the last entry of its log.
async fn end_run(connection: &mut AnyConnection, end: &RunEnd, now: Timestamp) -> Result<(), StoreError> {
    let RunEnd { run: id, state, why } = end;
    let rows = sqlx::query(concat!(
        "UPDATE runs SET state = $2, ended_at = $3 WHERE id = $1 AND state = 'running' RETURNING ",
        columns!()
    ))
    .bind(id.to_string())
    .bind(state.as_str())
    .bind(now.as_millis())
    .fetch_all(&mut *connection)
    .await?;
    let Some(ended) = rows.first().map(run).transpose()? else { return Ok(()) };
    run_events::end(connection, *id, *state, why.as_deref(), now).await?;
    let event = NewEvent::new(now, &ended.author, "run-ended").in_conversation(ended.conversation);
    event.placed(ended.codebase, ended.environment).detail(format!("{} {}", ended.id, state)).write(connection).await
}

/// Holds the row, so that nobody takes the lease between this and the end of the transaction.
async fn is_still_leased(
    connection: &mut AnyConnection,
    environment: EnvironmentId,
    epoch: u64,
) -> Result<bool, StoreError> {
    let held = sqlx::query(
        "UPDATE environments SET lease_epoch = lease_epoch
         WHERE id = $1 AND lease_epoch = $2 AND lease_owner IS NOT NULL",
    )
    .bind(environment.to_string())
    .bind(stored(epoch)?)
    .execute(connection)
    .await?;
    Ok(held.rows_affected() == 1)
}
