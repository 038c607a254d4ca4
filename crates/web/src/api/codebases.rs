//! `/api/v1/codebases`: the repositories there are.

use std::path::PathBuf;

use axum::Json;
use axum::extract::State;
use hedgerow_core::Codebase;
use hedgerow_core::provider::NoProgress;
use hedgerow_engine::engine::Source;
use hedgerow_engine::view::CodebaseView;
use serde::Deserialize;

use super::to_its_end;
use crate::error::{Answer, Problem};
use crate::reading::Given;
use crate::web::{Web, bearer};

pub(crate) async fn list(State(web): State<Web>) -> Answer<Json<Vec<CodebaseView>>> {
    let codebases = web.engine().codebases().await?;
    Ok(Json(codebases.iter().map(CodebaseView::new).collect()))
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Body {
    path: Option<PathBuf>,
    url: Option<String>,
    name: Option<String>,
}

/// Registers a repository of the server's machine, or clones one. Asking again gives the same one.
pub(crate) async fn add(State(web): State<Web>, Given(body): Given<Body>) -> Answer<Json<CodebaseView>> {
    let source = match (body.path, body.url) {
        (Some(path), None) if path.is_absolute() => Source::Path(path),
        (Some(_), None) => {
            return Err(Problem::usage("`path` must be absolute: it is a folder of the server's machine"));
        }
        (None, Some(url)) => Source::Url(url),
        _ => return Err(Problem::usage("either `path` or `url` says where the codebase is")),
    };
    to_its_end(async move {
        let added = web.engine().add_codebase(&source, body.name.as_deref(), &bearer(), &NoProgress).await?;
        Ok(Json(CodebaseView { is_new: Some(added.is_new), ..CodebaseView::new(&added.codebase) }))
    })
    .await
}

/// The codebase of this name; without one, the only one there is.
pub(super) async fn require(web: &Web, name: Option<&str>) -> Answer<Codebase> {
    if let Some(name) = name {
        return Ok(web.engine().require_codebase(name).await?);
    }
    let mut codebases = web.engine().codebases().await?;
    match (codebases.pop(), codebases.is_empty()) {
        (Some(only), true) => Ok(only),
        (Some(last), false) => {
            let names: Vec<String> = codebases.into_iter().chain([last]).map(|codebase| codebase.name).collect();
            let problem = Problem::usage("there are several codebases; `codebase` must say which");
            Err(problem.hint(format!("there are: {}", names.join(", "))))
        }
        (None, _) => Err(Problem::not_found("there is no codebase").hint("`POST /api/v1/codebases` adds one")),
    }
}
