//! Refs of Hedgerow's own in a repository: each holds objects for something, and that something should be there.

use std::collections::BTreeMap;

use hedgerow_core::{Codebase, EnvironmentId, SavedId, State};

use super::finding::{Cure, Finding};
use crate::engine::Engine;
use crate::failure::Outcome;
use crate::git::{GitError, Repo};
use crate::isolation::ownership::{admin_folders, read_marker};
use crate::vault::Vault;

const TRASH: &str = "refs/hedgerow/trash/";
const CHECKPOINTS: &str = "refs/hedgerow/checkpoints/";
const SAVED: &str = "refs/hedgerow/saved/";

impl Engine {
    pub(super) async fn check_refs(&self, what: &str, codebase: &Codebase, repo: &Repo) -> Outcome<Vec<Finding>> {
        let read = tokio::try_join!(holders(repo, TRASH), holders(repo, CHECKPOINTS), holders(repo, SAVED));
        let (trash, checkpoints, saved) = match read {
            Ok(read) => read,
            Err(error) => {
                let hint = format!("`git -C {} fsck` says more", repo.at().display());
                return Ok(vec![Finding::problem(what, error.to_string(), hint)]);
            }
        };
        let mut findings = Vec::new();
        let is_any = !(trash.is_empty() && checkpoints.is_empty() && saved.is_empty());
        let is_shared = is_any && self.is_shared(repo).await?;
        for (holder, count) in trash {
            if !matches!(self.state_of(&holder).await?, Some(State::Trashed | State::Removing)) {
                let prefix = format!("{TRASH}{holder}/");
                let detail =
                    format!("{count} refs below {prefix} hold objects for an environment that is not in the trash");
                findings.push(Finding::warning(what, detail, whose(is_shared, repo, &prefix)));
            }
        }
        for (holder, count) in checkpoints {
            if !self.can_come_back(&holder).await? {
                let prefix = format!("{CHECKPOINTS}{holder}/");
                let detail = format!("{count} refs below {prefix} hold checkpoints of an environment that is gone");
                findings.push(Finding::warning(what, detail, whose(is_shared, repo, &prefix)));
            }
        }
        for (holder, count) in saved {
            let id = holder.parse::<SavedId>().ok();
            if let Some(id) = id
                && !self.is_nobodys(id).await?
            {
                continue;
            }
            let prefix = format!("{SAVED}{holder}/");
            let detail = format!("{count} refs below {prefix} hold commits for a saved state that there is not");
            findings.push(match id {
                Some(saved) if !is_shared => {
                    let hint = "`hedgerow doctor --fix` lets go of them";
                    Finding::warning(what, detail, hint)
                        .cured_by(Cure::Unpin { codebase: codebase.clone().into(), saved })
                }
                _ => Finding::warning(what, detail, whose(true, repo, &prefix)),
            });
        }
        Ok(findings)
    }

    /// Whether there is an environment of this id, alive, in the trash, or in the vault: then its checkpoints are wanted.
    async fn can_come_back(&self, holder: &str) -> Outcome<bool> {
        let Ok(id) = holder.parse::<EnvironmentId>() else { return Ok(false) };
        Ok(match self.store.environment(id).await?.map(|environment| environment.state) {
            None => false,
            Some(State::Destroyed) => !self.store.saved_of(id).await?.is_empty(),
            Some(_) => true,
        })
    }

    async fn state_of(&self, holder: &str) -> Outcome<Option<State>> {
        let Ok(id) = holder.parse::<EnvironmentId>() else { return Ok(None) };
        Ok(self.store.environment(id).await?.map(|environment| environment.state))
    }

    /// Whether no saved state needs the refs of this id, nor will one. A purge makes them before it writes its saved state
    /// down, and holds its environment in the trash all the while: so it is asked first, and the store after it.
    pub(super) async fn is_nobodys(&self, saved: SavedId) -> Outcome<bool> {
        let now = self.store_now().await?;
        for trashed in self.store.in_state(&self.settings.node, State::Trashed).await? {
            if self.store.lease_holder(trashed.id, now).await?.is_some() {
                return Ok(false);
            }
        }
        // One that is in the vault without a row may be needed all the same; it is told there.
        let in_vault = Vault::new(&self.settings.home).folders().iter().any(|it| it.ends_with(saved.to_string()));
        Ok(!in_vault && !self.store.is_saved(saved).await?)
    }

    /// Whether a Hedgerow with another store has environments of this repository. What its refs are for is in no row here.
    async fn is_shared(&self, repo: &Repo) -> Outcome<bool> {
        for id in admin_folders(repo.common_dir()).iter().filter_map(|admin| read_marker(admin)) {
            if self.store.environment(id).await?.is_none() {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Whom the refs below a prefix are for, and how many each has.
async fn holders(repo: &Repo, prefix: &str) -> Result<BTreeMap<String, usize>, GitError> {
    let mut holders: BTreeMap<String, usize> = BTreeMap::new();
    for name in repo.refs_below(prefix).await? {
        let holder = name.trim_start_matches(prefix).split('/').next().unwrap_or_default();
        *holders.entry(holder.to_owned()).or_default() += 1;
    }
    Ok(holders)
}

/// What to do about refs that are for nobody here, in a repository that another Hedgerow may use as well.
fn whose(is_shared: bool, repo: &Repo, prefix: &str) -> String {
    let by_hand = by_hand(repo, prefix);
    if is_shared { format!("they may be another Hedgerow's; if not: {by_hand}") } else { by_hand }
}

fn by_hand(repo: &Repo, prefix: &str) -> String {
    let at = repo.at().display();
    format!("`git -C {at} for-each-ref {prefix}` lists them; `git update-ref -d <ref>` lets go of one")
}
