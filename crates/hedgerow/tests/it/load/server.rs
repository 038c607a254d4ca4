//! A running `hedgerow serve`, and those who talk to it over HTTP.

use std::fs::File;
use std::net::SocketAddr;
use std::process::{Child, Stdio};
use std::time::Duration;

use hedgerow_testkit::http::{Ask, Following, ask, try_ask};
use serde_json::{Value, json};
use tokio::net::TcpStream;

use crate::desk::Desk;

const PATIENCE: Duration = Duration::from_mins(2);
const TOKEN: &str = "a-token-for-these-tests";
const GLANCE: Duration = Duration::from_millis(20);

/// A server process and its address.
pub(crate) struct Server {
    process: Process,
    address: SocketAddr,
}

pub(crate) struct Process {
    child: Child,
    /// Variables besides those of the desk.
    variables: Vec<(String, String)>,
}

/// A variable of a test's own: the file that the server's log goes to, which otherwise is shown with the test.
pub(crate) const LOG_FILE: &str = "TEST_LOG_FILE";

impl Server {
    pub(crate) async fn start(desk: &Desk) -> Self {
        Self::start_as(desk, &[]).await
    }

    /// With variables of its own, such as another name of the machine.
    pub(crate) async fn start_as(desk: &Desk, variables: &[(&str, &str)]) -> Self {
        let variables: Vec<_> =
            variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let address = free_address();
        let mut process = Process { child: spawn(desk, address, &variables), variables };
        process.is_ready(address).await;
        Self { process, address }
    }

    pub(crate) const fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) const fn process(&mut self) -> &mut Process {
        &mut self.process
    }

    pub(crate) fn caller(&self) -> Caller {
        Caller { address: self.address }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.process.child.id()
    }

    /// Bytes of memory that the server has now.
    pub(crate) fn memory(&self) -> u64 {
        self.memory_as("VmRSS:")
    }

    /// The most it ever had.
    pub(crate) fn most_memory(&self) -> u64 {
        self.memory_as("VmHWM:")
    }

    fn memory_as(&self, name: &str) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.pid())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
        line.trim().trim_end_matches(" kB").trim().parse::<u64>().unwrap_or(0) * 1024
    }

    /// Ends it as a service manager would; it must end well.
    pub(crate) async fn stop(&mut self) {
        let pid = rustix::process::Pid::from_child(&self.process.child);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).expect("it runs");
        let status = self.process.ended().await;
        assert!(status.success(), "{status}");
    }
}

fn spawn(desk: &Desk, address: SocketAddr, variables: &[(String, String)]) -> Child {
    let mut command = desk.cli.command(desk.repo.path(), &["serve", "--listen", &address.to_string()]);
    command.env("HEDGEROW_LOG", "warn").envs(variables.iter().map(|(name, value)| (name, value)));
    command.env("HEDGEROW_TOKEN", TOKEN);
    let log = variables
        .iter()
        .find(|(name, _)| name == LOG_FILE)
        .map(|(_, file)| File::options().create(true).append(true).open(file).expect("a file for the log").into());
    command.stdout(Stdio::null()).stderr(log.unwrap_or_else(Stdio::inherit)).spawn().expect("it starts")
}

impl Process {
    pub(crate) async fn kill(&mut self) {
        self.child.kill().expect("it runs");
        self.ended().await;
    }

    /// The next server, at the same address.
    pub(crate) async fn restart(&mut self, desk: &Desk, address: SocketAddr) {
        self.child = spawn(desk, address, &self.variables);
        self.is_ready(address).await;
    }

    async fn ended(&mut self) -> std::process::ExitStatus {
        let ended = async {
            loop {
                if let Some(status) = self.child.try_wait().expect("it can be waited for") {
                    return status;
                }
                tokio::time::sleep(GLANCE).await;
            }
        };
        tokio::time::timeout(PATIENCE, ended).await.expect("it ends in time")
    }

    async fn is_ready(&mut self, address: SocketAddr) {
        let ready = async {
            while TcpStream::connect(address).await.is_err() {
                assert!(self.child.try_wait().expect("it can be asked").is_none(), "the server ended at once");
                tokio::time::sleep(GLANCE).await;
            }
        };
        tokio::time::timeout(PATIENCE, ready).await.expect("it listens in time");
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A port that nobody has now.
fn free_address() -> SocketAddr {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("an address")
}

/// Somebody with the token.
#[derive(Clone)]
pub(crate) struct Caller {
    address: SocketAddr,
}

impl Caller {
    /// Says something, as often as it takes; the name of the message.
    pub(crate) async fn post_until_accepted(&self, conversation: &str, key: &str, text: &str) -> Value {
        let path = format!("/api/v1/conversations/{conversation}/messages");
        let body = json!({"text": text}).to_string();
        let ask = with_token("POST", &path).header("Idempotency-Key", key).bytes(body.as_bytes());
        let posting = async {
            loop {
                match try_ask(self.address, &ask).await {
                    Some(answer) if answer.status == 202 => return answer.json()["message_id"].clone(),
                    // Nobody there, killed in the middle, or busy.
                    None => tokio::time::sleep(GLANCE).await,
                    Some(answer) if [429, 503].contains(&answer.status) => tokio::time::sleep(GLANCE).await,
                    Some(answer) => panic!("{answer:?}"),
                }
            }
        };
        tokio::time::timeout(PATIENCE, posting).await.expect("it is accepted in time")
    }

    /// Follows what happens in a conversation.
    pub(crate) async fn follow(&self, conversation: &str) -> Following {
        let ask = with_token("GET", &format!("/api/v1/events?conversation={conversation}"));
        Following::new(self.address, &ask).await.expect("the stream of events")
    }

    /// What was said in a conversation.
    pub(crate) async fn read(&self, conversation: &str) -> Vec<Value> {
        let path = format!("/api/v1/conversations/{conversation}/messages?limit=1000");
        let answer = ask(self.address, &with_token("GET", &path)).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.json().as_array().expect("an array").clone()
    }
}

fn with_token(method: &'static str, path: &str) -> Ask {
    Ask::new(method, path)
        .header("Authorization", &format!("Bearer {TOKEN}"))
        .header("Content-Type", "application/json")
}
