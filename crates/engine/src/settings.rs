//! What the engine must be told before it starts.

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use hedgerow_core::environment::Actor;
use hedgerow_core::{BranchName, words};

use crate::forges::Forges;
use crate::gateway::GatewaySettings;
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
    /// Under which name and address assistants commit; otherwise as the user of the repository does.
    pub git_name: Option<String>,
    pub git_email: Option<String>,
    pub runs: Runs,
    /// `None`: agents bring their own logins.
    pub gateway: Option<Arc<GatewaySettings>>,
    /// Where issues and pull requests are.
    pub forges: Forges,
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
    pub sandbox: Sandbox,
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
            sandbox: Sandbox::default(),
        }
    }
}

words! {
    /// How a program of an assistant is spoken to.
    AgentKind as "kind of assistant" {
        /// Lines of JSON of our own; any program will do.
        Script = "script",
        Claude = "claude",
        Codex = "codex",
        /// The Agent Client Protocol: Gemini CLI, opencode, and many more.
        Acp = "acp",
    }
}

/// An assistant: a program, how it is spoken to, and what the owner of the machine wants of it.
#[derive(Clone, PartialEq, Eq)]
pub struct Program {
    pub name: String,
    pub kind: AgentKind,
    /// The program and its arguments; never empty.
    pub command: Vec<OsString>,
    /// The model it uses; otherwise its own choice.
    pub model: Option<String>,
    /// What it may do without being asked, in its own words; otherwise all that the cage allows.
    pub permissions: Option<String>,
    /// Most steps in one turn.
    pub max_turns: Option<u32>,
    /// What it is told besides our briefing.
    pub instructions: Option<String>,
    /// Tools that it gets from MCP servers: the JSON of an `mcpServers` object.
    pub mcp_servers: Option<String>,
    /// Variables of its own.
    pub variables: Vec<(String, String)>,
    /// Files and folders below the user's home, such as `.aws`, that it needs besides its own login.
    pub belongings: Vec<String>,
}

/// What it is given may be secret, and is not shown.
impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Program")
            .field("name", &self.name)
            .field("kind", &self.kind)
            .field("command", &self.command)
            .finish_non_exhaustive()
    }
}

impl Program {
    pub fn new(name: impl Into<String>, kind: AgentKind, command: Vec<OsString>) -> Self {
        Self {
            name: name.into(),
            kind,
            command,
            model: None,
            permissions: None,
            max_turns: None,
            instructions: None,
            mcp_servers: None,
            variables: Vec::new(),
            belongings: Vec::new(),
        }
    }

    /// A program that speaks our own lines.
    pub fn script<Word: Into<OsString>>(name: impl Into<String>, command: impl IntoIterator<Item = Word>) -> Self {
        Self::new(name, AgentKind::Script, command.into_iter().map(Into::into).collect())
    }

    /// Whether an assistant can be called so: a name goes into commands and tables.
    pub fn is_name(text: &str) -> bool {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        (1..=64).contains(&text.len()) && text.chars().all(is_plain)
    }
}

/// What keeps assistants in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sandbox {
    pub mode: SandboxMode,
    /// Folders that may be read besides what every program needs.
    pub read: Vec<PathBuf>,
    /// Folders that may be written.
    pub write: Vec<PathBuf>,
    /// Variables of ours that are passed on besides the usual ones.
    pub variables: Vec<String>,
    /// Whether a stranger's pull request is worked on where its configuration files cannot be covered.
    pub uncovered_forks: bool,
    /// Our own things outside the home, such as the configuration file: never to be seen.
    pub hidden: Vec<PathBuf>,
}

impl Default for Sandbox {
    fn default() -> Self {
        Self {
            mode: SandboxMode::On,
            read: Vec::new(),
            write: Vec::new(),
            variables: Vec::new(),
            uncovered_forks: false,
            hidden: Vec::new(),
        }
    }
}

words! {
    /// Whether assistants are caged.
    SandboxMode as "mode of the sandbox" {
        /// As well as this system can; what it cannot is said.
        On = "on",
        /// All of it, or nothing runs.
        Required = "required",
        /// Not at all, loudly.
        Off = "off",
    }
}
