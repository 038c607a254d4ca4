//! Checkpoints and undo: a kill changes nothing that was there, and the next try gets there.

use std::fs;

use hedgerow_core::Environment;

use super::act::Act;
use super::converge::{again, row};
use super::kept::{Holding, Kept};
use super::run::Runner;
use super::stage::Stage;
use crate::repo::write;
use crate::tokens::nothing_collected;
use crate::world::alice;

pub(super) async fn converges(runner: &Runner, stage: &mut Stage, act: Act, violations: &mut Vec<String>) {
    let Some(environment) = row(stage).await else {
        violations.push("the environment is gone".to_owned());
        return;
    };
    if !(act == Act::Undo && is_undone(stage, &environment)) {
        if let Some((_, Holding::Seen(kept))) = &stage.environment {
            tell("a checkpoint changes it", &kept.missing(&environment.path, false), violations);
        }
        again(runner, stage, act, violations).await;
    }
    nothing_collected(&stage.repo);
    match &stage.environment {
        Some((_, Holding::Seen(kept))) => {
            write(&environment.path, "untracked.txt", "written over\n");
            write(&environment.path, "later/new.txt", "new\n");
            goes_to(stage, &environment, "", kept, violations).await;
        }
        Some((_, Holding::Turn { before, after })) => {
            tell("the turn is not taken back", &before.missing_but_times(&environment.path), violations);
            goes_to(stage, &environment, "before undo", after, violations).await;
        }
        _ => violations.push("there is no environment to look at".to_owned()),
    }
    let bench = stage.world.settings().worktrees.join(".undo").join(environment.id.to_string());
    if fs::symlink_metadata(bench).is_ok() {
        violations.push("the bench of an undo is left".to_owned());
    }
}

/// Whether git has it that the undo is done.
fn is_undone(stage: &Stage, environment: &Environment) -> bool {
    let refs = format!("refs/hedgerow/checkpoints/{}/", environment.id);
    stage.repo.git(&["for-each-ref", "--format=%(contents)", &refs]).contains("label after undo")
}

/// Goes to the first checkpoint with this label, where everything must be as it was then.
async fn goes_to(stage: &Stage, environment: &Environment, label: &str, kept: &Kept, violations: &mut Vec<String>) {
    let engine = &stage.world.engine;
    let known = engine.checkpoints(environment).await.expect("the store answers");
    let found = known.iter().find(|checkpoint| checkpoint.label.as_deref().unwrap_or_default() == label);
    let Some(checkpoint) = found else {
        violations.push(format!("there is no checkpoint {label:?} among {known:?}"));
        return;
    };
    match engine.undo(environment, Some(checkpoint.number), &alice()).await {
        Ok(_) => {
            tell(&format!("lost in checkpoint {label:?}"), &kept.missing_but_times(&environment.path), violations);
        }
        Err(failure) => violations.push(format!("checkpoint {label:?} cannot be gone back to: {failure:?}")),
    }
}

fn tell(what: &str, differences: &[String], violations: &mut Vec<String>) {
    violations.extend(differences.iter().map(|difference| format!("{what}: {difference}")));
}
