//! The real binary, where no repository is needed: help, settings, scripts for shells, and the shape of errors.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// The binary with nothing around it but a home of its own.
fn hedgerow(home: &Path, line: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hedgerow"));
    command.env_clear().env("HOME", home).env("HEDGEROW_HOME", home).current_dir(home).args(line);
    command
}

fn run(command: &mut Command) -> (Option<i32>, String, String) {
    let Output { status, stdout, stderr } = command.output().expect("the binary starts");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    (status.code(), text(stdout), text(stderr))
}

fn home() -> TempDir {
    TempDir::new().expect("a scratch folder")
}

#[test]
fn alone_it_prints_its_help() {
    let home = home();
    let (code, stdout, stderr) = run(&mut hedgerow(home.path(), &[]));
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    assert!(stdout.contains("Usage: hedgerow") && stdout.contains("env create issue 42"), "{stdout}");
    assert!(!stdout.contains('\u{1b}'), "no colour in a pipe");
}

#[test]
fn a_misspelt_verb_gets_the_nearest_one() {
    let home = home();
    let (code, stdout, stderr) = run(&mut hedgerow(home.path(), &["env", "crate", "issue", "42"]));
    assert_eq!((code, stdout.as_str()), (Some(2), ""));
    assert!(stderr.starts_with("error: unrecognized subcommand 'crate'"), "{stderr}");
    assert!(stderr.contains("hint: ") && stderr.contains("'create'"), "{stderr}");
}

#[test]
fn errors_are_json_where_json_was_asked_for() {
    let home = home();
    let file = home.path().join("hedgerow.toml");
    fs::write(&file, "\n[worktrees]\nmax_per_codebase = -5\n").expect("writes");
    for line in [["config", "show", "--json"], ["env", "crate", "--json"], ["env", "list", "--json"]] {
        let (code, stdout, stderr) = run(&mut hedgerow(home.path(), &line));
        assert_eq!((code, stdout.as_str()), (Some(2), ""), "{line:?}");
        let error: serde_json::Value = serde_json::from_str(&stderr).expect("stderr is one object");
        assert_eq!(error["error"]["kind"], "usage", "{stderr}");
        assert!(error["error"]["message"].is_string() && error["error"]["hints"].is_array(), "{stderr}");
    }
    let (_, _, stderr) = run(&mut hedgerow(home.path(), &["config", "show"]));
    let place = format!("({}, line 3)", file.display());
    let message = "`worktrees.max_per_codebase` must be a whole number from 0 to 10000, not `-5`";
    assert_eq!(stderr, format!("error: {message} {place}\n"));
}

#[test]
fn control_characters_of_an_argument_do_not_reach_the_terminal() {
    let home = home();
    let (code, _, stderr) = run(&mut hedgerow(home.path(), &["env", "create", "branch", "\u{1b}[2J\u{202e}x"]));
    assert_eq!(code, Some(2));
    assert!(!stderr.contains('\u{1b}') && !stderr.contains('\u{202e}'), "{stderr:?}");
}

#[test]
fn config_shows_each_value_and_where_it_came_from() {
    let home = home();
    fs::write(home.path().join("hedgerow.toml"), "remote = \"upstream\"\n").expect("writes");
    let mut command = hedgerow(home.path(), &["config", "show", "--json"]);
    command.env("MAX_WORKTREES_PER_CODEBASE", "3").env("DATABASE_URL", "postgres://bob:hunter2@db/x");
    let (code, stdout, stderr) = run(&mut command);
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    let entries: Vec<serde_json::Value> = serde_json::from_str(&stdout).expect("an array");
    let entry = |key: &str| entries.iter().find(|entry| entry["key"] == key).expect(key);
    assert_eq!(entry("worktrees.max_per_codebase")["value"], 3);
    assert_eq!(entry("worktrees.max_per_codebase")["from"], "environment variable MAX_WORKTREES_PER_CODEBASE");
    assert!(entry("remote")["from"].as_str().expect("text").ends_with("hedgerow.toml, line 1"));
    assert_eq!(entry("cleanup.stale_after_days")["from"], "default");
    assert_eq!(entry("database_url")["value"], "postgres://bob:***@db/x");

    let (_, stdout, _) = run(&mut hedgerow(home.path(), &["config", "show"]));
    assert!(stdout.starts_with("KEY ") && stdout.contains("upstream"), "{stdout}");
    assert!(!stdout.contains('\u{1b}') && stdout.lines().all(|line| line == line.trim_end()), "{stdout}");
    assert!(!home.path().join("hedgerow.db").exists(), "the engine stays closed");
}

#[test]
fn config_path_names_the_file_even_before_it_exists() {
    let home = home();
    let (code, stdout, _) = run(&mut hedgerow(home.path(), &["config", "path"]));
    assert_eq!((code, stdout), (Some(0), format!("{}\n", home.path().join("hedgerow.toml").display())));
    let (_, stdout, _) = run(&mut hedgerow(home.path(), &["config", "path", "--home", "/elsewhere"]));
    assert_eq!(stdout, "/elsewhere/hedgerow.toml\n");
}

#[test]
fn a_bad_log_filter_is_refused() {
    let home = home();
    let (code, _, stderr) = run(hedgerow(home.path(), &["config", "path"]).env("HEDGEROW_LOG", "x=y=z"));
    assert_eq!(code, Some(2));
    assert!(stderr.contains("`HEDGEROW_LOG`"), "{stderr}");
}

#[test]
fn there_is_a_completion_script_for_every_shell() {
    let home = home();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let (code, stdout, _) = run(&mut hedgerow(home.path(), &["completions", shell]));
        assert_eq!(code, Some(0), "{shell}");
        assert!(stdout.contains("hedgerow") && stdout.contains("cleanup"), "{shell}");
    }
}

/// Feeds a script to bash and gives back its exit code and what it printed.
fn bash(flags: &[&str], script: &str, path: &Path) -> (Option<i32>, String) {
    let mut child = Command::new("bash")
        .args(flags)
        .env("PATH", format!("{}:/usr/bin:/bin", path.display()))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("bash starts");
    child.stdin.take().expect("piped").write_all(script.as_bytes()).expect("writes");
    let output = child.wait_with_output().expect("bash ends");
    (output.status.code(), String::from_utf8(output.stdout).expect("UTF-8"))
}

#[test]
fn scripts_for_bash_are_good_bash() {
    let home = home();
    for line in [["shell-init", "bash"], ["completions", "bash"]] {
        let (_, script, _) = run(&mut hedgerow(home.path(), &line));
        assert_eq!(bash(&["-n"], &script, home.path()).0, Some(0), "{line:?}");
    }
}

#[test]
fn hcd_goes_to_the_environment_and_never_runs_a_name() {
    use std::os::unix::fs::PermissionsExt;

    let home = home();
    let (_, script, _) = run(&mut hedgerow(home.path(), &["shell-init", "bash"]));
    // A program in the binary's place whose answers are as awkward as git allows.
    let target = home.path().join("a folder -- with $(touch canary)");
    fs::create_dir(&target).expect("makes the folder");
    let answers = format!(
        "#!/bin/sh\ncase \"$*\" in\n'env path gone') exit 4;;\n'env path '*) printf '%s\\n' '{}';;\n\
         'env list --names') printf '%s\\n' 'issue-42' 'task-$(touch canary)' 'task-it`touch canary`';;\nesac\n",
        target.display()
    );
    let program = home.path().join("hedgerow");
    fs::write(&program, answers).expect("writes");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("chmod");

    let story = format!(
        "cd '{}'\n{script}\n\
         _hcd hcd task hcd; printf '%s\\n' \"${{#COMPREPLY[@]}}\" \"${{COMPREPLY[@]}}\"\n\
         hcd gone; echo \"$? $PWD\"\n\
         hcd issue-42 && pwd\n",
        home.path().display()
    );
    let (code, printed) = bash(&[], &story, home.path());
    let expected = format!(
        "2\ntask-\\$\\(touch\\ canary\\)\ntask-it\\`touch\\ canary\\`\n4 {}\n{}\n",
        home.path().display(),
        target.display()
    );
    assert_eq!((code, printed), (Some(0), expected));
    assert!(!home.path().join("canary").exists() && !target.join("canary").exists(), "a name was run");
}

#[test]
fn a_reader_that_goes_away_is_no_error_and_a_full_disk_is() {
    let home = home();
    let mut child = hedgerow(home.path(), &["completions", "bash"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]));

    if let Ok(full) = fs::OpenOptions::new().write(true).open("/dev/full") {
        let (code, _, stderr) = run(hedgerow(home.path(), &["config", "path"]).stdout(full));
        assert_eq!(code, Some(1));
        assert!(stderr.starts_with("error: cannot write the answer"), "{stderr}");
    }
}
