//! What a start costs with a thousand environments: opening the engine, and reconciling all of them.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use hedgerow_core::{Codebase, Environment, EnvironmentId, State};
use hedgerow_engine::Clock as _;
use hedgerow_engine::isolation::ownership::{lock_reason, write_marker};
use hedgerow_engine::store::NewEvent;
use hedgerow_testkit::world::{alice, branch};
use hedgerow_testkit::{TestRepo, World};

use crate::measure::{Dice, Side, round};
use crate::report::Report;

const ENVIRONMENTS: u64 = 1_000;
/// A machine that starts should not be waited for.
const MOST: Duration = Duration::from_secs(5);

pub(crate) fn thousand(dice: &mut Dice, rounds: usize, report: &mut Report) {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let world = runtime.block_on(World::with(|settings| settings.limit = 0));
    let (repo, codebase) = runtime.block_on(world.given_a_repo_without_remote("thousand"));
    eprintln!("making {ENVIRONMENTS} environments");
    runtime.block_on(make_all(&world, &repo, &codebase));
    let reconciling = || {
        let start = Instant::now();
        let done = runtime.block_on(world.engine.reconcile()).expect("it reconciles");
        assert_eq!(done.looked_at as u64, ENVIRONMENTS, "all were looked at");
        (start.elapsed(), done.turned.len())
    };
    let base = world.settings().worktrees.clone();
    let away = world.folder().join("away");
    let mut sides = [
        Side::new(|_| {
            let start = Instant::now();
            let engine = runtime.block_on(world.another_engine());
            let took = start.elapsed();
            runtime.block_on(engine.close());
            took
        }),
        Side::new(|_| {
            let (took, turned) = reconciling();
            assert_eq!(turned, 0, "all is well");
            took
        }),
    ];
    for number in 1..=rounds {
        eprintln!("reconciling, round {number} of {rounds}");
        round(dice, number, &mut sides);
    }
    let mut turning = [Side::new(|_| {
        fs::rename(&base, &away).expect("its disk goes");
        let (gone, turned) = reconciling();
        assert_eq!(turned as u64, ENVIRONMENTS);
        fs::rename(&away, &base).expect("its disk is back");
        let (back, turned) = reconciling();
        assert_eq!(turned as u64, 0, "settling, which comes first, has brought them all back");
        gone.max(back)
    })];
    round(dice, 1, &mut turning);
    let [open, well] = &sides;
    report.alone("opening the engine, 1,000 environments", &open.times);
    report.within("reconcile of 1,000, all well", &well.times, MOST);
    report.within("reconcile of 1,000, their disk gone", &turning[0].times, MOST);
}

/// Rows by the store, worktrees by the files that git writes for them: what a thousand creations leave, in a fraction of
/// the time.
async fn make_all(world: &World, repo: &TestRepo, codebase: &Codebase) {
    // The first is made as always, and the base with it.
    world.environment(codebase, hedgerow_core::Work::Issue(1)).await;
    for number in 2..=ENVIRONMENTS {
        let (id, name) = (EnvironmentId::new(), format!("issue-{number}"));
        let path = world.settings().worktrees.join(&codebase.folder).join(&name);
        let (by, now) = (alice(), world.clock.now());
        let new = Environment::new(id, codebase.id, branch(&name), path.clone(), by.clone(), now);
        let row = Environment { state: State::Active, node: world.settings().node.clone(), ..new };
        let event = NewEvent::new(now, &by, "environment-created");
        world.engine.store().insert(&row, std::slice::from_ref(&path), None, &event).await.expect("a row");
        register(repo, &path, &name, id).expect("a worktree");
    }
    assert_eq!(repo.worktrees().len() as u64, ENVIRONMENTS, "git takes them for worktrees");
}

fn register(repo: &TestRepo, path: &Path, name: &str, id: EnvironmentId) -> std::io::Result<()> {
    let admin = repo.git_dir().join("worktrees").join(name);
    fs::create_dir_all(&admin)?;
    fs::create_dir_all(path)?;
    fs::write(path.join(".git"), format!("gitdir: {}\n", admin.display()))?;
    fs::write(admin.join("gitdir"), format!("{}\n", path.join(".git").display()))?;
    fs::write(admin.join("commondir"), "../..\n")?;
    fs::write(admin.join("HEAD"), format!("ref: refs/heads/{name}\n"))?;
    fs::write(admin.join("locked"), lock_reason(id))?;
    write_marker(&admin, id, 1)
}
