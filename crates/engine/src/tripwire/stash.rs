//! The stash: one list for all worktrees of a repository.

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::owners::holder;
use super::{Done, Found, Tripwire, What};
use crate::git::{GitResult, Repo};
use crate::isolation::plain_file::read_plain;

pub(super) const STASH: &str = "refs/stash";
/// In the list, for an entry that is back. The old words may be an agent's; the entry's commit has them too.
const RESTORED: &str = "put back by Hedgerow";

/// One entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Stashed {
    pub(super) object: String,
    message: String,
}

impl Stashed {
    /// `WIP on main: 1234567 Subject`, `On main: words`.
    fn branch(&self) -> Option<String> {
        let rest = self.message.strip_prefix("WIP on ").or_else(|| self.message.strip_prefix("On "))?;
        let (branch, _) = rest.split_once(": ")?;
        (branch != "(no branch)").then(|| format!("refs/heads/{branch}"))
    }
}

/// The list as it is, oldest first. Empty where refs are not kept in files.
pub(super) fn entries(common_dir: &Path) -> Vec<Stashed> {
    let text = read_plain(&common_dir.join("logs").join(STASH)).unwrap_or_default();
    let entry = |line: &str| {
        let (facts, message) = line.split_once('\t')?;
        Some(Stashed { object: facts.split(' ').nth(1)?.to_owned(), message: message.to_owned() })
    };
    String::from_utf8_lossy(&text).lines().filter_map(entry).collect()
}

impl Tripwire {
    /// Others' entries that are gone and that nobody took.
    fn taken(&self) -> Vec<&Stashed> {
        let now = entries(&self.common_dir);
        let gone = self.stash.iter().filter(|was| !now.iter().any(|entry| entry.object == was.object));
        gone.filter(|was| was.branch().is_none_or(|branch| !self.own.contains(&branch) && !self.is_at_work(&branch)))
            .collect()
    }

    /// Whether the worktree that is on a branch has changed its index since: popping a stash does.
    fn is_at_work(&self, branch: &str) -> bool {
        let Some(folder) = holder(branch, &self.common_dir, &self.admin) else { return false };
        let changed = fs::metadata(folder.join("index")).and_then(|index| index.modified());
        changed.is_ok_and(|changed| changed > self.began)
    }

    /// On top of the list, in their old order among themselves.
    pub(super) async fn put_stashes_back(&self, repo: &Repo) -> GitResult<Vec<Found>> {
        let mut found = Vec::new();
        for was in self.taken() {
            let top = repo.target(STASH).await?;
            let done = match repo.swap_ref(STASH, top.as_deref(), Some(&was.object), RESTORED).await {
                Ok(()) => Done::PutBack { kept: None },
                Err(error) => Done::Failed(error.reason()),
            };
            let objects = (Some(was.object.clone()), None);
            found.push(Found { what: What::Stash(was.message.clone()), done, objects });
        }
        Ok(found)
    }
}
