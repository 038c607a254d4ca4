//! The one error at the engine's edge.

use hedgerow_core::provider::ProviderError;
use hedgerow_core::{Kind, UserError};

/// Either something a person can act on, or something that broke on our side.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    #[error(transparent)]
    User(#[from] UserError),
    #[error("something broke inside Hedgerow")]
    Internal(#[source] anyhow::Error),
}

pub type Outcome<T> = Result<T, Failure>;

impl Failure {
    pub const fn kind(&self) -> Kind {
        match self {
            Self::User(error) => error.kind,
            Self::Internal(_) => Kind::Failed,
        }
    }
}

impl From<anyhow::Error> for Failure {
    /// A `UserError` anywhere in the chain is what the person reads; anything else is internal.
    fn from(error: anyhow::Error) -> Self {
        match error.downcast::<UserError>() {
            Ok(user) => Self::User(user),
            Err(other) => Self::Internal(other),
        }
    }
}

impl From<ProviderError> for Failure {
    fn from(error: ProviderError) -> Self {
        match error {
            ProviderError::User(user) => Self::User(user),
            ProviderError::Other(source) => Self::Internal(anyhow::Error::from_boxed(source)),
        }
    }
}
