//! A home for Hedgerow and repositories of any size, in a folder that goes away afterwards.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use hedgerow_testkit::{Cli, TestRepo, git};
use tempfile::TempDir;

/// Files in one folder; a folder of folders has as many of those.
const FILES_PER_FOLDER: usize = 20;

/// The machine all measurements happen on.
pub(crate) struct Machine {
    folder: TempDir,
    cli: Cli,
}

impl Machine {
    pub(crate) fn new() -> Self {
        let folder = tempfile::Builder::new().prefix("hedgerow-bench-").tempdir().expect("a temporary folder");
        let machine = Self { cli: Cli::new(env!("CARGO_BIN_EXE_hedgerow"), folder.path().join("home")), folder };
        configure(&machine.home(), "");
        machine
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    pub(crate) fn folder(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A command line of Hedgerow, ready to be started.
    pub(crate) fn hedgerow(&self, at: &TestRepo, args: &[&str]) -> Command {
        self.cli.command(at.path(), args)
    }

    /// A repository on `main` with that many files of about `bytes` each.
    pub(crate) fn repository(&self, name: &str, files: usize, bytes: usize) -> TestRepo {
        eprintln!("making a repository of {files} files");
        let repo = TestRepo::empty(&self.folder("code"), name);
        let mut import = git::command(repo.path());
        import.args(["fast-import", "--quiet"]).stdin(Stdio::piped());
        let mut child = import.spawn().expect("git can be started");
        let mut pipe = child.stdin.take().expect("it is piped");
        pipe.write_all(&history(files, bytes)).expect("git takes it");
        drop(pipe);
        assert!(child.wait().expect("it ends").success(), "git fast-import failed");
        repo.git(&["reset", "--quiet", "--hard"]);
        repo
    }
}

/// Room for more environments than people have, and whatever else a measurement wants.
pub(crate) fn configure(home: &Path, more: &str) {
    fs::create_dir_all(home.join("person")).expect("a home");
    let settings = format!("{more}\n[worktrees]\nmax_per_codebase = 1000\n");
    fs::write(home.join("hedgerow.toml"), settings).expect("the settings");
}

/// One commit with all files, in the words of `git fast-import`.
fn history(files: usize, bytes: usize) -> Vec<u8> {
    let mut history =
        String::from("commit refs/heads/main\ncommitter Alice <alice@example.com> 1770000000 +0000\ndata 6\nBegin\n\n");
    for number in 0..files {
        let folder = number / FILES_PER_FOLDER;
        let (area, part) = (folder / FILES_PER_FOLDER, folder % FILES_PER_FOLDER);
        let text = content(number, bytes);
        writeln!(history, "M 100644 inline area-{area}/src/part-{part}/file-{number}.rs").expect("into a string");
        writeln!(history, "data {}\n{text}", text.len()).expect("into a string");
    }
    history.into_bytes()
}

/// Lines that look a little like code, different in every file.
fn content(number: usize, bytes: usize) -> String {
    let mut text = String::new();
    // Files differ in size by half and by a half more.
    let wanted = bytes / 2 + (number * 7919) % bytes;
    let mut line = 0;
    while text.len() < wanted {
        let value = (number * 31 + line * 17).wrapping_mul(2_654_435_761) % 1_000_003;
        writeln!(text, "    let value_{line} = compute(input, {value});").expect("into a string");
        line += 1;
    }
    text
}

/// Leaves only the main checkout and its branch, and a quiet disk; what the trash holds goes as well.
pub(crate) fn tidy(repo: &TestRepo) {
    for worktree in repo.worktrees() {
        let path = worktree.to_string_lossy();
        repo.git(&["worktree", "remove", "--force", "--force", &path]);
    }
    for branch in repo.branches().iter().filter(|branch| *branch != "main") {
        repo.git(&["branch", "--quiet", "-D", branch]);
    }
    rustix::fs::sync();
}
