//! What the cage costs at the start of a program: a run of `true`, caged and not, in an environment of a repository.

use std::future::poll_fn;
use std::time::{Duration, Instant};

use hedgerow_core::assistant::{Bounds, Turn};
use hedgerow_core::environment::{Exec, Place, Tenant};
use hedgerow_core::{ConversationId, Work};
use hedgerow_engine::assistant::Assistants;
use hedgerow_engine::settings::{Program, Runs, Sandbox, SandboxMode};
use hedgerow_testkit::{World, brain};
use tokio::runtime::Runtime;

use crate::measure::{Dice, Side, Times, round};
use crate::report::Report;

/// So much longer it may take.
const GOAL: Duration = Duration::from_millis(25);

pub(crate) fn start_of_a_program(dice: &mut Dice, rounds: usize, report: &mut Report) {
    let runtime = Runtime::new().expect("a runtime");
    let (world, place, bounds) = runtime.block_on(environment());
    let conversation = ConversationId::new();
    let run = |mode: SandboxMode| {
        let supervisor = [env!("CARGO_BIN_EXE_hedgerow"), "supervise", "--"].map(Into::into).to_vec();
        let sandbox = Sandbox { mode, ..Sandbox::default() };
        let runs = Runs { assistants: vec![Program::script("true", ["true"])], supervisor, sandbox, ..Runs::default() };
        let assistant = Assistants::new(&runs, &world.settings().home).require(None).expect("the only one");
        let (runtime, world, place, bounds) = (&runtime, &world, &place, &bounds);
        move |_| {
            let of = Tenant::Scratch(conversation);
            let place = Place { of, generation: 0, path: place.clone(), branch: None, exec: Exec::Host };
            let turn = Turn { bounds: bounds.clone(), ..brain::turn(place, "go") };
            let lease = world.engine.scratch_lease(conversation);
            runtime.block_on(async {
                let start = Instant::now();
                let mut updates = assistant.run(&lease, turn);
                while poll_fn(|context| updates.as_mut().poll_next(context)).await.is_some() {}
                start.elapsed()
            })
        }
    };
    let mut sides = [Side::new(run(SandboxMode::Required)), Side::new(run(SandboxMode::Off))];
    // The first of each tries what the machine can do.
    round(dice, 0, &mut sides);
    for side in &mut sides {
        side.times = Times::default();
    }
    eprintln!("starting a program {rounds} times, caged and not");
    for number in 1..=rounds {
        round(dice, number, &mut sides);
    }
    let [caged, plain] = &sides;
    report.alone("a program under the supervisor", &plain.times);
    report.alone("the same, caged", &caged.times);
    let mut more = Times::default();
    more.push(caged.times.median().saturating_sub(plain.times.median()));
    report.within("what the cage costs", &more, GOAL);
}

async fn environment() -> (World, std::path::PathBuf, Bounds) {
    let world = World::new().await;
    let (repo, codebase) = world.given_a_repo("shop").await;
    let place = world.environment(&codebase, Work::Task("measure".to_owned())).await.path;
    let git = repo.path().join(".git");
    let bounds = Bounds {
        home: Some(world.folder().join("agents")),
        guard: ["config", "hooks", "info", "worktrees", "HEAD", "index"].map(|name| git.join(name)).to_vec(),
        own: vec![git.join("worktrees").join(place.file_name().unwrap_or_default())],
        write: vec![git],
        ..Bounds::default()
    };
    (world, place, bounds)
}
