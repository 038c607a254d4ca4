//! Saving a changed environment, if it still is what the caller thinks it is.

use hedgerow_core::{Environment, State};

use super::environments::{self, bind_changing};
use super::error::StoreError;
use super::events::NewEvent;
use super::row::stored;
use super::{Store, codebases, ports, works};

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
        let (state, generation) = expected;
        let returns = environment.state.is_live() && !state.is_live();
        let mut tx = self.pool.begin().await?;
        codebases::lock(&mut tx, environment.codebase, !returns).await?;
        if returns {
            // While it is not live its block is nobody's, so it cannot stand in its own way.
            ports::lock(&mut tx, &environment.node).await?;
            let port = ports::choose(&mut tx, &environment.node, environment.port).await?;
            sqlx::query("UPDATE environments SET port = $2 WHERE id = $1 AND state = $3")
                .bind(environment.id.to_string())
                .bind(port.map(i64::from))
                .bind(state.as_str())
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
            return Err(StoreError::Stale);
        }
        works::set_live(&mut tx, environment).await?;
        works::write_keywords(&mut tx, environment).await?;
        event.clone().of(environment.codebase, environment.id).write(&mut tx).await?;
        Ok(tx.commit().await?)
    }
}
