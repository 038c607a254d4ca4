//! What a program of an assistant sees of our own environment, and the one word that our supervisor is told there.
//!
//! The only file of this room that reads variables. It passes on what any program needs to run and nothing else: the
//! server's own variables hold its secrets.

use std::env;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::process::Pid;

use super::processes::RUN;

/// What is passed on besides `PATH`.
const PASSED_ON: [&str; 8] = ["HOME", "LANG", "LC_ALL", "TERM", "TMPDIR", "USER", "LOGNAME", "SHELL"];

/// Where tools are that are not in the user's home, as these variables say; they need them to find themselves.
const TOOLS: [&str; 8] =
    ["RUSTUP_HOME", "NVM_DIR", "PYENV_ROOT", "RBENV_ROOT", "VOLTA_HOME", "ASDF_DIR", "JAVA_HOME", "GOROOT"];

/// Where programs are, when nobody says.
const USUAL_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// Says the process that a supervisor serves.
pub(super) const SERVER: &str = "HEDGEROW_SERVER";
/// Tells a supervisor the cage it builds.
pub(crate) const CAGE: &str = "HEDGEROW_CAGE";
/// Tells it that it is the first process inside, and which namespaces are the machine's.
pub(super) const INSIDE: &str = "HEDGEROW_INSIDE";
/// What is between us and our supervisor, and no program's business.
pub(super) const OURS: [&str; 3] = [SERVER, CAGE, INSIDE];
/// Before the name of a variable that a supervisor only passes on. It starts outside the cage, where the loader of
/// programs would do what some of them say.
const FOR_PROGRAM: &str = "HEDGEROW_FOR_";

/// What programs of assistants see of the user whom the server runs for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Surroundings {
    /// The user's home.
    pub home: PathBuf,
    /// Where programs are looked for.
    pub path: OsString,
    /// Folders of tools outside the home.
    pub tools: Vec<PathBuf>,
    /// Variables for a program, `PATH` among them.
    pub variables: Vec<(OsString, OsString)>,
}

impl Surroundings {
    /// Those of this process. `named` are passed on besides the usual ones.
    pub fn of_this_process(named: &[String]) -> Self {
        let path = path();
        let tools = TOOLS.iter().filter_map(|name| Some((OsString::from(name), env::var_os(name)?)));
        let tools: Vec<_> = tools.filter(|(_, folder)| Path::new(folder).is_absolute()).collect();
        let names = PASSED_ON.iter().copied().chain(named.iter().map(String::as_str));
        let kept = names.filter_map(|name| Some((OsString::from(name), env::var_os(name)?)));
        let variables = kept.chain(tools.iter().cloned()).chain([("PATH".into(), path.clone())]).collect();
        Self {
            home: env::home_dir().filter(|home| home.is_absolute()).unwrap_or_else(|| "/nonexistent".into()),
            path,
            tools: tools.into_iter().map(|(_, folder)| folder.into()).collect(),
            variables,
        }
    }
}

/// Relative folders are left out: programs run inside repositories, and `.` would let a repository decide what `git` is.
fn path() -> OsString {
    absolute_folders(&env::var_os("PATH").unwrap_or_else(|| USUAL_PATH.into()))
}

fn absolute_folders(path: &OsStr) -> OsString {
    let folders = env::split_paths(path).filter(|folder| Path::is_absolute(folder));
    env::join_paths(folders).expect("what a split gave can be joined again")
}

/// The cage that this process, a supervisor, is told to build, and, if it is inside already, what was left for that.
pub(super) fn cage() -> Option<(String, Option<String>)> {
    Some((env::var(CAGE).ok()?, env::var(INSIDE).ok()))
}

/// A variable's name as a supervisor is told it for the program.
pub(super) fn for_program(name: impl AsRef<OsStr>) -> OsString {
    let mut prefixed = OsString::from(FOR_PROGRAM);
    prefixed.push(name);
    prefixed
}

/// What this process, a supervisor, was told for the program: the names as they came, as they are meant, and the values.
/// Nobody but us says what is ours.
pub(super) fn passed_on() -> Vec<(OsString, Option<OsString>, OsString)> {
    let is_ours = |name: &OsStr| name == RUN || OURS.iter().any(|ours| name == *ours);
    let meant =
        |name: &OsStr| Some(OsStr::from_bytes(name.as_bytes().strip_prefix(FOR_PROGRAM.as_bytes())?).to_owned());
    let told = env::vars_os().filter_map(|(name, value)| Some((meant(&name)?, name, value)));
    told.map(|(meant, name, value)| (name, Some(meant).filter(|meant| !is_ours(meant)), value)).collect()
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
