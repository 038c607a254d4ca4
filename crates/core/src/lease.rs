//! The sole right to touch a place now.

use crate::environment::Tenant;
use crate::id::{ConversationId, EnvironmentId};

/// Proof that its holder alone may change an environment, or the scratch folder of a conversation. Demanded by the
/// signature of what changes one.
///
/// Only the engine's `lease` room grants one (a test of the source holds it to that): everyone else can
/// pass a lease on, and cannot make one.
#[derive(Debug)]
pub struct Lease {
    of: Tenant,
    owner: String,
    epoch: u64,
}

impl Lease {
    /// Called by the engine after the store has written the lease down.
    pub fn granted(environment: EnvironmentId, owner: String, epoch: u64) -> Self {
        Self { of: Tenant::Environment(environment), owner, epoch }
    }

    /// Called by the engine while the conversation's message is taken: nobody else acts for that conversation.
    pub fn granted_scratch(conversation: ConversationId, owner: String) -> Self {
        Self { of: Tenant::Scratch(conversation), owner, epoch: 0 }
    }

    pub const fn of(&self) -> Tenant {
        self.of
    }

    /// The environment, unless it is of a scratch folder.
    pub const fn environment(&self) -> Option<EnvironmentId> {
        match self.of {
            Tenant::Environment(id) => Some(id),
            Tenant::Scratch(_) => None,
        }
    }

    pub fn owner(&self) -> &str {
        &self.owner
    }

    /// Rises with every lease of the environment; an act under an older epoch is refused.
    pub const fn epoch(&self) -> u64 {
        self.epoch
    }
}
