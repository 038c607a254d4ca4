//! A hundred environments at a glance, and what little verbs cost.

use std::time::{Duration, Instant};

use hedgerow_engine::store::{Database, Store};
use hedgerow_testkit::{TestRepo, git, repo};
use serde_json::Value;

use crate::fixture::{Machine, tidy};
use crate::measure::{Dice, Side, round, time};
use crate::report::{Goal, Report};

const ENVIRONMENTS: usize = 100;
const FILES: usize = 300;
const BYTES: usize = 3_000;

/// `env list` against `git status` in one folder after another.
pub(crate) fn hundred(machine: &Machine, dice: &mut Dice, rounds: usize, report: &mut Report) {
    let repo = machine.repository("small", FILES, BYTES);
    eprintln!("making {ENVIRONMENTS} environments");
    for number in 1..=ENVIRONMENTS {
        time(machine.hedgerow(&repo, &["env", "create", "issue", &number.to_string()]));
    }
    let worktrees = repo.worktrees();
    for (number, worktree) in worktrees.iter().enumerate() {
        if number % 5 == 0 {
            repo::commit(worktree, "committed.txt", "work\n");
        }
        if number % 2 == 0 {
            repo::write(worktree, "untracked.txt", "work\n");
            repo::write(worktree, "area-0/src/part-0/file-0.rs", "changed\n");
        }
    }
    require_truth(machine, &repo);
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let database = Database::Sqlite(machine.home().join("hedgerow.db"));
    let mut sides = [
        Side::new(|_| {
            let start = Instant::now();
            for worktree in &worktrees {
                let mut status = git::command(worktree);
                status.arg("status");
                time(status);
            }
            start.elapsed()
        }),
        Side::new(|_| time(machine.hedgerow(&repo, &["env", "list", "--json"]))),
        Side::new(|_| time(machine.hedgerow(&repo, &["env", "show", "issue-1", "--json"]))),
        Side::new(|_| time(machine.hedgerow(&repo, &["--version"]))),
        Side::new(|_| opening(&runtime, &database)),
    ];
    for number in 1..=rounds {
        eprintln!("listing, round {number} of {rounds}");
        round(dice, number, &mut sides);
    }
    let [by_git, list, show, version, open] = &sides;
    report.compare("list of 100, against 100 × git status", &list.times, &by_git.times, Goal::AtMost(0.6));
    report.alone("show one of 100", &show.times);
    report.alone("start of the program (--version)", &version.times);
    report.alone("opening of the store", &open.times);
    drop(sides);
    tidy(&repo);
}

fn opening(runtime: &tokio::runtime::Runtime, database: &Database) -> Duration {
    let start = Instant::now();
    let store = runtime.block_on(Store::open(database)).expect("the store opens");
    let took = start.elapsed();
    runtime.block_on(store.close());
    took
}

/// A quick wrong answer is no answer.
fn require_truth(machine: &Machine, repo: &TestRepo) {
    let output = machine.hedgerow(repo, &["env", "list", "--json"]).output().expect("the program can be started");
    let listed: Vec<Value> = serde_json::from_slice(&output.stdout).expect("a list");
    let count = |is: fn(&Value) -> bool| listed.iter().filter(|environment| is(environment)).count();
    assert_eq!(listed.len(), ENVIRONMENTS);
    assert_eq!(count(|environment| environment["dirty"] == true), ENVIRONMENTS / 2);
    assert_eq!(count(|environment| environment["ahead"] == 1), ENVIRONMENTS / 5);
    assert_eq!(count(|environment| environment["behind"] == 0), ENVIRONMENTS);
}
