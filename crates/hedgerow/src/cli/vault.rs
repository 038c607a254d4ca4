//! `hedgerow vault`: what is kept of environments whose files are gone.

use std::process::ExitCode;

use clap::Subcommand;
use hedgerow_core::Kind;
use hedgerow_core::saved::Skipped;
use hedgerow_engine::Outcome;
use hedgerow_engine::saved::Verified;
use serde::Serialize;

use super::context::Context;
use crate::output::{BOLD, Cell, DIM, GREEN, RED, Table};
use crate::words;

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Read every saved state through and compare it with its hashes
    Verify(Arguments),
}

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Every file is read and compared with its hash, every object of a pack is unpacked, and the repository is asked for \
the commits that a saved state builds on. `hedgerow env trash` lists what there is.")]
pub(crate) struct Arguments {
    /// Of every codebase
    #[arg(long)]
    all: bool,
}

/// A saved state as scripts see it.
#[derive(Debug, Serialize)]
struct VerifiedView {
    id: String,
    environment: String,
    name: String,
    ok: bool,
    error: Option<String>,
    bytes: u64,
    files: Option<u64>,
    objects: Option<u64>,
    skipped: Vec<Skipped>,
}

impl From<&Verified> for VerifiedView {
    fn from(verified: &Verified) -> Self {
        let account = verified.outcome.as_ref().ok();
        Self {
            id: verified.saved.id.to_string(),
            environment: verified.environment.id.to_string(),
            name: verified.environment.name().to_owned(),
            ok: account.is_some(),
            error: verified.outcome.as_ref().err().map(ToString::to_string),
            bytes: verified.saved.bytes,
            files: account.map(|account| account.files),
            objects: account.map(|account| account.objects),
            skipped: account.map(|account| account.skipped.clone()).unwrap_or_default(),
        }
    }
}

/// Fails when one of them cannot be used.
pub(super) async fn run(verb: &Verb, context: &Context<'_>) -> Outcome<ExitCode> {
    let Verb::Verify(arguments) = verb;
    let codebase = if arguments.all { None } else { Some(context.codebase().await?) };
    let verified = context.engine.verify_saved(codebase.as_ref()).await?;
    if context.out.is_json() {
        context.out.json(&verified.iter().map(VerifiedView::from).collect::<Vec<_>>())?;
    } else {
        tell(context, &verified);
    }
    let is_damaged = verified.iter().any(|verified| verified.outcome.is_err());
    Ok(if is_damaged { ExitCode::from(Kind::Failed.exit_code()) } else { ExitCode::SUCCESS })
}

fn tell(context: &Context<'_>, verified: &[Verified]) {
    let mut table = Table::default();
    for verified in verified {
        let (mark, detail) = match &verified.outcome {
            Ok(account) => (Cell::new("ok", GREEN), words::account(account)),
            Err(error) => (Cell::new("damaged", RED), error.to_string()),
        };
        table.row(vec![
            mark,
            Cell::new(verified.environment.name(), BOLD),
            words::bytes(verified.saved.bytes).into(),
            detail.into(),
            Cell::new(verified.environment.id.short(), DIM),
        ]);
        for skipped in verified.outcome.iter().flat_map(|account| &account.skipped) {
            table.row(vec!["".into(), "".into(), "".into(), format!("without {}", words::skipped(skipped)).into()]);
        }
    }
    context.out.table(&table);
    if verified.is_empty() {
        context.out.note("the vault is empty");
    }
}
