//! The real binary, run as a person would run it: stdout, stderr and exit status in one text.

use std::ffi::OsString;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;
use std::{env, fmt, fs};

use crate::git::HERMETIC;

/// A terminal session: a home, a folder, and the program under test.
#[derive(Debug, Clone)]
pub struct Cli {
    program: PathBuf,
    home: PathBuf,
    env: Vec<(String, String)>,
}

/// What a command left.
#[must_use = "snapshot it, or check its status"]
pub struct Said {
    output: Output,
    /// Texts that differ from run to run, and what stands for them.
    hidden: Vec<(String, String)>,
}

impl Cli {
    /// `program` is the binary under test (`env!("CARGO_BIN_EXE_hedgerow")`), `home` a fresh HEDGEROW_HOME.
    pub fn new(program: impl Into<PathBuf>, home: impl Into<PathBuf>) -> Self {
        Self { program: program.into(), home: home.into(), env: Vec::new() }
    }

    #[must_use]
    pub fn env(mut self, name: &str, value: impl Into<String>) -> Self {
        self.env.push((name.to_owned(), value.into()));
        self
    }

    /// The command, ready to be started: nothing of the surroundings leaks in.
    pub fn command(&self, at: &Path, args: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.env_clear().envs(HERMETIC).env("PATH", path());
        command.env("HOME", self.home.join("person")).env("HEDGEROW_HOME", &self.home).env("USER", "alice");
        command.envs(self.env.iter().map(|(name, value)| (name, value))).current_dir(at).args(args);
        command
    }

    /// # Panics
    /// When the program cannot be started.
    pub fn run(&self, at: &Path, args: &[&str]) -> Said {
        self.said(at, &mut self.command(at, args))
    }

    /// A line typed into a real bash, with the program in its `PATH`.
    ///
    /// # Panics
    /// When bash cannot be started.
    pub fn type_in(&self, at: &Path, line: &str) -> Said {
        let folder = self.program.parent().expect("a program is in a folder");
        let given = self.env.iter().rev().find(|(name, _)| name == "PATH").map(|(_, path)| OsString::from(path));
        let given = given.unwrap_or_else(path);
        let path = env::join_paths([folder.to_owned()].into_iter().chain(env::split_paths(&given)));
        let mut bash = Command::new("bash");
        bash.env_clear().envs(self.command(at, &[]).get_envs().filter_map(|(name, value)| Some((name, value?))));
        bash.env("PATH", path.expect("folders of PATH hold no colon")).current_dir(at).args(["-c", line]);
        self.said(at, &mut bash)
    }

    fn said(&self, at: &Path, command: &mut Command) -> Said {
        let output = command.output().expect("the program can be started");
        let home = fs::canonicalize(&self.home).unwrap_or_else(|_| self.home.clone());
        let hidden = [(home, "$HOME"), (self.home.clone(), "$HOME"), (at.to_owned(), "$HERE")];
        let hidden = hidden.map(|(path, name)| (path.to_string_lossy().into_owned(), name.to_owned()));
        Said { output, hidden: hidden.into() }
    }
}

impl Said {
    pub fn status(&self) -> i32 {
        self.output.status.code().unwrap_or(-1)
    }

    /// # Panics
    /// When the status is not 0.
    pub fn success(self) -> Self {
        assert_eq!(self.status(), 0, "{self}");
        self
    }

    pub fn stdout(&self) -> String {
        String::from_utf8_lossy(&self.output.stdout).into_owned()
    }

    pub fn stderr(&self) -> String {
        String::from_utf8_lossy(&self.output.stderr).into_owned()
    }

    /// The last line of stdout, such as the path that `env create` prints.
    pub fn last_line(&self) -> String {
        self.stdout().lines().last().unwrap_or_default().to_owned()
    }

    /// Something else that differs from run to run.
    pub fn hiding(mut self, text: impl Into<String>, name: &str) -> Self {
        self.hidden.insert(0, (text.into(), name.to_owned()));
        self
    }
}

impl fmt::Display for Said {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = self.stdout();
        let stderr = self.stderr();
        if !stderr.is_empty() {
            text.push_str("------- stderr -------\n");
            text.push_str(&stderr);
        }
        if self.status() != 0 {
            text = format!("{text}[exit status: {}]\n", self.status());
        }
        for (hidden, name) in &self.hidden {
            text = text.replace(hidden, name);
        }
        f.write_str(&text)
    }
}

impl fmt::Debug for Said {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Agents that Hedgerow finds by itself. A machine that has them must not make a story read otherwise.
const AGENTS: [&str; 4] = ["claude", "codex", "gemini", "opencode"];

/// The machine's `PATH` without agents: a folder that has one is seen through links to everything else in it.
fn path() -> OsString {
    static PATH: OnceLock<OsString> = OnceLock::new();
    let without = || {
        let inherited = env::var_os("PATH").unwrap_or_default();
        let folders = env::split_paths(&inherited).map(|folder| {
            let has_one = AGENTS.iter().any(|agent| folder.join(agent).exists());
            if has_one { links(&folder) } else { folder }
        });
        env::join_paths(folders).expect("what a split gave can be joined again")
    };
    PATH.get_or_init(without).clone()
}

fn links(folder: &Path) -> PathBuf {
    // As long as the tests of this process run; they are links only.
    let links = tempfile::Builder::new().prefix("hedgerow-path-").tempdir().expect("a temporary folder").keep();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if !AGENTS.iter().any(|agent| entry.file_name() == *agent) {
            let _ = symlink(entry.path(), links.join(entry.file_name()));
        }
    }
    links
}
