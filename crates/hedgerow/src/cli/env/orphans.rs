//! `hedgerow env orphans`: what git knows beside what Hedgerow knows.

use std::path::Path;

use hedgerow_core::{BranchName, CommitSha, Environment, EnvironmentId};
use hedgerow_engine::Outcome;
use hedgerow_engine::engine::Known;
use serde::Serialize;

use super::super::context::Context;
use crate::output::{Cell, DIM, Table, YELLOW};

/// A worktree as scripts see it.
#[derive(Debug, Serialize)]
struct WorktreeView<'a> {
    path: &'a Path,
    branch: Option<&'a BranchName>,
    head: Option<&'a CommitSha>,
    is_main: bool,
    missing: bool,
    locked: Option<&'a str>,
    known: bool,
    environment: Option<&'a str>,
    environment_id: Option<EnvironmentId>,
}

impl<'a> WorktreeView<'a> {
    fn new(known: &'a Known) -> Self {
        let Known { found, environment } = known;
        Self {
            path: &found.path,
            branch: found.branch.as_ref(),
            head: found.head.as_ref(),
            is_main: found.is_main,
            missing: found.missing,
            locked: found.locked.as_deref(),
            known: environment.is_some(),
            environment: environment.as_ref().map(Environment::name),
            environment_id: environment.as_ref().map(|environment| environment.id),
        }
    }
}

pub(super) async fn run(context: &Context<'_>) -> Outcome<()> {
    let codebase = context.codebase().await?;
    let worktrees = context.engine.worktrees(&codebase).await?;
    if context.out.is_json() {
        return context.out.json(&worktrees.iter().map(WorktreeView::new).collect::<Vec<_>>());
    }
    let mut table = Table::new(&["PATH", "BRANCH", "ENVIRONMENT", ""]);
    for Known { found, environment } in &worktrees {
        let branch = match (&found.branch, &found.head) {
            (Some(branch), _) => branch.to_string(),
            (None, Some(head)) => format!("detached at {}", head.short()),
            (None, None) => String::new(),
        };
        let owner = match environment {
            Some(environment) => environment.name().into(),
            None if found.is_main => Cell::new("main checkout", DIM),
            None if found.marker.is_some() => Cell::new("orphan: ours, but without a record", YELLOW),
            None => Cell::new("unknown to Hedgerow", YELLOW),
        };
        let missing = if found.missing { Cell::new("gone from disk", YELLOW) } else { "".into() };
        table.row(vec![found.path.to_string_lossy().into(), branch.into(), owner, missing]);
    }
    context.out.table(&table);
    Ok(())
}
