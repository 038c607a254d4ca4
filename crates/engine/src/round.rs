//! A round: everything that scheduled cleanup does on this machine, over all codebases, with one report.

use hedgerow_core::environment::Actor;
use hedgerow_core::{Codebase, State};

use crate::cleanup::trouble;
use crate::disk::Disk;
use crate::engine::{Engine, Round, Sweep, Swept, Tidied};
use crate::failure::Outcome;

impl Engine {
    /// Tidies every codebase, then the trash and the vault. `watched_ms` is how much time has passed since the last
    /// round, as far as rounds have seen it.
    pub(crate) async fn round(&self, dry_run: bool, watched_ms: i64, by: &Actor) -> Outcome<Round> {
        let began_at = self.clock.now();
        let mut here = Vec::new();
        for codebase in self.codebases().await? {
            if self.is_here(&codebase).await? {
                here.push((self.half_made(&codebase).await?, codebase));
            }
        }
        if !dry_run && let Err(error) = self.reconcile().await {
            // What it would have turned is kept by the rules all the same.
            tracing::warn!(%error, "a round of cleanup begins without a reconcile");
        }
        let away = self.why_no_cleanup();
        let mut codebases = Vec::new();
        for (half_made, codebase) in here {
            let mut report = if dry_run { Vec::new() } else { self.lines_of_settled(&half_made).await? };
            match self.cleanup(&codebase, Sweep::Scheduled, dry_run, by).await {
                Ok(swept) => report.extend(swept),
                Err(error) => report.push(trouble(&codebase, &error)),
            }
            codebases.push(Tidied { codebase: codebase.name, report });
        }
        if away.is_none() {
            for line in self.purge_and_expire(dry_run, watched_ms).await? {
                self.add(&mut codebases, line).await?;
            }
        }
        if !dry_run {
            self.tidy_scratch().await?;
        }
        let node = &self.settings.node;
        let live = self.store.live_everywhere().await?.into_iter().filter(|environment| environment.node == *node);
        let live = live.count();
        let trashed = self.store.in_state(node, State::Trashed).await?.len();
        // A base that was never made holds nothing that could be away.
        let away = away.filter(|_| live + trashed > 0);
        Ok(Round { began_at, codebases, away, disk: Disk::at(&self.settings.worktrees), live, trashed })
    }

    /// Whether a codebase is on this machine: of several that share a store, each has its own.
    async fn is_here(&self, codebase: &Codebase) -> Outcome<bool> {
        if std::fs::symlink_metadata(&codebase.path).is_ok() {
            return Ok(true);
        }
        let live = self.store.live(codebase.id).await?;
        Ok(live.iter().any(|environment| environment.node == self.settings.node))
    }

    /// Adds a line to the report of its codebase, which may be a forgotten one that still has something in the trash.
    async fn add(&self, codebases: &mut Vec<Tidied>, line: Swept) -> Outcome<()> {
        let codebase = self.store.codebase(line.codebase).await?.map(|codebase| codebase.name);
        let codebase = codebase.unwrap_or_else(|| line.codebase.to_string());
        match codebases.iter_mut().find(|tidied| tidied.codebase == codebase) {
            Some(tidied) => tidied.report.push(line),
            None => codebases.push(Tidied { codebase, report: vec![line] }),
        }
        Ok(())
    }

    /// What has been in the trash or in the vault for long enough.
    async fn purge_and_expire(&self, dry_run: bool, watched_ms: i64) -> Outcome<Vec<Swept>> {
        // The time that has passed counts for what was there, not for what is saved now.
        let mut report = self.expire_saved(u64::try_from(watched_ms).unwrap_or(0), dry_run).await?;
        report.extend(self.purge_due(dry_run).await?);
        Ok(report)
    }
}
