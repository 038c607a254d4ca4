//! Acts of the trash and the vault: whatever died, everything comes back, also after git has collected all it can.

use std::fs;

use hedgerow_core::{Environment, State};

use super::act::Act;
use super::aim::Kill;
use super::converge::{again, live, row};
use super::kept::Holding;
use super::run::Runner;
use super::stage::Stage;
use super::vault::{self, Strays};
use crate::tokens::nothing_collected;
use crate::world::alice;

/// What is left in the vault afterwards is told.
pub(super) async fn converges(runner: &Runner, stage: &mut Stage, kill: &Kill, violations: &mut Vec<String>) -> Strays {
    let strays = match kill.act {
        Act::RestoreSaved => {
            comes_out_of_the_vault(runner, stage, violations).await;
            Strays::Gone
        }
        _ => {
            let trashed = in_the_trash_or_the_vault(stage, violations).await;
            // From the trash it comes back as well as from the vault.
            let is_purged_again = kill.act == Act::Round || (trashed && !kill.goes_the_other_way());
            if is_purged_again {
                again(runner, stage, kill.act, violations).await;
            }
            if (is_purged_again || !trashed) && in_the_trash_or_the_vault(stage, violations).await {
                violations.push("it is in the trash still".to_owned());
            }
            comes_back(stage, violations).await;
            if trashed && !is_purged_again { Strays::Tolerated } else { Strays::Gone }
        }
    };
    if kill.act == Act::Round {
        bystanders_are_well(stage, violations).await;
    }
    holds_everything(stage, violations).await;
    strays
}

/// One of both, never neither. Whether it is the trash.
async fn in_the_trash_or_the_vault(stage: &Stage, violations: &mut Vec<String>) -> bool {
    let row = row(stage).await.expect("the row is history at worst");
    let place = stage.world.settings().worktrees.join(".trash").join(row.id.to_string());
    let in_trash = fs::symlink_metadata(&place).is_ok();
    let in_vault = vault::holds(stage, row.id).await;
    match (row.state, in_trash, in_vault) {
        (State::Trashed, true, false) | (State::Destroyed, false, true) => {}
        (state, ..) => {
            violations.push(format!("it is {state}; there is a folder: {in_trash}; it is saved: {in_vault}"));
        }
    }
    row.state == State::Trashed
}

/// Made whole already, or not at all; then a second restore does it.
async fn comes_out_of_the_vault(runner: &Runner, stage: &mut Stage, violations: &mut Vec<String>) {
    if in_the_trash_or_the_vault(stage, violations).await {
        violations.push("a restore has brought it to the trash".to_owned());
    }
    if live(stage).await.is_none() {
        nothing_collected(&stage.repo);
        again(runner, stage, Act::RestoreSaved, violations).await;
    }
}

/// After git has collected what it can.
async fn comes_back(stage: &Stage, violations: &mut Vec<String>) {
    nothing_collected(&stage.repo);
    let name = stage.scene.environment();
    if let Err(failure) = stage.world.engine.restore(&stage.codebase, name, &alice()).await {
        violations.push(format!("it cannot be restored: {failure:?}"));
    }
}

async fn holds_everything(stage: &Stage, violations: &mut Vec<String>) {
    match (live(stage).await, &stage.environment) {
        (Some(Environment { state: State::Active, path, .. }), Some((_, Holding::Planted(planted)))) => {
            let losses = planted.missing(&path).into_iter().chain(planted.operation_continues(&path));
            violations.extend(losses.map(|loss| format!("lost: {loss}")));
        }
        (other, _) => violations.push(format!("in the end it is {:?}", other.map(|row| row.state))),
    }
}

/// The one that nobody used is in the trash and comes back; the one whose time was over is gone, or whole.
async fn bystanders_are_well(stage: &Stage, violations: &mut Vec<String>) {
    let Some(bystanders) = &stage.bystanders else { return };
    let (stale, kept) = &bystanders.stale;
    let engine = &stage.world.engine;
    let state = stage.world.row(stale).await.state;
    if state != State::Trashed {
        violations.push(format!("the unused environment is {state}"));
        return;
    }
    match engine.restore(&stage.codebase, stale.branch.as_str(), &alice()).await {
        Ok(back) => violations.extend(kept.missing(&back.environment.path, false)),
        Err(failure) => violations.push(format!("the unused environment cannot be restored: {failure:?}")),
    }
}
