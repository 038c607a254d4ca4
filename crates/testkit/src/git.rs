//! git without the machine's own settings: no user's or system's configuration, a fixed identity, fixed dates.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::{Command, Output};

/// What makes git hermetic: for the tests' own calls and, through its settings, for the engine's.
pub const HERMETIC: [(&str, &str); 8] = [
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_AUTHOR_NAME", "Alice"),
    ("GIT_AUTHOR_EMAIL", "alice@example.com"),
    ("GIT_AUTHOR_DATE", "2026-05-01T12:00:00Z"),
    ("GIT_COMMITTER_NAME", "Alice"),
    ("GIT_COMMITTER_EMAIL", "alice@example.com"),
    ("GIT_COMMITTER_DATE", "2026-05-01T12:00:00Z"),
];

/// The same for the engine, which passes it on to every call.
pub fn hermetic_env() -> Vec<(OsString, OsString)> {
    HERMETIC.iter().map(|(name, value)| (name.into(), value.into())).collect()
}

/// A git command in `at`, as a person would type it there.
pub fn command(at: &Path) -> Command {
    let mut command = Command::new("git");
    command.env_clear().envs(HERMETIC).env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command.env("HOME", "/nonexistent").env("LC_ALL", "C").arg("-C").arg(at);
    // Repositories of tests are folders next door; submodules from there are refused by default.
    command.args([
        "-c",
        "protocol.file.allow=always",
        "-c",
        "init.defaultBranch=main",
        "-c",
        "advice.detachedHead=false",
    ]);
    command
}

/// Runs git; any exit code.
///
/// # Panics
/// When git cannot be started.
pub fn try_git<S: AsRef<OsStr>>(at: &Path, args: &[S]) -> Output {
    command(at).args(args).output().expect("git can be started")
}

/// Runs git and returns what it printed, trimmed.
///
/// # Panics
/// When git fails: the test's own preparation is wrong.
pub fn git<S: AsRef<OsStr> + std::fmt::Debug>(at: &Path, args: &[S]) -> String {
    let output = try_git(at, args);
    assert!(output.status.success(), "git {args:?} in {}: {}", at.display(), String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
}
