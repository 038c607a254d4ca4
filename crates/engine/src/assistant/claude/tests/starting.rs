//! How it is started, and where it keeps its sessions.

use std::fs::{self, File};
use std::time::Duration;

use super::*;

fn arguments(program: &Program, turn: &Turn) -> Vec<String> {
    let launch = Claude::new(program).launch(turn);
    launch.arguments.into_iter().map(|word| word.into_string().expect("text")).collect()
}

fn variable(turn: &Turn, name: &str) -> Option<String> {
    let variables = Claude::new(&program()).launch(turn).variables;
    variables.into_iter().find(|(known, _)| known == name).map(|(_, value)| value)
}

#[test]
fn a_new_session_has_the_id_of_its_run_and_an_old_one_its_own() {
    let new = turn("go");
    let told = arguments(&program(), &new);
    assert!(told.contains(&format!("--session-id={}", new.run)), "{told:?}");
    assert!(told.contains(&"--permission-mode=bypassPermissions".to_owned()), "{told:?}");
    assert!(!told.iter().any(|word| word.starts_with("--resume") || word.starts_with("--model")), "{told:?}");
    let old = Turn { resume: Some("abc".to_owned()), ..turn("go") };
    let told = arguments(&program(), &old);
    assert!(told.contains(&"--resume=abc".to_owned()), "{told:?}");
    assert!(!told.iter().any(|word| word.starts_with("--session-id")), "{told:?}");
}

#[test]
fn what_the_owner_wants_is_one_word_each() {
    let program = Program {
        model: Some("--large".to_owned()),
        permissions: Some("plan".to_owned()),
        max_turns: Some(7),
        instructions: Some("be kind".to_owned()),
        mcp_servers: Some(r#"{"x":{"command":"y"}}"#.to_owned()),
        ..program()
    };
    let turn = Turn {
        briefing: Some("you are in a hedge".to_owned()),
        disallowed_tools: vec!["WebFetch".to_owned()],
        ..turn("--help")
    };
    let told = arguments(&program, &turn);
    for word in [
        "--model=--large",
        "--permission-mode=plan",
        "--max-turns=7",
        "--append-system-prompt=you are in a hedge\n\nbe kind",
        r#"--mcp-config={"mcpServers":{"x":{"command":"y"}}}"#,
        "--strict-mcp-config",
        "--disallowedTools=AskUserQuestion,EnterWorktree,ExitWorktree,CronCreate,ScheduleWakeup,Monitor,WebFetch",
    ] {
        assert!(told.contains(&word.to_owned()), "{word} is not in {told:?}");
    }
    assert!(!told.contains(&"--help".to_owned()), "what people say is never an argument");
    let variables = Claude::new(&program).launch(&turn).variables;
    assert!(!variables.iter().any(|(name, _)| name == "IS_SANDBOX"), "it asks, so it needs no promise");
}

#[test]
fn the_way_to_the_models_is_told_when_it_leads_to_the_right_ones() {
    let with = |makers| {
        let models = Models { url: "http://127.0.0.1:1/llm/x".to_owned(), token: "t".to_owned(), makers };
        Turn { models: Some(models), ..turn("go") }
    };
    let way = |turn: &Turn| (variable(turn, "ANTHROPIC_BASE_URL"), variable(turn, "ANTHROPIC_AUTH_TOKEN"));
    let known = (Some("http://127.0.0.1:1/llm/x".to_owned()), Some("t".to_owned()));
    assert_eq!(way(&with(vec![Maker::Openai, Maker::Anthropic])), known);
    assert_eq!(way(&with(vec![Maker::Openai])), (None, None));
    assert_eq!(way(&turn("go")), (None, None));
    assert_eq!(variable(&turn("go"), "DISABLE_AUTOUPDATER").as_deref(), Some("1"));
}

#[test]
fn the_prompt_goes_in_whole_after_a_greeting() {
    let mut talk = Claude::new(&program()).dialogue(&turn("two\nlines \"quoted\""));
    let opening = String::from_utf8(talk.opening()).expect("text");
    let lines: Vec<Value> = opening.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(lines.len(), 2);
    assert_eq!(lines[0]["request"]["subtype"], "initialize");
    assert_eq!(lines[1]["message"]["content"][0]["text"], "two\nlines \"quoted\"");
    assert!(opening.ends_with('\n') && talk.goes_on());
}

#[test]
fn a_session_is_found_wherever_it_is_kept() {
    let home = tempfile::tempdir().expect("a folder");
    let (claude, folder) = (Claude::new(&program()), Path::new("/trees/a.b_c d/é"));
    let memory = |session: &str| claude.memory(home.path(), session, folder);
    let projects = home.path().join(".claude/projects");
    let expected = projects.join("-trees-a-b-c-d--").join("abc-1.jsonl");
    assert_eq!(memory("abc-1"), Some(expected), "where it would look");

    for (place, age) in [("-elsewhere", 10), ("-newer", 5), ("-oldest", 20)] {
        fs::create_dir_all(projects.join(place)).expect("a folder");
        let file = File::create(projects.join(place).join("abc-1.jsonl")).expect("a file");
        file.set_modified(SystemTime::now() - Duration::from_secs(age)).expect("a time");
    }
    assert_eq!(memory("abc-1"), Some(projects.join("-newer/abc-1.jsonl")));
    for bad in ["../../x", "a/b", "", "a.b", "x\0"] {
        assert_eq!(memory(bad), None, "{bad:?}");
    }
    let long = PathBuf::from(format!("/{}", "x".repeat(300)));
    assert_eq!(slug(&long).len(), 200);
}
