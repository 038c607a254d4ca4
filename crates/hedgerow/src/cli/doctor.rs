//! `hedgerow doctor`: what is wrong on this machine. Answers even when the engine cannot be opened.

use std::process::ExitCode;

use hedgerow_engine::engine::{Finding, Level};
use hedgerow_engine::{Failure, Outcome};

use super::context::Context;
use crate::output::{Cell, GREEN, Output, RED, Table, YELLOW};
use crate::words;

pub(super) async fn run(context: &Context<'_>) -> Outcome<ExitCode> {
    report(&context.engine.doctor().await?, context.out)
}

pub(super) fn cannot_start(failure: &Failure, out: &Output) -> Outcome<ExitCode> {
    let (detail, hints) = words::failure(failure);
    let hint = (!hints.is_empty()).then(|| hints.join("; "));
    let detail = detail.replace('\n', " ");
    report(&[Finding { what: "start".to_owned(), level: Level::Problem, detail, hint }], out)
}

/// Fails when there is a problem; warnings are only said.
fn report(findings: &[Finding], out: &Output) -> Outcome<ExitCode> {
    if out.is_json() {
        out.json(&findings)?;
    } else {
        tell(findings, out);
    }
    let has_problem = findings.iter().any(|finding| finding.level == Level::Problem);
    Ok(if has_problem { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn tell(findings: &[Finding], out: &Output) {
    let mut table = Table::default();
    for finding in findings {
        let mark = match finding.level {
            Level::Fine => Cell::new("ok", GREEN),
            Level::Warning => Cell::new("warning", YELLOW),
            Level::Problem => Cell::new("problem", RED),
        };
        table.row(vec![mark, finding.what.as_str().into(), finding.detail.as_str().into()]);
        if let Some(hint) = &finding.hint {
            table.row(vec!["".into(), "".into(), format!("hint: {hint}").into()]);
        }
    }
    out.table(&table);
}
