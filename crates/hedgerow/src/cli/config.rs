//! `hedgerow config`: the settings in effect, and where each came from. Opens nothing but the file.

use std::path::Path;
use std::process::ExitCode;

use clap::Subcommand;
use hedgerow_engine::Outcome;
use serde_json::Value;

use crate::output::{Cell, DIM, Output, Table};
use crate::settings::{self, Surroundings};

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

pub(super) fn run(wanted: &Arguments, out: &Output, around: &Surroundings, home: Option<&Path>) -> Outcome<ExitCode> {
    match wanted.verb.unwrap_or(Verb::Show) {
        Verb::Show => show(out, around, home)?,
        Verb::Path => path(out, around, home)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn show(out: &Output, around: &Surroundings, home: Option<&Path>) -> Outcome<()> {
    let entries = settings::read(around, home)?.entries;
    if out.is_json() {
        return out.json(&entries);
    }
    let mut table = Table::new(&["KEY", "VALUE", "FROM"]);
    for entry in &entries {
        let value = match &entry.value {
            Value::Null => Cell::new("(not set)", DIM),
            Value::String(text) if text.is_empty() => Cell::new("(empty)", DIM),
            Value::String(text) => text.into(),
            other => other.to_string().into(),
        };
        table.row(vec![entry.key.into(), value, Cell::new(entry.from.to_string(), DIM)]);
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
