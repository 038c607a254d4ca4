//! What an undo did, line by line.

use std::path::{Path, PathBuf};

use hedgerow_core::Environment;
use hedgerow_core::checkpoint::{HeadMove, KeptBecause};

use super::plural;
use crate::checkpoints::Undone;

/// More names than this are counted.
const MOST: usize = 20;

/// The first line sums up, the others name each path: what went back, and what did not and why.
pub fn undone(environment: &Environment, undone: &Undone) -> Vec<String> {
    let (name, number, rewound) = (environment.name(), undone.to.number, &undone.rewound);
    let mut lines = vec![if rewound.is_nothing() {
        format!("Nothing in `{name}` had to go back to checkpoint {number}")
    } else {
        format!("Took `{name}` back to checkpoint {number}")
    }];
    lines.extend(rewound.head.as_ref().map(head));
    if rewound.operation {
        lines.push("  what git had in progress is as it was then".to_owned());
    }
    let named = |word: &'static str, paths: &[PathBuf]| -> Vec<String> {
        paths.iter().map(|path| format!("  {word} {}", shown(path))).collect()
    };
    lines.extend(some([named("restored", &rewound.restored), named("deleted", &rewound.deleted)].concat()));
    if rewound.staged > 0 {
        lines.push(format!("  {} in the index", plural(rewound.staged, "path")));
    }
    let kept = rewound.kept.iter().map(|kept| format!("  kept {}: {}", shown(&kept.path), because(kept.because)));
    lines.extend(some(kept.collect()));
    lines
}

fn head(head: &HeadMove) -> String {
    let from = head.from.as_ref().map_or("no commit", |from| from.short());
    match &head.branch {
        Some(branch) => format!("  `{branch}` from {from} to {}", head.to.short()),
        None => format!("  HEAD from {from} to {}, on no branch", head.to.short()),
    }
}

const fn because(because: KeptBecause) -> &'static str {
    match because {
        KeptBecause::Changed => "it was changed since",
        KeptBecause::Ignored => "git ignores it",
        KeptBecause::InTheWay => "something else is in its place",
        KeptBecause::Repository => "it is a repository of its own",
    }
}

fn some(mut lines: Vec<String>) -> Vec<String> {
    let more = lines.len().saturating_sub(MOST);
    if more > 0 {
        lines.truncate(MOST);
        lines.push(format!("  and {more} more"));
    }
    lines
}

/// A name on one line, whatever it holds: a line end in it must not begin a line of ours.
fn shown(path: &Path) -> String {
    let text = path.to_string_lossy();
    if text.chars().any(char::is_control) { format!("{text:?}") } else { text.into_owned() }
}
