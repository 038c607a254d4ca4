//! The environments of a stage: what is in them, and how far the life is that an act finds.

use std::fs;
use std::path::Path;

use hedgerow_core::{Codebase, Environment, Work};

use super::act::{Act, Scene};
use super::kept::{Holding, Kept, plant, plant_ignored};
use crate::git::{git, try_git};
use crate::repo::{TestRepo, commit, write};
use crate::tokens::{Kind, Plan, Tokens};
use crate::world::{World, alice};

/// Longer than anything stays unused, or in the trash.
const DAYS_UNTIL_A_ROUND: i64 = 20;
/// The branch of an environment that nobody uses any more; it goes with it.
pub(super) const STALE: &str = "issue-51";
const MILLIS_PER_DAY: u64 = 24 * 60 * 60 * 1000;

pub(super) fn with_submodule(world: &World, repo: &TestRepo) {
    let lib = TestRepo::without_remote(&world.folder().join("code"), "lib");
    repo.git(&["submodule", "--quiet", "add", lib.path().to_str().expect("a plain path"), "lib"]);
    repo.git(&["commit", "--quiet", "-m", "A submodule"]);
    repo.push("main");
}

/// The environment of a scene, where the act finds it; a creation finds none.
pub(super) async fn inhabited(
    world: &World,
    repo: &TestRepo,
    codebase: &Codebase,
    scene: Scene,
    act: Act,
) -> Option<(Environment, Holding)> {
    if act == Act::Create {
        return None;
    }
    let engine = &world.engine;
    if act.is_about_the_vault() {
        let environment = world.gets(&scene.request(codebase)).await.environment;
        let planted = Tokens::plant(plan(scene), repo, &environment.path);
        engine.remove(&environment, true, &alice()).await.expect("it goes to the trash");
        if act == Act::RestoreSaved {
            engine.purge(&world.row(&environment).await, &alice()).await.expect("it goes to the vault");
        }
        return Some((environment, Holding::Planted(planted)));
    }
    let environment = furnished(world, repo, codebase, scene, act).await;
    let kept = Kept::of(&environment.path);
    if act == Act::Restore {
        engine.remove(&environment, true, &alice()).await.expect("it goes to the trash");
        if scene == Scene::Taken {
            repo.git(&["branch", "--force", "issue-42", "main"]);
        }
    }
    if act != Act::Undo {
        return Some((environment, Holding::Seen(kept)));
    }
    engine.checkpoint(&environment, None, &alice()).await.expect("a checkpoint");
    turn(&environment.path, scene);
    engine.checkpoint(&environment, None, &alice()).await.expect("a checkpoint");
    let after = Kept::of(&environment.path);
    Some((environment, Holding::Turn { before: kept, after }))
}

/// The tokens that fit a scene.
fn plan(scene: Scene) -> Plan {
    const PLAIN: Plan = Plan {
        name: "plain",
        kinds: &[
            Kind::Committed,
            Kind::Reflog,
            Kind::LineEndings,
            Kind::Modes,
            Kind::Hidden,
            Kind::Staged,
            Kind::Unstaged,
            Kind::Deleted,
            Kind::IntentToAdd,
            Kind::Untracked,
            Kind::OddNames,
            Kind::Ignored,
        ],
        pushed: false,
    };
    const SUBMODULE: Plan = Plan {
        name: "submodule",
        kinds: &[Kind::Committed, Kind::Submodule, Kind::Staged, Kind::Untracked],
        pushed: false,
    };
    match scene {
        Scene::Rebase => Plan::REBASING,
        Scene::Detached => Plan::DETACHED,
        Scene::Submodule => SUBMODULE,
        _ => PLAIN,
    }
}

/// A live environment with work in it.
async fn furnished(world: &World, repo: &TestRepo, codebase: &Codebase, scene: Scene, act: Act) -> Environment {
    if scene == Scene::Adopted {
        let mine = world.folder().join("mine");
        repo.git(&["worktree", "add", "--quiet", "-b", "mine", mine.to_str().expect("a plain path")]);
        plant(&mine);
        return world.engine.adopt(codebase, &mine, &alice()).await.expect("it is adopted").environment;
    }
    let environment = world.gets(&scene.request(codebase)).await.environment;
    let path = environment.path.as_path();
    match scene {
        Scene::Rebase => stopped_rebase(repo, path),
        Scene::Detached => {
            git(path, &["switch", "--quiet", "--detach"]);
            plant(path);
        }
        Scene::Submodule => {
            commit(&path.join("lib"), "own.txt", "token: a commit of the submodule\n");
            plant(path);
        }
        Scene::Pushed => {
            if act == Act::Remove {
                commit(path, "committed.txt", "token: committed\n");
                plant_ignored(path);
            } else {
                plant(path);
            }
            git(path, &["push", "--quiet", "--set-upstream", "origin", "issue-42"]);
        }
        _ => plant(path),
    }
    environment
}

fn stopped_rebase(repo: &TestRepo, path: &Path) {
    commit(path, "README.md", "mine\n");
    commit(path, "later.txt", "token: not yet picked\n");
    repo.git(&["branch", "rival", "main"]);
    let rival = repo.path().with_file_name("rival");
    repo.git(&["worktree", "add", "--quiet", rival.to_str().expect("a plain path"), "rival"]);
    commit(&rival, "README.md", "yours\n");
    assert!(!try_git(path, &["rebase", "--quiet", "rival"]).status.success(), "it stops at the conflict");
    write(path, "untracked.txt", "token: untracked\n");
    plant_ignored(path);
}

/// What an assistant might do in one turn: it commits, changes, deletes, adds; and it ends what it finds begun.
fn turn(path: &Path, scene: Scene) {
    if scene == Scene::Rebase {
        write(path, "README.md", "ours\n");
        git(path, &["add", "README.md"]);
        git(path, &["-c", "core.editor=true", "rebase", "--continue"]);
    }
    commit(path, "turn.txt", "token: committed in the turn\n");
    write(path, "README.md", "token: changed in the turn\n");
    fs::remove_file(path.join("untracked.txt")).expect("the file is there");
    write(path, "folder/new.txt", "token: new in the turn\n");
    write(path, "staged-later.txt", "token: staged in the turn\n");
    git(path, &["add", "staged-later.txt"]);
}

/// Whom a round meets besides the one in the trash: one that nobody uses any more, one that was in the vault for its time.
#[derive(Debug)]
pub struct Bystanders {
    pub stale: (Environment, Kept),
    pub expiring: Environment,
}

impl Bystanders {
    pub(super) async fn of(world: &World, codebase: &Codebase) -> Self {
        let engine = &world.engine;
        let expiring = world.environment(codebase, Work::Issue(50)).await;
        commit(&expiring.path, "old.txt", "a commit that was kept for long enough\n");
        engine.remove(&expiring, true, &alice()).await.expect("it goes to the trash");
        engine.purge(&world.row(&expiring).await, &alice()).await.expect("it goes to the vault");
        let kept = u64::from(world.settings().vault_keep_days) * MILLIS_PER_DAY;
        engine.expire_saved(kept - MILLIS_PER_DAY / 2, false).await.expect("time passes");
        let stale = world.environment(codebase, Work::Issue(51)).await;
        // The round before this one: what has passed since then counts, up to a day.
        engine.tick(false, &alice()).await.expect("a round");
        world.clock.days_pass(DAYS_UNTIL_A_ROUND);
        let kept = Kept::of(&stale.path);
        Self { stale: (stale, kept), expiring }
    }
}
