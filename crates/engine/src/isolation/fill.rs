//! How a registered worktree gets its files.
//!
//! The seam for quicker ways (a layered mount, a snapshot, a warm pool): each must leave an ordinary linked worktree.

use async_trait::async_trait;
use hedgerow_core::provider::Progress;

use crate::git::{GitResult, Repo};

/// Fills a worktree that is registered and empty.
#[async_trait]
pub(super) trait Fill: Send + Sync {
    async fn fill(&self, worktree: &Repo, progress: &dyn Progress) -> GitResult<()>;
}

/// git writes every file.
#[derive(Debug)]
pub(super) struct Checkout;

#[async_trait]
impl Fill for Checkout {
    async fn fill(&self, worktree: &Repo, progress: &dyn Progress) -> GitResult<()> {
        worktree.fill_worktree(progress).await
    }
}
