//! A cut of the crash matrix that is quick enough for every run; `just crash` does all of it.

use std::fs;
use std::path::PathBuf;

use hedgerow_testkit::crash::act::PAIRS;
use hedgerow_testkit::crash::check::judge;
use hedgerow_testkit::crash::count::{Tracing, tracing};
use hedgerow_testkit::crash::run::Runner;
use hedgerow_testkit::crash::stage::Stage;
use hedgerow_testkit::crash::{Act, Aim, Kill, Matrix, Scene};
use hedgerow_testkit::repo::write;

fn runner() -> Runner {
    Runner { program: env!("CARGO_BIN_EXE_crash").into() }
}

/// The cut: every step once, some of the system calls.
fn cut(pairs: &[(Act, Scene)]) -> Matrix {
    match tracing() {
        Tracing::Possible => {}
        Tracing::Missing => panic!("strace is not here; `./test` installs it, or `apt-get install strace`"),
        #[expect(clippy::print_stderr, reason = "what was not tested must be seen")]
        Tracing::Forbidden => eprintln!("SKIPPED: this machine forbids tracing; no system call is aimed at"),
    }
    Matrix {
        pairs: pairs.into(),
        first_step: 1,
        step_rounds: 1,
        call_rounds: 1,
        every: 15,
        own_every: 80,
        moments: 1,
        settling_every: 0,
        jobs: 4,
        seed: 1,
    }
}

async fn survives(matrix: Matrix) {
    let least = matrix.pairs.len() * 4;
    let report = matrix.run(runner(), |_| {}).await;
    let broken: Vec<String> = report
        .violations
        .iter()
        .map(|outcome| format!("{}: {}", outcome.kill, outcome.violations.join("\n    ")))
        .collect();
    assert!(broken.is_empty(), "{}\n{}", broken.join("\n"), report.table());
    assert!(report.totals().kills >= least, "hardly anything died:\n{}", report.table());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 6)]
async fn a_process_that_dies_while_it_creates_leaves_nothing_behind() {
    survives(cut(&[(Act::Create, Scene::Plain), (Act::Create, Scene::PullRequest)])).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 6)]
async fn a_process_that_dies_while_it_removes_loses_nothing() {
    survives(cut(&[(Act::Remove, Scene::Pushed), (Act::RemoveForced, Scene::Rebase)])).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 6)]
async fn a_process_that_dies_while_it_restores_loses_nothing() {
    survives(cut(&[(Act::Restore, Scene::Taken), (Act::Restore, Scene::Pushed)])).await;
}

/// Every step once; most of the system calls are left to `just crash`.
fn steps_of(act: Act, scene: Scene) -> Matrix {
    Matrix { every: 60, own_every: 200, moments: 0, ..cut(&[(act, scene)]) }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 6)]
async fn a_restore_from_the_vault_that_dies_loses_nothing() {
    survives(steps_of(Act::RestoreSaved, Scene::Rebase)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 6)]
async fn an_undo_that_dies_is_done_by_the_next() {
    survives(steps_of(Act::Undo, Scene::Rebase)).await;
}

/// A round purges as anybody does; its first steps are those of a removal.
#[tokio::test(flavor = "multi_thread", worker_threads = 6)]
async fn a_round_that_dies_while_it_purges_or_lets_go_loses_nothing() {
    survives(Matrix { first_step: 13, ..steps_of(Act::Round, Scene::Plain) }).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 6)]
async fn a_process_that_dies_while_it_settles_is_settled_by_the_next() {
    let pairs = [(Act::RemoveForced, Scene::Adopted)];
    survives(Matrix { step_rounds: 0, call_rounds: 0, moments: 0, settling_every: 4, ..cut(&pairs) }).await;
}

/// A step that disappears from the engine would silently leave the matrix.
#[tokio::test(flavor = "multi_thread", worker_threads = 6)]
async fn every_act_tells_the_steps_we_expect() {
    let mut listing = tokio::task::JoinSet::new();
    for (act, scene) in PAIRS {
        listing.spawn(async move {
            let stage = Stage::prepare(act, scene).await;
            (act, scene, runner().points(&stage, act, false).await.steps)
        });
    }
    let mut wrong = Vec::new();
    while let Some(listed) = listing.join_next().await {
        let (act, scene, steps) = listed.expect("it can be listed");
        if steps != expected(act, scene) {
            wrong.push(format!("{}/{}: {steps:?}", act.name(), scene.name()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn expected(act: Act, scene: Scene) -> Vec<&'static str> {
    match act {
        Act::Create => creation(scene),
        Act::Remove | Act::RemoveForced => removal(scene),
        Act::Restore => restoration(scene),
        Act::Purge => PURGE.into(),
        Act::RestoreSaved => rebuilding(scene),
        Act::Checkpoint => CHECKPOINT.into(),
        Act::Undo => undo(scene),
        Act::Round => round(),
        Act::Settle => Vec::new(),
    }
}

fn creation(scene: Scene) -> Vec<&'static str> {
    let branch: &[&str] = match scene {
        Scene::Existing => &[],
        Scene::PullRequest => &["branch forwarded"],
        _ => &["branch made"],
    };
    let submodules: &[&str] = if scene == Scene::Submodule { &["submodules there"] } else { &[] };
    let parts: [&[&str]; 5] = [
        &["creation written down"],
        branch,
        &["worktree registered", "environment marked", "files checked out"],
        submodules,
        &["upstream set", "row active"],
    ];
    parts.concat()
}

fn removal(scene: Scene) -> Vec<&'static str> {
    let lock: &[&str] = if scene == Scene::Adopted { &["locked in the trash"] } else { &[] };
    let freed: &[&str] = if scene == Scene::Rebase { &[] } else { &["branch freed"] };
    let deleted: &[&str] = match scene {
        Scene::Pushed => &["settings of the branch kept", "branch gone, its settings not yet", "branch deleted"],
        _ => &[],
    };
    let parts: [&[&str]; 6] = [
        &["removal written down", "objects kept", "folder in the trash", "known in the trash", "linked in the trash"],
        lock,
        &["operation aside"],
        freed,
        deleted,
        &["row trashed", "conversations let go of"],
    ];
    parts.concat()
}

fn restoration(scene: Scene) -> Vec<&'static str> {
    let branch: &[&str] = match scene {
        Scene::Rebase => &[],
        Scene::Pushed | Scene::Taken => {
            &["branch made again, its settings not yet", "branch made again", "on its branch again"]
        }
        _ => &["branch made again", "on its branch again"],
    };
    let unlocked: &[&str] = if scene == Scene::Adopted { &["unlocked"] } else { &[] };
    let parts: [&[&str]; 5] = [
        &["restore written down", "folder out of the trash", "known out of the trash", "linked out of the trash"],
        branch,
        &["operation back", "log back", "objects let go of"],
        unlocked,
        &["row active again"],
    ];
    parts.concat()
}

const PURGE: [&str; 10] = [
    "commits packed",
    "files archived",
    "manifest written",
    "saved state complete",
    "saved state published",
    "saved state written down",
    "files deleted",
    "registration deleted",
    "refs released",
    "purged",
];
const CHECKPOINT: [&str; 3] = ["environment looked at", "checkpoint in git", "checkpoint written down"];

fn rebuilding(scene: Scene) -> Vec<&'static str> {
    let is_detached = matches!(scene, Scene::Rebase | Scene::Detached);
    let detached: &[&str] = if is_detached { &["on no branch again"] } else { &[] };
    let branch: &[&str] = if is_detached { &[] } else { &["branch made again", "on its branch again"] };
    let parts: [&[&str]; 5] = [
        &["restore written down", "commits brought back", "worktree registered", "environment marked"],
        detached,
        &["archive unpacked", "files written", "linked out of the trash"],
        branch,
        &["operation back", "log back", "index in place", "row active"],
    ];
    parts.concat()
}

fn undo(scene: Scene) -> Vec<&'static str> {
    let on_branch = !matches!(scene, Scene::Rebase | Scene::Detached);
    let branch: &[&str] = if on_branch { &["branch back"] } else { &[] };
    let way: &[&str] =
        &["head back", "rules back", "new files gone", "files back", "index back", "operation of then back"];
    let begin: &[&str] = &["state before the undo saved", "undo planned"];
    [&CHECKPOINT, begin, branch, way, &CHECKPOINT, &["state after the undo saved"]].concat()
}

fn round() -> Vec<&'static str> {
    let trashed: &[&str] = &[
        "removal written down",
        "objects kept",
        "folder in the trash",
        "known in the trash",
        "linked in the trash",
        "operation aside",
        "branch freed",
        "branch gone, its settings not yet",
        "branch deleted",
        "row trashed",
        "conversations let go of",
    ];
    let expired: &[&str] =
        &["saved states aged", "saved state deleted", "what it built on let go of", "saved state expired"];
    [&["round claimed"], trashed, expired, &PURGE].concat()
}

/// The judge is judged: each of these is seen.
#[tokio::test(flavor = "multi_thread", worker_threads = 6)]
async fn what_is_lost_or_left_behind_is_noticed() {
    type Sabotage = fn(&Stage);
    let sabotages: [(&str, Sabotage); 5] = [
        ("lost: `untracked.txt` is gone", |stage| fs::remove_file(own(stage).join("untracked.txt")).expect("a file")),
        ("lost: HEAD was", |stage| drop(hedgerow_testkit::repo::commit(&own(stage), "later.txt", "later\n"))),
        ("left behind: ", |stage| write(&stage.repo.git_dir(), "refs/heads/issue-42.lock", "")),
        ("theirs: `untracked.txt` was", |stage| write(stage.world.folder(), "theirs/untracked.txt", "overwritten\n")),
        ("refs of others: was", |stage| drop(stage.repo.git(&["branch", "--force", "theirs-too", "main"]))),
    ];
    let mut judging = tokio::task::JoinSet::new();
    for (words, sabotage) in sabotages {
        judging.spawn(async move {
            let mut stage = Stage::prepare(Act::RemoveForced, Scene::Plain).await;
            sabotage(&stage);
            (words, judge(&runner(), &mut stage, &died(Act::RemoveForced, Scene::Plain)).await)
        });
    }
    while let Some(judged) = judging.join_next().await {
        let (words, violations) = judged.expect("it can be judged");
        assert!(violations.iter().any(|violation| violation.contains(words)), "{words}: {violations:#?}");
    }
}

fn died(act: Act, scene: Scene) -> Kill {
    Kill { act, scene, aim: Aim::Step(1), seed: 1 }
}

/// The same for the vault and for undo.
#[tokio::test(flavor = "multi_thread", worker_threads = 6)]
async fn what_the_vault_or_an_undo_loses_is_noticed() {
    type Sabotage = fn(&Stage);
    let sabotages: [(Act, &str, Sabotage); 6] = [
        (Act::Purge, "lost: unstaged", |stage| {
            write(&trash(stage).join(own_id(stage)), "tracked/unstaged", "changed in the trash\n");
        }),
        (Act::Purge, "there is a folder: false", |stage| {
            fs::remove_dir_all(trash(stage).join(own_id(stage))).expect("a folder");
        }),
        (Act::Purge, "hold what nobody knows", |stage| {
            for id in ["01a1df57-8768-719a-b1e7-919b495c7152", "01a1df57-af9f-74f3-8755-18f6a14fd286"] {
                fs::create_dir_all(vault(stage).join(own_id(stage)).join(id)).expect("a folder");
            }
        }),
        (Act::RestoreSaved, "it is saved: false", |stage| {
            let saved = fs::read_dir(vault(stage).join(own_id(stage))).expect("a folder").next().expect("one");
            write(&saved.expect("an entry").path(), "files.tar.zst", "damaged\n");
        }),
        (Act::Undo, "lost in checkpoint", |stage| write(&own(stage), "turn.txt", "changed behind its back\n")),
        (Act::Checkpoint, "a checkpoint changes it", |stage| write(&own(stage), "untracked.txt", "changed\n")),
    ];
    let mut judging = tokio::task::JoinSet::new();
    for (act, words, sabotage) in sabotages {
        judging.spawn(async move {
            let mut stage = Stage::prepare(act, Scene::Plain).await;
            sabotage(&stage);
            (words, judge(&runner(), &mut stage, &died(act, Scene::Plain)).await)
        });
    }
    while let Some(judged) = judging.join_next().await {
        let (words, violations) = judged.expect("it can be judged");
        assert!(violations.iter().any(|violation| violation.contains(words)), "{words}: {violations:#?}");
    }
}

fn trash(stage: &Stage) -> PathBuf {
    stage.world.settings().worktrees.join(".trash")
}

fn vault(stage: &Stage) -> PathBuf {
    stage.world.settings().home.join("vault")
}

fn own_id(stage: &Stage) -> String {
    stage.environment.as_ref().expect("there is one").0.id.to_string()
}

fn own(stage: &Stage) -> PathBuf {
    stage.environment.as_ref().expect("there is one").0.path.clone()
}
