//! What a program of an assistant sees of our own environment, and the one word that our supervisor is told there.
//!
//! The only file of this room that reads variables. It passes on what any program needs to run and nothing else: the
//! server's own variables hold its secrets.

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::Path;

use rustix::process::Pid;

/// What is passed on besides `PATH`.
const PASSED_ON: [&str; 8] = ["HOME", "LANG", "LC_ALL", "TERM", "TMPDIR", "USER", "LOGNAME", "SHELL"];

/// Where programs are, when nobody says.
const USUAL_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// Says the process that a supervisor serves.
pub(super) const SERVER: &str = "HEDGEROW_SERVER";

/// Variables for a program of an assistant.
pub(super) fn passed_on() -> Vec<(OsString, OsString)> {
    let kept = PASSED_ON.iter().filter_map(|name| Some((OsString::from(name), env::var_os(name)?)));
    kept.chain([("PATH".into(), path())]).collect()
}

/// Where programs are looked for. Relative folders are left out: programs run inside repositories, and `.` would let a
/// repository decide what `git` is.
pub(super) fn path() -> OsString {
    let path = env::var_os("PATH").unwrap_or_else(|| USUAL_PATH.into());
    absolute_folders(&path)
}

fn absolute_folders(path: &OsStr) -> OsString {
    let folders = env::split_paths(path).filter(|folder| Path::is_absolute(folder));
    env::join_paths(folders).expect("what a split gave can be joined again")
}

/// The process that started us, as it said itself: by the time we ask the system, it may be gone.
pub(super) fn server() -> Option<Pid> {
    env::var(SERVER).ok()?.parse().ok().and_then(Pid::from_raw)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repository_does_not_decide_which_program_is_meant() {
        assert_eq!(absolute_folders("/usr/bin:.:bin::/bin:../x".as_ref()), "/usr/bin:/bin");
    }
}
