//! The sole right to touch an environment now.

use crate::id::EnvironmentId;

/// Proof that its holder alone may change an environment. Demanded by the signature of what changes one.
///
/// Only the engine's `lease` room grants one (a test of the source holds it to that): everyone else can
/// pass a lease on, and cannot make one.
#[derive(Debug)]
pub struct Lease {
    environment: EnvironmentId,
    owner: String,
    epoch: u64,
}

impl Lease {
    /// Called by the engine after the store has written the lease down.
    pub fn granted(environment: EnvironmentId, owner: String, epoch: u64) -> Self {
        Self { environment, owner, epoch }
    }

    pub const fn environment(&self) -> EnvironmentId {
        self.environment
    }

    pub fn owner(&self) -> &str {
        &self.owner
    }

    /// Rises with every lease of the environment; an act under an older epoch is refused.
    pub const fn epoch(&self) -> u64 {
        self.epoch
    }
}
