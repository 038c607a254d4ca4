//! `/api/v1/environments`: made, looked at, removed, brought back.

use axum::Json;
use axum::extract::State;
use hedgerow_core::provider::NoProgress;
use hedgerow_core::{Codebase, Environment, EnvironmentId, Kind};
use hedgerow_engine::engine::{Detail, Removed, Request, Resolved};
use hedgerow_engine::view::{RemovedView, View};
use serde::Deserialize;

use super::codebases::require;
use super::to_its_end;
use super::wanted::{Body, Wanted};
use crate::error::{Answer, Problem};
use crate::reading::{Asked, Given, Named};
use crate::web::{Web, bearer};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Looking {
    codebase: Option<String>,
    #[serde(default)]
    full: bool,
}

/// The live ones, of one codebase or of all.
pub(crate) async fn list(State(web): State<Web>, Asked(query): Asked<Looking>) -> Answer<Json<Vec<View>>> {
    let codebase = match &query.codebase {
        Some(name) => Some(web.engine().require_codebase(name).await?),
        None => None,
    };
    let detail = if query.full { Detail::Full } else { Detail::Status };
    Ok(Json(web.engine().list(codebase.as_ref(), detail).await?))
}

/// Finds or makes the environment of a piece of work.
pub(crate) async fn create(State(web): State<Web>, Given(body): Given<Body>) -> Answer<Json<View>> {
    let codebase = require(&web, body.codebase.as_deref()).await?;
    let Wanted { work, hints, branch } = body.wanted()?;
    let request = Request { codebase, work, hints, branch, conversation: None, by: bearer(), reopened: false };
    to_its_end(async move {
        let resolved = web.engine().resolve(&request, &NoProgress).await?;
        view(&web, resolved).await
    })
    .await
}

/// One, also of those that were removed and can be brought back.
pub(crate) async fn show(
    State(web): State<Web>,
    Named(name): Named,
    Asked(query): Asked<Looking>,
) -> Answer<Json<View>> {
    let (_, environment) = find(&web, query.codebase.as_deref(), &name, Among::Ever).await?;
    let detail = match environment.state.is_live() {
        true if query.full => Detail::Full,
        true => Detail::Status,
        false => Detail::Row,
    };
    Ok(Json(web.engine().view(&environment, detail).await?))
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Removing {
    codebase: Option<String>,
    #[serde(default)]
    force: bool,
}

/// Moves one to the trash.
pub(crate) async fn remove(
    State(web): State<Web>,
    Named(name): Named,
    Asked(query): Asked<Removing>,
) -> Answer<Json<RemovedView>> {
    to_its_end(async move {
        let (codebase, environment) = find(&web, query.codebase.as_deref(), &name, Among::Live).await?;
        let removed = web.engine().remove(&environment, query.force, &bearer()).await?;
        let undo = match &removed {
            Removed::Trashed { environment, .. } => {
                Some(format!("POST /api/v1/environments/{}/restore", environment.id))
            }
            Removed::WasGone { .. } | Removed::LetGo { .. } => None,
        };
        Ok(Json(RemovedView::new(&removed, &codebase.name, undo)))
    })
    .await
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Restoring {
    codebase: Option<String>,
}

/// Brings one back from the trash or the vault.
pub(crate) async fn restore(
    State(web): State<Web>,
    Named(name): Named,
    Asked(query): Asked<Restoring>,
) -> Answer<Json<View>> {
    to_its_end(async move {
        let (codebase, _) = find(&web, query.codebase.as_deref(), &name, Among::Ever).await?;
        let resolved = web.engine().restore(&codebase, &name, &bearer()).await?;
        view(&web, resolved).await
    })
    .await
}

async fn view(web: &Web, resolved: Resolved) -> Answer<Json<View>> {
    let view = web.engine().view(&resolved.environment, Detail::Status).await?;
    Ok(Json(View { resolution: Some(resolved.resolution), ..view }))
}

#[derive(Debug, Clone, Copy)]
enum Among {
    Live,
    /// And those that can be brought back.
    Ever,
}

/// By work, branch, path or id, in the codebase that is named. Without a name in all of them, if only one has it.
async fn find(web: &Web, codebase: Option<&str>, name: &str, among: Among) -> Answer<(Codebase, Environment)> {
    let engine = web.engine();
    let codebases = match (codebase, name.parse::<EnvironmentId>()) {
        (Some(codebase), _) => vec![engine.require_codebase(codebase).await?],
        (None, Ok(id)) => match engine.store().environment(id).await? {
            Some(environment) => engine.store().codebase(environment.codebase).await?.into_iter().collect(),
            None => Vec::new(),
        },
        (None, Err(_)) => engine.codebases().await?,
    };
    let is_only = codebases.len() == 1;
    let mut found = Vec::new();
    for codebase in codebases {
        let environment = match among {
            Among::Live => engine.require_environment(&codebase, name).await,
            Among::Ever => engine.require_environment_ever(&codebase, name).await,
        };
        match environment {
            Ok(environment) => found.push((codebase, environment)),
            // With one codebase its own words help more: they name what there is.
            Err(failure) if is_only || failure.kind() != Kind::NotFound => return Err(failure.into()),
            Err(_) => {}
        }
    }
    match (found.pop(), found.is_empty()) {
        (Some(only), true) => Ok(only),
        (Some((last, _)), false) => {
            let names: Vec<String> = found.into_iter().map(|(codebase, _)| codebase.name).chain([last.name]).collect();
            let problem = Problem::usage(format!("several codebases have an environment `{name}`"));
            Err(problem.hint(format!("say which with `?codebase=`: {}", names.join(", "))))
        }
        (None, _) => {
            let problem = Problem::not_found(format!("there is no environment `{name}`"));
            Err(problem.hint("`GET /api/v1/environments` lists them"))
        }
    }
}
