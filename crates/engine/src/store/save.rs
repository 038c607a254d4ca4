//! Saving a changed environment, if it still is what the caller thinks it is.

use hedgerow_core::{Environment, State, Timestamp};
use sqlx::AnyConnection;

use super::environments::{self, bind_changing};
use super::error::StoreError;
use super::events::NewEvent;
use super::row::stored;
use super::{Store, codebases, ports, works};

const PIN: &str = "UPDATE environments SET pinned_at = $4 WHERE id = $1 AND state = $2 AND generation = $3";
const FORK: &str = "UPDATE environments SET fork = $4 WHERE id = $1 AND state = $2 AND generation = $3";

impl Store {
    /// Writes the row and its keywords with the event if it still is in the `expected` state and generation, else
    /// `Stale`. Its works (see [`Store::add_work`], [`Store::set_works`]) follow its state: they are free for others
    /// when it leaves the living and are claimed again when it comes back. `Taken` when coming back finds its work,
    /// branch or path with another. A block of ports given away meanwhile is no obstacle: it gets another one, and
    /// who needs to know reads the row again.
    pub async fn save(
        &self,
        environment: &Environment,
        expected: (State, u64),
        event: &NewEvent,
    ) -> Result<(), StoreError> {
        let mut tx = self.pool.begin().await?;
        if !write(&mut tx, environment, expected, event).await? {
            return Err(StoreError::Stale);
        }
        Ok(tx.commit().await?)
    }

    /// The same for several in one step, which costs little more than one. Those that are not as expected any more are left
    /// out; which were written is the answer, in their order.
    pub async fn save_each(&self, changes: &[Change]) -> Result<Vec<bool>, StoreError> {
        let mut tx = self.pool.begin().await?;
        let mut written = Vec::with_capacity(changes.len());
        for change in changes {
            written.push(write(&mut tx, &change.environment, change.expected, &change.event).await?);
        }
        tx.commit().await?;
        Ok(written)
    }

    /// Writes down whether it is pinned, and nothing else of it: what the caller knows of the rest may be old.
    pub async fn set_pinned(&self, environment: &Environment, event: &NewEvent) -> Result<(), StoreError> {
        let pinned_at = environment.pinned_at.map(Timestamp::as_millis);
        self.set_one(environment, PIN, pinned_at, event).await
    }

    /// Writes down that a stranger's work is in it, and nothing else of it.
    pub async fn becomes_forks(&self, environment: &Environment, event: &NewEvent) -> Result<(), StoreError> {
        self.set_one(environment, FORK, Some(1), event).await
    }

    async fn set_one(
        &self,
        environment: &Environment,
        update: &'static str,
        to: Option<i64>,
        event: &NewEvent,
    ) -> Result<(), StoreError> {
        let mut tx = self.pool.begin().await?;
        let written = sqlx::query(update)
            .bind(environment.id.to_string())
            .bind(environment.state.as_str())
            .bind(stored(environment.generation)?)
            .bind(to)
            .execute(&mut *tx)
            .await?;
        if written.rows_affected() != 1 {
            return Err(StoreError::Stale);
        }
        event.clone().of(environment.codebase, environment.id).write(&mut tx).await?;
        Ok(tx.commit().await?)
    }
}

/// A changed environment, what it is expected to be still, and what is said about it.
#[derive(Debug, Clone)]
pub struct Change {
    pub environment: Environment,
    pub expected: (State, u64),
    pub event: NewEvent,
}

/// Writes one. `false`, and nothing is written, when it is not as expected.
pub(super) async fn write(
    tx: &mut AnyConnection,
    environment: &Environment,
    (state, generation): (State, u64),
    event: &NewEvent,
) -> Result<bool, StoreError> {
    let returns = environment.state.is_live() && !state.is_live();
    codebases::lock(tx, environment.codebase, !returns).await?;
    if returns {
        // While it is not live its block is nobody's, so it cannot stand in its own way.
        ports::lock(tx, &environment.node).await?;
        let port = ports::choose(tx, &environment.node, environment.port).await?;
        sqlx::query("UPDATE environments SET port = $2 WHERE id = $1 AND state = $3 AND generation = $4")
            .bind(environment.id.to_string())
            .bind(port.map(i64::from))
            .bind(state.as_str())
            .bind(stored(generation)?)
            .execute(&mut *tx)
            .await?;
    }
    let query = bind_changing(sqlx::query(environments::UPDATE), environment)?;
    let written = query
        .bind(environment.last_activity_at.as_millis())
        .bind(environment.id.to_string())
        .bind(state.as_str())
        .bind(stored(generation)?)
        .execute(&mut *tx)
        .await?;
    if written.rows_affected() != 1 {
        return Ok(false);
    }
    works::set_live(tx, environment).await?;
    works::write_keywords(tx, environment).await?;
    event.clone().of(environment.codebase, environment.id).write(tx).await?;
    Ok(true)
}
