//! `hedgerow env undo`: back to a checkpoint. The answer ends with the command that undoes the undo.

use std::path::{Path, PathBuf};

use hedgerow_core::checkpoint::{Kept, KeptBecause};
use hedgerow_core::{BranchName, CommitSha, Environment};
use hedgerow_engine::Outcome;
use hedgerow_engine::checkpoints::Undone;
use serde::Serialize;

use super::super::context::Context;
use crate::words;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Without --to, takes back what changed between the newest checkpoint and the one before it: the last turn. What was \
changed since stays and is listed. With --to, everything since that checkpoint goes back. The state of now is saved \
first. Files that git ignores are never touched.")]
pub(crate) struct Arguments {
    /// Its work (`issue-42`), branch, path, or the beginning of its id; without one, the environment you are in
    name: Option<String>,
    /// The checkpoint to go back to; see `hedgerow env checkpoints`
    #[arg(long, value_name = "NUMBER")]
    to: Option<u64>,
}

/// An undo as scripts see it.
#[derive(Debug, Serialize)]
struct UndoneView<'a> {
    to: u64,
    before: u64,
    restored: Vec<String>,
    deleted: Vec<String>,
    kept: Vec<KeptView>,
    staged: u64,
    head: Option<HeadView<'a>>,
    operation: bool,
    undo: String,
}

#[derive(Debug, Serialize)]
struct KeptView {
    path: String,
    because: KeptBecause,
}

#[derive(Debug, Serialize)]
struct HeadView<'a> {
    from: Option<&'a CommitSha>,
    to: &'a CommitSha,
    branch: Option<&'a str>,
}

/// Bytes of a name that are no text become marks, as everywhere in JSON.
fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

impl<'a> UndoneView<'a> {
    fn new(undone: &'a Undone, undo: String) -> Self {
        let rewound = &undone.rewound;
        let texts = |paths: &[PathBuf]| paths.iter().map(|path| text(path)).collect();
        let kept = |kept: &Kept| KeptView { path: text(&kept.path), because: kept.because };
        let head = rewound.head.as_ref().map(|head| HeadView {
            from: head.from.as_ref(),
            to: &head.to,
            branch: head.branch.as_ref().map(BranchName::as_str),
        });
        Self {
            to: undone.to.number,
            before: undone.before.number,
            restored: texts(&rewound.restored),
            deleted: texts(&rewound.deleted),
            kept: rewound.kept.iter().map(kept).collect(),
            staged: rewound.staged,
            head,
            operation: rewound.operation,
            undo,
        }
    }
}

pub(super) async fn run(arguments: &Arguments, context: &Context<'_>) -> Outcome<()> {
    let codebase = context.codebase().await?;
    let environment = context.environment(&codebase, arguments.name.as_deref()).await?;
    let undone = context.engine.undo(&environment, arguments.to, &context.by).await?;
    let undo = command(&environment, &undone, context.chosen);
    if context.out.is_json() {
        return context.out.json(&UndoneView::new(&undone, undo));
    }
    context.out.say(&words::undone(&environment, &undone).join("\n"));
    context.out.say(&format!("Undo: {undo}"));
    Ok(())
}

/// The command that undoes the undo.
fn command(environment: &Environment, undone: &Undone, codebase: Option<&str>) -> String {
    let command = format!("hedgerow env undo {} --to {}", words::quoted(environment.name()), undone.before.number);
    match codebase {
        Some(name) => format!("{command} --codebase {}", words::quoted(name)),
        None => command,
    }
}
