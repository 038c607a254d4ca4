//! The forges there are: which of them a repository belongs to.

use std::fmt;
use std::sync::Arc;

use hedgerow_core::platform::{Forge, PlatformKind};
use hedgerow_core::{Codebase, RepositoryName};

/// Cheap to clone; none by default.
#[derive(Clone, Default)]
pub struct Forges(Arc<[Arc<dyn Forge>]>);

impl fmt::Debug for Forges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|forge| forge.platform())).finish()
    }
}

/// A repository on its forge.
#[derive(Clone)]
pub(crate) struct Hosted {
    pub(crate) forge: Arc<dyn Forge>,
    pub(crate) repository: RepositoryName,
}

impl Forges {
    pub fn new(forges: Vec<Arc<dyn Forge>>) -> Self {
        Self(forges.into())
    }

    pub(crate) fn of(&self, kind: PlatformKind) -> Option<&Arc<dyn Forge>> {
        self.0.iter().find(|forge| forge.platform() == kind)
    }

    /// Where a remote of this URL is, if it is on one of them.
    pub(crate) fn hosted(&self, remote: &str) -> Option<Hosted> {
        let found =
            |forge: &Arc<dyn Forge>| Some(Hosted { repository: forge.repository(remote)?, forge: Arc::clone(forge) });
        self.0.iter().find_map(found)
    }

    pub(crate) fn of_codebase(&self, codebase: &Codebase) -> Option<Hosted> {
        self.hosted(codebase.remote.as_deref()?)
    }
}
