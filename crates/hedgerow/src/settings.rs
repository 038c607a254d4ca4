//! What the process was told: environment variables and `<home>/hedgerow.toml`, checked and typed.
//!
//! The only place that reads the environment. A flag wins over a variable, a variable over the file, the file over the
//! default. A value that cannot be right is refused with its key and its place, before anything is opened. A variable
//! that is set but empty counts as not set: that is how compose files and CI pass on what nobody gave.

mod agents;
mod checks;
mod file;
mod github;
mod handover;
mod keys;
mod llm;
mod reader;
pub(crate) mod token;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use hedgerow_core::environment::Actor;
use hedgerow_core::{Kind, UserError};
use hedgerow_engine::Settings;
use hedgerow_engine::settings::{Runs, Sandbox};
use hedgerow_engine::store::Database;
use serde::{Serialize, Serializer};

pub(crate) use github::GitHubSettings;
pub(crate) use handover::{Handed, withdraw_secrets};
pub(crate) use hedgerow_core::Secret;
use keys::Key;
use reader::Reader;

/// The name of the file in the home.
const FILE: &str = "hedgerow.toml";

/// Where secrets are looked up when they are asked for.
#[derive(Debug, Clone, Default)]
enum Secrets {
    /// Among the other variables.
    #[default]
    Variables,
    /// In the environment. No copy of them is kept here.
    Environment,
    /// They were taken out of the environment.
    Handed(Arc<Handed>),
}

/// What the process finds around itself when it starts. Read once.
#[derive(Debug, Clone, Default)]
pub(crate) struct Surroundings {
    variables: BTreeMap<&'static str, OsString>,
    secrets: Secrets,
    /// The folder the command was given in; `None` when it is gone.
    pub(crate) here: Option<PathBuf>,
    user_home: Option<PathBuf>,
    in_container: bool,
    hostname: String,
    person: String,
    /// The file of the running program.
    program: Option<PathBuf>,
    /// Where programs are.
    path: Option<OsString>,
    /// The filter of the log.
    pub(crate) log: Option<String>,
}

impl Surroundings {
    pub(crate) fn read(handed: Option<Handed>) -> Self {
        let text = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
        let uid = || rustix::process::getuid().as_raw().to_string();
        let given = |key: &Key| key.variable.and_then(|name| Some((name, variable(name)?)));
        Self {
            variables: keys::all().filter(|key| !key.is_secret).filter_map(given).collect(),
            secrets: handed.map_or(Secrets::Environment, |handed| Secrets::Handed(Arc::new(handed))),
            here: std::env::current_dir().ok(),
            user_home: std::env::home_dir().filter(|home| home.is_absolute()),
            in_container: ["/.dockerenv", "/run/.containerenv"].iter().any(|mark| Path::new(mark).exists()),
            hostname: rustix::system::uname().nodename().to_string_lossy().into_owned(),
            person: text("USER").or_else(|| text("LOGNAME")).unwrap_or_else(uid),
            program: std::env::current_exe().ok(),
            path: variable("PATH"),
            log: text("HEDGEROW_LOG"),
        }
    }

    fn given(&self, key: &Key) -> Option<Given> {
        let name = key.variable?;
        let value = match &self.secrets {
            Secrets::Environment if key.is_secret => variable(name),
            Secrets::Handed(handed) if key.is_secret => handed.get(name),
            _ => self.variables.get(name).cloned(),
        }?;
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

fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

/// Where a value came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Origin {
    Default,
    File {
        path: PathBuf,
        line: usize,
    },
    Variable(&'static str),
    Flag(&'static str),
    /// Made by Hedgerow, and kept in this file.
    Kept(PathBuf),
    /// A program of this machine that nobody configured.
    Found,
    /// Said by a repository itself, at this commit.
    Repository(String),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File { path, line } => write!(f, "{}, line {line}", path.display()),
            Self::Variable(name) => write!(f, "environment variable {name}"),
            Self::Flag(name) => write!(f, "flag {name}"),
            Self::Kept(path) => write!(f, "{}", path.display()),
            Self::Found => f.write_str("found in PATH"),
            Self::Repository(commit) => write!(f, "{} at {commit}", hedgerow_engine::repository_config::FILE),
        }
    }
}

impl Serialize for Origin {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A value as it was given, before it is checked. It may be a secret, so only its origin is for `Debug`.
#[derive(Clone)]
struct Given {
    value: OsString,
    origin: Origin,
}

impl fmt::Debug for Given {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Given").field("origin", &self.origin).finish_non_exhaustive()
    }
}

/// One effective value, for `config show`.
#[derive(Debug, Serialize)]
pub(crate) struct Entry {
    pub(crate) key: String,
    pub(crate) value: serde_json::Value,
    pub(crate) from: Origin,
}

/// The checked settings, and where each came from.
#[derive(Debug)]
pub(crate) struct Configuration {
    pub(crate) settings: Settings,
    pub(crate) server: Server,
    pub(crate) entries: Vec<Entry>,
}

/// What the server must be told besides.
#[derive(Debug, Clone)]
pub(crate) struct Server {
    pub(crate) listen: SocketAddr,
    /// The token that was set; without one, [`token::token`] finds or makes one.
    pub(crate) token: Option<Secret>,
    pub(crate) github: GitHubSettings,
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
    let listen = reader.text_or_default(&keys::LISTEN, checks::listen)?;
    let token = reader.token(&home.path)?;
    let mut settings = Settings {
        database: reader.database(&home.path)?,
        worktrees: reader.path(&keys::WORKTREES_BASE)?.unwrap_or_else(|| home.path.join("worktrees")),
        limit: reader.number(&keys::MAX_PER_CODEBASE)?,
        branch_prefix: reader.text(&keys::BRANCH_PREFIX, checks::branch_prefix)?.unwrap_or_default(),
        pull_ref: reader.text_or_default(&keys::PULL_REF, checks::pull_ref)?,
        stale_after_days: reader.number(&keys::STALE_AFTER_DAYS)?,
        cleanup_every_hours: reader.number(&keys::CLEANUP_EVERY_HOURS)?,
        trash_keep_days: reader.number(&keys::TRASH_KEEP_DAYS)?,
        low_space_percent: reader.number(&keys::LOW_SPACE_PERCENT)?,
        vault_keep_days: reader.number(&keys::VAULT_KEEP_DAYS)?,
        remote: reader.text(&keys::REMOTE, checks::remote)?,
        base_branch: reader.text(&keys::BASE_BRANCH, checks::branch)?,
        allowed_root: reader.path(&keys::ALLOWED_ROOT)?,
        node: reader.text(&keys::NODE, checks::node)?.unwrap_or_else(|| around.hostname.clone()),
        skill_registry: around.user_home.as_ref().map(|home| home.join(".claude/worktree-registry.json")),
        skill_folder: around.user_home.as_ref().map(|home| home.join("tmp/worktrees")),
        git: reader.program(&keys::GIT)?.unwrap_or_else(|| PathBuf::from("git")),
        git_env: Vec::new(),
        git_name: reader.text(&keys::GIT_NAME, checks::git_name)?,
        git_email: reader.text(&keys::GIT_EMAIL, checks::git_email)?,
        runs: runs(&mut reader)?,
        gateway: llm::gateway(&mut reader)?,
        forges: hedgerow_engine::Forges::default(),
        home: home.path,
    };
    let github = github::read(&mut reader, &settings.runs.bot_name)?;
    settings.forges = github.forges();
    settings.runs.sandbox.hidden = hidden(&settings, github.key_file.as_deref());
    let entries = reader.finish(&settings, &github);
    Ok(Configuration { settings, server: Server { listen, token, github }, entries })
}

fn runs(reader: &mut Reader<'_>) -> Result<Runs, UserError> {
    let assistants = reader.assistants()?;
    // Our own program stands between us and an assistant, and ends all it started.
    let supervisor = reader.around.program.as_ref().map(|program| [program.into(), "supervise".into(), "--".into()]);
    Ok(Runs {
        at_once: reader.number(&keys::MAX_CONCURRENT)?,
        timeout: Duration::from_mins(reader.number(&keys::RUN_TIMEOUT)?.into()),
        idle_timeout: Duration::from_mins(reader.number(&keys::IDLE_TIMEOUT)?.into()),
        lease: Duration::from_secs(reader.number(&keys::LEASE_SECONDS)?.into()),
        queue: reader.number(&keys::QUEUE_LIMIT)?,
        keep_days: reader.number(&keys::RETENTION_DAYS)?,
        admins: reader.list(&keys::ADMINS, checks::admin)?,
        bot_name: reader.text_or_default(&keys::BOT_NAME, checks::bot_name)?,
        assistant: reader.assistant(&assistants)?,
        assistants,
        supervisor: supervisor.map(Vec::from).unwrap_or_default(),
        sandbox: Sandbox {
            mode: reader.text_or_default(&keys::SANDBOX_MODE, checks::sandbox_mode)?,
            read: reader.paths(&keys::SANDBOX_READ)?,
            write: reader.paths(&keys::SANDBOX_WRITE)?,
            variables: reader.list(&keys::SANDBOX_VARIABLES, checks::variable_name)?,
            uncovered_forks: reader.flag(&keys::SANDBOX_UNCOVERED_FORKS)?,
            hidden: Vec::new(),
        },
    })
}

/// Our own things that are outside the home: the store, the App's key, and where the file, the token and the key really are.
fn hidden(settings: &Settings, key_file: Option<&Path>) -> Vec<PathBuf> {
    let mut ours = Vec::new();
    if let Database::Sqlite(file) = &settings.database {
        ours.extend(["", "-wal", "-shm", ".lock"].map(|suffix| PathBuf::from(format!("{}{suffix}", file.display()))));
    }
    let links = [Some(settings.home.join(FILE)), Some(token::file(&settings.home)), key_file.map(Path::to_owned)];
    ours.extend(key_file.map(Path::to_owned));
    ours.extend(links.into_iter().flatten().filter_map(|link| link.canonicalize().ok()));
    let homes = [Some(settings.home.clone()), settings.home.canonicalize().ok()];
    ours.retain(|path| !homes.iter().flatten().any(|home| path.starts_with(home)));
    ours.dedup();
    ours
}

/// The error for a value that cannot be right: its key as it was written, and where.
fn refuse(key: &Key, given: &Given, must: &str) -> UserError {
    let (name, place) = named(key, given);
    let shown = if key.is_secret { String::new() } else { format!(", not `{}`", given.value.to_string_lossy()) };
    UserError::new(Kind::Usage, format!("`{name}` {must}{shown} ({place})"))
}

/// A key as it was written, and where.
fn named(key: &Key, given: &Given) -> (&'static str, String) {
    match &given.origin {
        Origin::Variable(name) => (name, "environment variable".to_owned()),
        other => (key.name, other.to_string()),
    }
}

#[cfg(test)]
mod documented;
#[cfg(test)]
mod tests;
