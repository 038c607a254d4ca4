//! `hedgerow config`: what is in force, where each value came from, and what a repository says itself.

use std::fs;

use hedgerow_testkit::Cli;
use insta::assert_snapshot;

use crate::desk::Desk;

const FILE: &str = ".hedgerow/config.toml";

/// What the rows of these keys say. How wide columns are depends on where the home is.
fn rows(keys: &str) -> String {
    format!("hedgerow config show --codebase shop | grep -E '^({keys})' | tr -s ' '")
}

/// A desk whose repository has been registered, with two assistants.
async fn desk() -> Desk {
    let desk = Desk::new().await;
    desk.configure("admins = [\"github:alice\", \"slack:U123\"]\nassistant = \"careful\"");
    desk.configure(
        "[assistants.careful]\ncommand = [\"careful\", \"--slow\"]\n[assistants.quick]\ncommand = [\"~/quick\"]",
    );
    let _ = desk.run(&["codebase", "add"]).success();
    desk
}

#[tokio::test(flavor = "multi_thread")]
async fn lists_assistants_and_secrets_are_shown_with_their_origin() {
    let mut desk = desk().await;
    desk.cli = desk.cli.clone().env("HEDGEROW_TOKEN", "hunter2-hunter2-hunter2").env("MAX_CONCURRENT_RUNS", "2");
    let session = desk.session(&[&rows("admins|assistant|listen|token|run|queue|bot")]);
    assert_snapshot!(session, @r#"
    $ hedgerow config show --codebase shop | grep -E '^(admins|assistant|listen|token|run|queue|bot)' | tr -s ' '
    listen 127.0.0.1:4747 default
    token *** environment variable HEDGEROW_TOKEN
    bot_name hedgerow default
    admins ["github:alice","slack:U123"] ~/.hedgerow/hedgerow.toml, line 2
    assistant careful ~/.hedgerow/hedgerow.toml, line 3
    assistants.careful.kind script default
    assistants.careful.command ["careful","--slow"] ~/.hedgerow/hedgerow.toml, line 5
    assistants.quick.kind script default
    assistants.quick.command ["~/.hedgerow/person/quick"] ~/.hedgerow/hedgerow.toml, line 7
    run.max_concurrent 2 environment variable MAX_CONCURRENT_RUNS
    run.timeout_minutes 60 default
    run.idle_timeout_minutes 10 default
    run.lease_seconds 60 default
    queue.limit 10000 default
    "#);
    let shown = desk.json(&["config"]);
    assert!(!shown.to_string().contains("hunter2"), "{shown}");
    let entry =
        |key: &str| shown.as_array().and_then(|all| all.iter().find(|entry| entry["key"] == key)).expect("a row");
    assert_eq!(entry("admins")["value"], serde_json::json!(["github:alice", "slack:U123"]));
    assert_eq!(entry("assistants.careful.command")["value"], serde_json::json!(["careful", "--slow"]));
    assert_eq!(entry("token")["from"], "environment variable HEDGEROW_TOKEN");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_repository_says_is_shown_with_the_commit_it_comes_from() {
    let desk = desk().await;
    desk.repo.commit(FILE, "assistant = \"quick\"\ncommands = [\"prompts\"]\n[run]\ntimeout_minutes = 5\n");
    desk.repo.push("main");
    desk.repo.write(FILE, "assistant = \"evil\"\n");
    let sha = desk.repo.rev("main").expect("a commit");

    let session = desk.session(&[&rows("assistant |run|commands"), "hedgerow config | grep -c 'config.toml at main'"]);

    assert_snapshot!(session.replace(sha.short(), "<sha>"), @r#"
    $ hedgerow config show --codebase shop | grep -E '^(assistant |run|commands)' | tr -s ' '
    assistant quick .hedgerow/config.toml at main (<sha>)
    run.max_concurrent 10 default
    run.timeout_minutes 5 .hedgerow/config.toml at main (<sha>)
    run.idle_timeout_minutes 10 default
    run.lease_seconds 60 default
    commands ["prompts"] .hedgerow/config.toml at main (<sha>)

    $ hedgerow config | grep -c 'config.toml at main'
    3
    "#);
    let shown = desk.json(&["config", "show", "--codebase", "shop"]);
    let commands = shown.as_array().and_then(|all| all.last()).expect("a row");
    assert_eq!(commands["value"], serde_json::json!(["prompts"]));
    assert_eq!(commands["from"], format!("{FILE} at main ({})", sha.short()));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repository_that_says_something_wrong_is_told_by_line_and_hides_nothing_else() {
    let desk = desk().await;
    desk.repo.commit(FILE, "\n[run]\ntimeout_minutes = 5000\n");
    desk.repo.push("main");
    let sha = desk.repo.rev("main").expect("a commit");
    let session =
        desk.session(&["hedgerow config show --codebase shop", "hedgerow config show | grep ^node | tr -s ' '"]);
    assert_snapshot!(session.replace(sha.short(), "<sha>"), @r"
    $ hedgerow config show --codebase shop
    ------- stderr -------
    error: `run.timeout_minutes` must be a whole number from 1 to 1440, not `5000` (.hedgerow/config.toml at main (<sha>), line 3)
    hint: correct it on the base branch; it counts as soon as that is fetched
    [exit status: 2]

    $ hedgerow config show | grep ^node | tr -s ' '
    node workbench ~/.hedgerow/hedgerow.toml, line 1
    ------- stderr -------
    note: the repository's own settings cannot be shown: `run.timeout_minutes` must be a whole number from 1 to 1440, not `5000` (.hedgerow/config.toml at main (<sha>), line 3)
    ");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_that_is_not_registered_stays_so_and_no_store_is_made() {
    let desk = Desk::new().await;
    desk.repo.commit(FILE, "assistant = \"quick\"\n");
    let _ = desk.run(&["config"]).success();
    assert!(!desk.home().join("hedgerow.db").exists(), "nothing is opened where nothing is");

    let _ = desk.run(&["codebase", "list"]).success();
    let said = desk.run(&["config"]).success();
    assert!(!said.stdout().contains(FILE) && said.stderr().is_empty(), "{said}");
    assert_eq!(desk.json(&["codebase", "list"]), serde_json::json!([]), "looking registers nothing");
    assert_eq!(desk.run(&["config", "--codebase", "shop"]).status(), 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn settings_are_shown_when_the_store_cannot_be_opened() {
    let desk = desk().await;
    let broken = desk.folder().join("broken.db");
    fs::write(&broken, "this is no database").expect("writes");
    let cli: Cli = desk.cli.clone().env("DATABASE_URL", format!("sqlite:{}", broken.display()));
    let said = cli.run(desk.repo.path(), &["config"]).success();
    assert!(said.stdout().contains("workbench"), "{said}");
    assert!(said.stderr().contains("the repository's own settings cannot be shown"), "{said}");
}
