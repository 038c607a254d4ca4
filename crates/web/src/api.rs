//! One file for each noun of the API, one function for each act.

pub(crate) mod codebases;
pub(crate) mod environments;
pub(crate) mod events;
pub(crate) mod messages;
pub(crate) mod probes;
pub(crate) mod runs;
pub(crate) mod spending;
mod wanted;

use crate::error::{Answer, Problem};

/// Does something that must not stop half-way when its caller hangs up.
async fn to_its_end<T: Send + 'static>(act: impl Future<Output = Answer<T>> + Send + 'static) -> Answer<T> {
    use tracing::Instrument as _;
    match tokio::spawn(act.in_current_span()).await {
        Ok(answer) => answer,
        Err(error) => {
            tracing::error!(%error, "an act broke off");
            Err(Problem::internal())
        }
    }
}
