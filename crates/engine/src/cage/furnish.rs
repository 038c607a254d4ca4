//! What is in a cage: the system's programs, a home with the agent's own things, and the bounds of the turn.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use hedgerow_core::assistant::{AssistantError, Cover};
use rustix::fs::symlinkat;
use rustix::process::geteuid;

use super::plan::Plan;
use super::view::{Access, Layer, View};
use super::{Cage, Inmate, make_private, uncaged};
use crate::assistant::memory::parent;

/// Where a system keeps its programs and their settings.
const SYSTEM: [&str; 12] = [
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/etc",
    "/opt",
    "/nix",
    // How many processors there are.
    "/sys/devices/system",
    // Often a link to where the system keeps it while it runs.
    "/etc/resolv.conf",
];

/// Where a system keeps secrets among its settings.
const SETTINGS: &str = "/etc";
/// So deep they are looked for.
const DEEPEST: usize = 8;

/// Tools that people keep in their home, and settings of theirs. Caches are left out: each environment has its own. So are
/// the passwords that git and uv keep in the same folders.
const TOOLS: [&str; 23] = [
    ".gitconfig",
    ".config/git/config",
    ".config/git/ignore",
    ".config/git/attributes",
    ".cargo/bin",
    ".cargo/config.toml",
    ".rustup",
    ".nvm",
    ".pyenv",
    ".rbenv",
    ".sdkman",
    ".local/bin",
    ".local/lib",
    ".local/share/claude",
    ".local/share/mise",
    ".local/share/uv/python",
    ".local/share/uv/tools",
    ".bun",
    ".deno",
    ".volta",
    ".asdf",
    "go/bin",
    ".npm-global",
];

/// Shares of the memory.
const HOME_PERCENT: u8 = 25;
const TEMPORARY_PERCENT: u8 = 25;

/// What every program in a view is told. The upkeep of a repository is not for those who see only a part of it: what they
/// cannot see looks as if it were gone.
const IN_A_VIEW: [(&str, &str); 15] = [
    ("TMPDIR", "/tmp"),
    ("IS_SANDBOX", "1"),
    ("GIT_CONFIG_COUNT", "6"),
    ("GIT_CONFIG_KEY_0", "gc.auto"),
    ("GIT_CONFIG_VALUE_0", "0"),
    ("GIT_CONFIG_KEY_1", "maintenance.auto"),
    ("GIT_CONFIG_VALUE_1", "false"),
    ("GIT_CONFIG_KEY_2", "gc.reflogExpire"),
    ("GIT_CONFIG_VALUE_2", "never"),
    ("GIT_CONFIG_KEY_3", "gc.reflogExpireUnreachable"),
    ("GIT_CONFIG_VALUE_3", "never"),
    ("GIT_CONFIG_KEY_4", "gc.pruneExpire"),
    ("GIT_CONFIG_VALUE_4", "never"),
    ("GIT_CONFIG_KEY_5", "gc.worktreePruneExpire"),
    ("GIT_CONFIG_VALUE_5", "never"),
];

pub(super) struct Furnishing<'a> {
    pub(super) cage: &'a Cage,
    pub(super) inmate: &'a Inmate<'a>,
    pub(super) layer: Layer,
    /// On the machine's disk; `None`: in memory.
    pub(super) home: Option<&'a Path>,
}

type Variables = Vec<(OsString, OsString)>;

impl Furnishing<'_> {
    pub(super) fn done(&self) -> Result<(View, Variables), AssistantError> {
        let mut plan = Plan::new(self.touched());
        self.system(&mut plan);
        let (home, variables) = self.home(&mut plan)?;
        self.programs(&mut plan);
        self.bounds(&mut plan)?;
        let view =
            View { layer: self.layer, folder: self.inmate.folder.to_owned(), home, parts: plan.parts, is_trial: false };
        Ok((view, variables))
    }

    /// What agents could have changed in earlier turns, or can change next door.
    fn touched(&self) -> Vec<PathBuf> {
        let bounds = &self.inmate.turn.bounds;
        let logins = self.inmate.login.iter().map(|name| self.cage.around.home.join(name));
        let all = bounds.write.iter().chain(&bounds.home).chain(&self.cage.sandbox.write).cloned().chain(logins);
        all.chain([self.inmate.root.to_owned()]).filter_map(|path| path.canonicalize().ok()).collect()
    }

    fn system(&self, plan: &mut Plan) {
        for path in SYSTEM {
            plan.show(Path::new(path), Access::Read);
        }
        if geteuid().is_root() {
            for path in secrets() {
                plan.hide(&path);
            }
        }
        for path in ["/tmp", "/var/tmp"] {
            plan.memory(Path::new(path), TEMPORARY_PERCENT);
        }
        for path in &self.cage.sandbox.read {
            plan.show(path, Access::Read);
        }
        for path in self.cage.sandbox.hidden.iter().chain([&self.cage.own]) {
            plan.hide(path);
        }
        for path in &self.cage.sandbox.write {
            plan.show(path, Access::Write);
        }
    }

    /// The home inside, and what the program is told of it.
    fn home(&self, plan: &mut Plan) -> Result<(PathBuf, Variables), AssistantError> {
        let users = &self.cage.around.home;
        let failed = |error: std::io::Error| uncaged(format!("its home cannot be made: {error}"));
        match (self.layer, self.home) {
            (Layer::Rules, None) => Err(uncaged("there is no home for it".to_owned())),
            (Layer::Rules, Some(home)) => {
                let home = home.canonicalize().map_err(failed)?;
                let temporary = home.join(".tmp");
                make_private(&temporary).map_err(failed)?;
                plan.bind(&home, &home, Access::Write);
                for (name, access) in self.belongings() {
                    plan.show(&users.join(name), access);
                    lead(&home, users, name);
                }
                let variables =
                    vec![("HOME".into(), home.clone().into()), ("TMPDIR".into(), temporary.into_os_string())];
                Ok((home, variables))
            }
            (Layer::Tree, kept) => {
                // It is called as the user calls it, and lies where that leads.
                let home = users.canonicalize().unwrap_or_else(|_| users.clone());
                match kept {
                    Some(kept) => plan.bind(&kept.canonicalize().map_err(failed)?, &home, Access::Write),
                    None => plan.memory(&home, HOME_PERCENT),
                }
                plan.links_to(users);
                self.lay_into(plan, &home);
                let told = IN_A_VIEW.map(|(name, value)| (name.into(), value.into()));
                Ok((home, told.into_iter().chain([("HOME".into(), users.clone().into())]).collect()))
            }
        }
    }

    /// Lays the user's things into the home of a view, the deeper ones on top.
    fn lay_into(&self, plan: &mut Plan, home: &Path) {
        let mut all: Vec<_> = self.belongings().collect();
        all.sort_by_key(|(name, _)| Path::new(name).components().count());
        let logins: Vec<_> = self.inmate.login.iter().map(|name| home.join(name)).collect();
        for (name, access) in all {
            let users = &self.cage.around.home;
            let Some(from) = plan.real(&users.join(name)) else { continue };
            // What is in a folder that can be written must not be moved away with it.
            for above in between(&logins, &home.join(name)) {
                let below = above.strip_prefix(home).unwrap_or(&above);
                if let Some(from) = plan.real(&users.join(below)).filter(|_| !plan.has(&above)) {
                    plan.bind(&from, &above, Access::Write);
                }
            }
            plan.bind(&from, &home.join(name), access);
        }
    }

    /// Names below the user's home.
    fn belongings(&self) -> impl Iterator<Item = (&str, Access)> {
        let login = if self.inmate.turn.bounds.is_fork { Access::Read } else { Access::Write };
        let tools = TOOLS.into_iter().map(|name| (name, Access::Read));
        let settings = self.inmate.settings.iter().map(|name| (*name, Access::Read));
        tools.chain(settings).chain(self.inmate.login.iter().map(move |name| (*name, login)))
    }

    /// Wherever programs are, the agent's own among them.
    fn programs(&self, plan: &mut Plan) {
        for folder in std::env::split_paths(&self.cage.around.path) {
            self.programs_in(plan, &folder);
        }
        for folder in &self.cage.around.tools {
            self.programs_in(plan, folder);
        }
        let program = self.inmate.program;
        let real = program.canonicalize().unwrap_or_else(|_| program.to_owned());
        for path in [program, &real] {
            let folder = path.parent().unwrap_or(path);
            if self.is_too_wide(folder) {
                plan.show(path, Access::Read);
            } else {
                self.programs_in(plan, folder);
            }
        }
        if let Some(package) = package(&real).filter(|package| !self.is_too_wide(package)) {
            plan.show(package, Access::Read);
        }
        // The links that lead there.
        plan.show(program, Access::Read);
    }

    fn programs_in(&self, plan: &mut Plan, folder: &Path) {
        if !self.is_too_wide(folder) {
            plan.show_programs(folder);
        }
    }

    /// Whether a folder has more in it than programs: somebody's home, our own things, places of work.
    fn is_too_wide(&self, folder: &Path) -> bool {
        let Ok(folder) = folder.canonicalize() else { return true };
        let bounds = &self.inmate.turn.bounds;
        let own = [&self.cage.around.home, &self.cage.own].into_iter().chain(&self.cage.sandbox.hidden);
        let all = own.chain(&bounds.write).chain(&bounds.home).map(PathBuf::as_path).chain([self.inmate.root]);
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        all.map(real).any(|path| path.starts_with(&folder)) || folder.starts_with(real(&self.cage.own))
    }

    fn bounds(&self, plan: &mut Plan) -> Result<(), AssistantError> {
        let bounds = &self.inmate.turn.bounds;
        let root = self.inmate.root;
        plan.bind(root, root, Access::Write);
        let mut roots = vec![root.to_owned()];
        for path in &bounds.write {
            let real = plan.real(path).ok_or_else(|| uncaged(format!("`{}` leads nowhere", path.display())))?;
            plan.bind(&real, &real, Access::Write);
            roots.push(real);
        }
        for (paths, access) in [(&bounds.guard, Access::Read), (&bounds.own, Access::Write)] {
            for path in paths {
                let Some(real) = without_links(plan, path) else { continue };
                // A folder in which something is guarded must not be moved away with it.
                let above = if access == Access::Read { between(&roots, &real) } else { Vec::new() };
                for above in above {
                    if !plan.has(&above) {
                        plan.bind(&above, &above, Access::Write);
                    }
                }
                plan.bind(&real, &real, access);
            }
        }
        for cover in &bounds.covers {
            self.cover(plan, cover);
        }
        Ok(())
    }

    /// What leads out of the place is not there in a view.
    fn cover(&self, plan: &mut Plan, cover: &Cover) {
        let Some(at) = cover.path.canonicalize().ok().filter(|at| at.starts_with(self.inmate.root)) else { return };
        let with = cover.with.as_ref().and_then(|with| with.canonicalize().ok());
        match with.filter(|with| with.is_dir() == at.is_dir()) {
            Some(with) => plan.bind(&with, &at, Access::Read),
            None => plan.void(at),
        }
    }
}

/// Without a view: the way from the agent's home to what is in the user's. Links of the agent's own are not followed.
fn lead(home: &Path, users: &Path, name: &str) {
    let to = users.join(name);
    if to.exists()
        && let Ok((folder, name)) = parent(home, Path::new(name), true)
    {
        let _ = symlinkat(to, folder, name);
    }
}

/// What of the settings of the system only its owner reads, who is root as we are.
fn secrets() -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![(PathBuf::from(SETTINGS), 0)];
    while let Some((folder, depth)) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let Ok(about) = entry.metadata() else { continue };
            let everyones = if about.is_dir() { 0o005 } else { 0o004 };
            match about.mode() & everyones == everyones {
                _ if about.is_symlink() => {}
                false if about.uid() == 0 || about.gid() == 0 => found.push(entry.path()),
                true if about.is_dir() && depth < DEEPEST => folders.push((entry.path(), depth + 1)),
                _ => {}
            }
        }
    }
    found
}

/// The outermost folder of packages that a program is in: it needs its neighbours.
fn package(program: &Path) -> Option<&Path> {
    program.ancestors().filter(|folder| folder.ends_with("node_modules")).last()
}

/// The path with links on the way followed; `None` when it is none, or a link itself.
fn without_links(plan: &Plan, path: &Path) -> Option<PathBuf> {
    let real = plan.real(path.parent()?)?.join(path.file_name()?);
    fs::symlink_metadata(&real).is_ok_and(|metadata| !metadata.is_symlink()).then_some(real)
}

/// The folders between a root that may be written and a path in it, from the outside.
fn between(roots: &[PathBuf], path: &Path) -> Vec<PathBuf> {
    let is_within = |folder: &Path| roots.iter().any(|root| folder != root && folder.starts_with(root));
    let mut above: Vec<_> = path.ancestors().skip(1).filter(|folder| is_within(folder)).map(Path::to_owned).collect();
    above.reverse();
    above
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_around_a_guard_are_known() {
        let roots = [PathBuf::from("/r/.git")];
        assert_eq!(
            between(&roots, Path::new("/r/.git/logs/refs/hedgerow")),
            [PathBuf::from("/r/.git/logs"), PathBuf::from("/r/.git/logs/refs")]
        );
        assert!(between(&roots, Path::new("/r/.git/config")).is_empty());
    }

    #[test]
    fn a_program_comes_with_its_neighbours() {
        let path = Path::new("/p/node_modules/a/node_modules/b/cli.js");
        assert_eq!(package(path), Some(Path::new("/p/node_modules")));
        assert_eq!(package(Path::new("/usr/bin/git")), None);
    }
}
