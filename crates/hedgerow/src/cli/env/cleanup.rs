//! `hedgerow env cleanup`: what the timer does, asked for by hand, by cron, or for as long as this stays open.

use std::process::ExitCode;

use clap::ValueEnum;
use hedgerow_core::environment::Actor;
use hedgerow_core::{Kind, UserError};
use hedgerow_engine::engine::{Round, Sweep, Swept, SweptOutcome};
use hedgerow_engine::{Clock as _, Outcome, SystemClock, timer};

use super::super::context::Context;
use super::super::signals::Signals;
use crate::output::{BOLD, Cell, DIM, GREEN, RED, Table, YELLOW};
use crate::words;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Without a word it does for this codebase all that the timer would do: merged, stale, gone, half-made, orphans.

Examples:
  hedgerow env cleanup --dry-run          what would go, and why the rest stays
  hedgerow env cleanup merged             only what is in the base already
  hedgerow env cleanup --due              a line for cron: a round of all codebases, if it is time")]
#[expect(clippy::struct_excessive_bools, reason = "flags of a command line; those that exclude each other say so")]
pub(crate) struct Arguments {
    /// Only one kind
    what: Option<What>,
    /// Only say what would be removed
    #[arg(long)]
    dry_run: bool,
    /// A whole round: all codebases of this machine, then the trash
    #[arg(long, conflicts_with = "what")]
    all: bool,
    /// A whole round if one is due (see `cleanup.every_hours`), else nothing
    #[arg(long, conflicts_with_all = ["what", "all"])]
    due: bool,
    /// Stay, and do each round when it is due, until Ctrl-C
    #[arg(long, conflicts_with_all = ["what", "all", "due", "dry_run"])]
    pub(super) watch: bool,
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
    let engine = &context.engine;
    if arguments.watch {
        return watch(context).await;
    }
    if arguments.due {
        return due(arguments.dry_run, context).await;
    }
    if arguments.all {
        let round = engine.tick(arguments.dry_run, &context.by).await?;
        if context.out.is_json() {
            context.out.json(&round)?;
        } else {
            tell_round(context, &round);
        }
        return Ok(status(round.lines()));
    }
    let codebase = context.codebase().await?;
    let sweep = match arguments.what {
        None => Sweep::Scheduled,
        Some(What::Merged) => Sweep::Merged,
        Some(What::Stale) => Sweep::Stale,
        Some(What::Orphans) => Sweep::Orphans,
    };
    let report = engine.cleanup(&codebase, sweep, arguments.dry_run, &context.by).await?;
    if context.out.is_json() {
        context.out.json(&report)?;
    } else {
        tell(context, &report);
    }
    Ok(status(&report))
}

/// For cron: what is not due yet is no failure.
async fn due(dry_run: bool, context: &Context<'_>) -> Outcome<ExitCode> {
    let engine = &context.engine;
    let round = if dry_run {
        let is_due = engine.next_round_at().await?.is_some_and(|at| at <= SystemClock.now());
        if is_due { Some(engine.tick(true, &Actor::automation()).await?) } else { None }
    } else {
        engine.run_if_due().await?
    };
    let next_at = engine.next_round_at().await?;
    if context.out.is_json() {
        context.out.json(&serde_json::json!({"round": round, "next_at": next_at}))?;
    } else if let Some(round) = &round {
        tell_round(context, round);
    } else {
        context.out.say(&words::not_due(next_at, SystemClock.now()));
    }
    Ok(round.map_or(ExitCode::SUCCESS, |round| status(round.lines())))
}

/// The timer itself, in the foreground. Being stopped is how it ends.
async fn watch(context: &Context<'_>) -> Outcome<ExitCode> {
    let mut signals = Signals::listen()?;
    if context.engine.next_round_at().await?.is_none() {
        let error = UserError::new(Kind::Usage, "scheduled cleanup is switched off");
        return Err(error.hint("`cleanup.every_hours` (CLEANUP_INTERVAL_HOURS) says how often it is done").into());
    }
    let mut written = Ok(());
    let told = |round: Round| {
        if !context.out.is_json() {
            context.out.say(&words::round_began(&round));
            tell_round(context, &round);
        } else if let Err(error) = context.out.json(&round) {
            written = Err(error);
        }
    };
    let stopped = async { _ = signals.next().await };
    timer::run(&context.engine, stopped, told).await;
    written.map(|()| ExitCode::SUCCESS)
}

fn status<'a>(report: impl IntoIterator<Item = &'a Swept>) -> ExitCode {
    let has_failed = report.into_iter().any(|swept| swept.outcome == SweptOutcome::Failed);
    if has_failed { ExitCode::from(Kind::Failed.exit_code()) } else { ExitCode::SUCCESS }
}

fn tell(context: &Context<'_>, report: &[Swept]) {
    let mut table = Table::default();
    for swept in report {
        table.row(row(None, swept));
    }
    context.out.table(&table);
    context.out.say(&words::sweep_summary(report));
    let removed = report.iter().map(|swept| (context.chosen, swept));
    tell_undo(context, removed);
}

fn tell_round(context: &Context<'_>, round: &Round) {
    let mut table = Table::default();
    let lines =
        || round.codebases.iter().flat_map(|tidied| tidied.report.iter().map(|swept| (&tidied.codebase, swept)));
    for (codebase, swept) in lines() {
        table.row(row(Some(codebase), swept));
    }
    if let Some(why) = &round.away {
        context.out.note(why);
    }
    context.out.table(&table);
    context.out.say(&words::sweep_summary(round.lines()));
    context.out.say(&words::round_summary(round));
    tell_undo(context, lines().map(|(codebase, swept)| (Some(codebase.as_str()), swept)));
}

fn row(codebase: Option<&str>, swept: &Swept) -> Vec<Cell> {
    let style = match swept.outcome {
        SweptOutcome::Removed | SweptOutcome::Forgotten | SweptOutcome::Purged | SweptOutcome::Expired => GREEN,
        SweptOutcome::WouldRemove | SweptOutcome::WouldPurge | SweptOutcome::WouldExpire | SweptOutcome::TakenOver => {
            YELLOW
        }
        SweptOutcome::Failed => RED,
        SweptOutcome::Kept | SweptOutcome::Listed => DIM,
    };
    let outcome = Cell::new(words::swept(swept.outcome), style);
    let name = Cell::new(&swept.name, BOLD);
    let codebase = codebase.map(Cell::from);
    [Some(outcome), codebase, Some(name), Some(swept.because.as_str().into())].into_iter().flatten().collect()
}

/// The commands that bring back what was removed, one by one unless they are many.
fn tell_undo<'a>(context: &Context<'_>, report: impl Iterator<Item = (Option<&'a str>, &'a Swept)>) {
    const MOST: usize = 5;
    let can_return = |outcome| matches!(outcome, SweptOutcome::Removed | SweptOutcome::Purged);
    let removed: Vec<_> = report.filter(|(_, swept)| can_return(swept.outcome)).collect();
    if removed.len() > MOST {
        context.out.say("Undo: hedgerow env restore <name>");
        return;
    }
    for (codebase, swept) in removed {
        context.out.say(&format!("Undo: {}", words::restore_command(&swept.name, codebase)));
    }
}
