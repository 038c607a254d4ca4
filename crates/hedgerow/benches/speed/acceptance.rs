//! How quickly a message is accepted over HTTP, safe on disk, next to a bare handler that writes one row as safely; as a
//! message of the API, and as a signed delivery of GitHub.
//!
//! Whoever delivers waits for the acknowledgement. Sixteen senders keep one connection each, as a forge or a front end
//! would. Nothing is answered meanwhile: the assistant sleeps.

use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::str::FromStr as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::post;
use axum::{Json, Router};
use hedgerow_testkit::Cli;
use hedgerow_testkit::outside::github::GitHub;
use serde_json::{Value, json};
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteSynchronous};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;

use crate::measure::Times;

const SENDERS: usize = 16;
const MESSAGES: usize = 2000;
const TOKEN: &str = "a-token-for-this-measurement";
const SECRET: &str = "a-secret-for-this-measurement";
/// Hedgerow accepts at least this share of what the bare handler does.
const GOAL: f64 = 0.5;

/// What is delivered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Road {
    Message,
    Webhook,
}

impl Road {
    const fn name(self) -> &'static str {
        match self {
            Self::Message => "a message over HTTP",
            Self::Webhook => "a delivery of GitHub",
        }
    }

    /// The whole request; each is another one.
    fn request(self, address: SocketAddr, sender: usize, number: usize) -> String {
        let head = "HTTP/1.1\r\nContent-Type: application/json\r\n";
        match self {
            Self::Message => {
                let body = json!({"text": "say something that is about as long as what people say"}).to_string();
                let path = format!("/api/v1/conversations/talk-{sender}/messages");
                let token = format!("Authorization: Bearer {TOKEN}");
                format!("POST {path} {head}Host: {address}\r\n{token}\r\nContent-Length: {}\r\n\r\n{body}", body.len())
            }
            Self::Webhook => {
                let body = comment(sender, number).to_string();
                let signature = GitHub::signature(SECRET, body.as_bytes());
                let about = format!(
                    "X-GitHub-Event: issue_comment\r\nX-GitHub-Delivery: delivery-{number}\r\n\
                     X-Hub-Signature-256: {signature}\r\n"
                );
                let path = "/webhooks/github";
                format!("POST {path} {head}Host: {address}\r\n{about}Content-Length: {}\r\n\r\n{body}", body.len())
            }
        }
    }
}

/// A comment that means us, about as long as GitHub tells of one.
fn comment(sender: usize, number: usize) -> Value {
    let user = json!({"id": 7, "login": "alice", "type": "User", "url": "https://api.github.com/users/alice"});
    let at = "2026-05-03T10:00:00Z";
    let padding = "and whatever else GitHub says about it; ".repeat(150);
    json!({
        "action": "created",
        "issue": {"id": 1000 + sender, "number": 1 + sender, "title": "Login is broken", "body": padding,
            "user": user, "state": "open", "created_at": at, "updated_at": at, "node_id": "I_1"},
        "comment": {"id": number + 1, "node_id": format!("IC_{number}"), "body": "@hedgerow fix the login", "user": user,
            "created_at": at, "updated_at": at, "html_url": "https://github.com/acme/shop/issues/1#issuecomment-1"},
        "repository": {"id": 1, "name": "shop", "full_name": "acme/shop", "owner": user, "private": false},
        "sender": user,
    })
}

/// One side, one round: all acknowledgements, and how long all of them took.
struct Storm {
    took: Duration,
    each: Vec<Duration>,
}

pub(crate) fn sixteen_senders(rounds: usize) {
    for road in [Road::Message, Road::Webhook] {
        measure(road, rounds);
    }
}

fn measure(road: Road, rounds: usize) {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let folder = tempfile::Builder::new().prefix("hedgerow-bench-").tempdir().expect("a temporary folder");
    let mut ours: Vec<Storm> = Vec::new();
    let mut bare: Vec<Storm> = Vec::new();
    for number in 1..=rounds {
        eprintln!("accepting {MESSAGES} times {}, round {number} of {rounds}", road.name());
        let home = folder.path().join(format!("home-{number}"));
        let server = Served::start(&home);
        ours.push(runtime.block_on(storm(road, server.address)));
        drop(server);
        let file = folder.path().join(format!("bare-{number}.db"));
        bare.push(runtime.block_on(async {
            let (address, task) = bare_server(&file).await;
            let stormed = storm(road, address).await;
            task.abort();
            stormed
        }));
    }
    let (ours, bare) = (Figures::of(&ours), Figures::of(&bare));
    let what = road.name();
    println!("\nacceptance of {what}, {SENDERS} senders, {MESSAGES} times, medians of {rounds} rounds");
    println!("                      per second      p50 ms      p99 ms");
    println!("Hedgerow              {ours}");
    println!("bare axum, one row    {bare}");
    let ratio = ours.per_second / bare.per_second;
    let word = if ratio >= GOAL { "pass" } else { "MISS" };
    println!("ratio of throughput   {ratio:.2}  goal ≥ {GOAL}  {word}");
}

struct Figures {
    per_second: f64,
    p50: Duration,
    p99: Duration,
}

impl Figures {
    fn of(storms: &[Storm]) -> Self {
        let median = |of: &dyn Fn(&Storm) -> Duration| {
            let mut times = Times::default();
            for storm in storms {
                times.push(of(storm));
            }
            times.median()
        };
        let at = |share: usize| move |storm: &Storm| storm.each[(storm.each.len() - 1) * share / 100];
        let took = median(&|storm| storm.took);
        #[expect(clippy::cast_precision_loss, reason = "a few thousand messages")]
        let per_second = MESSAGES as f64 / took.as_secs_f64();
        Self { per_second, p50: median(&at(50)), p99: median(&at(99)) }
    }
}

impl std::fmt::Display for Figures {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let millis = |time: Duration| time.as_secs_f64() * 1000.0;
        write!(f, "{:>10.0}{:>12.1}{:>12.1}", self.per_second, millis(self.p50), millis(self.p99))
    }
}

/// A real server whose assistant never says anything.
struct Served {
    child: Child,
    address: SocketAddr,
}

impl Served {
    fn start(home: &Path) -> Self {
        crate::fixture::configure(home, "[assistants.sleeper]\ncommand = [\"sleep\", \"3600\"]\n");
        let address = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a port");
        let cli =
            Cli::new(env!("CARGO_BIN_EXE_hedgerow"), home).env("HEDGEROW_TOKEN", TOKEN).env("HEDGEROW_LOG", "error");
        // Nobody answers there, so that nothing but acceptance is measured.
        let cli = cli.env("GITHUB_TOKEN", "a-token-of-nobody").env("GITHUB_WEBHOOK_SECRET", SECRET);
        let cli = cli.env("GITHUB_API_URL", "http://127.0.0.1:9");
        let mut command: Command = cli.command(home, &["serve", "--listen", &address.to_string()]);
        let child = command.stdout(Stdio::null()).spawn().expect("the server starts");
        let deadline = Instant::now() + Duration::from_secs(30);
        while std::net::TcpStream::connect(address).is_err() {
            assert!(Instant::now() < deadline, "the server listens");
            std::thread::sleep(Duration::from_millis(10));
        }
        Self { child, address }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The least that a durable handler does: read JSON, write one row, wait for the disk.
async fn bare_server(file: &Path) -> (SocketAddr, tokio::task::JoinHandle<()>) {
    let options = SqliteConnectOptions::from_str(&format!("sqlite://{}", file.display())).expect("a path");
    let options = options.create_if_missing(true).journal_mode(SqliteJournalMode::Wal);
    let options = options.synchronous(SqliteSynchronous::Full).busy_timeout(Duration::from_secs(30));
    let pool = SqlitePoolOptions::new().max_connections(4).connect_with(options).await.expect("it opens");
    let table = "CREATE TABLE messages (id INTEGER PRIMARY KEY, conversation TEXT NOT NULL, body TEXT NOT NULL)";
    sqlx::query(table).execute(&pool).await.expect("a table");
    let routes = Router::new().route("/api/v1/conversations/{id}/messages", post(insert));
    let routes = routes.route("/webhooks/github", post(insert)).with_state(pool);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    let serving = async move { axum::serve(listener, routes).await.expect("it serves") };
    (address, tokio::spawn(serving))
}

async fn insert(State(pool): State<SqlitePool>, uri: axum::http::Uri, Json(body): Json<Value>) -> StatusCode {
    let written = sqlx::query("INSERT INTO messages (conversation, body) VALUES ($1, $2)")
        .bind(uri.path().to_owned())
        .bind(body.to_string())
        .execute(&pool)
        .await;
    if written.is_ok() { StatusCode::ACCEPTED } else { StatusCode::INTERNAL_SERVER_ERROR }
}

async fn storm(road: Road, address: SocketAddr) -> Storm {
    let next = Arc::new(AtomicUsize::new(0));
    let start = Instant::now();
    let mut senders = tokio::task::JoinSet::new();
    for sender in 0..SENDERS {
        let next = Arc::clone(&next);
        senders.spawn(async move {
            let mut stream = BufReader::new(TcpStream::connect(address).await.expect("somebody listens"));
            let mut each = Vec::new();
            loop {
                let number = next.fetch_add(1, Ordering::SeqCst);
                if number >= MESSAGES {
                    break;
                }
                let request = road.request(address, sender, number);
                let begun = Instant::now();
                say(&mut stream, &request).await;
                each.push(begun.elapsed());
            }
            each
        });
    }
    let mut each: Vec<Duration> = senders.join_all().await.into_iter().flatten().collect();
    let took = start.elapsed();
    each.sort();
    Storm { took, each }
}

/// One message, on a connection that stays.
async fn say(stream: &mut BufReader<TcpStream>, request: &str) {
    stream.write_all(request.as_bytes()).await.expect("it is sent");
    let (mut length, mut line) = (0, String::new());
    stream.read_line(&mut line).await.expect("a status");
    assert!(line.contains(" 202 "), "{line}");
    loop {
        line.clear();
        stream.read_line(&mut line).await.expect("a header");
        if line.trim().is_empty() {
            break;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().expect("a length");
        }
    }
    let mut rest = vec![0; length];
    stream.read_exact(&mut rest).await.expect("the whole answer");
}
