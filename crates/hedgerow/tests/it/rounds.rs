//! Rounds of cleanup from the command line: by hand, by cron, on a timer, and by several processes at once.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};

use hedgerow_testkit::git::git;
use hedgerow_testkit::repo::{commit, write};
use insta::assert_snapshot;
use serde_json::Value;

use crate::desk::Desk;

/// Issues 1 to 3: merged, merged with changes, and new; and a worktree made by hand.
async fn desk() -> Desk {
    let desk = Desk::new().await;
    for number in ["1", "2", "3"] {
        let _ = desk.run(&["env", "create", "issue", number]).success();
    }
    for branch in ["issue-1", "issue-2"] {
        commit(&desk.environment(branch), branch, "done\n");
        desk.repo.git(&["merge", "--quiet", "--no-ff", "-m", "Merge it", branch]);
    }
    write(&desk.environment("issue-2"), "notes.txt", "not yet\n");
    git(desk.repo.path(), &["worktree", "add", "--quiet", "-b", "by-hand", "../by-hand"]);
    desk
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_word_all_is_done_that_the_timer_would_do_here() {
    let desk = desk().await;
    let session = desk.session(&["hedgerow env cleanup --dry-run", "hedgerow env cleanup", "hedgerow env cleanup"]);
    assert_snapshot!(session, @r#"
    $ hedgerow env cleanup --dry-run
    would remove  issue-1  merged: all its commits are in main
    kept          issue-2  uncommitted changes
    kept          issue-3  active today
    not ours      by-hand  not made by Hedgerow
    1 would be removed, 2 kept, 1 not ours

    $ hedgerow env cleanup
    removed   issue-1  merged: all its commits are in main
    kept      issue-2  uncommitted changes
    kept      issue-3  active today
    not ours  by-hand  not made by Hedgerow
    1 removed, 2 kept, 1 not ours
    Undo: hedgerow env restore issue-1

    $ hedgerow env cleanup
    kept      issue-2  uncommitted changes
    kept      issue-3  active today
    not ours  by-hand  not made by Hedgerow
    2 kept, 1 not ours
    "#);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_round_covers_all_codebases_and_cron_does_it_when_it_is_due() {
    let desk = desk().await;
    let session = desk.session_at(
        desk.folder(),
        &[
            "hedgerow env cleanup --due --dry-run",
            "hedgerow env cleanup --due",
            "hedgerow env cleanup --due",
            "hedgerow env cleanup --due --dry-run",
            "hedgerow env cleanup --all",
            "CLEANUP_INTERVAL_HOURS=0 hedgerow env cleanup --due",
            "CLEANUP_INTERVAL_HOURS=0 hedgerow env cleanup --watch",
        ],
    );
    assert_snapshot!(session, @r#"
    $ hedgerow env cleanup --due --dry-run
    would remove  shop  issue-1  merged: all its commits are in main
    kept          shop  issue-2  uncommitted changes
    kept          shop  issue-3  active today
    not ours      shop  by-hand  not made by Hedgerow
    1 would be removed, 2 kept, 1 not ours
    3 environments, 0 in the trash; <size> of <size> free

    $ hedgerow env cleanup --due
    removed   shop  issue-1  merged: all its commits are in main
    kept      shop  issue-2  uncommitted changes
    kept      shop  issue-3  active today
    not ours  shop  by-hand  not made by Hedgerow
    1 removed, 2 kept, 1 not ours
    2 environments, 1 in the trash; <size> of <size> free
    Undo: hedgerow env restore issue-1 --codebase shop

    $ hedgerow env cleanup --due
    Not due until <time>

    $ hedgerow env cleanup --due --dry-run
    Not due until <time>

    $ hedgerow env cleanup --all
    kept      shop  issue-2  uncommitted changes
    kept      shop  issue-3  active today
    not ours  shop  by-hand  not made by Hedgerow
    2 kept, 1 not ours
    2 environments, 1 in the trash; <size> of <size> free

    $ CLEANUP_INTERVAL_HOURS=0 hedgerow env cleanup --due
    Scheduled cleanup is switched off (`cleanup.every_hours` is 0)

    $ CLEANUP_INTERVAL_HOURS=0 hedgerow env cleanup --watch
    ------- stderr -------
    error: scheduled cleanup is switched off
    hint: `cleanup.every_hours` (CLEANUP_INTERVAL_HOURS) says how often it is done
    [exit status: 2]
    "#);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_round_is_an_object_for_scripts() {
    let desk = desk().await;
    let keys = |value: &Value| {
        let mut keys: Vec<String> = value.as_object().expect("an object").keys().cloned().collect();
        keys.sort();
        keys
    };
    let round = desk.json(&["env", "cleanup", "--all", "--dry-run"]);
    assert_eq!(keys(&round), ["away", "began_at", "codebases", "disk", "live", "trashed"]);
    assert_eq!(keys(&round["codebases"][0]), ["codebase", "report"]);
    assert_eq!(keys(&round["codebases"][0]["report"][0]), ["because", "branch", "name", "outcome", "path"]);
    assert_eq!(keys(&round["disk"]), ["free_bytes", "total_bytes"]);
    assert_eq!(desk.json(&["env", "cleanup", "--dry-run"])[0]["outcome"], "would_remove");
    let due = desk.json(&["env", "cleanup", "--due"]);
    assert_eq!(
        (keys(&due), &due["round"]["trashed"]),
        (vec!["next_at".to_owned(), "round".to_owned()], &Value::from(1))
    );
    let late = desk.json(&["env", "cleanup", "--due"]);
    assert!(late["round"].is_null() && late["next_at"] == due["next_at"], "{late:#}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_round_that_failed_in_part_ends_with_1() {
    let desk = desk().await;
    let id = desk.json(&["env", "show", "issue-1"])["id"].as_str().expect("an id").to_owned();
    write(&desk.home().join("worktrees"), &format!(".trash/{id}"), "in the way");
    let said = desk.run(&["env", "cleanup", "--all"]);
    assert_eq!(said.status(), 1, "{said}");
    assert!(said.stdout().contains("failed") && said.stdout().contains("2 kept"), "{said}");
}

fn starts(desk: &Desk, args: &[&str]) -> Child {
    let mut command = desk.cli.command(desk.repo.path(), args);
    command.process_group(0).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts")
}

#[tokio::test(flavor = "multi_thread")]
async fn of_many_processes_that_cron_starts_at_once_one_does_the_round() {
    let desk = desk().await;
    let children: Vec<_> = (0..8).map(|_| starts(&desk, &["env", "cleanup", "--due", "--json"])).collect();
    let mut rounds = Vec::new();
    for child in children {
        let output = child.wait_with_output().expect("it ends");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let answer: Value = serde_json::from_slice(&output.stdout).expect("stdout is JSON");
        rounds.extend(answer["round"].as_object().cloned());
    }
    assert_eq!(rounds.len(), 1, "{rounds:#?}");
    assert_eq!(rounds[0]["codebases"][0]["report"][0]["outcome"], "removed");
}

/// A git that says through a pipe when a round is listing worktrees, and then never ends.
fn hang_in_a_round(desk: &Desk) -> std::path::PathBuf {
    let pipe = desk.folder().join("in-a-round");
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("mkfifo starts").success());
    let program = desk.folder().join("slow-git");
    let script = format!(
        "#!/bin/sh\nfor word do\n  if [ \"$word\" = status ]; then echo now > '{}'; exec sleep 600; fi\ndone\nexec git \"$@\"\n",
        pipe.display()
    );
    fs::write(&program, script).expect("a script");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("it can be run");
    desk.configure(&format!("git = \"{}\"", program.display()));
    pipe
}

fn signal(child: &Child, name: &str) {
    let kill = Command::new("kill").args([name, "--", &format!("-{}", child.id())]).status();
    assert!(kill.expect("kill starts").success());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_round_whose_process_was_killed_is_done_by_the_next() {
    let desk = desk().await;
    let config = fs::read_to_string(desk.home().join("hedgerow.toml")).expect("it is there");
    let pipe = hang_in_a_round(&desk);
    let child = starts(&desk, &["env", "cleanup", "--due"]);
    assert_eq!(fs::read_to_string(pipe).expect("it is in the middle of a round").lines().next(), Some("now"));
    fs::write(desk.home().join("hedgerow.toml"), config).expect("the real git again");
    assert!(desk.json(&["env", "cleanup", "--due"])["round"].is_null(), "somebody is at it");
    let said = desk.run(&["env", "cleanup", "--all"]);
    assert_eq!(said.status(), 6, "{said}");
    signal(&child, "-KILL");
    child.wait_with_output().expect("it is dead");
    let round = &desk.json(&["env", "cleanup", "--due"])["round"];
    assert_eq!(round["codebases"][0]["report"][0]["outcome"], "removed", "{round:#}");
    assert!(desk.json(&["env", "cleanup", "--due"])["round"].is_null());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_timer_tells_of_each_round_until_ctrl_c() {
    let desk = desk().await;
    let mut child = starts(&desk, &["env", "cleanup", "--watch"]);
    let mut told = BufReader::new(child.stdout.take().expect("its stdout"));
    let mut lines = String::new();
    while !lines.contains("Undo: ") {
        assert!(told.read_line(&mut lines).expect("a line") > 0, "{lines}");
    }
    assert!(lines.starts_with("Round of 20") && lines.contains("1 removed, 2 kept, 1 not ours"), "{lines}");
    signal(&child, "-INT");
    told.read_to_string(&mut lines).expect("the rest");
    let output = child.wait_with_output().expect("it ends");
    assert_eq!((output.status.code(), String::from_utf8_lossy(&output.stderr).as_ref()), (Some(0), ""));
    assert!(desk.json(&["env", "cleanup", "--due"])["round"].is_null(), "it was done");
}
