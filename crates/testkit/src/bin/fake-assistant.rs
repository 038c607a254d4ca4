//! `fake-assistant` is the assistant of the tests, and with `--supervise -- program …` the supervisor above one.
//!
//! `--as <id> program …` runs a program as that user, `--without-namespaces program …` where none can be made, as on a
//! system that forbids it.

use std::ffi::OsString;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitCode};

use hedgerow_engine::assistant::supervisor::supervise;
use hedgerow_testkit::brain;

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    match arguments.as_slice() {
        [first, second, command @ ..] if first == "--supervise" && second == "--" => {
            supervise(command).map_or_else(complain, ExitCode::from)
        }
        [first, id, program, rest @ ..] if first == "--as" => {
            let id = id.to_str().and_then(|id| id.parse().ok()).unwrap_or(u32::MAX);
            complain(Command::new(program).args(rest).gid(id).uid(id).exec())
        }
        #[cfg(target_os = "linux")]
        [first, program, rest @ ..] if first == "--without-namespaces" => match without_namespaces(program, rest) {
            Err(error) => complain(error),
        },
        _ => {
            let text = |argument: &OsString| argument.to_string_lossy().into_owned();
            brain::think(&arguments.iter().map(text).collect::<Vec<_>>())
        }
    }
}

#[cfg(target_os = "linux")]
fn without_namespaces(program: &OsString, rest: &[OsString]) -> std::io::Result<std::convert::Infallible> {
    use rustix::process::{getegid, geteuid};
    let (user, group) = (geteuid().as_raw(), getegid().as_raw());
    #[expect(deprecated, reason = "there is one thread, and no table of files is parted")]
    rustix::thread::unshare(rustix::thread::UnshareFlags::NEWUSER)?;
    std::fs::write("/proc/self/setgroups", "deny")?;
    std::fs::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
    std::fs::write("/proc/self/gid_map", format!("{group} {group} 1"))?;
    std::fs::write("/proc/sys/user/max_user_namespaces", "0")?;
    Err(Command::new(program).args(rest).exec())
}

#[expect(clippy::print_stderr, reason = "this program's words to a person")]
fn complain(error: impl std::fmt::Display) -> ExitCode {
    eprintln!("{error}");
    ExitCode::from(127)
}
