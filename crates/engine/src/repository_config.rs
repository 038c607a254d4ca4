//! `.hedgerow/config.toml`: what a repository says about how it wants to be worked on.
//!
//! It is read from the base commit, so that neither a pull request nor a run can change it, and it can only narrow what
//! the machine's owner allows: choose among the assistants there are, and shorten the timeouts. It names no program.

use std::path::{Path, PathBuf};
use std::time::Duration;

use hedgerow_core::{Codebase, Kind, UserError};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::base_files::{BaseCommit, is_inside};
use crate::engine::Engine;
use crate::failure::Outcome;
use crate::settings::{Program, RUN_MINUTES};

/// Where it is in a repository.
pub const FILE: &str = ".hedgerow/config.toml";
/// Longer than anything a person writes.
const MOST_BYTES: usize = 64 << 10;
const MOST_COMMANDS: usize = 50;

pub const ASSISTANT: &str = "assistant";
pub const RUN_TIMEOUT: &str = "run.timeout_minutes";
pub const IDLE_TIMEOUT: &str = "run.idle_timeout_minutes";
pub const COMMANDS: &str = "commands";
/// Every key there is.
pub const KEYS: [&str; 4] = [ASSISTANT, RUN_TIMEOUT, IDLE_TIMEOUT, COMMANDS];

/// The repository's own wishes, checked. The default is what holds without such a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RepositoryConfig {
    /// The assistant to work here, by name; whether there is one of that name is for whoever starts it to say.
    pub assistant: Option<String>,
    /// Longest run; never longer than the machine's own.
    pub run_timeout: Option<Duration>,
    /// Longest silence of an assistant; never longer than the machine's own.
    pub idle_timeout: Option<Duration>,
    /// Folders or files of prompt templates, as paths in the repository.
    pub commands: Vec<PathBuf>,
    /// Where it was read; `None` when there is no such file.
    pub from: Option<BaseCommit>,
}

impl Engine {
    /// What the repository says at its base commit, as last fetched.
    pub async fn repository_config(&self, codebase: &Codebase) -> Outcome<RepositoryConfig> {
        let at_base = self.at_base(codebase).await?;
        let bytes = at_base.file(Path::new(FILE), MOST_BYTES).await?;
        let (Some(bytes), Some(base)) = (bytes, at_base.base) else { return Ok(RepositoryConfig::default()) };
        let wished = parse(&bytes, &base)?;
        let runs = &self.settings.runs;
        Ok(RepositoryConfig {
            run_timeout: wished.run_timeout.map(|wish| wish.min(runs.timeout)),
            idle_timeout: wished.idle_timeout.map(|wish| wish.min(runs.idle_timeout)),
            from: Some(base),
            ..wished
        })
    }
}

fn parse(bytes: &[u8], base: &BaseCommit) -> Result<RepositoryConfig, UserError> {
    let fix = "correct it on the base branch; it counts as soon as that is fetched";
    let text = std::str::from_utf8(bytes)
        .map_err(|_| UserError::new(Kind::Usage, format!("{FILE} at {base} is not UTF-8")).hint(fix))?;
    let mut walk = Walk { text, base, config: RepositoryConfig::default() };
    let table = DeTable::parse(text).map_err(|error| {
        let line = walk.line(error.span().map_or(0, |span| span.start));
        UserError::new(Kind::Usage, format!("{FILE} at {base} is not valid TOML, line {line}: {}", error.message()))
            .hint(fix)
    })?;
    walk.table("", table.get_ref()).map_err(|error| error.hint(fix))?;
    Ok(walk.config)
}

struct Walk<'a> {
    text: &'a str,
    base: &'a BaseCommit,
    config: RepositoryConfig,
}

impl Walk<'_> {
    fn line(&self, offset: usize) -> usize {
        self.text.bytes().take(offset).filter(|byte| *byte == b'\n').count() + 1
    }

    fn table(&mut self, prefix: &str, table: &DeTable<'_>) -> Result<(), UserError> {
        for (key, value) in table {
            let name = format!("{prefix}{}", key.get_ref());
            match (name.as_str(), value.get_ref()) {
                ("run", DeValue::Table(inner)) => self.table("run.", inner)?,
                ("run", _) => return Err(self.refuse("run", value, "must be a table")),
                (ASSISTANT, _) => self.config.assistant = Some(self.assistant(value)?),
                (RUN_TIMEOUT, _) => self.config.run_timeout = Some(self.minutes(RUN_TIMEOUT, value)?),
                (IDLE_TIMEOUT, _) => self.config.idle_timeout = Some(self.minutes(IDLE_TIMEOUT, value)?),
                (COMMANDS, _) => self.config.commands = self.commands(value)?,
                _ => return Err(self.unknown(&name, self.line(key.span().start))),
            }
        }
        Ok(())
    }

    fn assistant(&self, value: &Spanned<DeValue<'_>>) -> Result<String, UserError> {
        let name = value.get_ref().as_str().filter(|name| Program::is_name(name));
        let must = "must be the name of an assistant: letters, digits, `-` and `_`";
        name.map(str::to_owned).ok_or_else(|| self.refuse(ASSISTANT, value, must))
    }

    fn minutes(&self, key: &str, value: &Spanned<DeValue<'_>>) -> Result<Duration, UserError> {
        let (least, greatest) = RUN_MINUTES;
        let number = value.get_ref().as_integer();
        let number = number.and_then(|number| u32::from_str_radix(number.as_str(), number.radix()).ok());
        match number.filter(|number| (least..=greatest).contains(number)) {
            Some(minutes) => Ok(Duration::from_mins(minutes.into())),
            None => Err(self.refuse(key, value, &format!("must be a whole number from {least} to {greatest}"))),
        }
    }

    fn commands(&self, value: &Spanned<DeValue<'_>>) -> Result<Vec<PathBuf>, UserError> {
        let must = format!("must be a list of at most {MOST_COMMANDS} paths inside the repository");
        let list = value.get_ref().as_array().filter(|list| list.len() <= MOST_COMMANDS);
        let list = list.ok_or_else(|| self.refuse(COMMANDS, value, &must))?;
        let path = |entry: &Spanned<DeValue<'_>>| {
            let path = entry.get_ref().as_str().map(Path::new).filter(|path| is_inside(path));
            path.map(Path::to_owned).ok_or_else(|| self.refuse(COMMANDS, entry, &must))
        };
        list.iter().map(path).collect()
    }

    fn refuse(&self, key: &str, value: &Spanned<DeValue<'_>>, must: &str) -> UserError {
        let line = self.line(value.span().start);
        let shown = shortened(&self.text[value.span()]);
        UserError::new(Kind::Usage, format!("`{key}` {must}, not `{shown}` ({FILE} at {}, line {line})", self.base))
    }

    fn unknown(&self, name: &str, line: usize) -> UserError {
        let message = format!("unknown key `{}` ({FILE} at {}, line {line})", shortened(name), self.base);
        let known = KEYS.map(|key| format!("`{key}`")).join(", ");
        UserError::new(Kind::Usage, message)
            .hint(format!("a repository's keys are {known}; everything else is in hedgerow.toml"))
    }
}

/// What anybody may have written, made fit for a line of an answer.
fn shortened(text: &str) -> String {
    let mut shown: String = text.chars().take(60).flat_map(char::escape_debug).collect();
    if text.chars().nth(60).is_some() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use hedgerow_core::{BranchName, CommitSha};

    use super::*;

    fn read(text: &str) -> Result<RepositoryConfig, UserError> {
        let commit = CommitSha::parse(&"a".repeat(40)).expect("a sha");
        parse(text.as_bytes(), &BaseCommit { branch: BranchName::parse("main").ok(), commit })
    }

    #[test]
    fn every_key_is_read() {
        let text = "assistant = \"claude\"\ncommands = [\".hedgerow/commands\", \"docs/a.md\"]\n\
                    [run]\ntimeout_minutes = 0x10\nidle_timeout_minutes = 2\n";
        let expected = RepositoryConfig {
            assistant: Some("claude".to_owned()),
            run_timeout: Some(Duration::from_mins(16)),
            idle_timeout: Some(Duration::from_mins(2)),
            commands: vec![".hedgerow/commands".into(), "docs/a.md".into()],
            from: None,
        };
        assert_eq!(read(text).expect("all good"), expected);
        assert_eq!(read("").expect("nothing is good too"), RepositoryConfig::default());
    }

    #[test]
    fn what_cannot_be_right_is_refused_with_its_key_and_line() {
        let too_many = format!("commands = [{}]", "\"a\", ".repeat(MOST_COMMANDS + 1));
        let cases = [
            ("assistant = 5", "assistant", 1),
            ("assistant = \"\"", "assistant", 1),
            ("assistant = \"/bin/sh -c\"", "assistant", 1),
            ("[run]\ntimeout_minutes = 0", "run.timeout_minutes", 2),
            ("[run]\ntimeout_minutes = 1441", "run.timeout_minutes", 2),
            ("[run]\n\ntimeout_minutes = -1", "run.timeout_minutes", 3),
            ("[run]\ntimeout_minutes = \"5\"", "run.timeout_minutes", 2),
            ("run.idle_timeout_minutes = 1.5", "run.idle_timeout_minutes", 1),
            ("run.idle_timeout_minutes = 99999999999999999999", "run.idle_timeout_minutes", 1),
            ("run = 5", "run", 1),
            ("commands = \"a\"", "commands", 1),
            ("commands = [\n\"a\",\n5]", "commands", 3),
            ("commands = [\"../x\"]", "commands", 1),
            ("commands = [\"/etc\"]", "commands", 1),
            (&too_many, "commands", 1),
            ("\nasistant = \"a\"", "asistant", 2),
            ("git = \"/tmp/evil\"", "git", 1),
            ("[run]\nlease_seconds = 5", "run.lease_seconds", 2),
            ("[assistants.evil]\ncommand = [\"sh\"]", "assistants", 1),
        ];
        for (text, key, line) in cases {
            let error = read(text).expect_err(text);
            assert_eq!(error.kind, Kind::Usage);
            let (key, place) = (format!("`{key}`"), format!("(.hedgerow/config.toml at main (aaaaaaa), line {line})"));
            assert!(error.message.contains(&key) && error.message.ends_with(&place), "{text}: {error}");
        }
        let error = read("assistant = \"a\"\nrun = = 3").expect_err("no TOML");
        assert!(error.message.contains("line 2"), "{error}");
    }

    #[test]
    fn a_refusal_is_one_short_line_whatever_was_written() {
        let error = read(&format!("assistant = \"\"\"\n\u{202e}{}\"\"\"", "x".repeat(9000))).expect_err("no name");
        assert!(error.message.len() < 400 && !error.message.contains(['\n', '\u{202e}']), "{error:?}");
        let error = read(&format!("\"{}\" = 1", "\\n".repeat(9000))).expect_err("no key");
        assert!(error.message.len() < 400 && !error.message.contains('\n'), "{error:?}");
    }
}
