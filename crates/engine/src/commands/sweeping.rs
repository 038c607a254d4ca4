//! `/worktree cleanup`: everything for an admin, what is one's own for everyone else.

use hedgerow_core::cleanup::Want;
use hedgerow_core::command::CleanupWhat;

use super::Asked;
use crate::cleanup::Terms;
use crate::engine::{Engine, Sweep};
use crate::failure::Outcome;
use crate::replies;

impl Engine {
    pub(super) async fn cleanup_for(&self, asked: &Asked<'_>, what: CleanupWhat, dry_run: bool) -> Outcome<String> {
        let codebase = self.require_chosen(asked).await?;
        let (want, sweep) = match what {
            CleanupWhat::Merged => (Want::Merged, Sweep::Merged),
            CleanupWhat::Stale => (Want::Stale, Sweep::Stale),
            // Nobody is known to have asked for an orphan, so nobody's own is among them.
            CleanupWhat::Orphans => {
                if !dry_run {
                    self.require_admin(asked.by, "clean up orphans").await?;
                }
                let report = self.cleanup(codebase, Sweep::Orphans, dry_run, asked.by).await?;
                return Ok(replies::cleaned_up(&report, 0));
            }
        };
        if self.is_admin(asked.by).await? {
            let report = self.cleanup(codebase, sweep, dry_run, asked.by).await?;
            return Ok(replies::cleaned_up(&report, 0));
        }
        let live = self.store.live(codebase.id).await?;
        let (own, others): (Vec<_>, Vec<_>) =
            live.into_iter().partition(|environment| environment.created_by == *asked.by);
        let report = self.sweep(codebase, own, Terms { want, dry_run, by: asked.by }).await;
        Ok(replies::cleaned_up(&report, others.len() as u64))
    }
}
