//! `hedgerow env cleanup`: the same sweep the timer runs, asked for by hand.

use std::process::ExitCode;

use clap::ValueEnum;
use hedgerow_core::Kind;
use hedgerow_engine::Outcome;
use hedgerow_engine::engine::{Sweep, Swept, SweptOutcome};

use super::super::context::Context;
use crate::output::{BOLD, Cell, DIM, GREEN, RED, Table, YELLOW};
use crate::words;

#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  hedgerow env cleanup merged --dry-run")]
pub(crate) struct Arguments {
    /// Which ones
    what: What,
    /// Only say what would be removed
    #[arg(long)]
    dry_run: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum What {
    /// Those whose work is in the base
    Merged,
    /// Those without any activity for a while
    Stale,
    /// Worktrees of ours that the database does not know
    Orphans,
}

/// Fails when one of them failed; the rest were swept all the same.
pub(super) async fn run(arguments: &Arguments, context: &Context<'_>) -> Outcome<ExitCode> {
    let codebase = context.codebase().await?;
    let sweep = match arguments.what {
        What::Merged => Sweep::Merged,
        What::Stale => Sweep::Stale,
        What::Orphans => Sweep::Orphans,
    };
    let report = context.engine.cleanup(&codebase, sweep, arguments.dry_run, &context.by).await?;
    if context.out.is_json() {
        context.out.json(&report)?;
    } else {
        tell(context, &report);
    }
    let has_failed = report.iter().any(|swept| swept.outcome == SweptOutcome::Failed);
    Ok(if has_failed { ExitCode::from(Kind::Failed.exit_code()) } else { ExitCode::SUCCESS })
}

fn tell(context: &Context<'_>, report: &[Swept]) {
    let mut table = Table::default();
    for swept in report {
        let style = match swept.outcome {
            SweptOutcome::Removed | SweptOutcome::Forgotten => GREEN,
            SweptOutcome::WouldRemove => YELLOW,
            SweptOutcome::Failed => RED,
            SweptOutcome::Kept | SweptOutcome::Listed => DIM,
        };
        table.row(vec![
            Cell::new(words::swept(swept.outcome), style),
            Cell::new(&swept.name, BOLD),
            swept.because.as_str().into(),
        ]);
    }
    context.out.table(&table);
    context.out.say(&words::sweep_summary(report));
    let mut removed = report.iter().filter(|swept| swept.outcome == SweptOutcome::Removed);
    if let Some(first) = removed.next() {
        let name = if removed.next().is_none() { words::quoted(&first.name) } else { "<name>".to_owned() };
        context.out.say(&format!("Undo: hedgerow env restore {name}"));
    }
}
