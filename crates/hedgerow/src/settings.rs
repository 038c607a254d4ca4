//! What the process was told: environment variables and `<home>/hedgerow.toml`, checked and typed.
//!
//! The only place that reads the environment. A flag wins over a variable, a variable over the file, the file over the
//! default. A value that cannot be right is refused with its key and its place, before anything is opened. A variable
//! that is set but empty counts as not set: that is how compose files and CI pass on what nobody gave.

mod checks;
mod file;
mod keys;

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};

use hedgerow_core::environment::Actor;
use hedgerow_core::{Kind, UserError};
use hedgerow_engine::Settings;
use serde::{Serialize, Serializer};

use keys::Key;

/// The name of the file in the home.
const FILE: &str = "hedgerow.toml";

/// What the process finds around itself when it starts. Read once.
#[derive(Debug, Clone, Default)]
pub(crate) struct Surroundings {
    variables: BTreeMap<&'static str, OsString>,
    /// The folder the command was given in; `None` when it is gone.
    pub(crate) here: Option<PathBuf>,
    user_home: Option<PathBuf>,
    in_container: bool,
    hostname: String,
    person: String,
    /// The filter of the log.
    pub(crate) log: Option<String>,
}

impl Surroundings {
    pub(crate) fn read() -> Self {
        let text = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
        let uid = || rustix::process::getuid().as_raw().to_string();
        let given = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(|value| (name, value));
        Self {
            variables: keys::variables().filter_map(given).collect(),
            here: std::env::current_dir().ok(),
            user_home: std::env::home_dir().filter(|home| home.is_absolute()),
            in_container: ["/.dockerenv", "/run/.containerenv"].iter().any(|mark| Path::new(mark).exists()),
            hostname: rustix::system::uname().nodename().to_string_lossy().into_owned(),
            person: text("USER").or_else(|| text("LOGNAME")).unwrap_or_else(uid),
            log: text("HEDGEROW_LOG"),
        }
    }

    fn given(&self, key: &Key) -> Option<Given> {
        let name = key.variable?;
        let value = self.variables.get(name)?.clone();
        Some(Given { value, origin: Origin::Variable(name) })
    }

    /// The person at the terminal.
    pub(crate) fn actor(&self) -> Actor {
        Actor::new("terminal", &self.person)
    }

    /// The folder the command was given in.
    pub(crate) fn require_here(&self) -> Result<&Path, UserError> {
        self.here.as_deref().ok_or_else(|| {
            UserError::new(Kind::Usage, "the current folder is gone")
                .hint("`cd` to a folder that exists, or name a codebase with `--codebase`")
        })
    }
}

/// Where a value came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Origin {
    Default,
    File { path: PathBuf, line: usize },
    Variable(&'static str),
    Flag(&'static str),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File { path, line } => write!(f, "{}, line {line}", path.display()),
            Self::Variable(name) => write!(f, "environment variable {name}"),
            Self::Flag(name) => write!(f, "flag {name}"),
        }
    }
}

impl Serialize for Origin {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A value as it was given, before it is checked.
#[derive(Debug, Clone)]
struct Given {
    value: OsString,
    origin: Origin,
}

/// One effective value, for `config show`.
#[derive(Debug, Serialize)]
pub(crate) struct Entry {
    pub(crate) key: &'static str,
    pub(crate) value: serde_json::Value,
    pub(crate) from: Origin,
}

/// The checked settings, and where each came from.
#[derive(Debug)]
pub(crate) struct Configuration {
    pub(crate) settings: Settings,
    pub(crate) entries: Vec<Entry>,
}

/// The home and the file in it: all that is known before the file is read.
#[derive(Debug)]
pub(crate) struct Home {
    path: PathBuf,
    origin: Origin,
    pub(crate) file: PathBuf,
}

/// `--home`, else `HEDGEROW_HOME`, else the container's or the user's own.
pub(crate) fn home(around: &Surroundings, flag: Option<&Path>) -> Result<Home, UserError> {
    let flag = flag.map(|path| Given { value: path.into(), origin: Origin::Flag("--home") });
    let given = flag.or_else(|| around.given(&keys::HOME));
    let (path, origin) = match given {
        Some(given) => (checks::path(around, &keys::HOME, &given)?, given.origin),
        None if around.in_container => (PathBuf::from("/.hedgerow"), Origin::Default),
        None => (checks::user_home(around)?.join(".hedgerow"), Origin::Default),
    };
    Ok(Home { file: path.join(FILE), path, origin })
}

/// Reads and checks everything.
pub(crate) fn read(around: &Surroundings, flag: Option<&Path>) -> Result<Configuration, UserError> {
    let home = home(around, flag)?;
    let mut reader = Reader { around, file: file::read(&home.file)?, entries: Vec::new() };
    reader.note(keys::HOME.name, home.path.to_string_lossy(), home.origin.clone());
    let settings = Settings {
        database: reader.database(&home.path)?,
        worktrees: reader.path(&keys::WORKTREES_BASE)?.unwrap_or_else(|| home.path.join("worktrees")),
        limit: reader.number(&keys::MAX_PER_CODEBASE, 25)?,
        branch_prefix: reader.text(&keys::BRANCH_PREFIX, checks::branch_prefix)?.unwrap_or_default(),
        pull_ref: reader.text(&keys::PULL_REF, checks::pull_ref)?.unwrap_or_else(|| keys::DEFAULT_PULL_REF.to_owned()),
        stale_after_days: reader.number(&keys::STALE_AFTER_DAYS, 14)?,
        cleanup_every_hours: reader.number(&keys::CLEANUP_EVERY_HOURS, 6)?,
        trash_keep_days: reader.number(&keys::TRASH_KEEP_DAYS, 7)?,
        low_space_percent: reader.number(&keys::LOW_SPACE_PERCENT, 5)?,
        vault_keep_days: reader.number(&keys::VAULT_KEEP_DAYS, 30)?,
        remote: reader.text(&keys::REMOTE, checks::remote)?,
        base_branch: reader.text(&keys::BASE_BRANCH, checks::branch)?,
        allowed_root: reader.path(&keys::ALLOWED_ROOT)?,
        node: reader.text(&keys::NODE, checks::node)?.unwrap_or_else(|| around.hostname.clone()),
        skill_registry: around.user_home.as_ref().map(|home| home.join(".claude/worktree-registry.json")),
        skill_folder: around.user_home.as_ref().map(|home| home.join("tmp/worktrees")),
        git: reader.program(&keys::GIT)?.unwrap_or_else(|| PathBuf::from("git")),
        git_env: Vec::new(),
        home: home.path,
    };
    let entries = reader.finish(&settings);
    Ok(Configuration { settings, entries })
}

/// Looks values up by precedence, checks them, and remembers where each came from.
struct Reader<'a> {
    around: &'a Surroundings,
    file: BTreeMap<&'static str, Given>,
    entries: Vec<Entry>,
}

impl Reader<'_> {
    fn given(&self, key: &Key) -> Option<Given> {
        self.around.given(key).or_else(|| self.file.get(key.name).cloned())
    }

    fn note(&mut self, key: &'static str, value: impl Into<serde_json::Value>, from: Origin) {
        self.entries.push(Entry { key, value: value.into(), from });
    }

    fn number(&mut self, key: &Key, default: u32) -> Result<u32, UserError> {
        let Some(given) = self.given(key) else {
            self.note(key.name, default, Origin::Default);
            return Ok(default);
        };
        let number = checks::number(key, &given)?;
        self.note(key.name, number, given.origin);
        Ok(number)
    }

    fn text<T: fmt::Display>(
        &mut self,
        key: &Key,
        check: fn(&str) -> Result<T, String>,
    ) -> Result<Option<T>, UserError> {
        let Some(given) = self.given(key) else { return Ok(None) };
        let text = given.value.to_str().ok_or_else(|| refuse(key, &given, "must be UTF-8"))?;
        let value = check(text).map_err(|must| refuse(key, &given, &must))?;
        self.note(key.name, value.to_string(), given.origin);
        Ok(Some(value))
    }

    fn path(&mut self, key: &Key) -> Result<Option<PathBuf>, UserError> {
        let Some(given) = self.given(key) else { return Ok(None) };
        let path = checks::path(self.around, key, &given)?;
        self.note(key.name, path.to_string_lossy(), given.origin);
        Ok(Some(path))
    }

    /// A program: a bare name is looked for in `PATH`, anything else is a path.
    fn program(&mut self, key: &Key) -> Result<Option<PathBuf>, UserError> {
        match self.given(key) {
            Some(given) if Path::new(&given.value).components().count() == 1 && given.value != OsStr::new("~") => {
                self.note(key.name, given.value.to_string_lossy(), given.origin);
                Ok(Some(given.value.into()))
            }
            _ => self.path(key),
        }
    }

    fn database(&mut self, home: &Path) -> Result<hedgerow_engine::store::Database, UserError> {
        let key = &keys::DATABASE_URL;
        let (database, origin) = match self.given(key) {
            Some(given) => (checks::database(self.around, key, &given)?, given.origin),
            None => (hedgerow_engine::store::Database::Sqlite(home.join("hedgerow.db")), Origin::Default),
        };
        self.note(key.name, checks::database_for_people(&database), origin);
        Ok(database)
    }

    /// Every key in the order of the table, those nobody set with their default.
    fn finish(mut self, settings: &Settings) -> Vec<Entry> {
        for key in keys::ALL {
            if self.entries.iter().any(|entry| entry.key == key.name) {
                continue;
            }
            let default = match key.name {
                "worktrees.base" => Some(settings.worktrees.to_string_lossy().into_owned()),
                "worktrees.branch_prefix" => Some(settings.branch_prefix.clone()),
                "worktrees.pull_ref" => Some(settings.pull_ref.clone()),
                "node" => Some(settings.node.clone()),
                "git" => Some(settings.git.to_string_lossy().into_owned()),
                _ => None,
            };
            self.note(key.name, default, Origin::Default);
        }
        let position = |entry: &Entry| keys::ALL.iter().position(|key| key.name == entry.key);
        self.entries.sort_by_key(position);
        self.entries
    }
}

/// The error for a value that cannot be right: its key as it was written, and where.
fn refuse(key: &Key, given: &Given, must: &str) -> UserError {
    let (name, place) = match &given.origin {
        Origin::Variable(name) => (*name, "environment variable".to_owned()),
        other => (key.name, other.to_string()),
    };
    let shown = if key.is_secret { String::new() } else { format!(", not `{}`", given.value.to_string_lossy()) };
    UserError::new(Kind::Usage, format!("`{name}` {must}{shown} ({place})"))
}

#[cfg(test)]
mod tests;
