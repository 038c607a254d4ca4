//! `hedgerow run`: what assistants did, are doing, and what it took.

use std::time::Duration;

use clap::Subcommand;
use hedgerow_core::assistant::{StepState, Usage};
use hedgerow_core::run::{RunEventKind, RunState};
use hedgerow_engine::Outcome;
use hedgerow_engine::runs::{RunEventView, RunView};
use serde::Serialize;

use super::context::Context;
use crate::output::{BOLD, CYAN, Cell, DIM, GREEN, RED, Style, Table, YELLOW};
use crate::words;

/// Entries of a log that are read at a time.
const PAGE: u32 = 500;

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// The newest runs, newest first; of all codebases unless one is named
    List(List),
    /// One run: who asked, where, what it took, and everything that happened in it
    Show(Show),
}

#[derive(Debug, clap::Args)]
pub(crate) struct List {
    /// How many
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=1000))]
    limit: u32,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Show {
    /// Its id, or the beginning of it
    id: String,
}

pub(super) async fn run(verb: &Verb, context: &Context<'_>) -> Outcome<()> {
    match verb {
        Verb::List(wanted) => list(wanted, context).await,
        Verb::Show(wanted) => show(wanted, context).await,
    }
}

async fn list(wanted: &List, context: &Context<'_>) -> Outcome<()> {
    let codebase = match context.chosen {
        Some(name) => Some(context.engine.require_codebase(name).await?),
        None => None,
    };
    let runs = context.engine.runs(codebase.as_ref(), wanted.limit).await?;
    if context.out.is_json() {
        return context.out.json(&runs);
    }
    if runs.is_empty() {
        context.out.note("nothing was run yet: `hedgerow chat` asks an assistant");
        return Ok(());
    }
    let mut table = Table::new(&["RUN", "STATE", "ASSISTANT", "FOR", "WHERE", "BEGUN", "TOOK", "USED"]);
    for run in &runs {
        table.row(vec![
            Cell::new(run.id.to_string(), DIM),
            Cell::new(run.state.as_str(), style(run.state)),
            run.assistant.as_str().into(),
            run.author.as_str().into(),
            Cell::new(place(run), BOLD),
            words::ago(run.started_at, context.now).into(),
            words::span(Duration::from_secs(run.seconds)).into(),
            Cell::new(used(&run.usage), DIM),
        ]);
    }
    context.out.table(&table);
    Ok(())
}

/// A run with its whole log, as scripts see it.
#[derive(Debug, Serialize)]
struct ShownView {
    #[serde(flatten)]
    run: RunView,
    events: Vec<RunEventView>,
}

async fn show(wanted: &Show, context: &Context<'_>) -> Outcome<()> {
    let run = context.engine.require_run(&wanted.id).await?;
    let mut events: Vec<RunEventView> = Vec::new();
    loop {
        let after = events.last().map_or(0, |event| event.seq);
        let page = context.engine.run_events(run.id, after, PAGE).await?;
        if page.is_empty() {
            break;
        }
        events.extend(page);
    }
    if context.out.is_json() {
        return context.out.json(&ShownView { run, events });
    }
    context.out.table(&head(&run, context));
    for event in events {
        context.out.say(&told(&event));
    }
    Ok(())
}

fn head(run: &RunView, context: &Context<'_>) -> Table {
    let mut table = Table::default();
    table.field("Run", run.id.to_string());
    table.field("State", Cell::new(run.state.as_str(), style(run.state)));
    table.field("Assistant", &run.assistant);
    table.field("For", format!("{} in {}", run.author, run.conversation));
    if let Some(codebase) = &run.codebase {
        table.field("Codebase", codebase);
    }
    if let Some(environment) = &run.environment {
        table.field("Environment", environment);
    }
    table.field("Begun", words::moment(run.started_at, context.now));
    table.field("Took", words::span(Duration::from_secs(run.seconds)));
    if run.usage != Usage::default() {
        table.field("Used", words::used(&run.usage));
    }
    table
}

/// The environment, or what there is instead.
fn place(run: &RunView) -> &str {
    run.environment.as_deref().or(run.codebase.as_deref()).unwrap_or(&run.conversation)
}

fn used(usage: &Usage) -> String {
    if *usage == Usage::default() { String::new() } else { words::used(usage) }
}

const fn style(state: RunState) -> Style {
    match state {
        RunState::Running => CYAN,
        RunState::Done => GREEN,
        RunState::Stopped | RunState::Interrupted => YELLOW,
        RunState::Failed => RED,
    }
}

/// An entry of the log: its time of day, and what it was.
fn told(event: &RunEventView) -> String {
    let at = event.at.to_string();
    let clock = at.get(11..19).unwrap_or(&at);
    let text = event.text.as_deref().unwrap_or_default().trim_end();
    let what = match (event.kind, &event.steps, &event.usage, event.state) {
        (_, Some(steps), _, _) => {
            let done = steps.iter().filter(|step| step.state == StepState::Done).count();
            let active = steps.iter().find(|step| step.state == StepState::Active);
            let now = active.map(|step| format!(", now: {}", step.text)).unwrap_or_default();
            format!("plan: {done} of {} done{now}", steps.len())
        }
        (_, _, Some(usage), _) => format!("used so far: {}", words::used(usage)),
        (_, _, _, Some(state)) if text.is_empty() => format!("{state}"),
        (_, _, _, Some(state)) => format!("{state}: {text}"),
        (RunEventKind::Text, ..) => text.to_owned(),
        (kind, ..) => format!("{kind}: {text}"),
    };
    format!("{clock}  {}", what.replace('\n', "\n          "))
}
