//! What lies below the base that no row names: copies, other people's folders, leftovers of the trash, old lock files.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use hedgerow_core::EnvironmentId;

use super::finding::{Cure, Finding};
use crate::engine::Engine;
use crate::failure::Outcome;
use crate::isolation::Base;
use crate::isolation::ownership::{common_dir, read_marker, worktree_of};
use crate::journal::try_lock;

impl Engine {
    pub(super) async fn check_folders(&self) -> Outcome<Vec<Finding>> {
        let mut findings: Vec<Finding> = self.check_own_locks().into_iter().collect();
        let base = Base::new(&self.settings.worktrees);
        if !base.is_there() {
            return Ok(findings);
        }
        let mut known = HashSet::new();
        for environment in self.store.live_everywhere().await?.into_iter().chain(self.store.trashed_everywhere().await?)
        {
            known.extend(environment.trash.map(|trash| trash.path));
            known.insert(environment.path);
        }
        // Said of the saved state that took their place.
        let half_purged = self.store.saved_with_remains(&self.settings.node).await?;
        known.extend(half_purged.into_iter().filter_map(|saved| saved.remains));
        for codebase_folder in folders_in(base.path()) {
            for folder in folders_in(&codebase_folder).into_iter().filter(|folder| !known.contains(folder)) {
                findings.extend(self.check_unknown(&folder).await?);
            }
        }
        let left = folders_in(&base.path().join(".trash")).into_iter().filter(|folder| !known.contains(folder));
        findings.extend(left.map(|folder| check_leftover(&folder)));
        Ok(findings)
    }

    /// A folder among the environments that is in no row.
    async fn check_unknown(&self, folder: &Path) -> Outcome<Option<Finding>> {
        let shown = folder.display();
        let Some(admin) = admin_named_by(folder) else {
            let detail = format!("{shown} is not an environment");
            let hint = "whoever put it there may want it elsewhere; Hedgerow does not touch it";
            return Ok(Some(Finding::warning("worktrees", detail, hint)));
        };
        let registered_here =
            worktree_of(&admin).and_then(|place| fs::canonicalize(place).ok()) == fs::canonicalize(folder).ok();
        let marker = read_marker(&admin);
        if !registered_here {
            let row = match marker {
                Some(id) => self.store.environment(id).await?,
                None => None,
            };
            let original = row.map_or_else(|| admin.display().to_string(), |row| format!("`{}`", row.name()));
            let detail = format!("{shown} is a copy of {original}; git commands in it change the original's index");
            let hint = format!("when nothing in it is needed: `rm -r {shown}`; Hedgerow does not touch it");
            return Ok(Some(Finding::problem("worktrees", detail, hint)));
        }
        let codebases = self.codebases().await?;
        if codebases.iter().any(|codebase| admin.starts_with(real(&common_dir(codebase)))) {
            // A worktree of a repository that is served: said there.
            return Ok(None);
        }
        let whose = if marker.is_some() { "an environment of another Hedgerow" } else { "somebody's worktree" };
        let detail = format!("{shown} is {whose}, of a repository that is not a codebase here");
        let hint = "give each Hedgerow a base of its own (WORKTREE_BASE); Hedgerow does not touch it";
        Ok(Some(Finding::warning("worktrees", detail, hint)))
    }

    /// Lock files of ours whose holders died. The kernel freed the locks; only the names are left.
    fn check_own_locks(&self) -> Option<Finding> {
        let places = [self.settings.worktrees.join(".locks"), self.settings.home.join("locks")];
        let files = places.iter().filter_map(|place| fs::read_dir(place).ok()).flatten();
        let files = files.filter_map(|entry| Some(entry.ok()?.path()));
        let is_ours = |path: &PathBuf| {
            path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.parse::<EnvironmentId>().is_ok())
        };
        let mut left: Vec<_> = files.filter(is_ours).filter(|path| is_free(path)).collect();
        left.sort();
        if left.is_empty() {
            return None;
        }
        let detail = format!("lock files that processes left when they died: {}", left.len());
        let hint = "they are in nobody's way; `hedgerow doctor --fix` takes them away";
        Some(Finding::warning("locks", detail, hint).cured_by(Cure::DropLocks(left)))
    }
}

/// Something in the trash that nobody will ever ask for by name.
fn check_leftover(folder: &Path) -> Finding {
    let shown = folder.display();
    let detail = format!("{shown} is in the trash, and no row names it");
    let hint = if admin_named_by(folder).is_some() {
        format!(
            "to have it back: `git -C {shown} switch -c <new branch>`, then `hedgerow env cleanup orphans` takes it over; \
             nothing deletes it"
        )
    } else {
        "look at it; nothing deletes it".to_owned()
    };
    Finding::warning("trash", detail, hint)
}

/// The admin folder that a worktree's `.git` names, of whatever repository.
fn admin_named_by(folder: &Path) -> Option<PathBuf> {
    let text = fs::read_to_string(folder.join(".git")).ok()?;
    fs::canonicalize(folder.join(text.trim_end().strip_prefix("gitdir: ")?)).ok()
}

fn real(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

/// Folders in a folder whose names do not begin with a dot.
fn folders_in(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let folders = entries.filter_map(Result::ok).filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let shown = folders.filter(|entry| !entry.file_name().to_string_lossy().starts_with('.'));
    let mut paths: Vec<_> = shown.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

/// Whether nobody holds the lock. Looking at it takes it for a moment, in a way that others can share.
fn is_free(path: &Path) -> bool {
    fs::File::open(path).is_ok_and(|file| file.try_lock_shared().is_ok())
}

/// Takes a lock file away if nobody holds it.
pub(super) fn drop_lock(path: &Path) -> std::io::Result<()> {
    if path.exists() {
        try_lock(path)?;
    }
    Ok(())
}
