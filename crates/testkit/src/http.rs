//! HTTP/1.1 by hand, so that tests can also say what no library would.

use std::net::SocketAddr;
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// Longer than anything should take, so that what never comes fails a test and does not hold it up. Comments keep a
/// stream alive every 15 seconds.
const LONGEST_WAIT: Duration = Duration::from_secs(10);
const BETWEEN_COMMENTS: Duration = Duration::from_secs(30);

/// A request, in the making.
#[derive(Debug, Clone)]
pub struct Ask {
    method: &'static str,
    path: String,
    headers: Vec<(String, String)>,
    body: Option<Vec<u8>>,
}

impl Ask {
    pub fn new(method: &'static str, path: &str) -> Self {
        Self { method, path: path.to_owned(), headers: Vec::new(), body: None }
    }

    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    #[must_use]
    pub fn bytes(mut self, body: &[u8]) -> Self {
        self.body = Some(body.to_vec());
        self
    }

    /// What goes over the wire.
    pub fn wire(&self) -> Vec<u8> {
        let mut head = format!("{} {} HTTP/1.1\r\n", self.method, self.path);
        if !self.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
            head.push_str("Host: 127.0.0.1\r\n");
        }
        for (name, value) in &self.headers {
            head.extend([name.as_str(), ": ", value.as_str(), "\r\n"]);
        }
        if let Some(body) = &self.body
            && !self.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-length"))
        {
            head.extend(["Content-Length: ", &body.len().to_string(), "\r\n"]);
        }
        let mut wire = format!("{head}\r\n").into_bytes();
        wire.extend(self.body.iter().flatten());
        wire
    }
}

/// What came back.
#[derive(Debug)]
pub struct Answered {
    pub status: u16,
    headers: Vec<(String, String)>,
    pub text: String,
}

impl Answered {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The kind of an error, having made sure that it has the form of all errors.
    pub fn kind(&self) -> String {
        let json = self.json();
        let error = &json["error"];
        assert!(error["message"].is_string() && error["hints"].is_array(), "{json}");
        error["kind"].as_str().expect("a kind").to_owned()
    }

    pub fn message(&self) -> String {
        self.json()["error"]["message"].as_str().expect("a message").to_owned()
    }
}

/// Asks, on a connection of its own.
pub async fn ask(address: SocketAddr, ask: &Ask) -> Answered {
    try_ask(address, ask).await.expect("an answer")
}

/// The same of a server that may be gone, or go in the middle: then there is no answer.
pub async fn try_ask(address: SocketAddr, ask: &Ask) -> Option<Answered> {
    let mut connection = Connection { stream: BufReader::new(TcpStream::connect(address).await.ok()?) };
    connection.write(&ask.clone().header("Connection", "close").wire()).await;
    connection.answer().await
}

#[derive(Debug)]
pub struct Connection {
    stream: BufReader<TcpStream>,
}

impl Connection {
    pub async fn open(address: SocketAddr) -> Self {
        Self { stream: BufReader::new(TcpStream::connect(address).await.expect("somebody listens")) }
    }

    pub async fn write(&mut self, bytes: &[u8]) {
        // A server that refuses what it has seen of it may have stopped reading.
        _ = self.stream.write_all(bytes).await;
    }

    /// The next answer; `None` when the server closed before its end.
    pub async fn answer(&mut self) -> Option<Answered> {
        let (status, headers) = self.head().await?;
        let value = |wanted: &str| headers.iter().find(|(name, _)| name == wanted).map(|(_, value)| value.clone());
        let mut body = Vec::new();
        if let Some(length) = value("content-length") {
            body = vec![0; length.parse().expect("a length")];
            self.stream.read_exact(&mut body).await.ok()?;
        } else if value("transfer-encoding").as_deref() == Some("chunked") {
            while let Some(chunk) = self.chunk().await {
                body.extend(chunk);
            }
        }
        Some(Answered { status, headers, text: String::from_utf8(body).expect("text") })
    }

    pub async fn head(&mut self) -> Option<(u16, Vec<(String, String)>)> {
        let status = self.line().await?;
        let status = status.split(' ').nth(1).and_then(|code| code.parse().ok()).expect("a status line");
        let mut headers = Vec::new();
        loop {
            let line = self.line().await?;
            let Some((name, value)) = line.split_once(':') else { return Some((status, headers)) };
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
    }

    /// The next piece of a body that comes in pieces; `None` at its end, or when the server went.
    pub async fn chunk(&mut self) -> Option<Vec<u8>> {
        let size = usize::from_str_radix(self.line().await?.trim(), 16).expect("a size");
        let mut chunk = vec![0; size + 2];
        self.stream.read_exact(&mut chunk).await.ok()?;
        chunk.truncate(size);
        (size > 0).then_some(chunk)
    }

    async fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        match self.stream.read_line(&mut line).await {
            Ok(0) | Err(_) => None,
            Ok(_) => Some(line.trim_end().to_owned()),
        }
    }
}

/// An event of the stream.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Event {
    pub id: Option<String>,
    pub name: String,
    pub data: String,
}

impl Event {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.data).expect("data in JSON")
    }
}

/// Somebody who follows the events.
#[derive(Debug)]
pub struct Following {
    connection: Connection,
    unread: String,
    patience: Duration,
}

impl Following {
    /// Follows, or gives the answer that says why not.
    pub async fn new(address: SocketAddr, ask: &Ask) -> Result<Self, u16> {
        let mut connection = Connection::open(address).await;
        connection.write(&ask.wire()).await;
        let (status, headers) = connection.head().await.expect("an answer");
        if status != 200 {
            return Err(status);
        }
        assert!(headers.iter().any(|(name, value)| name == "content-type" && value == "text/event-stream"));
        let mut following = Self { connection, unread: String::new(), patience: LONGEST_WAIT };
        // The first thing that comes is how long to wait before coming back.
        assert_eq!(following.block().await.as_deref(), Some("retry: 1000"));
        Ok(following)
    }

    /// Outlasts silences: as long as comments keep the stream alive, the caller says when it is enough.
    #[must_use]
    pub const fn patiently(mut self) -> Self {
        self.patience = BETWEEN_COMMENTS;
        self
    }

    /// The next event; `None` when the stream is over.
    pub async fn next(&mut self) -> Option<Event> {
        loop {
            let block = self.block().await?;
            let mut event = Event::default();
            for line in block.lines() {
                match line.split_once(": ") {
                    Some(("id", value)) => event.id = Some(value.to_owned()),
                    Some(("event", value)) => value.clone_into(&mut event.name),
                    Some(("data", value)) => value.clone_into(&mut event.data),
                    // A comment keeps the connection alive.
                    _ => {}
                }
            }
            if !event.name.is_empty() {
                return Some(event);
            }
        }
    }

    async fn block(&mut self) -> Option<String> {
        loop {
            if let Some(end) = self.unread.find("\n\n") {
                let block = self.unread.drain(..end + 2).collect::<String>();
                return Some(block.trim_end().to_owned());
            }
            let chunk = timeout(self.patience, self.connection.chunk()).await.expect("something comes, or the end")?;
            self.unread.push_str(&String::from_utf8(chunk).expect("text"));
        }
    }
}

impl Connection {
    /// Says that nothing more comes.
    pub async fn ends(&mut self) {
        _ = self.stream.shutdown().await;
    }
}
