//! Making, trashing and restoring an environment of 5,000 files.

use std::time::Instant;

use hedgerow_core::Work;
use hedgerow_testkit::{TestRepo, World, git};

use crate::fixture::{Machine, tidy};
use crate::measure::{Dice, Side, round, time};
use crate::report::{Goal, Report};

const FILES: usize = 5_000;
const BYTES: usize = 3_000;

/// Creation against `git worktree add`, removal against `git worktree remove --force`.
pub(crate) fn without_remote(machine: &Machine, dice: &mut Dice, rounds: usize, report: &mut Report) {
    let repo = machine.repository("large", FILES, BYTES);
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let world = runtime.block_on(World::with(|settings| settings.limit = 1000));
    let codebase = runtime.block_on(world.register(&repo));
    let mut creating = [
        Side::new(|number| time(add_worktree(machine, &repo, number))),
        Side::new(|number| time(machine.hedgerow(&repo, &["env", "create", "issue", &number.to_string()]))),
        Side::new(|number| {
            let request = world.asks(&codebase, Work::Issue(1_000 + number as u64));
            let start = Instant::now();
            runtime.block_on(world.resolve(&request)).expect("an environment");
            start.elapsed()
        }),
    ];
    let mut removing = [
        Side::new(|number| time(remove_worktree(machine, &repo, number))),
        Side::new(|number| time(machine.hedgerow(&repo, &["env", "remove", "--force", &issue(number)]))),
    ];
    let mut restoring = [Side::new(|number| time(machine.hedgerow(&repo, &["env", "restore", &issue(number)])))];
    for number in 1..=rounds {
        eprintln!("creating and removing, round {number} of {rounds}");
        round(dice, number, &mut creating);
        // Nobody removes what was written a moment ago; without this, whoever waits for the disk waits for all of it.
        rustix::fs::sync();
        round(dice, number, &mut removing);
        round(dice, number, &mut restoring);
        tidy(&repo);
    }
    let [by_git, by_cli, in_process] = &creating;
    report.compare("create, 5,000 files", &by_cli.times, &by_git.times, Goal::AtMost(1.3));
    report.compare("  the engine alone", &in_process.times, &by_git.times, Goal::None);
    let [by_git, by_cli] = &removing;
    report.compare("trash --force, 5,000 files", &by_cli.times, &by_git.times, Goal::AtMost(0.3));
    report.alone("restore, 5,000 files", &restoring[0].times);
}

/// The same with a remote next door: Hedgerow begins at what the remote has now, so it fetches first.
pub(crate) fn with_remote(machine: &Machine, dice: &mut Dice, rounds: usize, report: &mut Report) {
    let repo = machine.repository("large-with-remote", FILES, BYTES);
    let origin = machine.folder("origin.git");
    let origin = origin.to_string_lossy();
    repo.git(&["clone", "--quiet", "--bare", ".", &origin]);
    repo.git(&["remote", "add", "origin", &origin]);
    repo.git(&["fetch", "--quiet", "origin"]);
    let mut creating = [
        Side::new(|number| time(add_worktree(machine, &repo, number))),
        Side::new(|number| time(machine.hedgerow(&repo, &["env", "create", "issue", &number.to_string()]))),
    ];
    for number in 1..=rounds {
        eprintln!("creating with a remote, round {number} of {rounds}");
        round(dice, number, &mut creating);
        tidy(&repo);
    }
    let [by_git, by_cli] = &creating;
    report.compare("create, after a fetch next door", &by_cli.times, &by_git.times, Goal::None);
}

pub(crate) fn add_worktree(machine: &Machine, repo: &TestRepo, number: usize) -> std::process::Command {
    let mut command = git::command(repo.path());
    command.args(["worktree", "add", "--quiet", "-b", &format!("by-git-{number}")]);
    command.arg(place(machine, number)).arg("main");
    command
}

pub(crate) fn remove_worktree(machine: &Machine, repo: &TestRepo, number: usize) -> std::process::Command {
    let mut command = git::command(repo.path());
    command.args(["worktree", "remove", "--force"]).arg(place(machine, number));
    command
}

fn place(machine: &Machine, number: usize) -> std::path::PathBuf {
    machine.folder("by-git").join(number.to_string())
}

fn issue(number: usize) -> String {
    format!("issue-{number}")
}
