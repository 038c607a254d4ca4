//! What a turn may touch: its environment, the repository's git folder without what belongs to everyone, and a home of the
//! codebase for what its agents remember. The cage is made of these bounds; here they are only worked out.
//!
//! A guard on a single file holds until somebody outside replaces that file by renaming another one over it, as git does
//! with `config`, `HEAD` and `index`: the kernel drops the mount with the old file. What is guarded as a folder stays
//! guarded. So whatever matters is also watched, see [`crate::tripwire`].

mod covers;

use std::fs;
use std::path::{Path, PathBuf};

use hedgerow_core::assistant::Bounds;
use hedgerow_core::environment::{Place, Tenant};
use hedgerow_core::{Codebase, Environment};

use crate::engine::Engine;
use crate::explain::Trouble;
use crate::failure::Outcome;
use crate::isolation::make_private;
use crate::isolation::ownership::linked;

/// Folders of a git folder that a turn may only read. They are made when they are not there: what is not there cannot be
/// guarded, and an empty one means nothing to git.
const FOLDERS: [&str; 6] = ["hooks", "info", "modules", "worktrees", "refs/hedgerow", "logs/refs/hedgerow"];

/// The rest that may only be read, where it is there: settings, what belongs to the main checkout, and our own notes. A
/// linked worktree has its own of each in its admin folder. Not here: `packed-refs` and `shallow`, which deleting a branch
/// and fetching write.
const GUARDED: [&str; 27] = [
    "config",
    "config.worktree",
    "HEAD",
    "index",
    "logs/HEAD",
    "ORIG_HEAD",
    "FETCH_HEAD",
    "MERGE_HEAD",
    "MERGE_MSG",
    "MERGE_MODE",
    "AUTO_MERGE",
    "CHERRY_PICK_HEAD",
    "REVERT_HEAD",
    "BISECT_LOG",
    "BISECT_START",
    "COMMIT_EDITMSG",
    "SQUASH_MSG",
    "rebase-merge",
    "rebase-apply",
    "sequencer",
    "branches",
    "remotes",
    "objects/info/alternates",
    "hedgerow.lock",
    "hedgerow-fetch.lock",
    "hedgerow-calls",
    "hedgerow-lost",
];

impl Engine {
    /// The bounds of a turn in a place: of an environment and its codebase, or of a folder without either.
    pub async fn bounds(
        &self,
        codebase: Option<&Codebase>,
        place: &Place,
        environment: Option<&Environment>,
    ) -> Outcome<Bounds> {
        let is_fork = environment.is_some_and(|environment| environment.is_fork);
        let home = if is_fork { None } else { Some(self.agents_home(place.of)?) };
        let bounds = Bounds { home, is_fork, ..Bounds::default() };
        let (Some(codebase), Tenant::Environment(_)) = (codebase, place.of) else { return Ok(bounds) };
        let repo = self.git.open(codebase).await?;
        let common_dir = repo.common_dir();
        let admin = linked(&place.path, common_dir).map_err(Trouble::links(&place.path))?.admin;
        let covers = match environment.filter(|environment| environment.is_fork) {
            Some(environment) => self.covers(codebase, &repo, environment).await?,
            None => Vec::new(),
        };
        let guard = guarded(common_dir).map_err(Trouble::folder(common_dir))?;
        Ok(Bounds { write: vec![common_dir.to_owned()], guard, own: vec![admin], covers, ..bounds })
    }

    /// Where agents keep their caches, and what they remember. One for each place: what an agent leaves there can make the
    /// next one do things, and that must not be somebody else's.
    fn agents_home(&self, of: Tenant) -> Outcome<PathBuf> {
        let home = self.agents_home_of(of);
        make_private(&home).map_err(Trouble::folder(&home))?;
        Ok(home)
    }

    pub(crate) fn agents_home_of(&self, of: Tenant) -> PathBuf {
        let id = match of {
            Tenant::Environment(id) => id.to_string(),
            Tenant::Scratch(id) => id.to_string(),
        };
        self.settings.home.join("agents").join(id)
    }
}

fn guarded(common_dir: &Path) -> std::io::Result<Vec<PathBuf>> {
    for folder in FOLDERS {
        let folder = common_dir.join(folder);
        // Whatever is there, a link to another place too, is guarded as it is.
        if fs::symlink_metadata(&folder).is_err() {
            fs::create_dir_all(&folder)?;
        }
    }
    let paths = FOLDERS.iter().chain(&GUARDED).map(|name| common_dir.join(name));
    Ok(paths.filter(|path| fs::symlink_metadata(path).is_ok()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_and_matters_is_made_so_that_it_can_be_guarded() {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("config"), "").expect("a file");
        let guarded = guarded(folder.path()).expect("they can be made");
        let names: Vec<_> = guarded.iter().map(|path| path.strip_prefix(folder.path()).expect("inside")).collect();
        let wanted = ["hooks", "info", "modules", "worktrees", "refs/hedgerow", "logs/refs/hedgerow", "config"];
        assert_eq!(names, wanted.map(Path::new));
        assert!(folder.path().join("logs/refs/hedgerow").is_dir());
    }
}
