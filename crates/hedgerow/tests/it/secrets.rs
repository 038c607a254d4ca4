//! Secrets of the server: where they are not, and that everything works all the same.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::os::unix::fs::PermissionsExt as _;
use std::thread::JoinHandle;

use crate::desk::Desk;
use crate::serving::Running;

const TOKEN: &str = "the-token-that-callers-show";
const KEY: &str = "sk-the-true-key-of-the-account";

/// A program that asks a model through the gateway, and says what it got and what it sees around itself.
const AGENT: &str = r#"#!/usr/bin/env bash
read -r turn
host=${HEDGEROW_LLM_URL#http://}; path=/${host#*/}; host=${host%%/*}
exec 3<>"/dev/tcp/${host%:*}/${host#*:}"
printf 'POST %s/v1/messages HTTP/1.1\r\nHost: x\r\nConnection: close\r\nx-api-key: %s\r\nContent-Length: 2\r\n\r\n{}' "$path" "$HEDGEROW_LLM_TOKEN" >&3
answer=$(cat <&3)
case $answer in
  'HTTP/1.1 200'*) printf '%s\n' "$answer" ;;
  *) echo '{"type":"failed","message":"the model said nothing"}'; exit ;;
esac
env
tr '\0' '\n' <"/proc/$PPID/environ"
read -r _ _ _ server _ <"/proc/$PPID/stat"
tr '\0' '\n' <"/proc/$server/environ" 2>&1
exit 0
"#;

/// Answers one call, and tells what was asked.
fn model() -> (SocketAddr, JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("an address");
    let answering = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a call");
        let mut asked = String::new();
        let mut lines = BufReader::new(stream.try_clone().expect("a socket"));
        while !asked.ends_with("\r\n\r\n") {
            lines.read_line(&mut asked).expect("a head");
        }
        lines.read_exact(&mut [0; 2]).expect("a body");
        let body = r#"{"model":"claude-sonnet-4-5","usage":{"input_tokens":1000,"output_tokens":10},"said":"hello"}"#;
        write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len())
            .expect("it is read");
        asked
    });
    (address, answering)
}

fn environment_of(pid: u32) -> Option<String> {
    // Closed to all but root, which is the point.
    fs::read(format!("/proc/{pid}/environ")).ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn secrets_do_not_stay_in_the_environment_of_a_server() {
    let mut desk = Desk::new().await;
    desk.cli = desk.cli.clone().env("HEDGEROW_TOKEN", TOKEN).env("HEDGEROW_ANTHROPIC_KEY", KEY);
    let server = Running::with_token(&desk, TOKEN);
    let pid = server.id();
    if let Some(environment) = environment_of(pid) {
        assert!(environment.contains("HEDGEROW_HOME="), "{environment}");
        for secret in [TOKEN, KEY, "HEDGEROW_TOKEN", "HEDGEROW_ANTHROPIC_KEY", "DATABASE_URL"] {
            assert!(!environment.contains(secret), "{environment}");
        }
    }
    let name = fs::read_to_string(format!("/proc/{pid}/comm")).expect("it runs");
    assert_eq!(name.trim(), "hedgerow", "the same program under the same name");
    let codebases = server.api("GET", "/api/v1/codebases", &serde_json::json!(null));
    assert_eq!(codebases, serde_json::json!([]), "the token is known all the same");
    let (status, log) = server.ends("TERM");
    assert_eq!(status, 0, "{log}");
    assert!(!log.contains(TOKEN) && !log.contains(KEY), "{log}");
}

/// A desk whose assistant asks a model that is there.
async fn desk_with_an_agent(model: SocketAddr) -> Desk {
    let mut desk = Desk::new().await;
    let agent = desk.folder().join("agent.sh");
    fs::write(&agent, AGENT).expect("a program");
    fs::set_permissions(&agent, fs::Permissions::from_mode(0o755)).expect("chmod");
    desk.configure(&format!("[assistants.asks]\ncommand = [\"{}\"]", agent.display()));
    desk.configure(&format!("[llm]\nanthropic_url = \"http://{model}/\""));
    desk.cli = desk.cli.clone().env("HEDGEROW_ANTHROPIC_KEY", KEY);
    let _ = desk.run(&["codebase", "add"]).success();
    desk
}

#[tokio::test(flavor = "multi_thread")]
async fn a_chat_opens_the_way_to_the_models_and_no_agent_sees_the_key() {
    let (address, model) = model();
    let desk = desk_with_an_agent(address).await;
    let said = desk.run(&["chat", "-m", "go"]).success();
    let asked = model.join().expect("it was called");
    assert!(
        asked.starts_with("POST /v1/messages HTTP/1.1\r\n") && asked.contains(&format!("x-api-key: {KEY}")),
        "{asked}"
    );
    assert!(said.stdout().contains("\"said\":\"hello\""), "{said}");
    assert!(!said.to_string().contains(KEY), "{said}");
    let spent = desk.json(&["spending"]);
    assert_eq!(spent["people"][0]["name"], "terminal:alice");
    assert_eq!(spent["codebases"][0]["name"], "shop");
    assert_eq!(spent["codebases"][0]["day"]["cost_micros"], 3150);
    let table = desk.run(&["spending"]).success().stdout();
    assert!(table.contains("terminal:alice  $0.003150  $0.003150  1      1000       0               10"), "{table}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_whose_budget_is_spent_says_so_whatever_its_agent_makes_of_it() {
    let nobody = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let desk = desk_with_an_agent(nobody.local_addr().expect("an address")).await;
    desk.configure("[llm.budget]\nrun = \"0\"");
    let said = desk.run(&["chat", "-m", "go"]);
    assert_eq!(said.status(), 1, "{said}");
    assert!(said.to_string().contains("the budget of a run (`llm.budget.run`) is spent: $0.00 of $0.00"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_who_spent_nothing_is_told_so() {
    let desk = Desk::new().await;
    let said = desk.run(&["spending"]).success();
    assert_eq!(said.stderr(), "note: nothing went through the model gateway in the last 30 days\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_are_shown_as_secrets_and_wrong_settings_of_models_are_refused() {
    let mut desk = Desk::new().await;
    desk.configure("[llm.prices.\"my-model\"]\ninput = 1\ncached = 0.25\noutput = \"4\"\n[llm.budget]\nrun = \"5\"");
    desk.cli = desk.cli.clone().env("HEDGEROW_OPENAI_KEY", KEY);
    let shown = desk.json(&["config"]);
    let value = |key: &str| {
        let entry = shown.as_array().and_then(|all| all.iter().find(|entry| entry["key"] == key)).expect("a row");
        entry["value"].as_str().unwrap_or_default().to_owned()
    };
    assert_eq!(value("llm.openai_key"), "***");
    assert_eq!(value("llm.openai_url"), "https://api.openai.com");
    assert_eq!(value("llm.budget.run"), "$5.00");
    assert_eq!(value("llm.prices.my-model"), "input $1.00, cached $0.25, output $4.00");
    assert!(!shown.to_string().contains(KEY));
    for (line, told) in [
        ("[llm]\nanthropic_url = \"ftp://x\"", "`llm.anthropic_url` must be a URL"),
        ("[llm]\nanthropic_url = \"https://user:pass@x\"", "`llm.anthropic_url` must be a URL"),
        ("[llm]\nanthropic_key = \"short\"", "`llm.anthropic_key` must be 8 to 1024 visible ASCII characters ("),
        ("[llm.budget]\nrun = \"lots\"", "`llm.budget.run` must be dollars such as `5`"),
        ("[llm.prices.x]\ninput = 1", "`llm.prices.x` must be a table with `input`, `cached`, `output`"),
        ("[llm.prices.x]\ninput = 1\ncached = 1\noutput = -1", "must be dollars"),
        ("[llm.prices.x]\ntyped = 1", "unknown key `llm.prices.x.typed`"),
    ] {
        let wrong = Desk::new().await;
        wrong.configure(line);
        let said = wrong.run(&["config"]);
        assert_eq!(said.status(), 2, "{said}");
        assert!(said.stderr().contains(told), "{said}");
    }
}
