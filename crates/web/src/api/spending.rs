//! `/api/v1/spending`: what went through the model gateway.

use axum::Json;
use axum::extract::State;
use hedgerow_engine::gateway::Spending;

use crate::error::Answer;
use crate::web::Web;

pub(crate) async fn show(State(web): State<Web>) -> Answer<Json<Spending>> {
    Ok(Json(web.engine().spending().await?))
}
