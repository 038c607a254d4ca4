//! What the machine offers: git, the store, the home, the base of the environments, and room on the disk.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use hedgerow_core::Environment;
use hedgerow_core::provider::Presence;

use super::finding::{Cure, Finding};
use crate::engine::Engine;
use crate::failure::Outcome;
use crate::isolation::Base;
use crate::store::Database;

/// Below this share of free space, or of free names for files, creations may fail half-way.
const LOW_PERCENT: u64 = 5;

/// File systems behind a network, by the number that statfs(2) gives, on which SQLite's locks are not to be relied on.
const NETWORK: [(i128, &str); 8] = [
    (0x6969, "NFS"),
    (0x517b, "SMB"),
    (0xff53_4d42, "CIFS"),
    (0xfe53_4d42, "SMB2"),
    (0x5346_414f, "AFS"),
    (0x00c3_6400, "Ceph"),
    (0x0bd0_0bd0, "Lustre"),
    (0x7375_7245, "Coda"),
];

impl Engine {
    pub(super) async fn check_machine(&self) -> Outcome<Vec<Finding>> {
        let home = &self.settings.home;
        let mut findings = vec![self.check_git()];
        findings.extend(self.check_store());
        findings.extend(check_folder("home", home, true));
        // What is saved is as private as what it was saved from.
        findings.extend(check_private("vault", &home.join("vault"), 0o700));
        findings.extend(self.check_base().await?);
        findings.extend(self.check_disks());
        Ok(findings)
    }

    fn check_git(&self) -> Finding {
        let version = self.version;
        if version.has_fixes_of_july_2025() {
            return Finding::fine("git", format!("{version}"));
        }
        Finding::warning(
            "git",
            format!("{version} lacks the security fixes of July 2025"),
            "install 2.43.7, 2.44.4, 2.45.4, 2.46.4, 2.47.3, 2.48.2, 2.49.1, 2.50.1 or newer",
        )
    }

    /// It answers and is of this version, or the engine would not have opened.
    fn check_store(&self) -> Vec<Finding> {
        let mut findings = Vec::new();
        if let Database::Sqlite(path) = &self.settings.database {
            for suffix in ["", "-wal", "-shm"] {
                let file = PathBuf::from(format!("{}{suffix}", path.display()));
                findings.extend(check_private("store", &file, 0o600));
            }
            findings.extend(check_network("store", path.parent().unwrap_or(path)));
        }
        if findings.is_empty() {
            findings.push(Finding::fine("store", self.settings.database.to_string()));
        }
        findings
    }

    async fn check_base(&self) -> Outcome<Vec<Finding>> {
        let path = &self.settings.worktrees;
        let base = Base::new(path);
        if base.is_there() {
            return Ok(check_folder("worktrees", path, false));
        }
        let mut inside = self.store.live_on(&self.settings.node).await?;
        let trashed = self.store.trashed_everywhere().await?;
        inside.extend(trashed.into_iter().filter(|environment| environment.node == self.settings.node));
        inside.retain(|environment| base.holds(&environment.path));
        let shown = path.display();
        if inside.is_empty() {
            return Ok(vec![Finding::fine("worktrees", format!("{shown} (made with the first environment)"))]);
        }
        let has_something = path.read_dir().is_ok_and(|mut entries| entries.next().is_some());
        if !has_something {
            let detail = format!("{shown} is empty or not there; environments that should be in it: {}", inside.len());
            let hint = "mount its disk; until then nothing in it is taken for gone";
            return Ok(vec![Finding::problem("worktrees", detail, hint)]);
        }
        let detail = format!("{shown} has lost its sentinel file");
        Ok(vec![if self.is_one_there(&inside).await? {
            let hint = "its environments are in it, so it is the right folder: `hedgerow doctor --fix` writes `.hedgerow-base`";
            Finding::problem("worktrees", detail, hint).cured_by(Cure::WriteSentinel)
        } else {
            let hint = format!("is the right disk mounted there? if so: `touch {shown}/.hedgerow-base`");
            Finding::problem("worktrees", detail, hint)
        }])
    }

    /// Whether one of these is where it should be, by its marker.
    async fn is_one_there(&self, environments: &[Environment]) -> Outcome<bool> {
        for environment in environments.iter().filter(|environment| environment.state.is_live()) {
            let codebase = self.codebase_of(environment).await?;
            if !environment.is_adopted() && self.provider.presence(&codebase, environment) == Presence::Here {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Room where Hedgerow writes; each disk once.
    fn check_disks(&self) -> Vec<Finding> {
        let device = |path: &Path| fs::metadata(path).ok().map(|found| found.dev());
        let (home, base) = (&self.settings.home, &self.settings.worktrees);
        let mut findings: Vec<_> = check_space("disk", home).into_iter().collect();
        if device(base).is_some() && device(base) != device(home) {
            findings.extend(check_space("disk of worktrees", base));
        }
        findings
    }
}

/// A folder of ours: writable, our own and, if it is to be, nobody else's to read.
fn check_folder(what: &str, path: &Path, private: bool) -> Vec<Finding> {
    if let Err(error) = tempfile::Builder::new().prefix(".doctor-").tempfile_in(path) {
        let detail = format!("{} cannot be written: {error}", path.display());
        let hint = format!("`chmod u+rwx {}`, or another place: HEDGEROW_HOME or WORKTREE_BASE", path.display());
        return vec![Finding::problem(what, detail, hint)];
    }
    let findings = if private { check_private(what, path, 0o700) } else { check_owner(what, path) };
    if findings.is_empty() { vec![Finding::fine(what, path.display().to_string())] } else { findings }
}

pub(super) fn check_owner(what: &str, path: &Path) -> Vec<Finding> {
    let Ok(found) = fs::symlink_metadata(path) else { return Vec::new() };
    let me = rustix::process::geteuid().as_raw();
    if found.uid() == me {
        return Vec::new();
    }
    let detail = format!("{} belongs to another user (uid {})", path.display(), found.uid());
    let hint = format!("run Hedgerow as that user, or `sudo chown -R {me} {}`", path.display());
    vec![Finding::problem(what, detail, hint)]
}

fn check_private(what: &str, path: &Path, mode: u32) -> Vec<Finding> {
    let foreign = check_owner(what, path);
    let is_open = fs::metadata(path).is_ok_and(|found| found.mode() & 0o077 != 0);
    if !foreign.is_empty() || !is_open {
        return foreign;
    }
    let detail = format!("{} is open to other users of this machine", path.display());
    let hint = format!("`hedgerow doctor --fix`, or `chmod {mode:o} {}`", path.display());
    vec![Finding::warning(what, detail, hint).cured_by(Cure::MakePrivate { path: path.to_owned(), mode })]
}

fn check_network(what: &str, folder: &Path) -> Option<Finding> {
    let kind = i128::from(rustix::fs::statfs(folder).ok()?.f_type);
    let (_, name) = NETWORK.iter().find(|(number, _)| *number == kind)?;
    let detail = format!("{} is on a network disk ({name}), where SQLite can damage its file", folder.display());
    Some(Finding::warning(what, detail, "keep HEDGEROW_HOME on a local disk, or use PostgreSQL: DATABASE_URL"))
}

fn check_space(what: &str, path: &Path) -> Option<Finding> {
    let stat = rustix::fs::statvfs(path).ok()?;
    let percent = (stat.f_bavail * 100).checked_div(stat.f_blocks)?;
    let free = stat.f_bavail * stat.f_frsize / (1 << 20);
    // Some file systems do not count them.
    let names = (stat.f_favail * 100).checked_div(stat.f_files).unwrap_or(100);
    let hint = "make room: `hedgerow env cleanup merged`, `hedgerow env cleanup stale`";
    Some(if names < LOW_PERCENT {
        Finding::warning(what, format!("{} has few inodes left for new files ({names} %)", path.display()), hint)
    } else if percent < LOW_PERCENT {
        Finding::warning(what, format!("{free} MiB free ({percent} %)"), hint)
    } else {
        Finding::fine(what, format!("{free} MiB free ({percent} %)"))
    })
}
