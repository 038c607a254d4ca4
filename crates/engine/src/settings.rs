//! What the engine must be told before it starts.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use hedgerow_core::BranchName;
use hedgerow_core::environment::Actor;

use crate::store::Database;

/// Everything the engine needs to know about its surroundings, checked by whoever read it.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Where Hedgerow keeps its own things.
    pub home: PathBuf,
    /// Below it, each codebase has a folder with its environments.
    pub worktrees: PathBuf,
    pub database: Database,
    /// The name of this machine among those that share a database.
    pub node: String,
    /// Most live environments of one codebase; 0 is no limit.
    pub limit: u32,
    /// An environment without any activity for so long is stale.
    pub stale_after_days: u32,
    /// Hours between two rounds of scheduled cleanup; 0 switches it off.
    pub cleanup_every_hours: u32,
    /// So long an environment stays in the trash as it was.
    pub trash_keep_days: u32,
    /// So long a saved state stays in the vault after that.
    pub vault_keep_days: u32,
    /// With less than this share of the disk free, the oldest of the trash is purged before its time; 0 is never.
    pub low_space_percent: u32,
    /// Goes before generated branch names, such as `agents/`.
    pub branch_prefix: String,
    /// Where the forge publishes the head of a pull request; `{number}` stands for its number.
    pub pull_ref: String,
    /// The remote to fetch from; otherwise `origin`, otherwise the only one.
    pub remote: Option<String>,
    /// The base of new work; otherwise the remote's HEAD, otherwise the repository's.
    pub base_branch: Option<BranchName>,
    /// Codebases must be below this folder.
    pub allowed_root: Option<PathBuf>,
    /// Where other tools list the worktrees they made, and the folder they make them in.
    pub skill_registry: Option<PathBuf>,
    pub skill_folder: Option<PathBuf>,
    /// The git program.
    pub git: PathBuf,
    /// Variables that every call of git gets besides the inherited ones.
    pub git_env: Vec<(OsString, OsString)>,
    pub runs: Runs,
}

/// The least and the greatest number of minutes that a run, or a silence in it, may be given.
pub const RUN_MINUTES: (u32, u32) = (1, 24 * 60);

/// How messages are answered.
#[derive(Debug, Clone)]
pub struct Runs {
    /// Most assistants at work at the same time in this process.
    pub at_once: u32,
    /// Longest run.
    pub timeout: Duration,
    /// Longest silence of an assistant.
    pub idle_timeout: Duration,
    /// A process that does not renew its claims for so long is taken for dead.
    pub lease: Duration,
    /// Most messages that wait; one more is told that we are busy.
    pub queue: u32,
    /// So long messages, replies and runs are remembered.
    pub keep_days: u32,
    /// Who may remove, merge and forget what is not theirs.
    pub admins: Vec<Actor>,
    /// How the bot is called.
    pub bot_name: String,
    /// The assistants there are, and which of them works where nobody chose one.
    pub assistants: Vec<Program>,
    pub assistant: Option<String>,
    /// What is put before an assistant's command line: a program of ours that ends the whole tree when it is asked to, or
    /// when we are gone. Empty: the assistant is started as it is.
    pub supervisor: Vec<OsString>,
}

impl Default for Runs {
    fn default() -> Self {
        Self {
            at_once: 10,
            timeout: Duration::from_hours(1),
            idle_timeout: Duration::from_mins(10),
            lease: Duration::from_mins(1),
            queue: 10_000,
            keep_days: 90,
            admins: Vec::new(),
            bot_name: "hedgerow".to_owned(),
            assistants: Vec::new(),
            assistant: None,
            supervisor: Vec::new(),
        }
    }
}

/// A program that speaks the protocol of assistants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    pub name: String,
    /// The program and its arguments; never empty.
    pub command: Vec<OsString>,
}

impl Program {
    /// Whether an assistant can be called so: a name goes into commands and tables.
    pub fn is_name(text: &str) -> bool {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        (1..=64).contains(&text.len()) && text.chars().all(is_plain)
    }
}
