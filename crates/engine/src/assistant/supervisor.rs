//! A small process between us and a program: it ends the whole tree when it is asked to, when the program is done, or
//! when we are gone.
//!
//! It is the subreaper of everything below it (on Linux): whatever a program starts, in a session of its own or orphaned
//! twice over, comes back to it and is found.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::Command;
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, getpid, getppid, wait};
use tokio::signal::unix::{Signal as Signals, SignalKind, signal};
use tokio::time::{Instant, Interval, interval, timeout};

use super::processes::descendants;
use super::surroundings;
use crate::cage::enter;
use crate::cage::view::View;

/// How often we look whether our parent is there, and whether something of the tree is left.
const GLANCE: Duration = Duration::from_millis(100);
/// How long a tree may take to end when it is asked to.
pub(super) const GRACE: Duration = Duration::from_secs(3);
/// The same when nobody is there who waits for it: a new server may start soon.
const SHORT_GRACE: Duration = Duration::from_millis(500);
/// How long we kill before we leave what cannot be killed (it hangs in the kernel) to the system.
const PATIENCE: Duration = Duration::from_secs(30);
const BETWEEN_ROUNDS: Duration = Duration::from_millis(10);
/// How inclined the system is to end a process when memory runs out: from -1000 to 1000, and 0 is usual.
#[cfg(target_os = "linux")]
const FIRST_TO_GO: i32 = 500;

/// Runs a program to its end, and everything that it started. The exit status is the program's, 128 and the signal's
/// number when one ended it.
///
/// When it is told of a cage, the program runs inside it: this process leaves the machine's namespaces and starts itself
/// again as the first process of new ones, which builds the view and does the same there as out here.
///
/// An error when the program cannot be started; then nothing is left either.
pub fn supervise(command: &[OsString]) -> io::Result<u8> {
    if command.is_empty() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    // Our parent's own word first: when it died right after it had started us, the system names another one.
    let parent = surroundings::server().or_else(getppid);
    // No terminal: neither its Ctrl-C nor its hang-up is for the tree, and nothing below can ask there for a password.
    // Whoever starts us by hand may have made us the leader of a group already, which is as good.
    let _ = rustix::process::setsid();
    #[cfg(target_os = "linux")]
    rustix::process::set_child_subreaper(Some(getpid()))?;
    #[cfg(target_os = "linux")]
    let_go();
    // Before there is a runtime, which may have threads.
    let Some(mut next) = next(command)? else { return Ok(0) };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let mut watch = Watch::new(parent)?;
        if watch.is_orphaned() {
            return Ok(ended_by(Signal::TERM));
        }
        let child = next.process_group(0).spawn()?;
        let mut tree = Tree { main: Pid::from_child(&child), status: None };
        let grace = watch.until_it_is_over(&mut tree).await;
        watch.end(&mut tree, grace).await;
        Ok(tree.status.map_or(ended_by(Signal::TERM), code))
    })
}

/// Gives up what came from our parent and is not for the tree: open files, and keys that the kernel keeps. When memory
/// runs out, the tree goes first.
#[cfg(target_os = "linux")]
fn let_go() {
    close_fds::set_fds_cloexec(3, &[]);
    // Where there are no keys, or nobody may have any, the program gets none either.
    let _ = keyutils::Keyring::join_anonymous_session();
    let file = "/proc/self/oom_score_adj";
    let inclination = std::fs::read_to_string(file).ok().and_then(|text| text.trim().parse::<i32>().ok());
    if inclination.is_some_and(|inclination| inclination < FIRST_TO_GO) {
        let _ = std::fs::write(file, FIRST_TO_GO.to_string());
    }
}

/// What this process starts, once it is where that belongs. `None` when it was only to see whether it gets there.
fn next(command: &[OsString]) -> io::Result<Option<Command>> {
    let mut program = Command::new(&command[0]);
    program.args(&command[1..]);
    for name in surroundings::OURS {
        program.env_remove(name);
    }
    for (name, meant, value) in surroundings::passed_on() {
        program.env_remove(name);
        if let Some(meant) = meant {
            program.env(meant, value);
        }
    }
    if let Some((written, left)) = surroundings::cage() {
        let view = View::read(&written).map_err(io::Error::other)?;
        let Some(left) = left else {
            let left = if view.has_tree() { enter::part()? } else { String::new() };
            // Rules as well bind another process than this one: it must be out of reach of what it is to end.
            let mut first = Command::new("/proc/self/exe");
            first.args(std::env::args_os().skip(1)).env_remove(surroundings::SERVER);
            first.env(surroundings::INSIDE, left);
            return Ok(Some(first));
        };
        if view.has_tree() {
            enter::enter(&view, &left)?;
        } else {
            enter::bind(&view)?;
        }
        return Ok((!view.is_trial()).then_some(program));
    }
    Ok(Some(program))
}

/// Our children, and what became of the program.
struct Tree {
    main: Pid,
    status: Option<WaitStatus>,
}

impl Tree {
    /// Takes leave of whoever has ended. `false` when nobody is left.
    fn reap(&mut self) -> bool {
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some((pid, status))) if pid == self.main => self.status = Some(status),
                Ok(Some(_)) | Err(rustix::io::Errno::INTR) => {}
                Ok(None) => return true,
                Err(_) => return false,
            }
        }
    }

    fn signal(signals: &[Signal]) {
        for process in descendants(getpid()) {
            for signal in signals {
                process.signal(*signal);
            }
        }
    }
}

/// What we look out for.
struct Watch {
    parent: Option<Pid>,
    terminate: Signals,
    interrupt: Signals,
    hang_up: Signals,
    child: Signals,
    glance: Interval,
}

impl Watch {
    fn new(parent: Option<Pid>) -> io::Result<Self> {
        Ok(Self {
            parent,
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hang_up: signal(SignalKind::hangup())?,
            child: signal(SignalKind::child())?,
            glance: interval(GLANCE),
        })
    }

    fn is_orphaned(&self) -> bool {
        getppid() != self.parent
    }

    /// Until the program has ended or has to; how long the rest of it may take.
    async fn until_it_is_over(&mut self, tree: &mut Tree) -> Duration {
        loop {
            tree.reap();
            if tree.status.is_some() {
                return GRACE;
            }
            tokio::select! {
                _ = self.terminate.recv() => return GRACE,
                _ = self.interrupt.recv() => return GRACE,
                _ = self.hang_up.recv() => return GRACE,
                _ = self.child.recv() => {}
                _ = self.glance.tick() => if self.is_orphaned() {
                    return SHORT_GRACE;
                },
            }
        }
    }

    /// Asks everyone to end, then makes them.
    async fn end(&mut self, tree: &mut Tree, grace: Duration) {
        let asked = Instant::now();
        if tree.reap() {
            // Whoever was stopped has to go on to hear it.
            Tree::signal(&[Signal::TERM, Signal::CONT]);
        }
        while tree.reap() {
            let spent = asked.elapsed();
            if spent > grace + PATIENCE {
                return;
            }
            let pause = if spent < grace {
                GLANCE.min(grace.saturating_sub(spent))
            } else {
                Tree::signal(&[Signal::KILL]);
                BETWEEN_ROUNDS
            };
            let _ = timeout(pause, self.child.recv()).await;
        }
    }
}

fn code(status: WaitStatus) -> u8 {
    let code = status.exit_status().or_else(|| status.terminating_signal().map(|signal| 128 + signal));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1)
}

fn ended_by(signal: Signal) -> u8 {
    u8::try_from(128 + signal.as_raw()).unwrap_or(1)
}
