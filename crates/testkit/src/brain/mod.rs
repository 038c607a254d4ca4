//! An assistant for tests: a real program, `fake-assistant`, that does what the prompt says. It
//! speaks our own lines, and with `--acp` the Agent Client Protocol.
//!
//! It is started as any user's program is. That no two runs are ever in one place at the same time, it finds out itself.

mod acp;
mod desk;
mod orders;
mod script;
mod session;
mod thinking;
mod voice;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::{env, fs};

use hedgerow_core::RunId;
use hedgerow_core::assistant::Turn;
use hedgerow_core::environment::Place;
use hedgerow_engine::settings::{AgentKind, Program};
use rustix::fs::{AtFlags, CWD, Timespec, Timestamps, UTIME_NOW, utimensat};

pub use thinking::think;

/// The sources that make it behave as it does; the rest of what is linked into it can be of yesterday.
const ITS_OWN: [&str; 4] =
    ["/testkit/src/brain/", "/testkit/src/bin/fake-assistant.rs", "/engine/src/assistant/", "/engine/src/cage/"];

/// What the assistant is called in the settings of tests.
pub const NAME: &str = "fake";

/// The assistant, with its notes in `folder`: see [`runs`] and [`overlaps`].
pub fn program(folder: &Path) -> Program {
    let notes = [("--state", "state"), ("--overlaps", "overlaps"), ("--runs", "runs")];
    let notes = notes.into_iter().flat_map(|(option, name)| [option.into(), folder.join(name).into_os_string()]);
    Program::script(NAME, [binary().into()].into_iter().chain(notes))
}

/// The same assistant as an agent of the Agent Client Protocol. How it comes back to a session: `resume`, `load`, or
/// `never`.
pub fn acp(folder: &Path, comes_back: &str) -> Program {
    let Program { name, mut command, .. } = program(folder);
    command.extend(["--acp".into(), comes_back.into()]);
    Program::new(name, AgentKind::Acp, command)
}

/// A new turn in a place, without anything else.
pub fn turn(place: Place, prompt: &str) -> Turn {
    Turn::new(RunId::new(), place, prompt)
}

/// What stands before an assistant's command line: the supervisor, as the product has it.
pub fn supervisor() -> Vec<OsString> {
    supervisor_at(binary())
}

/// The same from a copy of the program.
pub fn supervisor_at(binary: PathBuf) -> Vec<OsString> {
    vec![binary.into(), "--supervise".into(), "--".into()]
}

/// Each run there was, in the order they began: its id, and the first line of its prompt.
pub fn runs(folder: &Path) -> Vec<(String, String)> {
    let lines = fs::read_to_string(folder.join("runs")).unwrap_or_default();
    lines.lines().filter_map(|line| line.split_once(' ')).map(|(run, first)| (run.into(), first.into())).collect()
}

/// Each time two runs met in one place: a test wants none.
pub fn overlaps(folder: &Path) -> Vec<String> {
    fs::read_to_string(folder.join("overlaps")).unwrap_or_default().lines().map(str::to_owned).collect()
}

/// The program next to the running test's, built when it is missing or older than its sources: a test of another crate
/// does not make cargo look.
///
/// # Panics
/// When it cannot be made.
pub fn binary() -> PathBuf {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY.get_or_init(|| fresh().expect("`fake-assistant` can be built")).clone()
}

fn fresh() -> anyhow::Result<PathBuf> {
    let test = env::current_exe()?;
    // `target/debug/deps/it-0123`, or `target/debug/crash`.
    let folder = test.ancestors().skip(1).find(|folder| !folder.ends_with("deps") && !folder.ends_with("examples"));
    let folder = folder.ok_or_else(|| anyhow::anyhow!("{} is in no folder", test.display()))?;
    let binary = folder.join("fake-assistant");
    if is_fresh(&binary) {
        return Ok(binary);
    }
    let target = folder.parent().ok_or_else(|| anyhow::anyhow!("{} is in no folder", folder.display()))?;
    let profile = match folder.file_name().and_then(|name| name.to_str()) {
        Some("debug") | None => "dev",
        Some(profile) => profile,
    };
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["build", "--quiet", "-p", "hedgerow-testkit", "--bin", "fake-assistant", "--profile", profile]);
    // What cargo tells a test about its crate would make build scripts believe that they are of another one.
    let of_the_test =
        |name: &str| ["CARGO_PKG_", "CARGO_MANIFEST_", "OUT_DIR"].iter().any(|word| name.starts_with(word));
    for (name, _) in env::vars_os().filter(|(name, _)| name.to_str().is_some_and(of_the_test)) {
        cargo.env_remove(name);
    }
    let status = cargo.arg("--target-dir").arg(target).current_dir(env!("CARGO_MANIFEST_DIR")).status()?;
    anyhow::ensure!(status.success() && binary.exists(), "cargo build --bin fake-assistant: {status}");
    // cargo leaves a program alone whose sources were only touched. It is not opened for that: a program that is open
    // for writing cannot be started.
    let now = Timespec { tv_sec: 0, tv_nsec: UTIME_NOW };
    utimensat(CWD, &binary, &Timestamps { last_access: now, last_modification: now }, AtFlags::empty())?;
    Ok(binary)
}

/// Whether none of its sources is newer than the program. cargo has written down which they are.
fn is_fresh(binary: &Path) -> bool {
    let modified = |path: &Path| fs::metadata(path).and_then(|metadata| metadata.modified()).ok();
    let (Some(made), Ok(sources)) = (modified(binary), fs::read_to_string(binary.with_extension("d"))) else {
        return false;
    };
    let sources = sources.split_once(": ").map_or("", |(_, sources)| sources);
    let mut own = sources.split_whitespace().filter(|source| ITS_OWN.iter().any(|own| source.contains(own)));
    own.all(|source| modified(Path::new(source)).is_some_and(|changed| changed <= made))
}
