//! `doctor`: does everything Hedgerow relies on hold, and do store, git and disk agree?

use std::path::Path;

use hedgerow_core::provider::Presence;
use hedgerow_core::{Codebase, Environment, State};

use crate::engine::{Engine, Finding, Level};
use crate::failure::Outcome;
use crate::git::hazards::Accepted;
use crate::isolation::Base;

/// Below this share of free space creations may fail half-way.
const LOW_SPACE_PERCENT: u64 = 5;

impl Engine {
    /// Looks at everything and changes nothing.
    pub async fn doctor(&self) -> Outcome<Vec<Finding>> {
        let mut findings = vec![self.check_git(), self.check_store()];
        findings.push(check_folder("home", &self.settings.home));
        findings.push(check_base(&self.settings.worktrees));
        findings.extend(check_space(&self.settings.home));
        for codebase in self.codebases().await? {
            findings.extend(self.check_codebase(&codebase).await?);
        }
        Ok(findings)
    }

    fn check_git(&self) -> Finding {
        let version = self.version;
        if version.has_fixes_of_july_2025() {
            return fine("git", format!("{version}"));
        }
        warning(
            "git",
            format!("{version} lacks the security fixes of July 2025"),
            "install 2.43.7, 2.44.4, 2.45.4, 2.46.4, 2.47.3, 2.48.2, 2.49.1, 2.50.1 or newer",
        )
    }

    fn check_store(&self) -> Finding {
        fine("store", self.settings.database.to_string())
    }

    async fn check_codebase(&self, codebase: &Codebase) -> Outcome<Vec<Finding>> {
        let what = format!("codebase {}", codebase.name);
        let repo = match self.git.open(codebase).await {
            Ok(repo) => repo,
            Err(error) => {
                let hint = format!(
                    "is {} still there? `hedgerow codebase remove {}` forgets it",
                    codebase.path.display(),
                    codebase.name
                );
                return Ok(vec![problem(&what, error.to_string(), &hint)]);
            }
        };
        let mut findings = Vec::new();
        let accepted = Accepted::parse(&codebase.fingerprint);
        let changes = accepted.changes(repo.config());
        let runnable = repo.config().runnable();
        findings.push(if !changes.is_empty() {
            let hint = format!("look at it, then `hedgerow codebase trust {}`", codebase.name);
            problem(&what, format!("its configuration has changed: {}", changes.join(", ")), &hint)
        } else if !runnable.is_empty() && !accepted.trusted {
            let hint = format!("if you want them run: `hedgerow codebase trust {}`", codebase.name);
            warning(&what, format!("its configuration names programs that are not run: {}", runnable.join(", ")), &hint)
        } else {
            fine(&what, codebase.path.display().to_string())
        });
        for environment in self.store.live(codebase.id).await? {
            findings.extend(self.check_environment(codebase, &environment));
        }
        for environment in self.store.trashed(codebase.id).await? {
            findings.extend(check_trashed(codebase, &environment));
        }
        findings.extend(self.check_strays(codebase).await?);
        Ok(findings)
    }

    fn check_environment(&self, codebase: &Codebase, environment: &Environment) -> Option<Finding> {
        let what = format!("environment {}/{}", codebase.name, environment.name());
        let name = environment.name();
        match (self.provider.presence(codebase, environment), environment.state) {
            (Presence::Here, State::Active | State::Suspended) => None,
            (Presence::Here, State::Unreachable) => Some(warning(
                &what,
                "its disk is back".into(),
                &format!("`hedgerow env create` for it uses it again ({name})"),
            )),
            (Presence::Here, state) => {
                let why = environment.last_error.clone().unwrap_or_else(|| "nothing was recorded".to_owned());
                Some(problem(&what, format!("it is {state}: {why}"), "look at its folder; nothing there was changed"))
            }
            (Presence::Missing, _) => Some(problem(
                &what,
                format!("its folder {} is gone", environment.path.display()),
                &format!("`hedgerow env remove {name}` forgets it"),
            )),
            (Presence::Unreachable(why), _) => Some(problem(&what, why, "mount the disk that holds it")),
            (Presence::Foreign(why), _) => Some(problem(
                &what,
                format!("{} is not this environment: {why}", environment.path.display()),
                "move what is there away; Hedgerow does not touch it",
            )),
        }
    }

    /// Worktrees that carry our marker and are in no row.
    async fn check_strays(&self, codebase: &Codebase) -> Outcome<Vec<Finding>> {
        let known = match self.worktrees(codebase).await {
            Ok(known) => known,
            Err(error) => {
                let what = format!("codebase {}", codebase.name);
                return Ok(vec![problem(
                    &what,
                    error.to_string(),
                    "run `git worktree list` in it to see what git says",
                )]);
            }
        };
        let strays = known
            .into_iter()
            .filter(|known| known.environment.is_none() && known.found.marker.is_some() && known.found.is_below_base);
        let finding = |path: &Path| {
            let what = format!("codebase {}", codebase.name);
            let detail = format!("{} was made by Hedgerow and is not in its store", path.display());
            warning(&what, detail, "`hedgerow env cleanup orphans` moves it to the trash")
        };
        Ok(strays.map(|known| finding(&known.found.path)).collect())
    }
}

fn check_trashed(codebase: &Codebase, environment: &Environment) -> Option<Finding> {
    let trash = environment.trash.as_ref().filter(|trash| std::fs::symlink_metadata(&trash.path).is_err())?;
    let what = format!("trash {}/{}", codebase.name, environment.name());
    let detail = format!("{} is not there any more", trash.path.display());
    Some(warning(&what, detail, "mount the disk that holds it; without it `restore` has nothing to bring back"))
}

fn check_folder(what: &str, path: &Path) -> Finding {
    match tempfile::Builder::new().prefix(".doctor-").tempfile_in(path) {
        Ok(_) => fine(what, path.display().to_string()),
        Err(error) => problem(
            what,
            format!("{} cannot be written: {error}", path.display()),
            "make it writable, or set HEDGEROW_HOME",
        ),
    }
}

fn check_base(path: &Path) -> Finding {
    let base = Base::new(path);
    if base.is_there() {
        return check_folder("worktrees", path);
    }
    if path.exists() && path.read_dir().is_ok_and(|mut entries| entries.next().is_some()) {
        let detail = format!("{} has lost its sentinel file", path.display());
        return problem(
            "worktrees",
            detail,
            "is the right disk mounted there? if so: `touch` the file `.hedgerow-base` in it",
        );
    }
    fine("worktrees", format!("{} (made with the first environment)", path.display()))
}

fn check_space(path: &Path) -> Option<Finding> {
    let stat = rustix::fs::statvfs(path).ok()?;
    let percent = (stat.f_bavail * 100).checked_div(stat.f_blocks)?;
    let free = stat.f_bavail * stat.f_frsize / (1 << 20);
    let detail = format!("{free} MiB free ({percent} %)");
    Some(if percent < LOW_SPACE_PERCENT {
        warning("disk", detail, "make room: `hedgerow env cleanup merged`, `hedgerow env cleanup stale`")
    } else {
        fine("disk", detail)
    })
}

fn fine(what: &str, detail: String) -> Finding {
    Finding { what: what.to_owned(), level: Level::Fine, detail, hint: None }
}

fn warning(what: &str, detail: String, hint: &str) -> Finding {
    Finding { what: what.to_owned(), level: Level::Warning, detail, hint: Some(hint.to_owned()) }
}

fn problem(what: &str, detail: String, hint: &str) -> Finding {
    Finding { what: what.to_owned(), level: Level::Problem, detail, hint: Some(hint.to_owned()) }
}
