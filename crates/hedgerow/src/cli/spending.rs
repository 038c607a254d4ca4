//! `hedgerow spending`: what went through the model gateway.

use std::process::ExitCode;

use hedgerow_engine::Outcome;
use hedgerow_engine::gateway::SpendingLine;
use hedgerow_engine::gateway::money::Money;

use super::context::Context;
use crate::output::{Cell, DIM, Table};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
What agents used of the models whose keys the server has, by codebase and by person, in the last 24 hours and the last \
30 days. The figures are the gateway's own. An agent that brings its own login is not counted here.")]
pub(super) struct Arguments {}

pub(super) async fn run(context: &Context<'_>) -> Outcome<ExitCode> {
    let spending = context.engine.spending().await?;
    if context.out.is_json() {
        context.out.json(&spending)?;
        return Ok(ExitCode::SUCCESS);
    }
    if spending.people.is_empty() {
        context.out.note("nothing went through the model gateway in the last 30 days");
        return Ok(ExitCode::SUCCESS);
    }
    context.out.table(&table("CODEBASE", &spending.codebases));
    context.out.say("");
    context.out.table(&table("PERSON", &spending.people));
    Ok(ExitCode::SUCCESS)
}

fn table(who: &str, lines: &[SpendingLine]) -> Table {
    let mut table = Table::new(&[who, "24 HOURS", "30 DAYS", "CALLS", "TOKENS IN", "OF THEM CACHED", "OUT"]);
    for line in lines {
        let month = &line.month;
        let name = line.name.as_ref().map_or_else(|| Cell::new("(none)", DIM), |name| name.as_str().into());
        let dollars = [line.day.cost_micros, month.cost_micros].map(|micros| Money::from_micros(micros).to_string());
        let counts = [month.calls, month.input_tokens, month.cached_tokens, month.output_tokens];
        let cells = dollars.into_iter().chain(counts.map(|count| count.to_string())).map(Cell::from);
        table.row([name].into_iter().chain(cells).collect());
    }
    table
}
