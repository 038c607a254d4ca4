//! A shelf of files over HTTP, behind a password: enough for git to fetch from, and to see who shows what to whom.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// How a shelf answers.
#[derive(Debug, Clone)]
pub(super) enum Manner {
    /// To anybody.
    Open,
    /// Only to who shows this.
    Guarded(String),
    /// Sends everybody to another address.
    SendsAway(String),
    /// Asks for a password, and sends whoever shows one to another address.
    AsksAndSendsAway(String),
    /// Refuses, and repeats what it was shown.
    Blabs(String),
}

#[derive(Debug)]
pub(super) struct Shelf {
    address: SocketAddr,
    /// What was shown, request by request.
    shown: Arc<Mutex<Vec<Option<String>>>>,
    serving: JoinHandle<()>,
}

impl Drop for Shelf {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

impl Shelf {
    pub(super) async fn of(folder: PathBuf, manner: Manner) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a free port");
        let address = listener.local_addr().expect("it has one");
        let shown = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&shown);
        let serving = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (folder, manner, seen) = (folder.clone(), manner.clone(), Arc::clone(&seen));
                tokio::spawn(async move { drop(serve(stream, folder, manner, seen).await) });
            }
        });
        Self { address, shown, serving }
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Everything that was shown.
    pub(super) fn shown(&self) -> Vec<String> {
        self.shown.lock().expect("nobody panicked").iter().flatten().cloned().collect()
    }

    pub(super) fn requests(&self) -> usize {
        self.shown.lock().expect("nobody panicked").len()
    }
}

async fn serve(
    stream: TcpStream,
    folder: PathBuf,
    manner: Manner,
    seen: Arc<Mutex<Vec<Option<String>>>>,
) -> std::io::Result<()> {
    let mut stream = BufReader::new(stream);
    loop {
        let mut first = String::new();
        if stream.read_line(&mut first).await? == 0 {
            return Ok(());
        }
        let path = first.split(' ').nth(1).unwrap_or_default().split('?').next().unwrap_or_default().to_owned();
        let (mut authorization, mut length) = (None, 0);
        loop {
            let mut line = String::new();
            stream.read_line(&mut line).await?;
            let line = line.trim_end();
            if line.is_empty() {
                break;
            }
            let (name, value) = line.split_once(": ").unwrap_or((line, ""));
            match name.to_ascii_lowercase().as_str() {
                "authorization" => authorization = Some(value.to_owned()),
                "content-length" => length = value.parse().unwrap_or(0),
                _ => {}
            }
        }
        stream.read_exact(&mut vec![0; length]).await?;
        seen.lock().expect("nobody panicked").push(authorization.clone());
        let (status, headers, body) = answer(&folder, &manner, &path, authorization.as_deref());
        let head = format!("HTTP/1.1 {status}\r\n{headers}Content-Length: {}\r\n\r\n", body.len());
        stream.write_all(head.as_bytes()).await?;
        stream.write_all(&body).await?;
    }
}

fn answer(
    folder: &std::path::Path,
    manner: &Manner,
    path: &str,
    shown: Option<&str>,
) -> (&'static str, String, Vec<u8>) {
    let ask = || ("401 Unauthorized", "WWW-Authenticate: Basic realm=\"shelf\"\r\n".to_owned(), Vec::new());
    match manner {
        Manner::Guarded(wanted) if shown != Some(wanted) => return ask(),
        Manner::AsksAndSendsAway(_) | Manner::Blabs(_) if shown.is_none() => return ask(),
        Manner::SendsAway(to) | Manner::AsksAndSendsAway(to) => {
            return ("302 Found", format!("Location: {to}{path}?service=git-upload-pack\r\n"), Vec::new());
        }
        Manner::Blabs(words) => {
            return ("403 Forbidden", "Content-Type: text/plain\r\n".to_owned(), words.clone().into_bytes());
        }
        Manner::Open | Manner::Guarded(_) => {}
    }
    match std::fs::read(folder.join(path.trim_start_matches('/'))) {
        Ok(body) => ("200 OK", "Content-Type: text/plain\r\n".to_owned(), body),
        Err(_) => ("404 Not Found", String::new(), Vec::new()),
    }
}
