//! Programs in environments, commands that are interrupted, and many commands at once.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

use hedgerow_core::State;
use insta::assert_snapshot;

use crate::desk::Desk;

#[tokio::test(flavor = "multi_thread")]
async fn a_program_runs_in_the_environment_and_its_status_is_ours() {
    let desk = Desk::new().await;
    let _ = desk.run(&["env", "create", "issue", "42"]).success();
    let session = desk.session(&[
        "hedgerow env exec issue-42 -- pwd",
        "hedgerow env exec issue-42 -- sh -c 'env | grep ^HEDGEROW_ | grep -v HEDGEROW_HOME | sort'",
        "hedgerow env exec issue-42 -- git rev-parse --abbrev-ref HEAD",
        "GIT_DIR=/nowhere hedgerow env exec issue-42 -- git rev-parse --abbrev-ref HEAD",
        "echo in and out | hedgerow env exec issue-42 -- cat",
        "hedgerow env exec issue-42 -- echo --json --help",
        "hedgerow env exec issue-42 -- sh -c 'exit 7'",
        "hedgerow env exec issue-42 -- sh -c 'kill -TERM $$'",
        "hedgerow env exec issue-42 -- README.md",
        "hedgerow env exec issue-43 -- true",
    ]);
    assert_snapshot!(session, @r#"
    $ hedgerow env exec issue-42 -- pwd
    ~/.hedgerow/worktrees/shop/issue-42

    $ hedgerow env exec issue-42 -- sh -c 'env | grep ^HEDGEROW_ | grep -v HEDGEROW_HOME | sort'
    HEDGEROW_BASE=main
    HEDGEROW_BRANCH=issue-42
    HEDGEROW_CODEBASE=shop
    HEDGEROW_ENVIRONMENT=<id>
    HEDGEROW_PATH=~/.hedgerow/worktrees/shop/issue-42
    HEDGEROW_PORT=4800
    HEDGEROW_WORK=issue-42

    $ hedgerow env exec issue-42 -- git rev-parse --abbrev-ref HEAD
    issue-42

    $ GIT_DIR=/nowhere hedgerow env exec issue-42 -- git rev-parse --abbrev-ref HEAD
    issue-42

    $ echo in and out | hedgerow env exec issue-42 -- cat
    in and out

    $ hedgerow env exec issue-42 -- echo --json --help
    --json --help

    $ hedgerow env exec issue-42 -- sh -c 'exit 7'
    [exit status: 7]

    $ hedgerow env exec issue-42 -- sh -c 'kill -TERM $$'
    [exit status: 143]

    $ hedgerow env exec issue-42 -- README.md
    ------- stderr -------
    error: cannot run `README.md`: No such file or directory (os error 2)
    [exit status: 127]

    $ hedgerow env exec issue-43 -- true
    ------- stderr -------
    error: `shop` has no environment `issue-43`
    hint: there are: issue-42
    [exit status: 4]
    "#);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shell_goes_where_the_answer_points() {
    let desk = Desk::new().await;
    let session = desk.session(&[
        "cd \"$(hedgerow env create issue 42 2>/dev/null | tail -1)\" && pwd",
        "eval \"$(hedgerow shell-init bash)\"; hcd issue-42 && pwd; hcd nowhere; echo \"$? $PWD\"",
        "eval \"$(hedgerow shell-init bash)\"; _hcd hcd iss hcd; echo \"${COMPREPLY[@]}\"",
        "hedgerow env list | head -1; echo \"${PIPESTATUS[@]}\"",
        "hedgerow env diff issue-42 | head -1; echo \"${PIPESTATUS[@]}\"",
    ]);
    assert_snapshot!(session, @r#"
    $ cd "$(hedgerow env create issue 42 2>/dev/null | tail -1)" && pwd
    ~/.hedgerow/worktrees/shop/issue-42

    $ eval "$(hedgerow shell-init bash)"; hcd issue-42 && pwd; hcd nowhere; echo "$? $PWD"
    ~/.hedgerow/worktrees/shop/issue-42
    4 ~/.hedgerow/worktrees/shop/issue-42
    ------- stderr -------
    error: `shop` has no environment `nowhere`
    hint: there are: issue-42

    $ eval "$(hedgerow shell-init bash)"; _hcd hcd iss hcd; echo "${COMPREPLY[@]}"
    issue-42

    $ hedgerow env list | head -1; echo "${PIPESTATUS[@]}"
    NAME      BRANCH    STATE   CHANGES  COMMITS  LAST ACTIVE
    0 0

    $ hedgerow env diff issue-42 | head -1; echo "${PIPESTATUS[@]}"
    0 0
    "#);
}

/// A git that, when it is told to check out, says so through a pipe and then never ends.
fn hang_in_checkout(desk: &Desk) -> std::path::PathBuf {
    let pipe = desk.folder().join("in-checkout");
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("mkfifo starts").success());
    let program = desk.folder().join("slow-git");
    let script = format!(
        "#!/bin/sh\nfor word do\n  if [ \"$word\" = checkout ]; then echo now > '{}'; exec sleep 600; fi\ndone\nexec git \"$@\"\n",
        pipe.display()
    );
    fs::write(&program, script).expect("a script");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("it can be run");
    desk.configure(&format!("git = \"{}\"", program.display()));
    pipe
}

/// What Ctrl-C does in a terminal: the whole foreground group gets the signal.
fn press_ctrl_c(group: u32) {
    let kill = Command::new("kill").args(["-INT", "--", &format!("-{group}")]).status();
    assert!(kill.expect("kill starts").success());
}

#[tokio::test(flavor = "multi_thread")]
async fn ctrl_c_leaves_nothing_behind() {
    let desk = Desk::new().await;
    let _ = desk.run(&["codebase", "add"]).success();
    let config = fs::read_to_string(desk.home().join("hedgerow.toml")).expect("it is there");
    let pipe = hang_in_checkout(&desk);
    let mut create = desk.cli.command(desk.repo.path(), &["env", "create", "issue", "42"]);
    let child = create.process_group(0).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    assert_eq!(fs::read_to_string(pipe).expect("git is in its checkout"), "now\n");
    assert_eq!(desk.repo.branches(), ["issue-42", "main"], "it is in the middle of it");
    press_ctrl_c(child.id());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(130));
    assert_eq!(
        String::from_utf8_lossy(&output.stderr),
        "error: interrupted\nhint: what was half done is taken back by the next command\n"
    );
    assert_eq!(output.stdout, b"");

    fs::write(desk.home().join("hedgerow.toml"), config).expect("the real git again");
    let session = desk.session(&["hedgerow env list", "hedgerow env trash", "git worktree list | wc -l"]);
    assert_snapshot!(session, @r#"
    $ hedgerow env list
    ------- stderr -------
    note: no environments yet; `hedgerow env create issue 42` makes one

    $ hedgerow env trash
    ------- stderr -------
    note: the trash is empty

    $ git worktree list | wc -l
    1
    "#);
    assert_eq!(desk.repo.branches(), ["main"]);
    assert!(!desk.environment("issue-42").exists());
    let destroyed = desk.store().await.in_state("workbench", State::Destroyed).await.expect("the store answers");
    assert_eq!(destroyed.iter().map(|row| row.branch.as_str()).collect::<Vec<_>>(), ["issue-42"]);
    let _ = desk.run(&["env", "create", "issue", "42"]).success();
}

#[tokio::test(flavor = "multi_thread")]
async fn twelve_processes_that_want_the_same_get_the_same() {
    let desk = Desk::new().await;
    let start = || {
        let mut create = desk.cli.command(desk.repo.path(), &["env", "create", "issue", "42", "--quiet"]);
        create.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts")
    };
    let children: Vec<_> = (0..12).map(|_| start()).collect();
    let place = desk.environment("issue-42");
    for child in children {
        let output = child.wait_with_output().expect("it ends");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(Path::new(String::from_utf8_lossy(&output.stdout).trim_end()), place);
    }
    assert_eq!(desk.json(&["env", "list"]).as_array().map(Vec::len), Some(1));
    assert_eq!(desk.json(&["codebase", "list"]).as_array().map(Vec::len), Some(1));
    assert_eq!(desk.repo.worktrees(), [place]);
    assert_eq!(desk.repo.branches(), ["issue-42", "main"]);
}
