//! `hedgerow env trash`: what was removed and can be brought back, from the trash as it was, from the vault rebuilt.

use std::collections::HashMap;
use std::path::Path;

use hedgerow_core::environment::{Trash, TrashedBecause};
use hedgerow_core::{CommitSha, Environment, Timestamp};
use hedgerow_engine::Outcome;
use hedgerow_engine::view::{Look, View};
use serde::Serialize;

use super::super::context::Context;
use crate::output::{BOLD, Cell, DIM, Table};
use crate::words;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "`hedgerow env restore <name>` brings the newest of that name back, `hedgerow env restore <id>` any."
)]
pub(crate) struct Arguments {
    /// Of every codebase
    #[arg(long)]
    all: bool,
}

/// A trashed environment as scripts see it: the environment, and where it lies.
#[derive(Debug, Serialize)]
struct TrashedView<'a> {
    #[serde(flatten)]
    environment: View,
    trash: Option<TrashView<'a>>,
}

#[derive(Debug, Serialize)]
struct TrashView<'a> {
    path: &'a Path,
    at: Timestamp,
    because: TrashedBecause,
    head: Option<&'a CommitSha>,
    branch_deleted: bool,
}

impl<'a> From<&'a Trash> for TrashView<'a> {
    fn from(trash: &'a Trash) -> Self {
        Self {
            path: &trash.path,
            at: trash.at,
            because: trash.because,
            head: trash.head.as_ref(),
            branch_deleted: trash.branch_deleted,
        }
    }
}

/// A saved state as scripts see it: the environment it was, and what is kept.
#[derive(Debug, Serialize)]
struct SavedView {
    #[serde(flatten)]
    environment: View,
    saved: SavedPart,
}

#[derive(Debug, Serialize)]
struct SavedPart {
    id: String,
    at: Timestamp,
    bytes: u64,
    skipped: u64,
}

pub(super) async fn run(arguments: &Arguments, context: &Context<'_>) -> Outcome<()> {
    let codebase = if arguments.all { None } else { Some(context.codebase().await?) };
    let trashed = context.engine.trash(codebase.as_ref()).await?;
    let saved = context.engine.saved(codebase.as_ref()).await?;
    let codebases = match codebase {
        Some(codebase) => vec![codebase],
        None => context.engine.codebases().await?,
    };
    let names: HashMap<_, _> = codebases.iter().map(|codebase| (codebase.id, codebase.name.as_str())).collect();
    let name_of = |id| names.get(&id).copied().unwrap_or_default();
    let mut sizes = Vec::with_capacity(trashed.len());
    for environment in &trashed {
        sizes.push(match &environment.trash {
            Some(trash) => context.engine.size_of(&trash.path).await,
            None => None,
        });
    }
    let view = |environment: &Environment, bytes| {
        let look = Look { disk_bytes: bytes, ..Look::default() };
        View::new(environment, name_of(environment.codebase), look)
    };
    if context.out.is_json() {
        let trashed = trashed.iter().zip(sizes).map(|(environment, bytes)| {
            let trash = environment.trash.as_ref().map(TrashView::from);
            serde_json::to_value(TrashedView { environment: view(environment, bytes), trash })
        });
        let saved = saved.iter().map(|(environment, saved)| {
            let part =
                SavedPart { id: saved.id.to_string(), at: saved.made_at, bytes: saved.bytes, skipped: saved.skipped };
            serde_json::to_value(SavedView { environment: view(environment, None), saved: part })
        });
        let all = trashed.chain(saved).collect::<Result<Vec<_>, _>>().map_err(anyhow::Error::from)?;
        return context.out.json(&all);
    }
    if trashed.is_empty() && saved.is_empty() {
        context.out.note("the trash is empty");
        return Ok(());
    }
    let mut table = Table::new(&["NAME", "BRANCH", "CODEBASE", "WHERE", "BECAUSE", "SIZE", "AGE", "ID"]);
    let mut row =
        |environment: &Environment, place: &str, because: &str, bytes: Option<u64>, since: Option<Timestamp>| {
            table.row(vec![
                Cell::new(environment.name(), BOLD),
                environment.branch.as_str().into(),
                name_of(environment.codebase).into(),
                place.into(),
                because.into(),
                bytes.map(words::bytes).unwrap_or_default().into(),
                Cell::new(since.map(|since| words::age(since, context.now)).unwrap_or_default(), DIM),
                // Several may have one name.
                Cell::new(environment.id.short(), DIM),
            ]);
        };
    for (environment, bytes) in trashed.iter().zip(sizes) {
        let trash = environment.trash.as_ref();
        row(environment, "trash", trash.map_or("", |trash| trash.because.as_str()), bytes, trash.map(|trash| trash.at));
    }
    for (environment, saved) in &saved {
        row(environment, "vault", "purged", Some(saved.bytes), Some(saved.made_at));
    }
    context.out.table(&table);
    Ok(())
}
