//! `hedgerow chat` without a person at the keyboard: what scripts see of it. The assistant is a small script.

mod window;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::{Child, Stdio};

use hedgerow_core::platform::PlatformKind;
use hedgerow_engine::store::Served;
use rustix::process::{Pid, Signal, kill_process};

use crate::desk::Desk;

const ASSISTANT: &str = r#"#!/bin/sh
read -r turn
case "$turn" in
*"cannot be done"*) echo '{"type":"failed","message":"no way"}' ;;
*"waits for it"*)
    : > begun
    while [ ! -e go ]; do sleep 0.02; done
    echo '{"type":"text","text":"It came."}'
    echo '{"type":"finished","session":"one"}' ;;
*"plans first"*)
    echo '{"type":"plan","steps":[{"text":"look","state":"done"},{"text":"fix","state":"active"}]}'
    echo '{"type":"note","text":"it waits for its model"}'
    echo '{"type":"usage","input_tokens":12300,"cached_tokens":10100,"output_tokens":800,"cost_micros":40000}'
    echo '{"type":"text","text":"Fixed."}'
    echo '{"type":"finished","session":"one"}' ;;
*"takes long"*) echo '{"type":"text","text":"Begun."}'; : > begun; sleep 600 ;;
*)
    echo '{"type":"tool","text":"read README.md"}'
    echo '{"type":"text","text":"Seen '"$(basename "$PWD" | cut -c1-7)"'."}'
    echo '{"type":"finished","session":"one"}' ;;
esac
"#;

/// A desk with an assistant.
async fn desk() -> Desk {
    let desk = Desk::new().await;
    let program = desk.folder().join("assistant");
    fs::write(&program, ASSISTANT).expect("written");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("executable");
    desk.configure(&format!("[assistants.mine]\ncommand = [\"{}\"]", program.display()));
    desk
}

/// What a run that goes on leaves in its environment when it has begun.
async fn begun(desk: &Desk) -> PathBuf {
    let worktrees = desk.home().join("worktrees/shop");
    loop {
        let folders = fs::read_dir(&worktrees).into_iter().flatten().flatten();
        if let Some(begun) = folders.map(|folder| folder.path().join("begun")).find(|begun| begun.exists()) {
            return begun;
        }
        tokio::task::yield_now().await;
    }
}

/// Waits until so many messages of a conversation have not had their last word.
async fn waiting(desk: &Desk, conversation: &str, many: u64) {
    let served = Served { platform: PlatformKind::Terminal, only: Some(conversation.to_owned()) };
    let store = desk.store().await;
    while store.unfinished(&served).await.expect("read") != many {
        tokio::task::yield_now().await;
    }
}

/// Says something in a process of its own.
fn say(desk: &Desk, args: &[&str]) -> Child {
    let mut command = desk.cli.command(desk.repo.path(), args);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts")
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_asked_prints_the_answer_whoever_gave_it() {
    let desk = desk().await;
    let first = say(&desk, &["chat", "both", "-m", "this waits for it"]);
    let begun = begun(&desk).await;
    let second = say(&desk, &["chat", "both", "-m", "look at it"]);
    waiting(&desk, "both", 2).await;
    let third = say(&desk, &["chat", "both", "--json", "-m", "this cannot be done"]);
    waiting(&desk, "both", 3).await;
    fs::write(begun.with_file_name("go"), "").expect("written");
    for (asked, status, answer) in [(first, 0, "It came.\n"), (second, 0, "Seen thread-.\n")] {
        let output = asked.wait_with_output().expect("it ends");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(String::from_utf8_lossy(&output.stdout), answer, "{stderr}");
        assert_eq!(output.status.code(), Some(status), "{stderr}");
    }
    let output = third.wait_with_output().expect("it ends");
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert_eq!((output.status.code(), stdout.matches("\"final\":true").count()), (Some(1), 1), "{stdout}");
    assert!(stdout.contains("no way") && !stdout.contains("It came") && !stdout.contains("Seen"), "{stdout}");
}

#[tokio::test(flavor = "multi_thread")]
async fn one_question_has_its_answer_on_stdout_and_the_way_to_it_on_stderr() {
    let desk = desk().await;
    let said = desk.run(&["chat", "-m", "look at it"]).success();
    assert_eq!(said.stdout(), "Seen thread-.\n");
    let stderr = said.stderr();
    assert!(stderr.contains("Working in isolated branch `thread-") && stderr.contains("read README.md"), "{stderr}");

    // The same conversation goes on, and knows where it works.
    let said = desk.run(&["chat", "--message", "again"]).success();
    assert!(!said.stderr().contains("isolated"), "it was told once: {said}");
    assert!(desk.run(&["chat", "-m", "/status"]).success().stdout().contains("Codebase: `shop`"));
    assert!(desk.run(&["chat", "other", "-m", "/status"]).success().stdout().contains("Session: none"));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_fails_is_told_and_so_is_the_exit_status() {
    let desk = desk().await;
    let said = desk.run(&["chat", "-m", "this cannot be done"]);
    assert_eq!(said.status(), 1, "{said}");
    assert!(said.stdout().contains("no way"), "{said}");
    for wrong in [&["chat", "-m", ""][..], &["chat", ""], &["chat", "one", "two"]] {
        assert_eq!(desk.run(wrong).status(), 2, "{wrong:?}");
    }
    assert_eq!(desk.run(&["chat", "--codebase", "nope", "-m", "hello"]).status(), 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn without_an_assistant_the_answer_says_what_to_do() {
    let desk = Desk::new().await;
    let said = desk.run(&["chat", "-m", "hello"]);
    assert_eq!(said.status(), 1, "{said}");
    assert!(said.stdout().contains("No assistant is configured"), "{said}");
    let said = desk.run(&["chat", "-m", "/help"]).success();
    assert!(said.stdout().contains("/worktree create"), "a command needs none: {said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn every_line_of_a_pipe_is_answered_before_the_next() {
    let desk = desk().await;
    let line = r"printf '/repos\n\nfirst\r\n/getcwd\n' | hedgerow chat 2>/dev/null";
    let said = desk.cli.type_in(desk.repo.path(), line).success();
    let (repos, rest) =
        said.stdout().split_once("Seen thread-.").map(|(a, b)| (a.to_owned(), b.to_owned())).expect("a run");
    assert!(repos.contains("shop") && !rest.trim().is_empty(), "{said}");

    let line = r"printf 'it cannot be done\n/repos\n' | hedgerow chat 2>/dev/null";
    let said = desk.cli.type_in(desk.repo.path(), line);
    assert_eq!(said.status(), 1, "{said}");
    assert!(said.stdout().contains("no way") && said.stdout().contains("shop"), "the rest is still said: {said}");
    assert_eq!(desk.cli.type_in(desk.repo.path(), "hedgerow chat </dev/null").success().stdout(), "");
}

#[tokio::test(flavor = "multi_thread")]
async fn as_json_everything_is_a_line() {
    let desk = desk().await;
    let said = desk.run(&["chat", "--json", "-m", "look at it"]).success();
    let lines: Vec<serde_json::Value> =
        said.stdout().lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect();
    let events: Vec<&str> = lines.iter().filter_map(|line| line["event"].as_str()).collect();
    assert_eq!(events, ["reply", "started", "tool", "text", "ended", "reply"], "{said}");
    assert_eq!((&lines[0]["final"], &lines[5]["final"]), (&false.into(), &true.into()));
    assert_eq!(lines[5]["text"], "Seen thread-.");
}

#[tokio::test(flavor = "multi_thread")]
async fn outside_a_repository_there_is_a_conversation_all_the_same() {
    let desk = desk().await;
    let said = desk.cli.run(desk.folder(), &["chat", "-m", "/status"]).success();
    assert!(said.stdout().contains("Platform: terminal"), "{said}");
    assert_eq!(desk.cli.run(desk.folder(), &["chat", "-m", "hello"]).status(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupt_stops_the_run_and_keeps_what_it_did() {
    let desk = desk().await;
    let child = say(&desk, &["chat", "-m", "this takes long"]);
    let begun = begun(&desk).await;
    let pid = Pid::from_raw(i32::try_from(child.id()).expect("an id")).expect("not zero");
    kill_process(pid, Signal::INT).expect("it is there");
    let output = child.wait_with_output().expect("it ends");
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(130), "{stdout}");
    assert!(stdout.contains("Begun.") && stdout.contains("Stopped"), "{stdout}");
    assert!(begun.exists(), "its changes are kept");
}

#[tokio::test(flavor = "multi_thread")]
async fn how_it_goes_is_told_on_the_way_and_kept_with_the_run() {
    let desk = desk().await;
    let said = desk.run(&["chat", "-m", "it plans first"]).success();
    assert_eq!(said.stdout(), "Fixed.\n");
    let stderr = said.stderr();
    for line in ["[x] look\n[>] fix\n", "it waits for its model\n", "12.3k in (10.1k cached), 0.8k out, $0.04, "] {
        assert!(stderr.contains(line), "{line}: {stderr}");
    }
    let runs = desk.json(&["run", "list"]);
    let run = runs[0].as_object().expect("a run");
    assert_eq!((&run["state"], &run["assistant"], &run["codebase"]), (&"done".into(), &"mine".into(), &"shop".into()));
    assert_eq!(run["usage"]["input_tokens"], 12300);
    let id = run["id"].as_str().expect("an id");
    let shown = desk.json(&["run", "show", &id[..30]]);
    let kinds: Vec<&str> =
        shown["events"].as_array().expect("its log").iter().filter_map(|event| event["kind"].as_str()).collect();
    assert_eq!(kinds, ["plan", "note", "usage", "text", "end"]);
    let told = desk.run(&["run", "show", id]).success().stdout();
    for line in ["  plan: 1 of 2 done, now: fix\n", "  note: it waits for its model\n", "  Fixed.\n", "  done\n"] {
        assert!(told.contains(line), "{line}: {told}");
    }
    let table = desk.run(&["run", "list", "--codebase", "shop"]).success().stdout();
    assert!(table.contains("terminal:alice") && table.contains("12.3k in"), "{table}");
    assert_eq!(desk.run(&["run", "show", "nope"]).status(), 4);
    assert_eq!(desk.run(&["run", "list", "--limit", "0"]).status(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sandbox_that_is_off_is_said_loudly() {
    let desk = desk().await;
    let said = desk.run(&["chat", "-m", "/status"]).success();
    assert!(!format!("{said}").contains("Agents are not caged"), "{said}");
    desk.configure("[sandbox]\nmode = \"off\"");
    let said = desk.run(&["chat", "-m", "/status"]).success();
    assert!(said.stdout().contains("Agents are not caged") && said.stderr().contains("Agents are not caged"), "{said}");
    assert!(desk.run(&["doctor"]).stdout().contains("agents are not caged"));
}
