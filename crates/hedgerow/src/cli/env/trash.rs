//! `hedgerow env trash`.

use std::collections::HashMap;
use std::path::Path;

use hedgerow_core::environment::{Trash, TrashedBecause};
use hedgerow_core::{CommitSha, Timestamp};
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

pub(super) async fn run(arguments: &Arguments, context: &Context<'_>) -> Outcome<()> {
    let codebase = if arguments.all { None } else { Some(context.codebase().await?) };
    let trashed = context.engine.trash(codebase.as_ref()).await?;
    let codebases = match codebase {
        Some(codebase) => vec![codebase],
        None => context.engine.codebases().await?,
    };
    let names: HashMap<_, _> = codebases.iter().map(|codebase| (codebase.id, codebase.name.as_str())).collect();
    let name_of = |id| names.get(&id).copied().unwrap_or_default();
    if context.out.is_json() {
        let views = trashed.iter().map(|environment| TrashedView {
            environment: View::new(environment, name_of(environment.codebase), Look::default()),
            trash: environment.trash.as_ref().map(TrashView::from),
        });
        return context.out.json(&views.collect::<Vec<_>>());
    }
    if trashed.is_empty() {
        context.out.note("the trash is empty");
        return Ok(());
    }
    let mut table = Table::new(&["NAME", "BRANCH", "CODEBASE", "BECAUSE", "AGE", "ID"]);
    for environment in &trashed {
        let because = environment.trash.as_ref().map_or("", |trash| trash.because.as_str());
        let age = environment.trash.as_ref().map(|trash| words::age(trash.at, context.now)).unwrap_or_default();
        table.row(vec![
            Cell::new(environment.name(), BOLD),
            environment.branch.as_str().into(),
            name_of(environment.codebase).into(),
            because.into(),
            Cell::new(age, DIM),
            // Several may have one name.
            Cell::new(environment.id.short(), DIM),
        ]);
    }
    context.out.table(&table);
    Ok(())
}
