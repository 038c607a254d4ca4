//! `hedgerow serve`, as people and scripts meet it: the real binary, asked over real connections.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::desk::Desk;

/// A server that runs. It is ended with the test, whatever happens.
pub(crate) struct Running {
    child: Child,
    said: BufReader<ChildStdout>,
    address: String,
    token: String,
}

impl Running {
    /// A server with a token that was set.
    pub(crate) fn with_token(desk: &Desk, token: &str) -> Self {
        Self::begin(desk, &[], |_| token.to_owned())
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    fn start(desk: &Desk, flags: &[&str]) -> Self {
        Self::begin(desk, flags, |home| fs::read_to_string(home.join("token")).expect("a token in the home"))
    }

    fn begin(desk: &Desk, flags: &[&str], token: impl FnOnce(&Path) -> String) -> Self {
        let args = [&["serve", "--listen", "127.0.0.1:0"], flags].concat();
        let mut command = desk.cli.command(desk.repo.path(), &args);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
        let mut said = BufReader::new(child.stdout.take().expect("its stdout"));
        let mut line = String::new();
        said.read_line(&mut line).expect("it says where it listens");
        let address = line.split("http://").nth(1).unwrap_or_else(|| panic!("{line}"));
        let address = address.chars().take_while(|c| c.is_ascii_digit() || ".:".contains(*c)).collect();
        let token = token(&desk.home());
        Self { child, said, address, token: token.trim().to_owned() }
    }

    fn ask(&self, method: &str, path: &str, headers: &[String], body: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.address).expect("it listens");
        stream.set_read_timeout(Some(Duration::from_mins(1))).expect("a timeout");
        let headers: String = headers.iter().flat_map(|header| [header.as_str(), "\r\n"]).collect();
        let length = body.len();
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: {length}\r\n{headers}\r\n{body}"
        )
        .expect("it reads");
        let mut said = BufReader::new(stream);
        let mut status = String::new();
        said.read_line(&mut status).expect("an answer");
        let status = status.split(' ').nth(1).and_then(|code| code.parse().ok()).expect("a status");
        let mut rest = String::new();
        // A stream of events does not end: its head is enough.
        while !rest.ends_with("\r\n\r\n") {
            said.read_line(&mut rest).expect("a head");
        }
        if rest.contains("text/event-stream") {
            return (status, String::new());
        }
        let mut text = String::new();
        said.read_to_string(&mut text).expect("a body");
        (status, text)
    }

    pub(crate) fn api(&self, method: &str, path: &str, body: &Value) -> Value {
        let bearer = format!("Authorization: Bearer {}", self.token);
        let (status, text) = self.ask(method, path, &[bearer], &body.to_string());
        assert!(status < 300, "{method} {path}: {status} {text}");
        serde_json::from_str(&text).expect("JSON")
    }

    /// Waits for the last word in a conversation.
    fn last_word(&self, conversation: &str) -> String {
        for _ in 0..600 {
            let spoken = self.api("GET", &format!("/api/v1/conversations/{conversation}/messages"), &json!(null));
            let last = spoken.as_array().and_then(|all| all.last().cloned()).unwrap_or_default();
            if last["final"] == json!(true) {
                return last["text"].as_str().expect("words").to_owned();
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        panic!("no last word in {conversation}");
    }

    /// Sends a signal and waits for the end: its status, and all it said on stderr.
    pub(crate) fn ends(mut self, signal: &str) -> (i32, String) {
        let pid = self.child.id().to_string();
        let sent = Command::new("kill").args([format!("-{signal}"), pid]).status().expect("kill runs");
        assert!(sent.success());
        let mut log = String::new();
        self.child.stderr.take().expect("its stderr").read_to_string(&mut log).expect("text");
        let status = self.child.wait().expect("it ends").code().unwrap_or(-1);
        (status, log)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_is_answered_and_a_signal_ends_the_server_well() {
    let desk = Desk::new().await;
    let mut server = Running::start(&desk, &[]);
    let mut second = String::new();
    server.said.read_line(&mut second).expect("where the token is");
    assert_eq!(second.trim(), format!("the token for callers is in {}", desk.home().join("token").display()));
    server.api("POST", "/api/v1/conversations/demo/messages", &json!({"text": "/help"}));
    assert!(server.last_word("demo").contains("/worktree create"));
    let token = server.token.clone();
    let (status, log) = server.ends("TERM");
    assert_eq!(status, 0, "{log}");
    assert!(log.contains("/api/v1/conversations/{id}/messages") && log.contains("status=202"), "{log}");
    assert!(!log.contains(&token), "the token is in the log");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_said_survives_a_kill_and_the_next_server_answers() {
    let desk = Desk::new().await;
    let server = Running::start(&desk, &[]);
    for conversation in ["a", "b", "c"] {
        server.api("POST", &format!("/api/v1/conversations/{conversation}/messages"), &json!({"text": "/status"}));
    }
    let (status, _) = server.ends("KILL");
    assert_eq!(status, -1);
    let server = Running::start(&desk, &[]);
    for conversation in ["a", "b", "c"] {
        server.last_word(conversation);
        let spoken = server.api("GET", &format!("/api/v1/conversations/{conversation}/messages"), &json!(null));
        let finals = spoken.as_array().expect("an array").iter().filter(|one| one["final"] == json!(true)).count();
        assert_eq!(finals, 1, "{conversation}: {spoken}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_server_on_the_same_port_is_told_so() {
    let desk = Desk::new().await;
    let first = Running::start(&desk, &[]);
    let second = desk.run(&["serve", "--listen", &first.address]);
    assert_eq!(second.status(), 6, "{second}");
    assert!(second.stderr().contains(&format!("{} is taken", first.address)), "{second}");
    let another = Running::start(&desk, &[]);
    assert_eq!(another.token, first.token, "two may share a home");
    assert_eq!(first.ask("GET", "/readyz", &[], "").0, 200);
    assert_eq!(another.ask("GET", "/readyz", &[], "").0, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn scripts_get_lines_of_json() {
    let desk = Desk::new().await;
    let server = Running::start(&desk, &["--json"]);
    assert_eq!(server.ask("GET", "/api/v1/codebases", &[], "").0, 401);
    let (status, log) = server.ends("INT");
    assert_eq!(status, 0, "{log}");
    let lines: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).expect(line)).collect();
    let answered = lines.iter().find(|line| line["message"] == json!("answered")).expect("a request in the log");
    assert_eq!((&answered["status"], &answered["span"]["route"]), (&json!(401), &json!("/api/v1/codebases")));
    let wrong = desk.run(&["serve", "--listen", "somewhere"]);
    assert_eq!(wrong.status(), 2, "{wrong}");
}

/// An agent reaches the port as every program of the machine does. Without the token it gets nothing there, and the token
/// is not to be found.
#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn an_agent_gets_nothing_at_the_port_and_finds_no_token() {
    let desk = Desk::new().await;
    let script = r#"read -r turn
        address=$(grep -oE '127\.0\.0\.1:[0-9]+' <<<"$turn" | head -1)
        ask() { exec 3<>"/dev/tcp/${address%:*}/${address#*:}" && printf "$1 HTTP/1.0\r\nHost: x\r\n$2\r\n" >&3 && head -1 <&3; }
        ask 'GET /api/v1/codebases'; ask 'GET /api/v1/codebases' 'Authorization: Bearer x\r\n'; ask 'POST /api/v1/conversations/x/messages'
        cat "$1"; grep -rs "$2" / --include=token --exclude-dir=proc --exclude-dir=usr; env | grep -i token; echo done"#;
    let token = desk.home().join("token");
    let command = ["bash", "-c", script, "agent", &token.display().to_string(), "."].map(str::to_owned);
    desk.configure(&format!("[assistants.mine]\ncommand = {}", json!(command)));
    let server = Running::start(&desk, &[]);
    let ask = json!({"text": format!("look at {}", server.address)});
    server.api("POST", "/api/v1/conversations/demo/messages", &ask);
    let said = server.last_word("demo");
    let asked = said.lines().filter(|line| line.starts_with("HTTP/")).collect::<Vec<_>>();
    assert!(asked.len() == 3 && asked.iter().all(|line| line.contains(" 401 ")), "{said}");
    assert!(said.contains("done") && !said.contains(&server.token), "{said}");
}

/// A line for a shell, cut into words; quotes go.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut quote) = (vec![String::new()], None);
    for c in line.chars() {
        match (c, quote) {
            ('\'' | '"', None) => quote = Some(c),
            (c, Some(open)) if c == open => quote = None,
            (' ', None) => words.push(String::new()),
            (c, _) => words.last_mut().expect("a word").push(c),
        }
    }
    words
}

#[tokio::test(flavor = "multi_thread")]
async fn every_request_of_the_page_is_answered_as_it_says() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/http.md");
    let page = fs::read_to_string(page).expect("the page");
    let desk = Desk::new().await;
    let server = Running::start(&desk, &[]);
    let shop = desk.repo.path().to_string_lossy().into_owned();
    server.api("POST", "/api/v1/codebases", &json!({"path": shop, "name": "shop"}));
    let mut tried = 0;
    for line in page.lines().filter(|line| line.starts_with("curl ") && !line.contains("https://")) {
        let line = line.replace("$TOKEN", &server.token).replace("$URL", "").replace("/srv/shop", &shop);
        let (mut method, mut headers, mut body, mut path) =
            ("GET".to_owned(), Vec::new(), String::new(), String::new());
        let mut rest = words(&line).into_iter().skip(1);
        while let Some(word) = rest.next() {
            let mut value = || rest.next().expect("a value");
            match word.as_str() {
                "-X" => method = value(),
                "-H" => headers.push(value()),
                "-d" => body = value(),
                "-N" => {}
                _ => path = word,
            }
        }
        let (status, text) = server.ask(&method, &path, &headers, &body);
        let right = match path.as_str() {
            path if path.ends_with("/messages") && method == "POST" => 202,
            // Nothing was run here.
            path if path.contains("$RUN") => 404,
            _ => 200,
        };
        assert_eq!(status, right, "{line}\n{text}");
        tried += 1;
    }
    assert!(tried >= 15, "only {tried} requests found; does this test still read the page?");
}
