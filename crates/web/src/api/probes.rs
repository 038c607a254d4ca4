//! What machines ask: alive, ready, how much; and what a person finds who opens the address in a browser.

use std::time::Duration;

use axum::Extension;
use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse;
use tokio::time::timeout;

use crate::error::{Answer, Problem};
use crate::hook::Hooks;
use crate::metrics::Gauges;
use crate::openapi;
use crate::routes;
use crate::web::Web;

/// Longest wait for the store.
const PATIENCE: Duration = Duration::from_secs(2);

pub(crate) async fn root() -> &'static str {
    concat!(
        "Hedgerow ",
        env!("CARGO_PKG_VERSION"),
        ". The API is below /api/v1 and described in /api/v1/openapi.json; docs/http.md is the guide.\n"
    )
}

/// As long as this answers, the process is alive.
pub(crate) async fn healthz() -> &'static str {
    "ok\n"
}

/// Whether messages can be taken.
pub(crate) async fn readyz(State(web): State<Web>) -> Answer<&'static str> {
    if web.is_closing() {
        return Err(Problem::not_ready("the server is going down"));
    }
    match timeout(PATIENCE, web.engine().store().waiting()).await {
        Ok(Ok(_)) => Ok("ready\n"),
        Ok(Err(error)) => {
            tracing::warn!(%error, "not ready");
            Err(Problem::not_ready("the store does not answer"))
        }
        Err(_) => Err(Problem::not_ready("the store does not answer in time")),
    }
}

pub(crate) async fn metrics(State(web): State<Web>) -> Answer<impl IntoResponse> {
    let store = web.engine().store();
    let gauges = Gauges {
        waiting: store.waiting().await?,
        runs: store.count_runs().await?,
        environments: store.live_everywhere().await?.len(),
        followers: web.feed().followers(),
    };
    let kind = [(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")];
    Ok((kind, web.metrics().render(&gauges)))
}

pub(crate) async fn openapi(Extension(hooks): Extension<Hooks>) -> impl IntoResponse {
    let mut document = openapi::document(&routes::operations());
    hooks.describe(&mut document);
    axum::Json(document)
}
