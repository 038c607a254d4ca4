//! A server that answers from a function, one request to a connection. Whatever it is asked, it writes down.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// A request that came.
#[derive(Debug, Clone)]
pub(in crate::github) struct Seen {
    pub(in crate::github) method: String,
    /// Path and query.
    pub(in crate::github) target: String,
    pub(in crate::github) headers: HashMap<String, String>,
    pub(in crate::github) body: String,
}

impl Seen {
    pub(in crate::github) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }

    pub(in crate::github) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_default()
    }
}

/// What is answered.
#[derive(Debug, Clone)]
pub(in crate::github) enum Said {
    Answer {
        status: u16,
        headers: Vec<(&'static str, String)>,
        body: String,
    },
    /// The connection is closed without a word.
    Nothing,
    /// The connection stays open without a word.
    Never,
}

impl Said {
    pub(in crate::github) fn json(status: u16, body: &Value) -> Self {
        Self::Answer { status, headers: Vec::new(), body: body.to_string() }
    }

    pub(in crate::github) fn with(mut self, name: &'static str, value: &(impl ToString + ?Sized)) -> Self {
        if let Self::Answer { headers, .. } = &mut self {
            headers.push((name, value.to_string()));
        }
        self
    }
}

#[derive(Debug)]
pub(in crate::github) struct Server {
    pub(in crate::github) url: String,
    seen: Arc<Mutex<Vec<Seen>>>,
    task: JoinHandle<()>,
}

impl Server {
    /// `answer` is given the request and how many came before it.
    pub(in crate::github) async fn start(answer: impl Fn(&Seen, usize) -> Said + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let seen: Arc<Mutex<Vec<Seen>>> = Arc::default();
        let (log, answer) = (Arc::clone(&seen), Arc::new(answer));
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (log, answer) = (Arc::clone(&log), Arc::clone(&answer));
                tokio::spawn(async move { serve(stream, &log, answer.as_ref()).await });
            }
        });
        Self { url, seen, task }
    }

    /// Answers the same to everything.
    pub(in crate::github) async fn saying(said: Said) -> Self {
        Self::start(move |_, _| said.clone()).await
    }

    pub(in crate::github) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().expect("no test panics while holding it").clone()
    }

    pub(in crate::github) fn count(&self, part: &str) -> usize {
        self.seen().iter().filter(|seen| seen.target.contains(part)).count()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(mut stream: TcpStream, log: &Mutex<Vec<Seen>>, answer: &(dyn Fn(&Seen, usize) -> Said + Send + Sync)) {
    let Some(seen) = request(&mut stream).await else { return };
    let said = {
        let mut log = log.lock().expect("no test panics while holding it");
        log.push(seen.clone());
        answer(&seen, log.len() - 1)
    };
    match said {
        Said::Nothing => {}
        Said::Never => std::future::pending().await,
        Said::Answer { status, headers, body } => {
            let mut text = format!("HTTP/1.1 {status} Said\r\ncontent-length: {}\r\nconnection: close\r\n", body.len());
            text.extend(headers.iter().flat_map(|(name, value)| [*name, ": ", value.as_str(), "\r\n"]));
            text.push_str("\r\n");
            text.push_str(&body);
            // Whoever asked may be gone.
            _ = stream.write_all(text.as_bytes()).await;
            _ = stream.shutdown().await;
        }
    }
}

async fn request(stream: &mut TcpStream) -> Option<Seen> {
    let mut bytes = Vec::new();
    let end = loop {
        if let Some(at) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break at + 4;
        }
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    };
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let mut lines = head.lines();
    let mut first = lines.next()?.split(' ');
    let (method, target) = (first.next()?.to_owned(), first.next()?.to_owned());
    let header = |line: &str| line.split_once(": ").map(|(name, value)| (name.to_lowercase(), value.to_owned()));
    let headers: HashMap<_, _> = lines.filter_map(header).collect();
    let length = headers.get("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    while bytes.len() < end + length {
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    }
    Some(Seen { method, target, headers, body: String::from_utf8_lossy(&bytes[end..]).into_owned() })
}
