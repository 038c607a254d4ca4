//! One environment: is it what its row says, is it whole, is it protected?

use std::fs;
use std::path::Path;

use hedgerow_core::provider::Presence;
use hedgerow_core::{Codebase, Environment, State};

use super::finding::{Cure, Finding};
use super::git_locks;
use super::machine::check_owner;
use crate::engine::Engine;
use crate::failure::Outcome;
use crate::isolation::ownership::{admin_of, lock_reason, marked_generation, read_lock, read_marker};

impl Engine {
    pub(super) fn check_environment(
        &self,
        codebase: &Codebase,
        common_dir: &Path,
        environment: &Environment,
    ) -> Outcome<Vec<Finding>> {
        if environment.node != self.settings.node {
            // Only its own machine can look.
            return Ok(Vec::new());
        }
        let name = environment.name();
        let what = format!("environment {}/{name}", codebase.name);
        if matches!(environment.state, State::Creating | State::Removing) {
            return Ok(self.check_unfinished(&what, environment)?.into_iter().collect());
        }
        let presence = self.provider.presence(codebase, environment);
        Ok(match presence {
            Presence::Here if presence.turns(environment).is_some() => {
                let detail = format!("it is {}, and its folder is there and its own", environment.state);
                let hint = "`hedgerow doctor --fix` makes it usable again";
                vec![Finding::problem(what, detail, hint).cured_by(Cure::Reconcile)]
            }
            Presence::Here => {
                let mut findings = check_owner(&what, &environment.path);
                if environment.state == State::Failed {
                    let why = environment.last_error.clone().unwrap_or_else(|| "nothing was recorded".to_owned());
                    let hint = "look at its folder; nothing there was changed";
                    findings.push(Finding::problem(what.as_str(), format!("it is failed: {why}"), hint));
                }
                findings.extend(check_entry(&what, codebase, common_dir, environment, &environment.path));
                findings
            }
            Presence::Missing => {
                let detail = format!("its folder {} is gone", environment.path.display());
                vec![Finding::problem(what, detail, format!("`hedgerow env remove {name}` forgets it"))]
            }
            Presence::Unreachable(why) => {
                vec![Finding::problem(what, why, "mount the disk that holds it; nothing is taken for gone meanwhile")]
            }
            Presence::Foreign(why) => vec![check_foreign(what, common_dir, environment, &why)],
        })
    }

    /// A row of an act: somebody is at it, or the next start should have settled it.
    fn check_unfinished(&self, what: &str, environment: &Environment) -> Outcome<Option<Finding>> {
        if self.try_busy(environment.id)?.is_none() {
            return Ok(None);
        }
        let detail = format!("it is {}, and whoever began that is gone", environment.state);
        let hint = "`hedgerow doctor --fix -v` tries again to settle it, and says what is in the way";
        Ok(Some(Finding::problem(what, detail, hint).cured_by(Cure::Reconcile)))
    }

    pub(super) fn check_trashed(
        &self,
        codebase: &Codebase,
        common_dir: &Path,
        environment: &Environment,
    ) -> Vec<Finding> {
        let Some(trash) = environment.trash.as_ref().filter(|_| environment.node == self.settings.node) else {
            return Vec::new();
        };
        let what = format!("trash {}/{}", codebase.name, environment.name());
        let place = trash.path.display();
        if fs::symlink_metadata(&trash.path).is_err() {
            let detail = format!("{place} is not there any more");
            let hint = if trash.path.parent().is_some_and(Path::is_dir) {
                "someone deleted or moved it; put it back there, or `restore` has nothing to bring back"
            } else {
                "mount the disk that holds it; without it `restore` has nothing to bring back"
            };
            return vec![Finding::warning(what, detail, hint)];
        }
        let ours = |admin: &std::path::PathBuf| match read_marker(admin) {
            Some(id) => id == environment.id,
            None => environment.is_adopted(),
        };
        match admin_of(&trash.path, common_dir) {
            Ok(admin) if ours(&admin) => check_entry(&what, codebase, common_dir, environment, &trash.path),
            Ok(_) => {
                let detail = format!("{place} is another environment");
                vec![Finding::problem(what, detail, "move what is there away; Hedgerow does not touch it")]
            }
            Err(why) => {
                let detail = format!("{place} is not this environment: {why}");
                vec![Finding::problem(what, detail, "move what is there away; Hedgerow does not touch it")]
            }
        }
    }

    /// Leases of processes of this machine that are gone. They run out by themselves; until then they are in the way.
    pub(super) async fn check_leases(&self) -> Outcome<Vec<Finding>> {
        let mut findings = Vec::new();
        for (id, holder) in self.store.leases(self.store_now().await?).await? {
            // One that is being worked on by this very machine holds its lock as well.
            if !self.is_gone(&holder) || self.try_busy(id)?.is_none() {
                continue;
            }
            let detail = format!("the environment {} is leased by {holder}, which is gone", id.short());
            let hint = "`hedgerow doctor --fix` ends the lease; it also runs out by itself";
            findings.push(Finding::warning("leases", detail, hint).cured_by(Cure::EndLease { id, holder }));
        }
        Ok(findings)
    }
}

/// Something is in its place. Where only a file of the entry is lost, and the rest says whose it is, it can be written anew.
fn check_foreign(what: String, common_dir: &Path, environment: &Environment, why: &str) -> Finding {
    let detail = format!("{} is not this environment: {why}", environment.path.display());
    let problem = |hint: &str| Finding::problem(what, detail, hint);
    let admin = admin_of(&environment.path, common_dir).ok();
    let Some(admin) = admin.filter(|admin| read_lock(admin) == Some(lock_reason(environment.id))) else {
        return problem("move what is there away; Hedgerow does not touch it");
    };
    let is_empty = |name: &str| fs::metadata(admin.join(name)).map_or(true, |found| found.len() == 0);
    let hint = "its lock says that it is this one: `hedgerow doctor --fix` writes the lost file anew";
    let environment = Box::new(environment.clone());
    match read_marker(&admin) {
        _ if is_empty("commondir") => problem(hint).cured_by(Cure::Reconcile),
        None => problem(hint).cured_by(Cure::Mark { environment, admin }),
        Some(id) if id == environment.id && is_empty("gitdir") => {
            problem(hint).cured_by(Cure::Link { environment, admin })
        }
        Some(_) => problem("look at it; Hedgerow does not touch it"),
    }
}

/// The entry of an environment that is where it should be: its lock, its marker's generation, its HEAD, what a dead git left.
fn check_entry(
    what: &str,
    codebase: &Codebase,
    common_dir: &Path,
    environment: &Environment,
    worktree: &Path,
) -> Vec<Finding> {
    let Ok(admin) = admin_of(worktree, common_dir) else { return Vec::new() };
    let mut findings = Vec::new();
    if fs::metadata(admin.join("HEAD")).map_or(true, |found| found.len() == 0) {
        let head = admin.join("HEAD");
        let detail = format!("{} is empty, so git does not know where it is", head.display());
        let hint =
            format!("if it was on its branch: `echo 'ref: {}' > {}`", environment.branch.full_ref(), head.display());
        findings.push(Finding::problem(what, detail, hint));
    }
    if environment.is_adopted() && environment.state != State::Trashed {
        // Its entry is somebody else's.
        return findings;
    }
    match read_lock(&admin) {
        Some(reason) if reason == lock_reason(environment.id) => {}
        None => {
            let detail = "someone unlocked it; a stray `git worktree remove --force` could take it";
            let hint = "`hedgerow doctor --fix` locks it again";
            let (codebase, environment) = (Box::new(codebase.clone()), Box::new(environment.clone()));
            let cure = Cure::Lock { codebase, environment, worktree: worktree.to_owned() };
            findings.push(Finding::warning(what, detail, hint).cured_by(cure));
        }
        // An adopted one may have come with a lock.
        Some(_) if environment.is_adopted() => {}
        Some(reason) => {
            let detail = format!("it is locked by someone else: {reason}");
            let hint = format!(
                "when they are done: `git worktree unlock {}`, then `hedgerow doctor --fix`",
                worktree.display()
            );
            findings.push(Finding::warning(what, detail, hint));
        }
    }
    if let Some(generation) = marked_generation(&admin).filter(|marked| *marked > environment.generation) {
        let detail = format!(
            "its marker is of generation {generation}, the store's row of {}: the store may be an old copy",
            environment.generation
        );
        findings.push(Finding::warning(
            what,
            detail,
            "compare `hedgerow env list` with what you know before you remove",
        ));
    }
    for file in git_locks::of_entry(&admin) {
        let detail = format!("a git that is gone has left {}; git refuses to work in it", file.display());
        let cure = Cure::SetAside { environment: Box::new(environment.clone()), file };
        let hint = "`hedgerow doctor --fix` sets it aside if nobody is at work there";
        findings.push(Finding::warning(what, detail, hint).cured_by(cure));
    }
    findings
}
