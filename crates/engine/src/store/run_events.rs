//! The log of each run: what its assistant said and did, in order. It goes with its run.

use hedgerow_core::assistant::{Step, Usage};
use hedgerow_core::run::{RunEventKind, RunState};
use hedgerow_core::{RunId, Timestamp};
use serde::{Deserialize, Serialize};
use sqlx::AnyConnection;
use sqlx::any::AnyRow;

use super::Store;
use super::error::StoreError;
use super::row::{Row, free_text, stored, wrong};

/// Something that happened in a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Happened {
    /// The assistant's own name of its session.
    Session(String),
    Text(String),
    Tool(String),
    Plan(Vec<Step>),
    Usage(Usage),
    Note(String),
    Other(String),
    /// How it ended, and why if that needs a word.
    End {
        state: RunState,
        why: Option<String>,
    },
}

/// An entry of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunEvent {
    pub seq: u64,
    pub at: Timestamp,
    pub what: Happened,
}

#[derive(Serialize, Deserialize)]
struct StepBody {
    text: String,
    state: String,
}

#[derive(Serialize, Deserialize)]
struct UsageBody {
    input_tokens: u64,
    cached_tokens: u64,
    output_tokens: u64,
    cost_micros: Option<u64>,
}

#[derive(Serialize, Deserialize)]
struct EndBody {
    state: String,
    why: Option<String>,
}

impl Happened {
    pub const fn kind(&self) -> RunEventKind {
        match self {
            Self::Session(_) => RunEventKind::Session,
            Self::Text(_) => RunEventKind::Text,
            Self::Tool(_) => RunEventKind::Tool,
            Self::Plan(_) => RunEventKind::Plan,
            Self::Usage(_) => RunEventKind::Usage,
            Self::Note(_) => RunEventKind::Note,
            Self::Other(_) => RunEventKind::Other,
            Self::End { .. } => RunEventKind::End,
        }
    }

    fn body(&self) -> String {
        let json = match self {
            Self::Session(text) | Self::Text(text) | Self::Tool(text) | Self::Note(text) | Self::Other(text) => {
                return free_text(text);
            }
            Self::Plan(steps) => serde_json::to_string(steps),
            Self::Usage(usage) => serde_json::to_string(usage),
            Self::End { state, why } => {
                serde_json::to_string(&EndBody { state: state.to_string(), why: why.as_deref().map(free_text) })
            }
        };
        // A zero byte in a step is an escape here, which PostgreSQL stores as the text it is.
        json.expect("strings and numbers are JSON")
    }

    fn read(kind: RunEventKind, body: String) -> Result<Self, StoreError> {
        let bad = |error: &dyn std::fmt::Display| wrong("body", error);
        Ok(match kind {
            RunEventKind::Session => Self::Session(body),
            RunEventKind::Text => Self::Text(body),
            RunEventKind::Tool => Self::Tool(body),
            RunEventKind::Note => Self::Note(body),
            RunEventKind::Other => Self::Other(body),
            RunEventKind::Plan => {
                let steps: Vec<StepBody> = serde_json::from_str(&body).map_err(|error| bad(&error))?;
                let step = |step: StepBody| {
                    Ok(Step { text: step.text, state: step.state.parse().map_err(|error| bad(&error))? })
                };
                Self::Plan(steps.into_iter().map(step).collect::<Result<_, StoreError>>()?)
            }
            RunEventKind::Usage => {
                let usage: UsageBody = serde_json::from_str(&body).map_err(|error| bad(&error))?;
                Self::Usage(Usage {
                    input_tokens: usage.input_tokens,
                    cached_tokens: usage.cached_tokens,
                    output_tokens: usage.output_tokens,
                    cost_micros: usage.cost_micros,
                })
            }
            RunEventKind::End => {
                let end: EndBody = serde_json::from_str(&body).map_err(|error| bad(&error))?;
                Self::End { state: end.state.parse().map_err(|error| bad(&error))?, why: end.why }
            }
        })
    }
}

fn run_event(row: &AnyRow) -> Result<RunEvent, StoreError> {
    let row = Row(row);
    let what = Happened::read(row.parsed("kind")?, row.text("body")?)?;
    Ok(RunEvent { seq: row.number("seq")?, at: row.time("at")?, what })
}

impl Store {
    /// Adds to the log of a run, and keeps what it has used so far. What is there already stays, so that a batch whose
    /// answer was lost can be written again.
    pub async fn log_run(&self, run: RunId, events: &[RunEvent]) -> Result<(), StoreError> {
        let mut tx = self.pool.begin().await?;
        for event in events {
            sqlx::query(
                "INSERT INTO run_events (run_id, seq, at, kind, body) VALUES ($1, $2, $3, $4, $5)
                 ON CONFLICT (run_id, seq) DO NOTHING",
            )
            .bind(run.to_string())
            .bind(stored(event.seq)?)
            .bind(event.at.as_millis())
            .bind(event.what.kind().as_str())
            .bind(event.what.body())
            .execute(&mut *tx)
            .await?;
        }
        let last = events.iter().rev().find_map(|event| match event.what {
            Happened::Usage(usage) => Some(usage),
            _ => None,
        });
        if let Some(usage) = last {
            set_usage(&mut tx, run, usage).await?;
        }
        Ok(tx.commit().await?)
    }

    /// The log of a run after an entry, oldest first.
    pub async fn run_events(&self, run: RunId, after: u64, most: u32) -> Result<Vec<RunEvent>, StoreError> {
        let rows = sqlx::query(
            "SELECT seq, at, kind, body FROM run_events WHERE run_id = $1 AND seq > $2 ORDER BY seq LIMIT $3",
        )
        .bind(run.to_string())
        .bind(stored(after)?)
        .bind(i64::from(most))
        .fetch_all(&self.pool)
        .await?;
        rows.iter().map(run_event).collect()
    }

    /// The tool that a run used last.
    pub async fn last_tool(&self, run: RunId) -> Result<Option<String>, StoreError> {
        let row =
            sqlx::query("SELECT body FROM run_events WHERE run_id = $1 AND kind = 'tool' ORDER BY seq DESC LIMIT 1")
                .bind(run.to_string())
                .fetch_optional(&self.pool)
                .await?;
        row.as_ref().map(|row| Row(row).text("body")).transpose()
    }
}

async fn set_usage(connection: &mut AnyConnection, run: RunId, usage: Usage) -> Result<(), StoreError> {
    sqlx::query(
        "UPDATE runs SET input_tokens = $2, cached_tokens = $3, output_tokens = $4, cost_micros = $5 WHERE id = $1",
    )
    .bind(run.to_string())
    .bind(stored(usage.input_tokens)?)
    .bind(stored(usage.cached_tokens)?)
    .bind(stored(usage.output_tokens)?)
    .bind(usage.cost_micros.map(stored).transpose()?)
    .execute(connection)
    .await?;
    Ok(())
}

/// The last entry, written in the moment in which the run ends.
pub(super) async fn end(
    connection: &mut AnyConnection,
    run: RunId,
    state: RunState,
    why: Option<&str>,
    now: Timestamp,
) -> Result<(), StoreError> {
    let end = Happened::End { state, why: why.map(str::to_owned) };
    sqlx::query(
        "INSERT INTO run_events (run_id, seq, at, kind, body)
         SELECT $1, coalesce(max(seq), 0) + 1, $2, $3, $4 FROM run_events WHERE run_id = $5",
    )
    .bind(run.to_string())
    .bind(now.as_millis())
    .bind(end.kind().as_str())
    .bind(end.body())
    .bind(run.to_string())
    .execute(connection)
    .await?;
    Ok(())
}
