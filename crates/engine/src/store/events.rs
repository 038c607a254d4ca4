//! The append-only log: who did what, when, from which commit to which. Written with the change it tells of.

use hedgerow_core::environment::Actor;
use hedgerow_core::{CodebaseId, CommitSha, ConversationId, EnvironmentId, EventId, Timestamp};
use sqlx::AnyConnection;
use sqlx::any::AnyRow;

use super::Store;
use super::error::StoreError;
use super::row::{Row, free_text};

macro_rules! columns {
    () => {
        "id, at, codebase_id, environment_id, actor, what, old_sha, new_sha, detail, conversation_id"
    };
}

/// An entry to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewEvent {
    pub at: Timestamp,
    pub actor: Actor,
    /// A word or a few with dashes, such as `environment-created`.
    pub what: &'static str,
    pub codebase: Option<CodebaseId>,
    pub environment: Option<EnvironmentId>,
    pub conversation: Option<ConversationId>,
    pub old_sha: Option<CommitSha>,
    pub new_sha: Option<CommitSha>,
    pub detail: Option<String>,
}

impl NewEvent {
    pub fn new(at: Timestamp, actor: &Actor, what: &'static str) -> Self {
        Self {
            at,
            actor: actor.clone(),
            what,
            codebase: None,
            environment: None,
            conversation: None,
            old_sha: None,
            new_sha: None,
            detail: None,
        }
    }

    #[must_use]
    pub fn of_codebase(mut self, id: CodebaseId) -> Self {
        self.codebase = Some(id);
        self
    }

    #[must_use]
    pub fn of(mut self, codebase: CodebaseId, environment: EnvironmentId) -> Self {
        self.environment = Some(environment);
        self.of_codebase(codebase)
    }

    /// What is known of where it happened.
    #[must_use]
    pub(super) fn placed(mut self, codebase: Option<CodebaseId>, environment: Option<EnvironmentId>) -> Self {
        (self.codebase, self.environment) = (codebase, environment);
        self
    }

    #[must_use]
    pub fn in_conversation(mut self, id: ConversationId) -> Self {
        self.conversation = Some(id);
        self
    }

    #[must_use]
    pub fn shas(mut self, old: Option<CommitSha>, new: Option<CommitSha>) -> Self {
        self.old_sha = old;
        self.new_sha = new;
        self
    }

    #[must_use]
    pub fn detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = Some(detail.into());
        self
    }

    pub(super) async fn write(&self, connection: &mut AnyConnection) -> Result<(), StoreError> {
        sqlx::query(concat!("INSERT INTO events (", columns!(), ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)"))
            .bind(EventId::new().to_string())
            .bind(self.at.as_millis())
            .bind(self.codebase.map(|id| id.to_string()))
            .bind(self.environment.map(|id| id.to_string()))
            .bind(free_text(&self.actor.to_string()))
            .bind(self.what)
            .bind(self.old_sha.as_ref().map(ToString::to_string))
            .bind(self.new_sha.as_ref().map(ToString::to_string))
            .bind(self.detail.as_deref().map(free_text))
            .bind(self.conversation.map(|id| id.to_string()))
            .execute(connection)
            .await?;
        Ok(())
    }
}

/// An entry of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    pub id: EventId,
    pub at: Timestamp,
    pub actor: Actor,
    pub what: String,
    pub codebase: Option<CodebaseId>,
    pub environment: Option<EnvironmentId>,
    pub conversation: Option<ConversationId>,
    pub old_sha: Option<CommitSha>,
    pub new_sha: Option<CommitSha>,
    pub detail: Option<String>,
}

fn event(row: &AnyRow) -> Result<Event, StoreError> {
    let row = Row(row);
    Ok(Event {
        id: row.parsed("id")?,
        at: row.time("at")?,
        actor: row.parsed("actor")?,
        what: row.text("what")?,
        codebase: row.maybe_parsed("codebase_id")?,
        environment: row.maybe_parsed("environment_id")?,
        conversation: row.maybe_parsed("conversation_id")?,
        old_sha: row.maybe_sha("old_sha")?,
        new_sha: row.maybe_sha("new_sha")?,
        detail: row.maybe_text("detail")?,
    })
}

impl Store {
    /// Writes down something that changes no row.
    pub async fn record(&self, event: &NewEvent) -> Result<(), StoreError> {
        let mut connection = self.pool.acquire().await?;
        event.write(&mut connection).await
    }

    /// What happened to an environment, oldest first.
    pub async fn events_of(&self, environment: EnvironmentId) -> Result<Vec<Event>, StoreError> {
        let rows =
            sqlx::query(concat!("SELECT ", columns!(), " FROM events WHERE environment_id = $1 ORDER BY at, id"))
                .bind(environment.to_string())
                .fetch_all(&self.pool)
                .await?;
        rows.iter().map(event).collect()
    }

    /// What happened to a codebase and its environments, oldest first.
    pub async fn events_in(&self, codebase: CodebaseId) -> Result<Vec<Event>, StoreError> {
        self.events_since(codebase, Timestamp::from_millis(i64::MIN)).await
    }

    /// The same from a moment on.
    pub async fn events_since(&self, codebase: CodebaseId, since: Timestamp) -> Result<Vec<Event>, StoreError> {
        let query = concat!("SELECT ", columns!(), " FROM events WHERE codebase_id = $1 AND at >= $2 ORDER BY at, id");
        let rows = sqlx::query(query).bind(codebase.to_string()).bind(since.as_millis()).fetch_all(&self.pool).await?;
        rows.iter().map(event).collect()
    }

    /// What was written to the log after an entry (from its beginning without one), oldest first, for followers. Entries
    /// of two processes may be written a moment out of order; a follower looks a little way back and skips what it knows.
    pub async fn events_after(&self, after: Option<EventId>, most: u32) -> Result<Vec<Event>, StoreError> {
        let rows = sqlx::query(concat!("SELECT ", columns!(), " FROM events WHERE id > $1 ORDER BY id LIMIT $2"))
            .bind(after.map(|id| id.to_string()).unwrap_or_default())
            .bind(i64::from(most))
            .fetch_all(&self.pool)
            .await?;
        rows.iter().map(event).collect()
    }

    /// The newest entry of the log.
    pub async fn newest_event(&self) -> Result<Option<EventId>, StoreError> {
        let row = sqlx::query("SELECT max(id) AS newest FROM events").fetch_one(&self.pool).await?;
        Row(&row).maybe_parsed("newest")
    }
}
