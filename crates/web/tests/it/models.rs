//! A maker of models that says exactly the bytes it is told to, and remembers what it was asked.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hedgerow_core::assistant::Maker;
use hedgerow_engine::gateway::{ApiKey, Budgets, GatewaySettings, Upstream};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;

/// The key that no agent may ever see.
pub(crate) const KEY: &str = "sk-the-true-key-of-the-account";

/// What was asked.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    /// Method, path and query.
    pub(crate) line: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Asked {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
    }
}

/// A step of an answer.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    /// Goes out in a packet of its own.
    Say(Vec<u8>),
    Wait(Arc<Notify>),
    /// Says nothing more, and stays.
    Hang,
}

/// A maker of models.
#[derive(Debug, Clone)]
pub(crate) struct FakeMaker {
    pub(crate) address: SocketAddr,
    asked: Arc<Mutex<Vec<Asked>>>,
    answers: Arc<Mutex<VecDeque<Vec<Step>>>>,
}

impl FakeMaker {
    pub(crate) async fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let maker = Self { address, asked: Arc::default(), answers: Arc::default() };
        let serving = maker.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serving.clone().serve(stream));
            }
        });
        maker
    }

    /// All three makers are this one.
    pub(crate) fn settings(&self, budgets: Budgets) -> GatewaySettings {
        let upstream =
            |maker: &Maker| Upstream { maker: *maker, url: format!("http://{}", self.address), key: ApiKey::new(KEY) };
        GatewaySettings { upstreams: Maker::ALL.iter().map(upstream).collect(), budgets, prices: Vec::new() }
    }

    /// The next call is answered so.
    pub(crate) fn will(&self, steps: Vec<Step>) {
        self.answers.lock().expect("no panic").push_back(steps);
    }

    /// The next call is answered with a document.
    pub(crate) fn answers(&self, status: u16, headers: &str, body: &str) {
        let length = body.len();
        let whole =
            format!("HTTP/1.1 {status} X\r\nContent-Length: {length}\r\nConnection: close\r\n{headers}\r\n{body}");
        self.will(vec![Step::Say(whole.into_bytes())]);
    }

    /// The head of a stream of events whose end is the end of the connection.
    pub(crate) fn stream_head() -> Step {
        Step::Say(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n".to_vec())
    }

    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().expect("no panic").clone()
    }

    async fn serve(self, stream: TcpStream) {
        stream.set_nodelay(true).expect("a socket");
        let mut stream = BufReader::new(stream);
        let Some(asked) = read(&mut stream).await else { return };
        self.asked.lock().expect("no panic").push(asked);
        let steps = self.answers.lock().expect("no panic").pop_front().unwrap_or_default();
        for step in steps {
            match step {
                Step::Say(bytes) => {
                    if stream.write_all(&bytes).await.is_err() || stream.flush().await.is_err() {
                        return;
                    }
                }
                Step::Wait(until) => until.notified().await,
                Step::Hang => {
                    // Until the other side goes away.
                    _ = stream.read(&mut [0; 16]).await;
                    return;
                }
            }
        }
        _ = stream.shutdown().await;
    }
}

async fn read(stream: &mut BufReader<TcpStream>) -> Option<Asked> {
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        if tokio::time::timeout(Duration::from_secs(10), stream.read_line(&mut line)).await.ok()?.ok()? == 0 {
            return None;
        }
        let line = line.trim_end().to_owned();
        if line.is_empty() {
            break;
        }
        lines.push(line);
    }
    let headers: Vec<(String, String)> = lines[1..]
        .iter()
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
        .collect();
    let mut asked = Asked { line: lines[0].trim_end_matches(" HTTP/1.1").to_owned(), headers, body: Vec::new() };
    if let Some(length) = asked.header("content-length") {
        asked.body = vec![0; length.parse().ok()?];
        stream.read_exact(&mut asked.body).await.ok()?;
    } else if asked.header("transfer-encoding").is_some() {
        loop {
            let mut size = String::new();
            stream.read_line(&mut size).await.ok()?;
            let size = usize::from_str_radix(size.trim(), 16).ok()?;
            let mut chunk = vec![0; size + 2];
            stream.read_exact(&mut chunk).await.ok()?;
            if size == 0 {
                break;
            }
            asked.body.extend(&chunk[..size]);
        }
    }
    Some(asked)
}
