//! Files of a stranger's pull request that would steer an agent are shown as the base has them, or not at all.
//!
//! What is on disk stays as it was asked for: the environment is clean and at its commit. Only the agent's view differs.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use hedgerow_core::assistant::Cover;
use hedgerow_core::{Codebase, Environment, Kind, UserError};

use crate::engine::Engine;
use crate::explain::Trouble;
use crate::failure::Outcome;
use crate::git::Repo;
use crate::git::blobs::Taker;
use crate::git::tree::File;
use crate::isolation::make_private;
use crate::scratch::{clear, set_writable};

/// Names of files and folders that programs take orders from, wherever in the tree they are; a `*` at the end stands for
/// the rest of the name. In lower case: names are compared without it, as some disks do.
const NAMES: [&str; 53] = [
    // Agents: instructions, settings, tools, hooks.
    ".claude*",
    "claude.md",
    "claude.local.md",
    ".mcp.json",
    "mcp.json",
    "agents.md",
    "agents.override.md",
    "agent.md",
    ".agents",
    ".agent",
    "gemini.md",
    ".gemini*",
    ".codex*",
    ".cursor*",
    ".windsurf*",
    ".opencode*",
    "opencode.json*",
    ".aider*",
    ".continue*",
    ".cline*",
    ".roo*",
    ".kilocode*",
    ".kiro",
    ".junie",
    ".goose*",
    ".amp*",
    ".augment*",
    ".qwen*",
    "qwen.md",
    ".crush*",
    "crush.md",
    ".rules",
    ".trae",
    ".zed",
    // Editors that agents drive, and that run tasks.
    ".vscode",
    ".idea",
    ".devcontainer*",
    // Variables and registries: where programs and packages come from.
    ".env*",
    ".npmrc",
    ".yarnrc*",
    ".pnpmfile*",
    ".pypirc",
    ".netrc",
    ".tool-versions",
    ".mise*",
    "mise.toml",
    // What git, hooks and Hedgerow itself read.
    ".husky",
    ".githooks",
    ".gitmodules",
    ".gitconfig",
    ".lefthook*",
    ".hedgerow",
    ".pre-commit-config.yaml",
];

/// The same for what only means something in one place: below `.github`.
const BELOW_GITHUB: [&str; 6] =
    ["copilot-instructions.md", "instructions", "prompts", "chatmodes", "agents", "copilot-setup-steps.yml"];

/// Most that is covered: each is a mount, and a tree with more of them is made to wear us out.
const MOST_COVERS: usize = 500;
/// Most entries that are looked at.
const MOST_ENTRIES: usize = 2_000_000;
/// Most bytes of the base's versions.
const MOST_BYTES: u64 = 64 << 20;

impl Engine {
    /// What a fork's environment must not show as it is.
    pub(super) async fn covers(
        &self,
        codebase: &Codebase,
        repo: &Repo,
        environment: &Environment,
    ) -> Outcome<Vec<Cover>> {
        let place = environment.path.clone();
        let found = tokio::task::spawn_blocking(move || Walk::of(&place)).await.map_err(anyhow::Error::new)?;
        let found = found.map_err(|why| why.explain(environment))?;
        let folder = self.settings.home.join("covers").join(environment.id.to_string());
        clear(&folder).map_err(Trouble::folder(&folder))?;
        if found.is_empty() {
            return Ok(Vec::new());
        }
        make_private(&folder).map_err(Trouble::folder(&folder))?;
        if let Some(base) = self.at_base(codebase).await?.base {
            let files = repo.files_at(&base.commit, &found).await?;
            if files.iter().map(|file| file.bytes).sum::<u64>() > MOST_BYTES {
                let message =
                    format!("what the base has in place of the configuration of `{}` is too large", environment.name());
                return Err(UserError::new(Kind::Protected, message).hint("make it smaller on the base branch").into());
            }
            let mut export = Export { folder: &folder, files: files.iter(), file: None };
            repo.blobs(files.iter().map(|file| file.object.as_str()), &mut export).await?;
            set_writable(&folder, false).map_err(Trouble::folder(&folder))?;
        }
        Ok(found.into_iter().map(|path| cover(&environment.path, &folder, &path)).collect())
    }
}

/// The base's version where it is of the same kind: a file cannot lie over a folder.
fn cover(place: &Path, exported: &Path, path: &Path) -> Cover {
    let (path, with) = (place.join(path), exported.join(path));
    let is_alike = path.is_dir() == with.is_dir() && with.exists();
    Cover { path, with: is_alike.then_some(with) }
}

/// Whether programs take orders from what is at this path.
fn steers(path: &Path) -> bool {
    let names: Vec<String> = path.iter().map(|name| name.to_string_lossy().to_lowercase()).collect();
    let is_one = |name: &str| {
        NAMES.iter().any(|known| match known.strip_suffix('*') {
            Some(beginning) => name.starts_with(beginning),
            None => *known == name,
        })
    };
    names.last().is_some_and(|name| is_one(name))
        || names.windows(2).next_back().is_some_and(|two| two[0] == ".github" && BELOW_GITHUB.contains(&&*two[1]))
}

/// Why a tree cannot be covered.
#[derive(Debug)]
enum Uncovered {
    TooMany,
    /// A link that would have us cover the folder that it is in.
    Circle(PathBuf),
    Unreadable(io::Error),
}

impl Uncovered {
    fn explain(self, environment: &Environment) -> UserError {
        let name = environment.name();
        let what = match self {
            Self::TooMany => format!("`{name}` has too many files that steer agents"),
            Self::Circle(path) => format!("`{}` in `{name}` is a link to a folder around it", path.display()),
            Self::Unreadable(error) => format!("the files of `{name}` cannot be read: {error}"),
        };
        let error =
            UserError::new(Kind::Protected, format!("{what}, and it is a stranger's: no agent is started there"));
        error.hint("look at the pull request by hand")
    }
}

/// A walk through an environment, never through a link.
struct Walk<'p> {
    place: &'p Path,
    found: BTreeSet<PathBuf>,
    seen: usize,
}

impl<'p> Walk<'p> {
    /// The topmost paths to be covered, from the place downwards.
    fn of(place: &'p Path) -> Result<Vec<PathBuf>, Uncovered> {
        let mut walk = Self { place, found: BTreeSet::new(), seen: 0 };
        walk.folder(Path::new(""))?;
        // What is below a covered folder is covered with it.
        let inner = |path: &PathBuf| path.ancestors().skip(1).any(|above| walk.found.contains(above));
        let topmost: Vec<PathBuf> = walk.found.iter().filter(|path| !inner(path)).cloned().collect();
        if topmost.len() > MOST_COVERS { Err(Uncovered::TooMany) } else { Ok(topmost) }
    }

    fn folder(&mut self, folder: &Path) -> Result<(), Uncovered> {
        for entry in fs::read_dir(self.place.join(folder)).map_err(Uncovered::Unreadable)? {
            let entry = entry.map_err(Uncovered::Unreadable)?;
            self.seen += 1;
            if self.seen > MOST_ENTRIES || self.found.len() > MOST_COVERS * 4 {
                return Err(Uncovered::TooMany);
            }
            let path = folder.join(entry.file_name());
            if path == Path::new(".git") {
                continue;
            }
            let kind = entry.file_type().map_err(Uncovered::Unreadable)?;
            match (steers(&path), kind.is_dir()) {
                (true, _) if kind.is_symlink() => self.link(&path)?,
                (true, _) => drop(self.found.insert(path)),
                (false, true) => self.folder(&path)?,
                (false, false) => {}
            }
        }
        Ok(())
    }

    /// A mount on a link would lie on what it leads to. So that is what is covered, if it is in here: elsewhere nothing is
    /// the stranger's.
    fn link(&mut self, path: &Path) -> Result<(), Uncovered> {
        let (Ok(place), Ok(target)) = (fs::canonicalize(self.place), fs::canonicalize(self.place.join(path))) else {
            return Ok(());
        };
        let Ok(inside) = target.strip_prefix(&place) else { return Ok(()) };
        if path.starts_with(inside) {
            return Err(Uncovered::Circle(path.to_owned()));
        }
        self.found.insert(inside.to_owned());
        Ok(())
    }
}

/// Writes the base's files below a folder, as their contents come.
struct Export<'e> {
    folder: &'e Path,
    files: std::slice::Iter<'e, File>,
    file: Option<fs::File>,
}

impl Taker for Export<'_> {
    fn begin(&mut self, _object: &str) -> io::Result<()> {
        let Some(next) = self.files.next() else { return Err(io::Error::other("more contents than files")) };
        let path = self.folder.join(OsStr::from_bytes(&next.path));
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        self.file = Some(fs::File::create_new(path)?);
        Ok(())
    }

    fn more(&mut self, piece: &[u8]) -> io::Result<()> {
        self.file.as_mut().map_or(Ok(()), |file| io::Write::write_all(file, piece))
    }

    fn end(&mut self) -> io::Result<()> {
        self.file = None;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn names_that_steer_agents_are_known_in_any_case_and_anywhere() {
        for path in
            ["CLAUDE.md", "deep/down/Claude.MD", ".ENV.local", ".windsurfrules", ".github/Copilot-Instructions.md"]
        {
            assert!(steers(Path::new(path)), "{path}");
        }
        for path in
            ["README.md", "claude", "environment", "src/agents", ".github/workflows", "instructions", ".gitignore"]
        {
            assert!(!steers(Path::new(path)), "{path}");
        }
    }

    #[test]
    fn the_topmost_path_is_covered_and_a_link_at_what_it_leads_to() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        fs::create_dir_all(at(".claude/deep/.claude")).expect("folders");
        fs::create_dir_all(at("docs")).expect("a folder");
        fs::write(at("docs/evil.md"), "").expect("a file");
        symlink("docs/evil.md", at("CLAUDE.md")).expect("a link");
        symlink("/etc", at(".codex")).expect("a link");
        let found = Walk::of(folder.path()).expect("few");
        assert_eq!(found, [Path::new(".claude"), Path::new("docs/evil.md")]);
        symlink(".", at(".cursor")).expect("a link");
        assert!(matches!(Walk::of(folder.path()), Err(Uncovered::Circle(_))));
    }

    #[test]
    fn more_than_can_be_covered_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        for number in 0..=MOST_COVERS {
            fs::create_dir_all(folder.path().join(format!("{number}/.claude"))).expect("a folder");
        }
        assert!(matches!(Walk::of(folder.path()), Err(Uncovered::TooMany)));
    }
}
