//! What a message that begins with `/` asks for.
//!
//! The same in every chat, and without looking anything up: whether a codebase, an environment or a prompt template
//! of that name exists is for the engine to say.

mod help;
mod words;

use std::fmt;

pub use help::{COMMANDS, Help, help, nearest, nearest_of, present};

use crate::branch::BranchName;
use crate::work::Work;
use words::Word;

/// What is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    Help,
    Status,
    Clone { url: String, name: Option<String> },
    Repos,
    Repo { name: String },
    RepoRemove { name: String },
    SetCwd { subfolder: String },
    GetCwd,
    Assistant { name: Option<String> },
    Reset,
    Stop,
    Undo,
    Worktree(Worktree),
    Commands,
    CommandSet { name: String, path: String },
    LoadCommands { folder: String },
}

/// What is asked for with `/worktree`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Worktree {
    Create {
        branch: BranchName,
        base: Option<BranchName>,
    },
    List,
    /// Without a name: the current one.
    Remove {
        name: Option<String>,
        force: bool,
    },
    Restore {
        name: Option<String>,
    },
    /// The written form of a work, such as `issue-42`; the store knows which environment has it.
    Link {
        work: String,
    },
    Cleanup {
        what: CleanupWhat,
        dry_run: bool,
    },
    Orphans,
    Keep,
    Unkeep,
    Setup,
    Diff,
    Sync,
    Merge(MergeStyle),
    Abort,
    Pr,
}

crate::words! {
    /// What `/worktree cleanup` looks for.
    CleanupWhat as "kind of cleanup" {
        Merged = "merged",
        Stale = "stale",
        Orphans = "orphans",
    }
}

crate::words! {
    /// How an environment's branch goes into the base.
    MergeStyle as "way to merge" {
        Merge = "merge",
        Squash = "squash",
        Rebase = "rebase",
    }
}

/// What a message is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Parsed {
    NotACommand,
    Command(Command),
    /// None of ours: a prompt template of the codebase, if it has one of that name. If not, [`nearest`] helps.
    Template {
        name: String,
        /// Everything after the name, as it was written.
        args: String,
    },
    /// Nothing that could be a command.
    Unknown {
        /// Without the slash.
        typed: String,
        nearest: Option<&'static str>,
    },
    /// One of ours, wrongly used.
    Wrong {
        usage: &'static str,
        why: String,
    },
}

/// Reads a message.
pub fn parse(text: &str) -> Parsed {
    let Some(text) = text.trim().strip_prefix('/') else { return Parsed::NotACommand };
    let (word, rest) = text.split_at(text.find(char::is_whitespace).unwrap_or(text.len()));
    // In a Telegram group a command is addressed: `/status@hedgerow_bot`.
    let word = word.split_once('@').map_or(word, |(command, _)| command);
    let mut name = word.to_lowercase();
    let mut rest = rest.trim_start();
    if name == "worktree" {
        let (sub, after) = rest.split_at(rest.find(char::is_whitespace).unwrap_or(rest.len()));
        if sub.is_empty() {
            return Parsed::Wrong { usage: help::WORKTREE, why: "it needs to know what to do".to_owned() };
        }
        name = format!("worktree {}", sub.to_lowercase());
        rest = after;
    }
    if COMMANDS.iter().any(|help| help.name() == name) {
        return match words::split(rest) {
            Ok(words) => Arguments { words }.command(&name),
            Err(words::UnclosedQuote) => Err("a quote is not closed".to_owned()),
        }
        .map_or_else(|why| Parsed::Wrong { usage: help::usage(&name), why }, Parsed::Command);
    }
    if is_template_name(word) && !name.starts_with("worktree ") {
        return Parsed::Template { name: word.to_owned(), args: rest.to_owned() };
    }
    Parsed::Unknown { nearest: nearest(&name), typed: name }
}

/// Whether a message is answered at once, past those that wait: it stops the run it would wait for, or only looks.
pub fn is_urgent(text: &str) -> bool {
    let Parsed::Command(command) = parse(text) else { return false };
    matches!(
        command,
        Command::Help
            | Command::Status
            | Command::Repos
            | Command::GetCwd
            | Command::Stop
            | Command::Commands
            | Command::Worktree(Worktree::List | Worktree::Orphans | Worktree::Diff)
    )
}

/// Whether a prompt template can be called so: nothing else of that name, and nothing that would not be read as one.
pub fn can_name_template(name: &str) -> bool {
    is_template_name(name) && !is_command(name)
}

/// Whether a command begins with this word, in whatever case it is typed.
fn is_command(word: &str) -> bool {
    let word = word.to_lowercase();
    COMMANDS.iter().any(|help| help.name().split(' ').next() == Some(&word))
}

/// Letters, digits, `-`, `_`, `.` and `:`, beginning with a letter or digit.
fn is_template_name(word: &str) -> bool {
    word.starts_with(char::is_alphanumeric) && word.chars().all(|c| c.is_alphanumeric() || "-_.:".contains(c))
}

/// The arguments of a prompt template one by one, for `$1` to `$9`. A quote that is never closed is a character
/// like any other, for templates take plain sentences.
pub fn template_words(args: &str) -> Vec<String> {
    match words::split(args) {
        Ok(words) => words.into_iter().map(|word| word.text).collect(),
        Err(words::UnclosedQuote) => args.split_whitespace().map(str::to_owned).collect(),
    }
}

/// What follows the name of a command, taken away piece by piece. What is left in the end is too much.
struct Arguments {
    words: Vec<Word>,
}

impl Arguments {
    /// The command of this name, which is one of the table's.
    fn command(mut self, name: &str) -> Result<Command, String> {
        let command = match name {
            "help" => Command::Help,
            "status" => Command::Status,
            "clone" => Command::Clone { url: self.required("a URL")?, name: self.optional()? },
            "repos" => Command::Repos,
            "repo" => Command::Repo { name: self.required("the name of a codebase")? },
            "repo-remove" => Command::RepoRemove { name: self.required("the name of a codebase")? },
            "setcwd" => Command::SetCwd { subfolder: self.required("a subfolder")? },
            "getcwd" => Command::GetCwd,
            "assistant" => Command::Assistant { name: self.optional()? },
            "reset" => Command::Reset,
            "stop" => Command::Stop,
            "undo" => Command::Undo,
            "commands" => Command::Commands,
            "command-set" => Command::CommandSet { name: self.template_name()?, path: self.required("a path")? },
            "load-commands" => Command::LoadCommands { folder: self.required("a folder")? },
            _ => Command::Worktree(self.worktree(name.trim_start_matches("worktree "))?),
        };
        self.nothing_left()?;
        Ok(command)
    }

    fn worktree(&mut self, name: &str) -> Result<Worktree, String> {
        Ok(match name {
            "create" => {
                // The option goes first: its value would otherwise be taken for the branch.
                let base = self.value("base")?.map(|base| branch(&base)).transpose()?;
                Worktree::Create { branch: branch(&self.required("a branch")?)?, base }
            }
            "list" => Worktree::List,
            "remove" => Worktree::Remove { force: self.flag("force"), name: self.optional()? },
            "restore" => Worktree::Restore { name: self.optional()? },
            "link" => Worktree::Link { work: written_work(&self.required(WORKS)?)? },
            "cleanup" => {
                let dry_run = self.flag("dry-run");
                let what = self.required("`merged`, `stale` or `orphans`")?.to_lowercase();
                let what = what.parse().map_err(|_| format!("`{what}` is none of `merged`, `stale`, `orphans`"))?;
                Worktree::Cleanup { what, dry_run }
            }
            "orphans" => Worktree::Orphans,
            "keep" => Worktree::Keep,
            "unkeep" => Worktree::Unkeep,
            "setup" => Worktree::Setup,
            "diff" => Worktree::Diff,
            "sync" => Worktree::Sync,
            "merge" => match (self.flag("squash"), self.flag("rebase")) {
                (true, true) => return Err("`--squash` and `--rebase` exclude each other".to_owned()),
                (true, false) => Worktree::Merge(MergeStyle::Squash),
                (false, true) => Worktree::Merge(MergeStyle::Rebase),
                (false, false) => Worktree::Merge(MergeStyle::Merge),
            },
            "abort" => Worktree::Abort,
            "pr" => Worktree::Pr,
            other => return Err(format!("there is no `{other}`")),
        })
    }

    /// Whether `--name` is there.
    fn flag(&mut self, name: &str) -> bool {
        let before = self.words.len();
        self.words.retain(|word| !words::option(word).is_some_and(|option| option.eq_ignore_ascii_case(name)));
        self.words.len() < before
    }

    /// The value of `--name value` or `--name=value`.
    fn value(&mut self, name: &str) -> Result<Option<String>, String> {
        let named = |word: &Word| {
            words::option(word).is_some_and(|option| option.split('=').next().unwrap_or("").eq_ignore_ascii_case(name))
        };
        let Some(at) = self.words.iter().position(named) else { return Ok(None) };
        let option = self.words.remove(at);
        if let Some((_, value)) = option.text.split_once('=') {
            return Ok(Some(value.to_owned()));
        }
        match self.words.get(at) {
            Some(word) if words::option(word).is_none() => Ok(Some(self.words.remove(at).text)),
            _ => Err(format!("`--{name}` needs a value")),
        }
    }

    /// The next word that is no option.
    fn optional(&mut self) -> Result<Option<String>, String> {
        let Some(at) = self.words.iter().position(|word| words::option(word).is_none()) else { return Ok(None) };
        let text = self.words.remove(at).text;
        if text.is_empty() { Err("an argument is empty".to_owned()) } else { Ok(Some(text)) }
    }

    fn required(&mut self, what: &str) -> Result<String, String> {
        self.optional()?.ok_or_else(|| format!("it needs {what}"))
    }

    fn template_name(&mut self) -> Result<String, String> {
        let name = self.required("a name")?;
        if is_command(&name) {
            return Err(format!("`/{}` is a command already", name.to_lowercase()));
        }
        if is_template_name(&name) { Ok(name) } else { Err(format!("`{name}` cannot be the name of a template")) }
    }

    fn nothing_left(&self) -> Result<(), String> {
        let Some(word) = self.words.first() else { return Ok(()) };
        match words::option(word) {
            Some(_) => Err(format!("it has no option `{}`", word.text)),
            None => Err(format!("`{}` is too much", word.text)),
        }
    }
}

fn branch(text: &str) -> Result<BranchName, String> {
    BranchName::parse(text).map_err(|bad| bad.to_string())
}

const WORKS: &str = "a work: `issue-42`, `pr-99`, `review-99`, `thread-…` or `task-…`";

/// The written form of a work, its kind in lower case.
fn written_work(text: &str) -> Result<String, String> {
    let unknown = || format!("`{text}` is not {WORKS}");
    let (kind, id) = text.split_once('-').ok_or_else(unknown)?;
    let kind = kind.to_lowercase();
    // A thread's written form is a hash and not its id, so only the shape of it is checked here.
    Work::from_parts(&kind, id).map_err(|_| unknown())?;
    Ok(format!("{kind}-{id}"))
}

impl fmt::Display for Command {
    /// As a person would type it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use words::write as word;
        match self {
            Self::Help => f.write_str("/help"),
            Self::Status => f.write_str("/status"),
            Self::Clone { url, name: None } => write!(f, "/clone {}", word(url)),
            Self::Clone { url, name: Some(name) } => write!(f, "/clone {} {}", word(url), word(name)),
            Self::Repos => f.write_str("/repos"),
            Self::Repo { name } => write!(f, "/repo {}", word(name)),
            Self::RepoRemove { name } => write!(f, "/repo-remove {}", word(name)),
            Self::SetCwd { subfolder } => write!(f, "/setcwd {}", word(subfolder)),
            Self::GetCwd => f.write_str("/getcwd"),
            Self::Assistant { name: Some(name) } => write!(f, "/assistant {}", word(name)),
            Self::Assistant { name: None } => f.write_str("/assistant"),
            Self::Reset => f.write_str("/reset"),
            Self::Stop => f.write_str("/stop"),
            Self::Undo => f.write_str("/undo"),
            Self::Worktree(worktree) => write!(f, "/worktree {worktree}"),
            Self::Commands => f.write_str("/commands"),
            Self::CommandSet { name, path } => write!(f, "/command-set {} {}", word(name), word(path)),
            Self::LoadCommands { folder } => write!(f, "/load-commands {}", word(folder)),
        }
    }
}

impl fmt::Display for Worktree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use words::write as word;
        let named = |name: &Option<String>| name.as_ref().map(|name| format!(" {}", word(name))).unwrap_or_default();
        match self {
            Self::Create { branch, base: None } => write!(f, "create {}", word(branch.as_str())),
            Self::Create { branch, base: Some(base) } => {
                write!(f, "create {} --base {}", word(branch.as_str()), word(base.as_str()))
            }
            Self::List => f.write_str("list"),
            Self::Remove { name, force } => {
                write!(f, "remove{}{}", named(name), if *force { " --force" } else { "" })
            }
            Self::Restore { name } => write!(f, "restore{}", named(name)),
            Self::Link { work } => write!(f, "link {}", word(work)),
            Self::Cleanup { what, dry_run } => {
                write!(f, "cleanup {what}{}", if *dry_run { " --dry-run" } else { "" })
            }
            Self::Orphans => f.write_str("orphans"),
            Self::Keep => f.write_str("keep"),
            Self::Unkeep => f.write_str("unkeep"),
            Self::Setup => f.write_str("setup"),
            Self::Diff => f.write_str("diff"),
            Self::Sync => f.write_str("sync"),
            Self::Merge(MergeStyle::Merge) => f.write_str("merge"),
            Self::Merge(style) => write!(f, "merge --{style}"),
            Self::Abort => f.write_str("abort"),
            Self::Pr => f.write_str("pr"),
        }
    }
}
