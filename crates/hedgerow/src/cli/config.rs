//! `hedgerow config`: the settings in effect, and where each came from.
//!
//! It has to work when nothing else does, so it opens nothing but the file, unless there is a store to ask which
//! codebase is meant.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use clap::Subcommand;
use hedgerow_engine::repository_config::{self, RepositoryConfig};
use hedgerow_engine::store::Database;
use hedgerow_engine::{Engine, Outcome, Settings, SystemClock};
use serde_json::Value;

use super::Global;
use crate::output::{Cell, DIM, Output, Table};
use crate::settings::{self, Entry, Origin, Surroundings};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    verb: Option<Verb>,
}

#[derive(Debug, Clone, Copy, Subcommand)]
enum Verb {
    /// Every setting, its value and where it came from; secrets are hidden. Also without a verb
    Show,
    /// The path of hedgerow.toml, whether or not it is there
    Path,
}

pub(super) fn run(wanted: &Arguments, out: &Output, around: &Surroundings, global: &Global) -> Outcome<ExitCode> {
    match wanted.verb.unwrap_or(Verb::Show) {
        Verb::Show => show(out, around, global)?,
        Verb::Path => path(out, around, global.home.as_deref())?,
    }
    Ok(ExitCode::SUCCESS)
}

fn show(out: &Output, around: &Surroundings, global: &Global) -> Outcome<()> {
    let read = settings::read(around, global.home.as_deref())?;
    let mut entries = read.entries;
    match (&global.codebase, &around.here) {
        (Some(name), _) => entries = with_repository(entries, ask(read.settings, Asked::Name(name))?),
        (None, Some(here)) if may_be_registered(here, &read.settings) => {
            match ask(read.settings, Asked::Folder(here)) {
                Ok(config) => entries = with_repository(entries, config),
                // The machine's settings are above all what is asked for when the rest is broken.
                Err(failure) => out.note(&format!("the repository's own settings cannot be shown: {failure}")),
            }
        }
        (None, _) => {}
    }
    print(out, &entries)
}

/// Which codebase is meant.
#[derive(Clone, Copy)]
enum Asked<'a> {
    Name(&'a str),
    Folder(&'a Path),
}

/// Whether it is worth opening the store to find out: it is there, and the folder is in a repository.
fn may_be_registered(here: &Path, settings: &Settings) -> bool {
    let has_store = match &settings.database {
        Database::Sqlite(file) => file.exists(),
        Database::Postgres(_) => true,
    };
    has_store && here.ancestors().any(|folder| folder.join(".git").exists())
}

/// What the codebase's repository says itself; the default for a folder of none.
fn ask(settings: Settings, asked: Asked<'_>) -> Outcome<RepositoryConfig> {
    let runtime = tokio::runtime::Runtime::new().map_err(anyhow::Error::from)?;
    runtime.block_on(async {
        let engine = Engine::open(settings, Arc::new(SystemClock)).await?;
        let codebase = match asked {
            Asked::Name(name) => engine.require_codebase(name).await.map(Some),
            Asked::Folder(folder) => engine.known_codebase_at(folder).await,
        };
        let config = match codebase {
            Ok(Some(codebase)) => engine.repository_config(&codebase).await,
            Ok(None) => Ok(RepositoryConfig::default()),
            Err(failure) => Err(failure),
        };
        engine.close().await;
        config
    })
}

/// The settings with what a repository says in their place, and what only a repository can say behind them.
fn with_repository(mut entries: Vec<Entry>, config: RepositoryConfig) -> Vec<Entry> {
    let Some(base) = config.from else { return entries };
    let minutes = |time: std::time::Duration| Value::from(time.as_secs() / 60);
    let commands = config.commands.iter().map(|path| Value::from(path.to_string_lossy())).collect::<Vec<_>>();
    let said = [
        (repository_config::ASSISTANT, config.assistant.map(Value::from)),
        (repository_config::RUN_TIMEOUT, config.run_timeout.map(minutes)),
        (repository_config::IDLE_TIMEOUT, config.idle_timeout.map(minutes)),
        (repository_config::COMMANDS, (!commands.is_empty()).then(|| Value::from(commands))),
    ];
    for (key, value) in said.into_iter().filter_map(|(key, value)| Some((key, value?))) {
        let entry = Entry { key: key.to_owned(), value, from: Origin::Repository(base.to_string()) };
        match entries.iter_mut().find(|known| known.key == key) {
            Some(known) => *known = entry,
            None => entries.push(entry),
        }
    }
    entries
}

fn print(out: &Output, entries: &[Entry]) -> Outcome<()> {
    if out.is_json() {
        return out.json(&entries);
    }
    let mut table = Table::new(&["KEY", "VALUE", "FROM"]);
    for entry in entries {
        let value = match &entry.value {
            Value::Null => Cell::new("(not set)", DIM),
            Value::String(text) if text.is_empty() => Cell::new("(empty)", DIM),
            Value::String(text) => text.into(),
            Value::Array(parts) if parts.is_empty() => Cell::new("(none)", DIM),
            other => other.to_string().into(),
        };
        table.row(vec![entry.key.as_str().into(), value, Cell::new(entry.from.to_string(), DIM)]);
    }
    out.table(&table);
    Ok(())
}

fn path(out: &Output, around: &Surroundings, home: Option<&Path>) -> Outcome<()> {
    let file = settings::home(around, home)?.file;
    if out.is_json() {
        return out.json(&serde_json::json!({"path": file.to_string_lossy(), "exists": file.exists()}));
    }
    out.value(file.as_os_str());
    Ok(())
}
