//! How long a person waits for the first sign of life: from the acknowledgement of a message to the first piece of the
//! answer that those who follow the events see.
//!
//! The agent is a shell that says a word at once, so what is timed is ours: the queue, the lease, the way into the
//! environment, the start of the program, and its words on their way out.

use std::net::{SocketAddr, TcpListener};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use hedgerow_testkit::Cli;
use hedgerow_testkit::http::{Ask, Following, ask};
use serde_json::json;

use crate::fixture::{self, Machine};
use crate::measure::Times;
use crate::report::Report;

const TOKEN: &str = "a-token-for-this-measurement";
/// With the environment there already.
const GOAL: Duration = Duration::from_millis(50);
/// Speaks, and stays for its question to be over.
const AGENT: &str = r#"
[assistants.quick]
command = ["sh", "-c", "read -r turn; echo '{\"type\":\"text\",\"text\":\"hello\"}'; echo '{\"type\":\"finished\"}'"]
"#;
/// Each has an environment of its own; messages after its first need no new one.
const MESSAGES: usize = 5;

pub(crate) fn first_byte(machine: &Machine, rounds: usize, report: &mut Report) {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let repo = machine.repository("answering", 1000, 1000);
    let home = machine.folder("answering-home");
    fixture::configure(&home, AGENT);
    let cli = Cli::new(env!("CARGO_BIN_EXE_hedgerow"), &home).env("HEDGEROW_TOKEN", TOKEN).env("HEDGEROW_LOG", "error");
    let _ = cli.run(repo.path(), &["codebase", "add", "."]).success();
    let server = Served::start(&cli, &repo);
    let (mut first, mut later) = (Times::default(), Times::default());
    for number in 1..=rounds {
        eprintln!("first byte of an answer, round {number} of {rounds}");
        let waits = runtime.block_on(conversation(server.0, &format!("talk-{number}")));
        first.push(waits[0]);
        for wait in &waits[1..] {
            later.push(*wait);
        }
    }
    report.alone("first byte, new environment, 1,000 files", &first);
    report.within("first byte, environment there", &later, GOAL);
}

/// How long each message waited.
async fn conversation(address: SocketAddr, name: &str) -> Vec<Duration> {
    let with_token = |method, path: &str| {
        let ask = Ask::new(method, path).header("Authorization", &format!("Bearer {TOKEN}"));
        ask.header("Content-Type", "application/json")
    };
    let events = with_token("GET", &format!("/api/v1/events?conversation={name}"));
    let mut events = Following::new(address, &events).await.expect("the events");
    let mut waits = Vec::new();
    for _ in 0..MESSAGES {
        let body = json!({"text": "say something"}).to_string();
        let message = with_token("POST", &format!("/api/v1/conversations/{name}/messages")).bytes(body.as_bytes());
        assert_eq!(ask(address, &message).await.status, 202);
        let accepted = Instant::now();
        let mut waited = None;
        loop {
            let event = events.next().await.expect("the stream goes on");
            let data = event.json();
            if event.name == "live" && data["what"] == "text" {
                waited.get_or_insert_with(|| accepted.elapsed());
            }
            if event.name == "reply" && data["final"] == true {
                break;
            }
        }
        waits.push(waited.expect("its text is seen before the reply"));
    }
    waits
}

struct Served(SocketAddr, Child);

impl Served {
    fn start(cli: &Cli, repo: &hedgerow_testkit::TestRepo) -> Self {
        let address = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a port");
        let mut command = cli.command(repo.path(), &["serve", "--listen", &address.to_string()]);
        let child = command.stdout(Stdio::null()).spawn().expect("the server starts");
        let deadline = Instant::now() + Duration::from_secs(30);
        while std::net::TcpStream::connect(address).is_err() {
            assert!(Instant::now() < deadline, "the server listens");
            std::thread::sleep(Duration::from_millis(10));
        }
        Self(address, child)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.1.kill();
        let _ = self.1.wait();
    }
}
