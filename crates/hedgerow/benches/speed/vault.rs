//! The trash and the vault at 30,000 files: back and forth in moments, and saved in little more time than git stashes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use hedgerow_testkit::{TestRepo, git};

use crate::fixture::{Machine, tidy};
use crate::measure::{Dice, Side, Times, round, time};
use crate::report::{Goal, Report};

const FILES: usize = 30_000;
const EDITS: usize = 100;
const NEW_FILES: usize = 1_000;

/// As long as a person does not notice.
const AT_ONCE: Duration = Duration::from_millis(100);

/// An environment with 100 edits and 1,000 new files goes to the trash and back, and to the vault and back; git stashes
/// the same.
pub(crate) fn thirty_thousand_files(machine: &Machine, dice: &mut Dice, rounds: usize, report: &mut Report) {
    let repo = machine.repository("thirty-thousand", FILES, 600);
    time(machine.hedgerow(&repo, &["env", "create", "issue", "1"]));
    let path = environment(machine, &repo);
    change(&path);
    let beside = machine.folder("stashed");
    repo.git(&["worktree", "add", "--quiet", "-b", "stashed", &beside.to_string_lossy()]);
    change(&beside);
    rustix::fs::sync();

    let (mut trash, mut restore) = (Times::default(), Times::default());
    for _ in 0..rounds {
        trash.push(time(machine.hedgerow(&repo, &["env", "remove", "--force", "issue-1"])));
        restore.push(time(machine.hedgerow(&repo, &["env", "restore", "issue-1"])));
    }
    report.within("trash --force, 30,000 files", &trash, AT_ONCE);
    report.within("restore from the trash, 30,000 files", &restore, AT_ONCE);

    let mut rebuilt = Times::default();
    let mut sides = [
        Side::new(|_| {
            time(machine.hedgerow(&repo, &["env", "remove", "--force", "issue-1"]));
            rustix::fs::sync();
            let saved = save(machine, &repo);
            rebuilt.push(time(machine.hedgerow(&repo, &["env", "restore", "issue-1"])));
            saved
        }),
        Side::new(|_| {
            rustix::fs::sync();
            let mut stash = git::command(&beside);
            stash.args(["stash", "push", "--quiet", "--include-untracked"]);
            let took = time(stash);
            git::git(&beside, &["stash", "pop", "--quiet"]);
            took
        }),
    ];
    for number in 1..=rounds {
        eprintln!("saving {FILES} files, round {number} of {rounds}");
        round(dice, number, &mut sides);
    }
    let [ours, theirs] = &sides;
    report.compare("saved state against `git stash -u`, 30,000", &ours.times, &theirs.times, Goal::AtMost(1.5));
    drop(sides);
    report.alone("restore from the vault, 30,000 files", &rebuilt);
    tidy(&repo);
}

fn environment(machine: &Machine, repo: &TestRepo) -> PathBuf {
    let output = machine.hedgerow(repo, &["env", "path", "issue-1"]).output().expect("it can be asked");
    PathBuf::from(String::from_utf8(output.stdout).expect("a path").trim_end())
}

fn change(at: &Path) {
    let listed = git::git(at, &["ls-files"]);
    for name in listed.lines().step_by(FILES / EDITS).take(EDITS) {
        fs::write(at.join(name), format!("edited: {name}\n")).expect("a file is edited");
    }
    fs::create_dir_all(at.join("new")).expect("a folder");
    for number in 0..NEW_FILES {
        let text = format!("new file {number}\n").repeat(30);
        fs::write(at.join(format!("new/{number}.txt")), text).expect("a new file");
    }
}

/// The time until the saved state is complete and has its name. Deleting the files, which comes after, is not counted.
fn save(machine: &Machine, repo: &TestRepo) -> Duration {
    let vault = machine.home().join("vault");
    let before = saved(&vault);
    let mut purge = machine.hedgerow(repo, &["env", "purge", "issue-1"]);
    let start = Instant::now();
    let mut child = purge.stdout(Stdio::null()).spawn().expect("it can be started");
    while saved(&vault) == before {
        assert!(child.try_wait().expect("it can be asked").is_none(), "it ends with a saved state");
        std::thread::sleep(Duration::from_millis(1));
    }
    let took = start.elapsed();
    assert!(child.wait().expect("it ends").success(), "it is purged");
    took
}

/// How many complete saved states there are.
fn saved(vault: &Path) -> usize {
    let folders =
        |path: &Path| fs::read_dir(path).into_iter().flatten().filter_map(Result::ok).map(|entry| entry.path());
    let is_complete = |path: &PathBuf| path.file_name().is_some_and(|name| !name.to_string_lossy().starts_with('.'));
    folders(vault).flat_map(|environment| folders(&environment)).filter(is_complete).count()
}
