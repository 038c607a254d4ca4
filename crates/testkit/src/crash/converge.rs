//! The act, tried again, ends as if nothing had happened; and all work is there.

use hedgerow_core::{Environment, State};
use hedgerow_engine::store::Scope;

use super::act::{Act, Scene};
use super::aim::{Aim, Kill, Whom};
use super::check::complain;
use super::kept::Holding;
use super::run::Runner;
use super::stage::Stage;
use crate::git::try_git;
use crate::world::alice;

/// For acts between nothing, a live environment and the trash.
pub(super) async fn converges(runner: &Runner, stage: &mut Stage, kill: &Kill, violations: &mut Vec<String>) {
    let state = row(stage).await.map(|row| row.state);
    let is_removal = matches!(kill.act, Act::Remove | Act::RemoveForced);
    let is_done = state == Some(if is_removal { State::Trashed } else { State::Active });
    if !is_done && kill.act != Act::Settle {
        again(runner, stage, kill.act, violations).await;
    }
    if is_removal {
        let name = stage.scene.environment();
        if let Err(failure) = stage.world.engine.restore(&stage.codebase, name, &alice()).await {
            violations.push(format!("it cannot be restored: {failure:?}"));
        }
    }
    match row(stage).await {
        Some(row) if row.state == State::Active => match &stage.environment {
            Some((_, Holding::Seen(kept))) => {
                let missing = kept.missing(&row.path, stage.scene == Scene::Taken);
                violations.extend(missing.into_iter().map(|what| format!("lost: {what}")));
            }
            _ => is_as_new(stage, &row, kill, violations),
        },
        other => violations.push(format!("in the end it is {:?}", other.map(|row| row.state))),
    }
}

/// Does the act once more, in a process of its own.
pub(super) async fn again(runner: &Runner, stage: &mut Stage, act: Act, violations: &mut Vec<String>) {
    stage.world.engine.clone().close().await;
    complain(violations, "the second try", &runner.perform(stage, act).await);
    stage.world.restarts().await;
}

/// The environment that the act is about.
pub(super) async fn row(stage: &Stage) -> Option<Environment> {
    match &stage.environment {
        Some((environment, _)) => {
            stage.world.engine.store().environment(environment.id).await.expect("the store answers")
        }
        None => live(stage).await,
    }
}

/// The live environment of the scene, whichever it is by now.
pub(super) async fn live(stage: &Stage) -> Option<Environment> {
    let store = stage.world.engine.store();
    store.find(stage.codebase.id, stage.scene.environment(), Scope::Live).await.expect("the store answers")
}

fn is_as_new(stage: &Stage, row: &Environment, kill: &Kill, violations: &mut Vec<String>) {
    let say = |args: &[&str]| String::from_utf8_lossy(&try_git(&row.path, args).stdout).trim().to_owned();
    // When git alone dies over it, the environment is there without, and says so; git can still be asked for it.
    let may_lack_submodules = matches!(kill.aim, Aim::Git { whom: Whom::Git, .. });
    if stage.scene == Scene::Submodule && may_lack_submodules {
        say(&["submodule", "--quiet", "update", "--init"]);
    }
    if stage.scene == Scene::Submodule && !row.path.join("lib/README.md").is_file() {
        violations.push("the new environment does not have its submodule".to_owned());
    }
    if say(&["branch", "--show-current"]) != stage.scene.branch() || !say(&["status", "--porcelain"]).is_empty() {
        violations.push(format!("the new environment is not clean: {}", say(&["status"])));
    }
    let tip = match stage.scene {
        Scene::PullRequest => "refs/remotes/origin/feature",
        Scene::Existing => "refs/heads/feature",
        _ => "refs/remotes/origin/main",
    };
    if Some(say(&["rev-parse", "HEAD"])) != stage.repo.rev(tip).map(|sha| sha.to_string()) {
        violations.push(format!("the new environment is not at {tip}"));
    }
}
