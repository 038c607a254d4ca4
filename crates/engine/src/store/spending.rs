//! What went through the gateway: one row for each run and model. Its own count, whatever assistants say.

use hedgerow_core::environment::Actor;
use hedgerow_core::{CodebaseId, RunId, Timestamp};
use serde::Serialize;

use super::Store;
use super::error::StoreError;
use super::row::{Row, free_text, stored};

/// Calls of models, added up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Spent {
    pub calls: u64,
    /// What the models had in their caches included.
    pub input_tokens: u64,
    pub cached_tokens: u64,
    pub output_tokens: u64,
    /// In millionths of a dollar.
    pub cost_micros: u64,
}

/// Whose spending.
#[derive(Debug, Clone, Copy)]
pub enum Spender<'a> {
    Run(RunId),
    Codebase(CodebaseId),
    Person(&'a Actor),
}

/// What spending is listed by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpentBy {
    /// By the codebase's name; `None` for conversations without one.
    Codebase,
    Person,
}

macro_rules! sums {
    () => {
        "CAST(coalesce(sum(spending.calls), 0) AS BIGINT) AS calls, \
         CAST(coalesce(sum(spending.input_tokens), 0) AS BIGINT) AS input_tokens, \
         CAST(coalesce(sum(spending.cached_tokens), 0) AS BIGINT) AS cached_tokens, \
         CAST(coalesce(sum(spending.output_tokens), 0) AS BIGINT) AS output_tokens, \
         CAST(coalesce(sum(spending.cost_micros), 0) AS BIGINT) AS cost_micros \
         FROM spending JOIN runs ON runs.id = spending.run_id"
    };
}

fn spent(row: &Row<'_>) -> Result<Spent, StoreError> {
    Ok(Spent {
        calls: row.number("calls")?,
        input_tokens: row.number("input_tokens")?,
        cached_tokens: row.number("cached_tokens")?,
        output_tokens: row.number("output_tokens")?,
        cost_micros: row.number("cost_micros")?,
    })
}

impl Store {
    /// Adds to what a run has spent on a model.
    pub async fn spend(&self, run: RunId, model: &str, more: &Spent, now: Timestamp) -> Result<(), StoreError> {
        sqlx::query(
            "INSERT INTO spending (run_id, model, calls, input_tokens, cached_tokens, output_tokens, cost_micros, last_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
             ON CONFLICT (run_id, model) DO UPDATE SET
             calls = spending.calls + excluded.calls,
             input_tokens = spending.input_tokens + excluded.input_tokens,
             cached_tokens = spending.cached_tokens + excluded.cached_tokens,
             output_tokens = spending.output_tokens + excluded.output_tokens,
             cost_micros = spending.cost_micros + excluded.cost_micros,
             last_at = excluded.last_at",
        )
        .bind(run.to_string())
        .bind(free_text(model))
        .bind(stored(more.calls)?)
        .bind(stored(more.input_tokens)?)
        .bind(stored(more.cached_tokens)?)
        .bind(stored(more.output_tokens)?)
        .bind(stored(more.cost_micros)?)
        .bind(now.as_millis())
        .execute(&self.pool)
        .await?;
        Ok(())
    }

    /// What somebody spent in runs whose last call was not before `since`.
    pub async fn spent(&self, spender: Spender<'_>, since: Timestamp) -> Result<Spent, StoreError> {
        let (select, whose) = match spender {
            Spender::Run(id) => (concat!("SELECT ", sums!(), " WHERE runs.id = $1 AND last_at >= $2"), id.to_string()),
            Spender::Codebase(id) => {
                (concat!("SELECT ", sums!(), " WHERE runs.codebase_id = $1 AND last_at >= $2"), id.to_string())
            }
            Spender::Person(actor) => (
                concat!("SELECT ", sums!(), " WHERE runs.author = $1 AND last_at >= $2"),
                free_text(&actor.to_string()),
            ),
        };
        let row = sqlx::query(select).bind(whose).bind(since.as_millis()).fetch_one(&self.pool).await?;
        spent(&Row(&row))
    }

    /// What each spent since then, those who spent most first.
    pub async fn spent_by(&self, by: SpentBy, since: Timestamp) -> Result<Vec<(Option<String>, Spent)>, StoreError> {
        let select = match by {
            SpentBy::Codebase => concat!(
                "SELECT codebases.name AS who, ",
                sums!(),
                " LEFT JOIN codebases ON codebases.id = runs.codebase_id WHERE last_at >= $1 GROUP BY codebases.name \
                 ORDER BY cost_micros DESC, input_tokens DESC, who"
            ),
            SpentBy::Person => concat!(
                "SELECT runs.author AS who, ",
                sums!(),
                " WHERE last_at >= $1 GROUP BY runs.author ORDER BY cost_micros DESC, input_tokens DESC, who"
            ),
        };
        let rows = sqlx::query(select).bind(since.as_millis()).fetch_all(&self.pool).await?;
        rows.iter().map(|row| Ok((Row(row).maybe_text("who")?, spent(&Row(row))?))).collect()
    }

    /// What a run spent, by model.
    pub async fn spent_on(&self, run: RunId) -> Result<Vec<(String, Spent)>, StoreError> {
        let rows = sqlx::query(
            "SELECT model, calls, input_tokens, cached_tokens, output_tokens, cost_micros FROM spending
             WHERE run_id = $1 ORDER BY model",
        )
        .bind(run.to_string())
        .fetch_all(&self.pool)
        .await?;
        rows.iter().map(|row| Ok((Row(row).text("model")?, spent(&Row(row))?))).collect()
    }
}
