//! Looks values up by precedence, checks them, and remembers where each came from.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

use hedgerow_core::UserError;
use hedgerow_engine::Settings;
use hedgerow_engine::settings::Program;
use hedgerow_engine::store::Database;

use super::file::Contents;
use super::keys::{self, Form, Key};
use super::{Entry, GitHubSettings, Given, Origin, Surroundings, checks, refuse, token};
use hedgerow_core::Secret;

pub(super) struct Reader<'a> {
    pub(super) around: &'a Surroundings,
    pub(super) file: Contents,
    pub(super) entries: Vec<Entry>,
}

impl Reader<'_> {
    pub(super) fn given(&self, key: &Key) -> Option<Given> {
        self.around.given(key).or_else(|| self.file.values.get(key.name).cloned())
    }

    pub(super) fn note(&mut self, key: impl Into<String>, value: impl Into<serde_json::Value>, from: Origin) {
        self.entries.push(Entry { key: key.into(), value: value.into(), from });
    }

    pub(super) fn number(&mut self, key: &Key) -> Result<u32, UserError> {
        let Form::Number { least, greatest, default } = key.form else {
            unreachable!("`{}` is not read as a number", key.name)
        };
        let Some(given) = self.given(key) else {
            self.note(key.name, default, Origin::Default);
            return Ok(default);
        };
        let number = checks::number(key, &given, (least, greatest))?;
        self.note(key.name, number, given.origin);
        Ok(number)
    }

    pub(super) fn text<T: fmt::Display>(
        &mut self,
        key: &Key,
        check: fn(&str) -> Result<T, String>,
    ) -> Result<Option<T>, UserError> {
        let Some(given) = self.given(key) else { return Ok(None) };
        let value = checks::text(key, &given, check)?;
        self.note(key.name, value.to_string(), given.origin);
        Ok(Some(value))
    }

    /// A text whose default is the same everywhere.
    pub(super) fn text_or_default<T: fmt::Display>(
        &mut self,
        key: &Key,
        check: fn(&str) -> Result<T, String>,
    ) -> Result<T, UserError> {
        let default = || check(key.default_text().expect("a default is written down")).expect("a default is good");
        Ok(self.text(key, check)?.unwrap_or_else(default))
    }

    pub(super) fn list<T: fmt::Display>(
        &mut self,
        key: &Key,
        check: fn(&str) -> Result<T, String>,
    ) -> Result<Vec<T>, UserError> {
        let (given, origin) = match self.around.given(key) {
            Some(given) => (split(&given), given.origin),
            None => match self.file.lists.get(key.name) {
                Some((given, origin)) => (given.clone(), origin.clone()),
                None => return Ok(Vec::new()),
            },
        };
        let values: Vec<T> = given.iter().map(|given| checks::text(key, given, check)).collect::<Result<_, _>>()?;
        self.note(key.name, values.iter().map(ToString::to_string).collect::<Vec<_>>(), origin);
        Ok(values)
    }

    pub(super) fn path(&mut self, key: &Key) -> Result<Option<PathBuf>, UserError> {
        let Some(given) = self.given(key) else { return Ok(None) };
        let path = checks::path(self.around, key, &given)?;
        self.note(key.name, path.to_string_lossy(), given.origin);
        Ok(Some(path))
    }

    pub(super) fn program(&mut self, key: &Key) -> Result<Option<PathBuf>, UserError> {
        let Some(given) = self.given(key) else { return Ok(None) };
        let program = checks::program(self.around, key, &given)?;
        self.note(key.name, program.to_string_lossy(), given.origin);
        Ok(Some(program))
    }

    pub(super) fn database(&mut self, home: &Path) -> Result<Database, UserError> {
        let key = &keys::DATABASE_URL;
        let (database, origin) = match self.given(key) {
            Some(given) => (checks::database(self.around, key, &given)?, given.origin),
            None => (Database::Sqlite(home.join("hedgerow.db")), Origin::Default),
        };
        self.note(key.name, checks::database_for_people(&database), origin);
        Ok(database)
    }

    /// The token that was set. The one in the home is only told of here; the server reads it, or makes it.
    pub(super) fn token(&mut self, home: &Path) -> Result<Option<Secret>, UserError> {
        let set = self.text(&keys::TOKEN, checks::token)?;
        let kept = token::file(home);
        if set.is_none() && kept.exists() {
            self.note(keys::TOKEN.name, "***", Origin::Kept(kept));
        }
        Ok(set)
    }

    pub(super) fn flag(&mut self, key: &Key) -> Result<bool, UserError> {
        let Form::Flag(default) = key.form else { unreachable!("`{}` is not read as a flag", key.name) };
        let Some(given) = self.given(key) else {
            self.note(key.name, default, Origin::Default);
            return Ok(default);
        };
        let flag = checks::text(key, &given, |text| text.parse().map_err(|_| "must be true or false".to_owned()))?;
        self.note(key.name, flag, given.origin);
        Ok(flag)
    }

    /// A list of folders or files, each as a path.
    pub(super) fn paths(&mut self, key: &Key) -> Result<Vec<PathBuf>, UserError> {
        let Some((parts, origin)) = self.file.lists.get(key.name).cloned() else { return Ok(Vec::new()) };
        let paths: Vec<PathBuf> =
            parts.iter().map(|part| checks::path(self.around, key, part)).collect::<Result<_, _>>()?;
        self.note(key.name, paths.iter().map(|path| path.to_string_lossy().into_owned()).collect::<Vec<_>>(), origin);
        Ok(paths)
    }

    /// The assistant that works where nobody chose one: one of those there are; without a word, the only one, or the
    /// first of those that were found.
    pub(super) fn assistant(&mut self, there_are: &[Program]) -> Result<Option<String>, UserError> {
        let key = &keys::ASSISTANT;
        let are_found = self.entries.iter().any(|entry| entry.from == Origin::Found);
        let Some(given) = self.given(key) else {
            let usual = match there_are {
                [only] => only,
                [first, ..] if are_found => first,
                _ => return Ok(None),
            };
            self.note(key.name, usual.name.clone(), if are_found { Origin::Found } else { Origin::Default });
            return Ok(Some(usual.name.clone()));
        };
        let name = checks::text(key, &given, |text| Ok(text.to_owned()))?;
        if there_are.iter().any(|known| known.name == name) {
            self.note(key.name, name.clone(), given.origin);
            return Ok(Some(name));
        }
        let known: Vec<_> = there_are.iter().map(|known| format!("`{}`", known.name)).collect();
        let hint = match known.as_slice() {
            [] => {
                "there is none yet: a table `[assistants.<name>]` with `command = [\"program\"]` makes one".to_owned()
            }
            known => format!("the assistants are {}", known.join(", ")),
        };
        Err(refuse(key, &given, "must be the name of an assistant in hedgerow.toml").hint(hint))
    }

    /// Every key in the order of the table, those nobody set with their default.
    pub(super) fn finish(mut self, settings: &Settings, github: &GitHubSettings) -> Vec<Entry> {
        for key in keys::ALL {
            // What one assistant could be told besides is for the documentation.
            let is_besides = keys::is_of_an_assistant(key.name) && key.name != keys::ASSISTANT_COMMAND.name;
            if is_besides || self.entries.iter().any(|entry| is_of(entry, key)) {
                continue;
            }
            let default = match key.name {
                "worktrees.base" => Some(settings.worktrees.to_string_lossy().into_owned()),
                "worktrees.branch_prefix" => Some(settings.branch_prefix.clone()),
                "node" => Some(settings.node.clone()),
                "github.url" => Some(github.web_url.clone()),
                _ => key.default_text().map(str::to_owned),
            };
            self.note(key.name, default, Origin::Default);
        }
        self.entries.sort_by_key(|entry| keys::ALL.iter().position(|key| is_of(entry, key)));
        self.entries
    }
}

/// All that is said of assistants stays together.
fn is_of(entry: &Entry, key: &Key) -> bool {
    entry.key == key.name
        || (keys::is_of_an_assistant(key.name) && keys::is_of_an_assistant(&entry.key))
        || (key.name == keys::PRICES.name && entry.key.starts_with("llm.prices."))
}

/// The parts of a variable that holds a list.
fn split(given: &Given) -> Vec<Given> {
    use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};

    let parts = given.value.as_bytes().split(|byte| *byte == b',');
    let part =
        |part: &[u8]| Given { value: OsString::from_vec(part.trim_ascii().to_vec()), origin: given.origin.clone() };
    parts.map(part).collect()
}
