//! Every setting that can be given: its key in `hedgerow.toml`, its environment variable, its default and its range.
//!
//! The table in `docs/configuration.md` is this list with words; a test holds the two together.

use hedgerow_engine::settings::RUN_MINUTES;

use Unset::{Is, Means};

/// One setting.
#[derive(Debug)]
pub(super) struct Key {
    /// The key in the file, with its table.
    pub(super) name: &'static str,
    pub(super) variable: Option<&'static str>,
    pub(super) form: Form,
    /// Never shown, and never kept longer than it takes to read it.
    pub(super) is_secret: bool,
}

/// What kind of value a setting has.
#[derive(Debug, Clone, Copy)]
pub(super) enum Form {
    Number {
        least: u32,
        greatest: u32,
        default: u32,
    },
    Text(Unset),
    /// In the file a list, in a variable separated by commas.
    List(Unset),
    Flag(bool),
    /// Only in the file.
    Table(Unset),
}

/// What holds where nobody gave a value.
#[derive(Debug, Clone, Copy)]
pub(super) enum Unset {
    /// This very value.
    Is(&'static str),
    /// Something that depends on the machine, or nothing; in the words of the documentation.
    Means(#[cfg_attr(not(test), expect(dead_code, reason = "the documentation is compared with it"))] &'static str),
}

impl Key {
    const fn new(name: &'static str, form: Form) -> Self {
        Self { name, variable: None, form, is_secret: false }
    }

    const fn text(name: &'static str, unset: Unset) -> Self {
        Self::new(name, Form::Text(unset))
    }

    const fn list(name: &'static str, unset: Unset) -> Self {
        Self::new(name, Form::List(unset))
    }

    const fn table(name: &'static str, unset: Unset) -> Self {
        Self::new(name, Form::Table(unset))
    }

    const fn number(name: &'static str, (least, greatest): (u32, u32), default: u32) -> Self {
        Self::new(name, Form::Number { least, greatest, default })
    }

    const fn variable(self, variable: &'static str) -> Self {
        Self { variable: Some(variable), ..self }
    }

    const fn secret(self) -> Self {
        Self { is_secret: true, ..self }
    }

    /// The value that holds where nobody gave one, if it is the same everywhere.
    pub(super) const fn default_text(&self) -> Option<&'static str> {
        match self.form {
            Form::Text(Is(text)) | Form::List(Is(text)) | Form::Table(Is(text)) => Some(text),
            _ => None,
        }
    }
}

/// Most days that anything is kept or waited for: a century.
const DAYS: u32 = 36_500;

/// The home is not a key of the file: the file is in it.
pub(super) const HOME: Key = Key::text("home", Means("`~/.hedgerow`")).variable("HEDGEROW_HOME");

pub(super) const DATABASE_URL: Key =
    Key::text("database_url", Means("a SQLite file in the home")).variable("DATABASE_URL").secret();
pub(super) const LISTEN: Key = Key::text("listen", Is("127.0.0.1:4747")).variable("HEDGEROW_LISTEN");
pub(super) const TOKEN: Key =
    Key::text("token", Means("the one in `<home>/token`")).variable("HEDGEROW_TOKEN").secret();
pub(super) const BOT_NAME: Key = Key::text("bot_name", Is("hedgerow")).variable("HEDGEROW_BOT_NAME");
pub(super) const ADMINS: Key = Key::list("admins", Means("nobody")).variable("HEDGEROW_ADMINS");
pub(super) const ASSISTANT: Key =
    Key::text("assistant", Means("the only one there is, or the first that is found")).variable("HEDGEROW_ASSISTANT");
/// What comes now is of each assistant; `<name>` stands for what it is called.
pub(super) const ASSISTANT_KIND: Key = Key::text("assistants.<name>.kind", Means("by the program's name"));
pub(super) const ASSISTANT_COMMAND: Key = Key::list("assistants.<name>.command", Means("what is found"));
pub(super) const ASSISTANT_MODEL: Key = Key::text("assistants.<name>.model", Means("the agent's own"));
pub(super) const ASSISTANT_PERMISSIONS: Key =
    Key::text("assistants.<name>.permissions", Means("all that the sandbox allows"));
pub(super) const ASSISTANT_MAX_TURNS: Key = Key::text("assistants.<name>.max_turns", Means("no limit"));
pub(super) const ASSISTANT_INSTRUCTIONS: Key = Key::text("assistants.<name>.instructions", Means("none"));
pub(super) const ASSISTANT_MCP_SERVERS: Key = Key::table("assistants.<name>.mcp_servers", Means("none"));
pub(super) const ASSISTANT_VARIABLES: Key = Key::table("assistants.<name>.variables", Means("none")).secret();
pub(super) const ASSISTANT_BELONGINGS: Key = Key::list("assistants.<name>.belongings", Means("none"));
pub(super) const SANDBOX_MODE: Key = Key::text("sandbox.mode", Is("on"));
pub(super) const SANDBOX_READ: Key = Key::list("sandbox.read", Means("none"));
pub(super) const SANDBOX_WRITE: Key = Key::list("sandbox.write", Means("none"));
pub(super) const SANDBOX_VARIABLES: Key = Key::list("sandbox.variables", Means("none"));
pub(super) const SANDBOX_UNCOVERED_FORKS: Key = Key::new("sandbox.uncovered_forks", Form::Flag(false));
pub(super) const MAX_CONCURRENT: Key = Key::number("run.max_concurrent", (1, 1000), 10).variable("MAX_CONCURRENT_RUNS");
pub(super) const RUN_TIMEOUT: Key = Key::number("run.timeout_minutes", RUN_MINUTES, 60);
pub(super) const IDLE_TIMEOUT: Key = Key::number("run.idle_timeout_minutes", RUN_MINUTES, 10);
pub(super) const LEASE_SECONDS: Key = Key::number("run.lease_seconds", (5, 3600), 60);
pub(super) const QUEUE_LIMIT: Key = Key::number("queue.limit", (1, 1_000_000), 10_000);
pub(super) const RETENTION_DAYS: Key = Key::number("retention_days", (30, DAYS), 90);
pub(super) const WORKTREES_BASE: Key =
    Key::text("worktrees.base", Means("`<home>/worktrees`")).variable("WORKTREE_BASE");
pub(super) const MAX_PER_CODEBASE: Key =
    Key::number("worktrees.max_per_codebase", (0, 10_000), 25).variable("MAX_WORKTREES_PER_CODEBASE");
pub(super) const BRANCH_PREFIX: Key = Key::text("worktrees.branch_prefix", Means("none"));
/// Where GitHub and those like it publish the head of a pull request.
pub(super) const PULL_REF: Key = Key::text("worktrees.pull_ref", Is("refs/pull/{number}/head"));
pub(super) const STALE_AFTER_DAYS: Key =
    Key::number("cleanup.stale_after_days", (1, DAYS), 14).variable("STALE_THRESHOLD_DAYS");
pub(super) const CLEANUP_EVERY_HOURS: Key =
    Key::number("cleanup.every_hours", (0, 8760), 6).variable("CLEANUP_INTERVAL_HOURS");
pub(super) const TRASH_KEEP_DAYS: Key = Key::number("trash.keep_days", (0, DAYS), 7);
pub(super) const LOW_SPACE_PERCENT: Key = Key::number("trash.low_space_percent", (0, 90), 5);
pub(super) const VAULT_KEEP_DAYS: Key = Key::number("vault.keep_days", (1, DAYS), 30);
pub(super) const ANTHROPIC_KEY: Key =
    Key::text("llm.anthropic_key", Means("none")).variable("HEDGEROW_ANTHROPIC_KEY").secret();
pub(super) const ANTHROPIC_URL: Key = Key::text("llm.anthropic_url", Is("https://api.anthropic.com"));
pub(super) const OPENAI_KEY: Key = Key::text("llm.openai_key", Means("none")).variable("HEDGEROW_OPENAI_KEY").secret();
pub(super) const OPENAI_URL: Key = Key::text("llm.openai_url", Is("https://api.openai.com"));
pub(super) const GEMINI_KEY: Key = Key::text("llm.gemini_key", Means("none")).variable("HEDGEROW_GEMINI_KEY").secret();
pub(super) const GEMINI_URL: Key = Key::text("llm.gemini_url", Is("https://generativelanguage.googleapis.com"));
pub(super) const BUDGET_RUN: Key = Key::text("llm.budget.run", Means("no limit"));
pub(super) const BUDGET_CODEBASE: Key = Key::text("llm.budget.codebase_day", Means("no limit"));
pub(super) const BUDGET_PERSON: Key = Key::text("llm.budget.person_day", Means("no limit"));
/// One for each model; `<model>` stands for the beginning of its name.
pub(super) const PRICES: Key = Key::text("llm.prices.<model>", Means("of well-known models"));
pub(super) const GITHUB_TOKEN: Key = Key::text("github.token", Means("none")).variable("GITHUB_TOKEN").secret();
pub(super) const GITHUB_APP_ID: Key = Key::text("github.app_id", Means("none")).variable("GITHUB_APP_ID");
pub(super) const GITHUB_PRIVATE_KEY_FILE: Key =
    Key::text("github.private_key_file", Means("none")).variable("GITHUB_PRIVATE_KEY_FILE");
pub(super) const GITHUB_WEBHOOK_SECRETS: Key =
    Key::list("github.webhook_secrets", Means("none")).variable("GITHUB_WEBHOOK_SECRET").secret();
pub(super) const GITHUB_API_URL: Key =
    Key::text("github.api_url", Is("https://api.github.com")).variable("GITHUB_API_URL");
pub(super) const GITHUB_URL: Key = Key::text("github.url", Means("by the API's address")).variable("GITHUB_URL");
pub(super) const GITHUB_ALLOW: Key =
    Key::list("github.allow", Means("who may write to the repository")).variable("GITHUB_ALLOW");
pub(super) const GITHUB_CLONE: Key = Key::new("github.clone", Form::Flag(true));
pub(super) const GITHUB_LOOK_MINUTES: Key = Key::number("github.look_minutes", (0, 1440), 15);
pub(super) const REMOTE: Key = Key::text("remote", Means("`origin`, else the only one"));
pub(super) const BASE_BRANCH: Key = Key::text("base_branch", Means("the remote's HEAD, else the repository's"));
pub(super) const ALLOWED_ROOT: Key = Key::text("allowed_root", Means("anywhere")).variable("ALLOWED_ROOT_DIRECTORY");
pub(super) const NODE: Key = Key::text("node", Means("the host's name")).variable("HEDGEROW_NODE");
pub(super) const GIT: Key = Key::text("git", Is("git"));
pub(super) const GIT_NAME: Key = Key::text("git_name", Means("your own in git, else `Hedgerow`"));
pub(super) const GIT_EMAIL: Key = Key::text("git_email", Means("your own in git, else `hedgerow@localhost`"));

/// In the order they are shown.
pub(super) const ALL: &[&Key] = &[
    &DATABASE_URL,
    &LISTEN,
    &TOKEN,
    &BOT_NAME,
    &ADMINS,
    &ASSISTANT,
    &ASSISTANT_KIND,
    &ASSISTANT_COMMAND,
    &ASSISTANT_MODEL,
    &ASSISTANT_PERMISSIONS,
    &ASSISTANT_MAX_TURNS,
    &ASSISTANT_INSTRUCTIONS,
    &ASSISTANT_MCP_SERVERS,
    &ASSISTANT_VARIABLES,
    &ASSISTANT_BELONGINGS,
    &SANDBOX_MODE,
    &SANDBOX_READ,
    &SANDBOX_WRITE,
    &SANDBOX_VARIABLES,
    &SANDBOX_UNCOVERED_FORKS,
    &MAX_CONCURRENT,
    &RUN_TIMEOUT,
    &IDLE_TIMEOUT,
    &LEASE_SECONDS,
    &QUEUE_LIMIT,
    &RETENTION_DAYS,
    &WORKTREES_BASE,
    &MAX_PER_CODEBASE,
    &BRANCH_PREFIX,
    &PULL_REF,
    &STALE_AFTER_DAYS,
    &CLEANUP_EVERY_HOURS,
    &TRASH_KEEP_DAYS,
    &LOW_SPACE_PERCENT,
    &VAULT_KEEP_DAYS,
    &ANTHROPIC_KEY,
    &ANTHROPIC_URL,
    &OPENAI_KEY,
    &OPENAI_URL,
    &GEMINI_KEY,
    &GEMINI_URL,
    &BUDGET_RUN,
    &BUDGET_CODEBASE,
    &BUDGET_PERSON,
    &PRICES,
    &GITHUB_TOKEN,
    &GITHUB_APP_ID,
    &GITHUB_PRIVATE_KEY_FILE,
    &GITHUB_WEBHOOK_SECRETS,
    &GITHUB_API_URL,
    &GITHUB_URL,
    &GITHUB_ALLOW,
    &GITHUB_CLONE,
    &GITHUB_LOOK_MINUTES,
    &REMOTE,
    &BASE_BRANCH,
    &ALLOWED_ROOT,
    &NODE,
    &GIT,
    &GIT_NAME,
    &GIT_EMAIL,
];

/// Whether it is one of those that each assistant has.
pub(super) fn is_of_an_assistant(name: &str) -> bool {
    name.starts_with("assistants.")
}

/// The home and every key of the file.
pub(super) fn all() -> impl Iterator<Item = &'static Key> {
    [&HOME].into_iter().chain(ALL.iter().copied())
}
