//! A codebase: its configuration, git's entries of its worktrees, what a dead git left in it, and its environments.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use hedgerow_core::Codebase;

use super::finding::{Cure, Finding};
use super::git_locks;
use crate::engine::Engine;
use crate::failure::Outcome;
use crate::git::hazards::Accepted;
use crate::git::{Repo, half_made};
use crate::isolation::ownership::{admin_folders, read_lock, read_marker, worktree_of};

impl Engine {
    pub(super) async fn check_codebase(&self, codebase: &Codebase) -> Outcome<Vec<Finding>> {
        let what = format!("codebase {}", codebase.name);
        let repo = match self.git.open(codebase).await {
            Ok(repo) => repo,
            Err(error) => {
                let hint = format!(
                    "is {} still there? `hedgerow codebase remove {}` forgets it",
                    codebase.path.display(),
                    codebase.name
                );
                return Ok(vec![Finding::problem(what, error.to_string(), hint)]);
            }
        };
        let mut findings = vec![check_configuration(&what, codebase, &repo)];
        findings.extend(check_entries(&what, repo.common_dir()));
        findings.extend(check_locks(&what, repo.common_dir()));
        findings.extend(self.check_refs(&what, codebase, &repo).await?);
        for environment in self.store.live(codebase.id).await? {
            findings.extend(self.check_environment(codebase, repo.common_dir(), &environment)?);
        }
        for environment in self.store.trashed(codebase.id).await? {
            findings.extend(self.check_trashed(codebase, repo.common_dir(), &environment));
        }
        // With one of those git lists nothing at all; that is said already.
        if half_made(repo.common_dir()).is_empty() {
            findings.extend(self.check_strays(&what, codebase).await?);
        }
        Ok(findings)
    }

    /// Worktrees that carry our marker and are in no row.
    async fn check_strays(&self, what: &str, codebase: &Codebase) -> Outcome<Vec<Finding>> {
        let known = match self.worktrees(codebase).await {
            Ok(known) => known,
            Err(error) => {
                let hint = format!("`git -C {} worktree list` says more", codebase.path.display());
                return Ok(vec![Finding::problem(what, error.to_string(), hint)]);
            }
        };
        let strays = known.into_iter().filter(|known| known.environment.is_none() && known.found.marker.is_some());
        let trash = self.settings.worktrees.join(".trash");
        // What lies in the trash is looked at with the folders.
        let strays = strays.map(|known| known.found).filter(|found| !found.path.starts_with(&trash));
        let finding = |path: &Path, is_below_base: bool| {
            if !is_below_base {
                let detail = format!("{} is an environment of another Hedgerow; it is left alone", path.display());
                return Finding::fine(what, detail);
            }
            let detail = format!("{} was made by Hedgerow and is not in its store", path.display());
            let hint = format!(
                "`hedgerow env cleanup orphans --codebase {}` moves it to the trash; `hedgerow env adopt {}` keeps it",
                codebase.name,
                path.display()
            );
            Finding::warning(what, detail, hint)
        };
        Ok(strays.map(|found| finding(&found.path, found.is_below_base)).collect())
    }
}

fn check_configuration(what: &str, codebase: &Codebase, repo: &Repo) -> Finding {
    let accepted = Accepted::parse(&codebase.fingerprint);
    let changes = accepted.changes(repo.config());
    let runnable = repo.config().runnable();
    if !changes.is_empty() {
        let hint = format!("look at it, then `hedgerow codebase trust {}`", codebase.name);
        Finding::problem(what, format!("its configuration has changed: {}", changes.join(", ")), hint)
    } else if !runnable.is_empty() && !accepted.trusted {
        let hint = format!("if you want them run: `hedgerow codebase trust {}`", codebase.name);
        let detail = format!("its configuration names programs that are not run: {}", runnable.join(", "));
        Finding::warning(what, detail, hint)
    } else {
        Finding::fine(what, codebase.path.display().to_string())
    }
}

/// git's entries of worktrees: half-made ones, damaged ones, and several for one environment.
fn check_entries(what: &str, common_dir: &Path) -> Vec<Finding> {
    let mut findings = Vec::new();
    for admin in half_made(common_dir) {
        let detail = format!(
            "git died while making a worktree ({}); `git worktree list` fails for everybody because of it",
            admin.display()
        );
        let hint = "`hedgerow doctor --fix` writes what is missing; nothing is deleted";
        findings.push(Finding::problem(what, detail, hint).cured_by(Cure::Reconcile));
    }
    let mut marked: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    for admin in admin_folders(common_dir) {
        if let Some(id) = read_marker(&admin) {
            marked.entry(id.to_string()).or_default().push(admin.clone());
            continue;
        }
        // An entry of ours is looked at with its environment.
        if read_lock(&admin).is_none_or(|lock| !lock.starts_with("hedgerow:")) {
            findings.extend(check_entry(what, &admin));
        }
    }
    for (id, admins) in marked.into_iter().filter(|(_, admins)| admins.len() > 1) {
        let places: Vec<String> = admins.iter().map(|admin| admin.display().to_string()).collect();
        let detail = format!("several worktrees carry the marker of one environment ({id}): {}", places.join(", "));
        let hint = "one is a copy: move the copied folder out of `worktrees/`; Hedgerow does not choose";
        findings.push(Finding::problem(what, detail, hint));
    }
    findings
}

/// An entry that somebody else made.
fn check_entry(what: &str, admin: &Path) -> Option<Finding> {
    let is_empty = |name: &&&str| std::fs::metadata(admin.join(name)).map_or(true, |found| found.len() == 0);
    let empty: Vec<&str> = ["HEAD", "gitdir"].iter().filter(is_empty).copied().collect();
    if empty.is_empty() {
        return None;
    }
    let detail = format!("git's entry {} has no {}", admin.display(), empty.join(" and no "));
    let hint = match worktree_of(admin) {
        Some(folder) => format!(
            "only that worktree suffers; when nobody needs it: `git worktree remove --force --force {}`",
            folder.display()
        ),
        None => "only that worktree suffers; when nobody needs it, delete the folder".to_owned(),
    };
    Some(Finding::warning(what, detail, hint))
}

/// Lock files that belong to nobody of ours: only said.
fn check_locks(what: &str, common_dir: &Path) -> Vec<Finding> {
    let mut stale = git_locks::of_repository(common_dir);
    let foreign = admin_folders(common_dir).into_iter().filter(|admin| read_marker(admin).is_none());
    stale.extend(foreign.flat_map(|admin| git_locks::of_entry(&admin)));
    let finding = |path: PathBuf| {
        let detail = format!("a git that is probably gone has left {}", path.display());
        let hint = format!("when no git is running there: `rm {}`", path.display());
        Finding::warning(what, detail, hint)
    };
    stale.into_iter().map(finding).collect()
}
