//! `/api/v1/runs`: what assistants did and do, and what it took.

use axum::Json;
use axum::extract::State;
use hedgerow_engine::runs::{RunEventView, RunView};
use serde::Deserialize;

use crate::error::{Answer, Problem};
use crate::reading::{Asked, Named};
use crate::web::Web;

/// How many are read when nobody says, and at most.
const USUAL: u32 = 100;
const MOST: u32 = 1000;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Listing {
    codebase: Option<String>,
    limit: Option<u32>,
}

/// The newest, newest first; of one codebase or of all.
pub(crate) async fn list(State(web): State<Web>, Asked(query): Asked<Listing>) -> Answer<Json<Vec<RunView>>> {
    let codebase = match &query.codebase {
        Some(name) => Some(web.engine().require_codebase(name).await?),
        None => None,
    };
    Ok(Json(web.engine().runs(codebase.as_ref(), limit(query.limit)?).await?))
}

pub(crate) async fn show(State(web): State<Web>, Named(id): Named) -> Answer<Json<RunView>> {
    Ok(Json(web.engine().require_run(&id).await?))
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Reading {
    #[serde(default)]
    after: u64,
    limit: Option<u32>,
}

/// What happened in it, oldest first.
pub(crate) async fn events(
    State(web): State<Web>,
    Named(id): Named,
    Asked(query): Asked<Reading>,
) -> Answer<Json<Vec<RunEventView>>> {
    let limit = limit(query.limit)?;
    if i64::try_from(query.after).is_err() {
        return Err(Problem::usage("`after` is not the `seq` of an event"));
    }
    let run = web.engine().require_run(&id).await?;
    Ok(Json(web.engine().run_events(run.id, query.after, limit).await?))
}

fn limit(asked: Option<u32>) -> Answer<u32> {
    let limit = asked.unwrap_or(USUAL);
    if (1..=MOST).contains(&limit) {
        Ok(limit)
    } else {
        Err(Problem::usage(format!("`limit` must be a whole number from 1 to {MOST}")))
    }
}
