//! `hedgerow env list`.

use hedgerow_core::State;
use hedgerow_engine::Outcome;
use hedgerow_engine::engine::Detail;
use hedgerow_engine::view::View;

use super::super::context::Context;
use crate::output::{BOLD, Cell, DIM, GREEN, RED, Table, YELLOW};
use crate::words;

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Of every codebase
    #[arg(long)]
    all: bool,
    /// Also whether it is merged, whether it conflicts with its base, and its size on disk; slower
    #[arg(long)]
    full: bool,
    /// Only the names, one on each line
    #[arg(long, conflicts_with_all = ["full", "json"])]
    names: bool,
}

pub(super) async fn run(arguments: &Arguments, context: &Context<'_>) -> Outcome<()> {
    let codebase = if arguments.all { None } else { Some(context.codebase().await?) };
    let detail = match (arguments.names, arguments.full) {
        (true, _) => Detail::Row,
        (_, true) => Detail::Full,
        _ => Detail::Status,
    };
    let views = context.engine.list(codebase.as_ref(), detail).await?;
    if context.out.is_json() {
        return context.out.json(&views);
    }
    if arguments.names {
        for view in &views {
            context.out.value(words::name(view).as_ref());
        }
        return Ok(());
    }
    if views.is_empty() {
        context.out.note("no environments yet; `hedgerow env create issue 42` makes one");
        return Ok(());
    }
    let mut table = Table::new(&head(arguments));
    for view in &views {
        table.row(cells(arguments, context, view));
    }
    context.out.table(&table);
    Ok(())
}

fn head(arguments: &Arguments) -> Vec<&'static str> {
    let mut head = if arguments.all { vec!["CODEBASE"] } else { Vec::new() };
    head.extend(["NAME", "BRANCH", "STATE", "CHANGES", "COMMITS"]);
    if arguments.full {
        head.extend(["MERGED", "SIZE"]);
    }
    head.extend(["LAST ACTIVE", ""]);
    head
}

fn cells(arguments: &Arguments, context: &Context<'_>, view: &View) -> Vec<Cell> {
    let mut cells: Vec<Cell> = if arguments.all { vec![view.codebase.as_str().into()] } else { Vec::new() };
    let name = if view.works.is_empty() { view.branch.to_string() } else { view.works.join(", ") };
    cells.push(Cell::new(name, BOLD));
    cells.push(view.branch.as_str().into());
    cells.push(state(view));
    cells.push(changes(view));
    cells.push(words::distance(view.ahead, view.behind).into());
    if arguments.full {
        cells.push(merged(view));
        cells.push(view.disk_bytes.map(words::bytes).unwrap_or_default().into());
    }
    cells.push(Cell::new(words::age(view.last_activity_at, context.now), DIM));
    cells.push(if context.is_here(view) { Cell::new("← active", GREEN) } else { "".into() });
    cells
}

fn state(view: &View) -> Cell {
    let marks = [(view.pinned, "kept"), (view.adopted, "adopted")];
    let marks: Vec<_> = marks.iter().filter(|(is, _)| *is).map(|(_, word)| *word).collect();
    let text = if marks.is_empty() { view.state.to_string() } else { format!("{} ({})", view.state, marks.join(", ")) };
    let style = match view.state {
        State::Active => GREEN,
        State::Failed | State::Broken => RED,
        _ => YELLOW,
    };
    Cell::new(text, style)
}

fn changes(view: &View) -> Cell {
    match &view.condition {
        Some(condition) if view.dirty == Some(false) => Cell::new(words::changes(condition), DIM),
        Some(condition) => Cell::new(words::changes(condition), YELLOW),
        None => "".into(),
    }
}

fn merged(view: &View) -> Cell {
    let conflicts = if view.conflicts == Some(true) { ", conflicts" } else { "" };
    let text = format!("{}{conflicts}", view.merged.unwrap_or_default());
    let is_merged = view.verdict.as_ref().is_some_and(hedgerow_core::merged::Verdict::is_merged);
    Cell::new(text, if is_merged { GREEN } else { clap::builder::styling::Style::new() })
}
