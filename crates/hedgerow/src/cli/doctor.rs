//! `hedgerow doctor`: what is wrong on this machine. Answers even when the engine cannot be opened.

use std::process::ExitCode;

use clap::Args;
use hedgerow_engine::engine::{Finding, Level};
use hedgerow_engine::{Failure, Outcome};
use hedgerow_platforms::github::checkup::{Found, Standing};

use super::context::{Context, hosted};
use crate::output::{Cell, GREEN, Output, RED, Table, YELLOW};
use crate::settings::Server;
use crate::words;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  hedgerow doctor          look, change nothing
  hedgerow doctor --fix    put right what can be without you, and say what is left

Nothing that anybody made is deleted or moved by --fix.

Exit status: 0 no problem (warnings do not count), 1 a problem is left.")]
pub(super) struct Arguments {
    /// Put right what needs no person, then look again
    #[arg(long)]
    fix: bool,
}

pub(super) async fn run(arguments: &Arguments, context: &Context<'_>, server: &Server) -> Outcome<ExitCode> {
    let mut findings = if arguments.fix { context.engine.fix().await? } else { context.engine.doctor().await? };
    if let Some(github) = &server.github.door {
        let repositories = hosted(&context.engine, github.as_ref()).await?;
        let repositories: Vec<_> = repositories.into_iter().map(|(repository, _)| repository).collect();
        findings.extend(Box::pin(github.checkup(&repositories)).await.into_iter().map(finding));
    }
    report(&findings, context.out)
}

fn finding(found: Found) -> Finding {
    let hint = found.hint.unwrap_or_default();
    match found.standing {
        Standing::Fine => Finding::fine(found.what, found.detail),
        Standing::Warning => Finding::warning(found.what, found.detail, hint),
        Standing::Problem => Finding::problem(found.what, found.detail, hint),
    }
}

pub(super) fn cannot_start(failure: &Failure, out: &Output) -> Outcome<ExitCode> {
    let (detail, hints) = words::failure(failure);
    let mut finding = Finding::problem("start", detail.replace('\n', " "), hints.join("; "));
    finding.hint = finding.hint.filter(|hint| !hint.is_empty());
    report(&[finding], out)
}

/// Fails when there is a problem that is not put right; warnings are only said.
fn report(findings: &[Finding], out: &Output) -> Outcome<ExitCode> {
    if out.is_json() {
        out.json(&findings)?;
    } else {
        tell(findings, out);
    }
    let has_problem = findings.iter().any(|finding| finding.level == Level::Problem && !finding.fixed);
    Ok(if has_problem { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn tell(findings: &[Finding], out: &Output) {
    let mut table = Table::default();
    for finding in findings {
        let mark = match finding.level {
            _ if finding.fixed => Cell::new("fixed", GREEN),
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
