//! What must hold after a kill and a restart. Each line of the answer is a broken promise.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use hedgerow_core::State;
use hedgerow_engine::engine::Level;

use super::act::Act;
use super::aim::{Aim, Kill, Whom};
use super::child::Told;
use super::count::Points;
use super::run::{Ended, Runner, dies, git_died};
use super::stage::Stage;
use super::vault::{self, Strays};
use super::{converge, returning, undoing};
use crate::tree::Tree;

/// What came of one kill.
#[derive(Debug)]
pub struct Outcome {
    pub kill: Kill,
    /// The kill hit: somebody died.
    pub hit: bool,
    pub recovery: Duration,
    /// All of it, with the stage and the judgement.
    pub spent: Duration,
    pub violations: Vec<String>,
}

/// Kills once, restarts, and looks.
pub async fn attempt(runner: &Runner, kill: Kill, points: &Points) -> Outcome {
    let began = Instant::now();
    let mut stage = Stage::prepare(kill.act, kill.scene).await;
    let mut violations = Vec::new();
    let ended = runner.kill(&stage, &kill, points).await;
    let mut hit = matches!(ended, Ended::Killed);
    if let Aim::Git { whom: Whom::Git, .. } = kill.aim {
        hit = git_died(&stage);
        // Hedgerow lived: it has to have dealt with it before it ended.
        stage.world.restarts_without_settling(&mut violations).await;
    }
    if let Aim::Settling(_, nth) = kill.aim {
        runner.settle(&stage, Some(dies(&kill, nth))).await;
    }
    let recovery = match runner.settle(&stage, None).await {
        Ended::Lived(told) => {
            complain(&mut violations, "the restart", &told);
            Duration::from_micros(told.micros)
        }
        Ended::Killed => Duration::ZERO,
    };
    violations.extend(judge(runner, &mut stage, &kill).await);
    Outcome { kill, hit, recovery, spent: began.elapsed(), violations }
}

/// Every promise, after a restart: what is broken, and then whether the act can be done after all.
pub async fn judge(runner: &Runner, stage: &mut Stage, kill: &Kill) -> Vec<String> {
    let mut violations = Vec::new();
    stage.world.restarts().await;
    let mut strays = Strays::Tolerated;
    look(stage, strays, &mut violations).await;
    second_start_changes_nothing(stage, &mut violations).await;
    if kill.act.is_about_the_vault() {
        strays = returning::converges(runner, stage, kill, &mut violations).await;
    } else if matches!(kill.act, Act::Checkpoint | Act::Undo) {
        undoing::converges(runner, stage, kill.act, &mut violations).await;
    } else {
        converge::converges(runner, stage, kill, &mut violations).await;
    }
    look(stage, strays, &mut violations).await;
    violations
}

pub(super) fn complain(violations: &mut Vec<String>, who: &str, told: &Told) {
    violations.extend(told.failure.iter().map(|failure| format!("{who} fails: {failure}")));
    violations.extend(told.warnings.iter().map(|warning| format!("{who} warns: {warning}")));
}

impl crate::World {
    /// No row is left in the middle of something.
    async fn restarts_without_settling(&self, violations: &mut Vec<String>) {
        let store = hedgerow_engine::store::Store::open(&self.database().database()).await.expect("the store opens");
        for state in [State::Creating, State::Removing] {
            let rows = store.in_state("here", state).await.expect("the store answers");
            violations.extend(rows.iter().map(|row| format!("git alone died, and {} is left {state}", row.name())));
        }
        store.close().await;
    }
}

/// Store, git and disk agree, and nothing of others has changed.
async fn look(stage: &Stage, strays: Strays, violations: &mut Vec<String>) {
    let engine = &stage.world.engine;
    for state in [State::Creating, State::Removing] {
        let rows = engine.store().in_state("here", state).await.expect("the store answers");
        violations.extend(rows.iter().map(|row| format!("{} is still {state}", row.name())));
    }
    match engine.doctor().await {
        Ok(findings) => {
            let bad = findings.into_iter().filter(|finding| finding.level != Level::Fine && finding.what != "disk");
            // What the vault holds in vain is judged apart. The lease and the lock file of a dead process are in nobody's
            // way: whoever comes takes them over, as every second try here does.
            let is_free = |detail: &str| detail.starts_with("lock files that processes left");
            let bad =
                bad.filter(|finding| !matches!(finding.what.as_str(), "vault" | "leases") && !is_free(&finding.detail));
            violations.extend(bad.map(|finding| format!("doctor: {}: {}", finding.what, finding.detail)));
        }
        Err(failure) => violations.push(format!("doctor fails: {failure:?}")),
    }
    let asked: [&[&str]; 4] = [
        &["worktree", "list", "--porcelain"],
        &["fsck", "--connectivity-only", "--no-dangling"],
        &["status"],
        &["for-each-ref"],
    ];
    for args in asked {
        let output = stage.repo.try_git(args);
        let said = String::from_utf8_lossy(&output.stderr);
        let said: Vec<&str> = said.lines().filter(|line| !line.starts_with("notice:")).collect();
        if !output.status.success() || !said.is_empty() {
            violations.push(format!("git {args:?}: {}", said.join("; ")));
        }
    }
    violations.extend(stage.foreign.changes(&stage.repo));
    leftovers(&stage.repo.git_dir(), violations);
    vault::look(stage, strays, violations).await;
}

/// Files that git or we write under another name first: one that stays would stand in somebody's way.
fn leftovers(folder: &Path, violations: &mut Vec<String>) {
    for entry in fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok) {
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        let ours = name == "hedgerow.lock" || name == "hedgerow-fetch.lock";
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            leftovers(&path, violations);
        } else if (path.extension().is_some_and(|extension| extension == "lock") && !ours) || name == "packed-refs.new"
        {
            violations.push(format!("left behind: {}", path.display()));
        }
    }
}

async fn second_start_changes_nothing(stage: &mut Stage, violations: &mut Vec<String>) {
    let before = everything(stage).await;
    stage.world.restarts().await;
    let after = everything(stage).await;
    let differences = before.0.differences(&after.0).into_iter().chain(before.1.differences(&after.1));
    violations.extend(differences.map(|change| format!("a second start changes something: {change}")));
    if before.2 != after.2 {
        violations.push(format!("a second start changes rows: {} to {}", before.2, after.2));
    }
}

async fn everything(stage: &Stage) -> (Tree, Tree, String) {
    let store = stage.world.engine.store();
    let mut rows = store.live(stage.codebase.id).await.expect("the store answers");
    rows.extend(store.trashed(stage.codebase.id).await.expect("the store answers"));
    let rows: Vec<_> = rows.iter().map(|row| (row.id, row.state, row.generation, &row.path, &row.branch)).collect();
    let git = Tree::of(&stage.repo.git_dir()).without_times();
    (git, Tree::of(&stage.world.settings().worktrees).without_times(), format!("{rows:?}"))
}
