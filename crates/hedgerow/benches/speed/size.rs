//! The trash costs the same at any size: it is a rename.

use crate::creation::{add_worktree, remove_worktree};
use crate::fixture::{Machine, tidy};
use crate::measure::{Dice, Side, round, time};
use crate::report::{Goal, Report};

/// git writes and deletes every file of these, so it does so seldom.
const ROUNDS_OF_GIT: usize = 2;

/// One environment of 5,000 and one of 50,000 files go to the trash and come back, in turns.
pub(crate) fn ten_times_the_files(machine: &Machine, dice: &mut Dice, rounds: usize, report: &mut Report) {
    let small = machine.repository("five-thousand", 5_000, 600);
    let large = machine.repository("fifty-thousand", 50_000, 600);
    for repo in [&small, &large] {
        time(machine.hedgerow(repo, &["env", "create", "issue", "1"]));
    }
    rustix::fs::sync();
    let mut sides = [&small, &large].map(|repo| {
        Side::new(|_| {
            let took = time(machine.hedgerow(repo, &["env", "remove", "--force", "issue-1"]));
            time(machine.hedgerow(repo, &["env", "restore", "issue-1"]));
            took
        })
    });
    for number in 1..=rounds {
        eprintln!("trashing 5,000 and 50,000 files, round {number} of {rounds}");
        round(dice, number, &mut sides);
    }
    let mut by_git = [Side::new(|number| {
        time(add_worktree(machine, &large, number));
        time(remove_worktree(machine, &large, number))
    })];
    for number in 1..=ROUNDS_OF_GIT {
        eprintln!("50,000 files by git, round {number} of {ROUNDS_OF_GIT}");
        round(dice, number, &mut by_git);
    }
    let [five, fifty] = &sides;
    report.sizes("trash --force, 50,000 against 5,000", &fifty.times, &five.times, Goal::NoSlower);
    report.compare("trash --force, 50,000 files", &fifty.times, &by_git[0].times, Goal::None);
    drop((sides, by_git));
    tidy(&small);
    tidy(&large);
}
