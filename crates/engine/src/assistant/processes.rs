//! The processes of this machine that belong to a run, and their end.
//!
//! Whoever is signalled was looked at first, and is the one that was looked at: a process id that the system gave to
//! somebody else meanwhile is left alone.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, getpid};

/// In the environment of every process of a run.
pub(super) const RUN: &str = "HEDGEROW_RUN";

/// How long we kill before we say that it cannot be done.
const PATIENCE: Duration = Duration::from_secs(5);
const BETWEEN_ROUNDS: Duration = Duration::from_millis(10);

/// A process as it was when we looked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Process {
    pub(super) pid: Pid,
    parent: i32,
    /// In ticks since the machine started; tells it from a later one with its id.
    started: u64,
    /// It has ended, and only waits to be reaped.
    is_zombie: bool,
}

impl Process {
    /// Only if it is still the same process. One that is gone has what it was to get.
    pub(super) fn signal(&self, signal: Signal) {
        #[cfg(target_os = "linux")]
        if let Ok(same) = rustix::process::pidfd_open(self.pid, rustix::process::PidfdFlags::empty())
            && look(self.pid.as_raw_pid()).is_some_and(|now| now.started == self.started)
        {
            let _ = rustix::process::pidfd_send_signal(same, signal);
        }
        #[cfg(not(target_os = "linux"))]
        let _ = rustix::process::kill_process(self.pid, signal);
    }
}

/// Kills whatever is still at work for a run, wherever on this machine it is: for whoever settles the run of a server
/// that died together with its supervisor. Takes a moment; not for an async thread.
///
/// `false` when something withstood.
pub fn end_run(run: &str) -> bool {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let left = of_run(run);
        if left.is_empty() {
            return true;
        }
        if Instant::now() > deadline {
            return false;
        }
        for process in left {
            process.signal(Signal::KILL);
        }
        thread::sleep(BETWEEN_ROUNDS);
    }
}

/// Those that carry the mark of the run, and what they started; never ourselves.
fn of_run(run: &str) -> Vec<Process> {
    if run.is_empty() {
        return Vec::new();
    }
    let mark = format!("{RUN}={run}");
    let all = all();
    let is_marked = |process: &Process| {
        let environ = fs::read(format!("/proc/{}/environ", process.pid.as_raw_pid())).unwrap_or_default();
        environ.split(|byte| *byte == 0).any(|entry| entry == mark.as_bytes())
    };
    let own = getpid();
    let marked = all.iter().filter(|process| process.pid != own && is_marked(process)).copied().collect();
    let mut found = with_descendants(marked, &all);
    found.retain(|process| process.pid != own && !process.is_zombie);
    found
}

/// Everything below a process, itself left out. What has ended counts until it is reaped.
pub(super) fn descendants(of: Pid) -> Vec<Process> {
    let all = all();
    let itself = all.iter().filter(|process| process.pid == of).copied().collect();
    let mut found = with_descendants(itself, &all);
    found.retain(|process| process.pid != of);
    found
}

fn with_descendants(mut found: Vec<Process>, all: &[Process]) -> Vec<Process> {
    let mut children: HashMap<i32, Vec<Process>> = HashMap::new();
    for process in all {
        children.entry(process.parent).or_default().push(*process);
    }
    let mut seen: HashSet<Pid> = found.iter().map(|process| process.pid).collect();
    let mut next = 0;
    while let Some(process) = found.get(next) {
        let below = children.get(&process.pid.as_raw_pid()).into_iter().flatten();
        let fresh: Vec<_> = below.filter(|child| seen.insert(child.pid)).copied().collect();
        found.extend(fresh);
        next += 1;
    }
    found
}

fn all() -> Vec<Process> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).filter_map(look).collect()
}

/// `None` when there is no such process.
fn look(pid: i32) -> Option<Process> {
    parse(pid, &fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

/// `42 (a name) S 1 …`: the name may hold anything, brackets and blanks too.
fn parse(pid: i32, stat: &str) -> Option<Process> {
    let mut fields = stat.rsplit_once(") ")?.1.split(' ');
    let is_zombie = matches!(fields.next()?, "Z" | "X");
    let parent = fields.next()?.parse().ok()?;
    // The 22nd field of all; the name is the second.
    let started = fields.nth(17)?.parse().ok()?;
    Some(Process { pid: Pid::from_raw(pid)?, parent, started, is_zombie })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_read_whatever_it_is_called() {
        let stat = "42 (a) Z (b) S 7 42 42 0 -1 4194560 120 0 0 0 0 0 0 0 20 0 1 0 98765 2617344 0\n";
        let process = parse(42, stat).expect("it can be read");
        assert_eq!((process.parent, process.started, process.is_zombie), (7, 98765, false));
        assert!(parse(42, "42 (a) S 7").is_none());
    }

    #[test]
    fn nobody_is_taken_for_a_run_without_a_name() {
        assert!(of_run("").is_empty());
    }
}
