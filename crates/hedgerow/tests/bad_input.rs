//! Bad input: one clear error with a hint, the documented exit code, and nothing changed.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use hedgerow_testkit::cli::Said;
use hedgerow_testkit::{Cli, TestRepo};
use tempfile::TempDir;

struct Desk {
    repo: TestRepo,
    cli: Cli,
    folder: TempDir,
}

impl Desk {
    fn new() -> Self {
        let folder = tempfile::Builder::new().prefix("hedgerow-bad-").tempdir().expect("a temporary folder");
        let repo = TestRepo::with_origin(folder.path(), "shop");
        let cli = Cli::new(env!("CARGO_BIN_EXE_hedgerow"), folder.path().join("home"));
        Self { repo, cli, folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn with(self, name: &str, value: impl Into<String>) -> Self {
        Self { cli: self.cli.env(name, value), ..self }
    }

    /// A program in git's place, first in the search path.
    fn with_git(self, script: &str) -> Self {
        let bin = self.path("bin");
        fs::create_dir(&bin).expect("a folder");
        fs::write(bin.join("git"), format!("#!/bin/sh\n{script}\n")).expect("a script");
        fs::set_permissions(bin.join("git"), fs::Permissions::from_mode(0o755)).expect("a program");
        let path = std::env::var("PATH").unwrap_or_default();
        self.with("PATH", format!("{}:{path}", bin.display()))
    }

    /// Runs a command that must fail in this way, in the repository.
    fn fails(&self, status: i32, args: &[&str]) -> String {
        self.fails_at(self.repo.path(), status, args)
    }

    fn fails_at(&self, at: &Path, status: i32, args: &[&str]) -> String {
        let before = self.repo.fingerprint();
        let said = self.cli.run(at, args);
        let text = one_error(&said, status);
        assert_eq!(self.repo.fingerprint(), before, "{args:?} changed the checkout");
        assert_eq!(self.repo.branches(), ["main"], "{args:?} left a branch");
        assert_eq!(self.repo.worktrees(), Vec::<PathBuf>::new(), "{args:?} left a worktree");
        let made = self.path("home/worktrees");
        let places = fs::read_dir(&made).into_iter().flatten().filter_map(Result::ok).map(|entry| entry.path());
        let full = |place: &PathBuf| place.is_dir() && fs::read_dir(place).is_ok_and(|mut all| all.next().is_some());
        assert_eq!(places.filter(full).collect::<Vec<_>>(), Vec::<PathBuf>::new(), "{args:?} left a folder");
        text
    }

    fn has_no_environment(&self) {
        let listed = self.cli.run(self.repo.path(), &["env", "list", "--json"]).success();
        assert_eq!(listed.stdout().trim(), "[]");
    }
}

/// Exactly one error, at least one hint, the right status, and no sign of a crash.
fn one_error(said: &Said, status: i32) -> String {
    let stderr = said.stderr();
    assert_eq!(said.status(), status, "{said}");
    assert_eq!(stderr.lines().filter(|line| line.starts_with("error: ")).count(), 1, "{said}");
    assert!(stderr.lines().any(|line| line.starts_with("hint: ")), "no hint: {said}");
    assert!(!stderr.contains("panicked") && !stderr.contains("backtrace"), "{said}");
    assert!(!stderr.bytes().any(|byte| byte < 0x20 && byte != b'\n'), "control characters: {stderr:?}");
    stderr
}

#[test]
fn words_that_are_no_number_sha_branch_or_verb_are_wrong_usage() {
    let desk = Desk::new();
    for line in [
        &["env", "create", "issue", "0"][..],
        &["env", "create", "issue", "-1"],
        &["env", "create", "issue", "--", "-1"],
        &["env", "create", "issue", "99999999999999999999999999"],
        &["env", "create", "issue", "4 2"],
        &["env", "create", "branch", "--upload-pack=touch canary"],
        &["env", "create", "branch", "--", "--upload-pack=touch canary"],
        &["env", "create", "branch", "--", "-oProxyCommand=id"],
        &["env", "create", "branch", "HEAD"],
        &["env", "create", "branch", "a..b"],
        &["env", "create", "branch", "a b"],
        &["env", "create", "branch", "a\u{1b}[2Jb"],
        &["env", "create", "branch", ""],
        &["env", "create", "review", "3", "--sha", "abc"],
        &["env", "create", "review", "3", "--sha", "g123456789012345678901234567890123456789"],
        &["env", "create", "issue", "1", "--base", "-x"],
        &["env", "create", "task"],
        &["env", "polish"],
        &["polish"],
        &["env", "list", "--polish"],
        &["codebase", "add", ".", "--name", "a/../b"],
        &["codebase", "add", ".", "--name", "-x"],
        &["codebase", "add", ".", "--name", ""],
        &["codebase", "add", "ext::touch canary"],
        &["codebase", "add", "ftp://localhost/x"],
        &["codebase", "add", "https://alice:hunter2@localhost:1/a/b"],
        &["codebase", "add", "https://ghp_hunter2@localhost:1/a/b"],
    ] {
        let text = desk.fails(2, line);
        assert!(!text.contains("hunter2"), "{text}");
    }
    desk.has_no_environment();
}

#[test]
fn what_is_not_there_is_not_found() {
    let desk = Desk::new();
    for line in [
        &["env", "show", "nope"][..],
        &["env", "path", "nope"],
        &["env", "diff", "nope"],
        &["env", "remove", "nope"],
        &["env", "remove", "../../../etc"],
        &["env", "restore", "nope"],
        &["env", "keep", "nope"],
        &["codebase", "show", "nope"],
        &["codebase", "trust", "nope"],
        &["codebase", "remove", "nope"],
        &["env", "list", "--codebase", "nope"],
        &["codebase", "add", "/nonexistent/folder"],
        &["env", "create", "issue", "1", "--base", "nope"],
        &["env", "create", "pr", "7"],
        &["env", "create", "review", "7", "--sha", "0123456789012345678901234567890123456789"],
    ] {
        desk.fails(4, line);
    }
    desk.has_no_environment();
}

#[test]
fn bytes_that_are_no_text_are_refused() {
    let desk = Desk::new();
    let bytes = OsStr::from_bytes(b"\xff\xfe");
    for (line, status) in [
        (&["env", "create", "branch"][..], 2),
        (&["env", "create", "task"], 2),
        (&["env", "show"], 2),
        (&["codebase", "add"], 4),
    ] {
        let output = desk.cli.command(desk.repo.path(), line).arg(bytes).output().expect("it starts");
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(status), "{line:?} {stderr}");
        assert!(stderr.starts_with("error: ") && stderr.contains("\nhint: "), "{stderr}");
    }
    let place = desk.folder.path().join(bytes);
    fs::create_dir(&place).expect("a folder");
    hedgerow_testkit::git::git(&place, &["init", "--quiet"]);
    let output = desk.cli.command(&place, &["env", "create", "issue", "1"]).output().expect("it starts");
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains("not UTF-8") && !stderr.contains("panicked"), "{stderr}");
}

#[test]
fn a_damaged_repository_is_an_error_and_stays_as_it_is() {
    type Harm = fn(&Path);
    let harms: [(&str, i32, Harm); 7] = [
        ("no repository", 2, |at| fs::remove_dir_all(at.join(".git")).expect("removes")),
        ("junk for HEAD", 2, |at| fs::write(at.join(".git/HEAD"), "junk\n").expect("writes")),
        ("no HEAD", 2, |at| fs::remove_file(at.join(".git/HEAD")).expect("removes")),
        ("junk for .git", 1, |at| {
            fs::remove_dir_all(at.join(".git")).expect("removes");
            fs::write(at.join(".git"), "junk\n").expect("writes");
        }),
        ("a broken branch", 1, |at| fs::write(at.join(".git/refs/heads/main"), "junk\n").expect("writes")),
        ("broken settings", 1, |at| fs::write(at.join(".git/config"), "[core\n").expect("writes")),
        ("no objects", 1, |at| {
            fs::remove_dir_all(at.join(".git/objects")).expect("removes");
            fs::create_dir(at.join(".git/objects")).expect("makes");
        }),
    ];
    let desk = Desk::new();
    for (nth, (name, status, harm)) in harms.into_iter().enumerate() {
        let hurt = TestRepo::without_remote(&desk.path(&format!("hurt-{nth}")), "hurt");
        harm(hurt.path());
        let text = desk.fails_at(hurt.path(), status, &["env", "create", "issue", "1"]);
        assert!(!text.contains("first commit"), "{name}: a damaged repository is not an empty one: {text}");
    }
}

#[test]
fn the_worktree_of_a_git_that_died_stops_nobody() {
    let desk = Desk::new();
    desk.repo.git(&["worktree", "add", "--quiet", "../beside"]);
    let half_made = desk.repo.git_dir().join("worktrees/beside/commondir");
    let then = std::time::SystemTime::now() - std::time::Duration::from_hours(1);
    fs::File::create(&half_made).and_then(|file| file.set_modified(then)).expect("emptied");
    let _ = desk.cli.run(desk.repo.path(), &["env", "create", "issue", "1"]).success();
    assert_eq!(fs::read_to_string(half_made).expect("a file"), "../..\n");
    assert!(desk.repo.git(&["worktree", "list"]).contains("/beside"));
}

#[test]
fn an_empty_repository_is_told_apart_from_a_damaged_one() {
    let desk = Desk::new();
    let empty = TestRepo::empty(desk.folder.path(), "empty");
    let text = desk.fails_at(empty.path(), 1, &["env", "create", "issue", "1"]);
    assert!(text.contains("no commit yet"), "{text}");
}

#[test]
fn without_a_usable_git_nothing_is_done() {
    let missing = Desk::new().with("PATH", "/nonexistent");
    assert!(missing.fails(1, &["env", "create", "issue", "1"]).contains("git cannot be started"));
    let wrong = Desk::new();
    fs::create_dir(wrong.path("home")).expect("a home");
    fs::write(wrong.path("home/hedgerow.toml"), "git = \"/nonexistent/git\"\n").expect("settings");
    assert!(wrong.fails(1, &["env", "create", "issue", "1"]).contains("/nonexistent/git"));
    for (script, words) in [
        ("echo git version 2.20.0", "2.20.0 is too old"),
        ("printf 'garbage \\033[2J\\n\\nmore'", "something unexpected"),
        ("exit 1", "exit code 1"),
        ("kill -9 $$", "killed"),
        ("yes", "printed more than"),
        // It passes for git until it is asked about a repository.
        ("case \"$*\" in *version) echo git version 2.47.3;; *) yes;; esac", "printed more than"),
        ("case \"$*\" in *version) echo git version 2.47.3;; *) echo junk;; esac", ""),
    ] {
        let text = Desk::new().with_git(script).fails(1, &["env", "create", "issue", "1"]);
        assert!(text.contains(words), "{script}: {text}");
    }
}

#[test]
fn a_home_that_cannot_be_written_is_an_error() {
    // A file in the way stops everyone, also those whom no permission stops.
    let desk = Desk::new();
    fs::write(desk.path("file"), "").expect("a file");
    for home in ["file", "file/below"] {
        let desk =
            Desk { cli: desk.cli.clone().env("HEDGEROW_HOME", desk.path(home).to_string_lossy()), ..Desk::new() };
        desk.fails(1, &["env", "create", "issue", "1"]);
        desk.fails(1, &["env", "list"]);
    }
    let base = desk.path("file/worktrees").to_string_lossy().into_owned();
    let desk = desk.with("WORKTREE_BASE", base);
    desk.fails(1, &["env", "create", "issue", "1"]);
    desk.has_no_environment();
}

#[test]
fn a_read_only_or_full_disk_leaves_nothing_behind() {
    // A mount of one's own needs user namespaces; where they are forbidden there is nothing to try.
    if !Command::new("unshare").args(["-rm", "true"]).status().is_ok_and(|status| status.success()) {
        return;
    }
    for (options, words) in [("ro,size=1m", ""), ("size=200k", "")] {
        let desk = Desk::new();
        desk.repo.commit("large.bin", &"0123456789abcdef\n".repeat(100_000));
        desk.repo.push("main");
        let base = desk.path("disk");
        fs::create_dir(&base).expect("a folder");
        let before = desk.repo.fingerprint();
        let inside = desk.cli.clone().env("WORKTREE_BASE", base.to_string_lossy());
        let line = inside.command(desk.repo.path(), &["env", "create", "issue", "1"]);
        let mut command = Command::new("unshare");
        command.args([
            "-rm",
            "sh",
            "-c",
            "mount -t tmpfs -o \"$1\" none \"$2\" && shift 2 && exec \"$@\"",
            "sh",
            options,
        ]);
        command.arg(&base).arg(line.get_program()).args(line.get_args()).current_dir(desk.repo.path()).env_clear();
        command.envs(line.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let output = command.output().expect("unshare starts");
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{options}: {stderr}");
        assert!(stderr.contains("error: ") && stderr.contains("hint: ") && stderr.contains(words), "{stderr}");
        assert!(!stderr.contains("panicked"), "{stderr}");
        assert_eq!(desk.repo.fingerprint(), before);
        assert_eq!((desk.repo.branches(), desk.repo.worktrees()), (vec!["main".to_owned()], Vec::new()), "{stderr}");
        desk.has_no_environment();
    }
}

#[test]
fn a_database_that_cannot_be_used_is_an_error_without_its_password() {
    let desk = Desk::new();
    fs::write(desk.path("damaged.db"), "not a database, not at all. ".repeat(400)).expect("a file");
    let damaged = format!("sqlite://{}", desk.path("damaged.db").display());
    let folder = format!("sqlite://{}", desk.folder.path().display());
    for url in ["postgres://alice:hunter2@localhost:1/x", &damaged, &folder] {
        let desk = Desk::new().with("DATABASE_URL", url);
        let text = desk.fails(1, &["env", "create", "issue", "1"]);
        assert!(!text.contains("hunter2"), "{text}");
    }
    let damage = fs::read(desk.path("damaged.db")).expect("it is there");
    assert!(damage.starts_with(b"not a database"), "it is left as it was");
}

/// The message names the key, the range and the place, which is all the hint there is to give.
#[test]
fn settings_that_make_no_sense_are_wrong_usage() {
    for (name, value) in [
        ("MAX_WORKTREES_PER_CODEBASE", "-3"),
        ("MAX_WORKTREES_PER_CODEBASE", "many"),
        ("STALE_THRESHOLD_DAYS", "0"),
        ("DATABASE_URL", "mysql://alice:hunter2@localhost/x"),
    ] {
        let desk = Desk::new().with(name, value);
        let said = desk.cli.run(desk.repo.path(), &["env", "create", "issue", "1"]);
        assert_eq!(said.status(), 2, "{said}");
        assert!(said.stderr().contains(&format!("error: `{name}`")) && !said.stderr().contains("hunter2"), "{said}");
        assert_eq!(desk.repo.branches(), ["main"]);
    }
    for content in [&b"[[["[..], b"\xff\xfe", b"polish = 1\n", b"[worktrees]\nmax_per_codebase = 1e9\n"] {
        let desk = Desk::new();
        fs::create_dir(desk.path("home")).expect("a home");
        fs::write(desk.path("home/hedgerow.toml"), content).expect("settings");
        let said = desk.cli.run(desk.repo.path(), &["env", "create", "issue", "1"]);
        assert_eq!(said.status(), 2, "{said}");
        assert!(said.stderr().starts_with("error: ") && said.stderr().contains("hedgerow.toml"), "{said}");
    }
}
