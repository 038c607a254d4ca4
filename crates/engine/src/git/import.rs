//! Writing objects in bulk: one `git fast-import`, told blob by blob, then what the commit holds.
//!
//! Bytes go in as they are: no filter, no conversion, no hook, no index. Files are read by the caller, so that a
//! symbolic link laid in the way is its business to refuse.

use std::io::{self, Read};

use hedgerow_core::provider::NoProgress;
use hedgerow_core::{CommitSha, Timestamp};
use tokio::sync::mpsc;

use super::{GitError, GitResult, Repo};

/// So much is handed to git at once, and so many pieces wait for it.
const PIECE: usize = 64 << 10;
const WAITING: usize = 16;
/// Files from this size on are not held in memory whole.
const STREAMED: &str = "32m";

/// The stream into git. Used from a thread that may block.
#[derive(Debug)]
pub struct Import {
    pieces: mpsc::Sender<Vec<u8>>,
    buffer: Vec<u8>,
    marks: u64,
}

/// Names something in the stream: a mark, or an object that git has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Data(String);

impl Data {
    pub fn object(name: &str) -> Self {
        Self(name.to_owned())
    }
}

impl Repo {
    /// Runs an import. What `write` could not do comes back as its own error, and leaves nothing but loose blobs.
    pub async fn import<T, E>(
        &self,
        write: impl FnOnce(&mut Import) -> Result<T, E> + Send + 'static,
    ) -> GitResult<Result<T, E>>
    where
        T: Send + 'static,
        E: From<io::Error> + Send + 'static,
    {
        let (pieces, receiver) = mpsc::channel(WAITING);
        let writing = tokio::task::spawn_blocking(move || {
            let mut import = Import { pieces, buffer: Vec::with_capacity(PIECE), marks: 0 };
            let written = write(&mut import)?;
            import.send()?;
            Ok(written)
        });
        // Made after every turn: quick counts for more than small, and a delta against the file before never fits.
        let call = self.call().args(["fast-import", "--quiet", "--depth=0"]).config("pack.compression", "1");
        // A large file is packed while it is read: it never fills the memory, and git is never silent for all of it.
        let call = call.config("core.bigFileThreshold", STREAMED);
        call.stdin_pieces(receiver).long(&NoProgress).await?;
        writing.await.map_err(|error| GitError::Io { what: "writing to git".into(), source: io::Error::other(error) })
    }
}

impl Import {
    /// A blob from memory.
    pub fn blob(&mut self, bytes: &[u8]) -> io::Result<Data> {
        self.blob_from(bytes, bytes.len() as u64)
    }

    /// A blob of exactly this length. One that ends early is filled up, because git must not be left in the middle of
    /// it; the error says so, and no commit follows.
    pub fn blob_from(&mut self, from: impl Read, length: u64) -> io::Result<Data> {
        self.marks += 1;
        // The line that comes back is a sign of life.
        self.line(&format!("progress {}\nblob\nmark :{}\ndata {length}", self.marks, self.marks))?;
        let mut left = length;
        let mut from = from.take(length);
        let mut failed = None;
        let mut piece = vec![0; PIECE];
        while left > 0 {
            let read = if failed.is_some() { Ok(0) } else { from.read(&mut piece) };
            let read = match read {
                Ok(0) if failed.is_none() => {
                    failed = Some(io::Error::new(io::ErrorKind::UnexpectedEof, "it was cut short while it was read"));
                    continue;
                }
                Ok(0) => {
                    piece.fill(0);
                    usize::try_from(left).unwrap_or(PIECE).min(PIECE)
                }
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => {
                    failed = Some(error);
                    continue;
                }
            };
            self.bytes(&piece[..read])?;
            left -= read as u64;
        }
        self.bytes(b"\n")?;
        failed.map_or_else(|| Ok(Data(format!(":{}", self.marks))), Err)
    }

    /// Begins the commit that the new ref `name` will be at. Its tree begins empty.
    pub fn commit(&mut self, name: &str, at: Timestamp, message: &str, parents: &[CommitSha]) -> io::Result<()> {
        let seconds = at.as_millis().div_euclid(1000);
        let length = message.len();
        self.line(&format!("commit {name}\ncommitter Hedgerow <hedgerow@localhost> {seconds} +0000\ndata {length}"))?;
        self.line(message)?;
        for (nth, parent) in parents.iter().enumerate() {
            self.line(&format!("{} {parent}", if nth == 0 { "from" } else { "merge" }))?;
        }
        self.line("deleteall")
    }

    /// A file, link or whole tree (`040000`) of the commit.
    pub fn put(&mut self, mode: &str, data: &Data, path: &[u8]) -> io::Result<()> {
        self.bytes(format!("M {mode} {} ", data.0).as_bytes())?;
        self.path(path)
    }

    pub fn delete(&mut self, path: &[u8]) -> io::Result<()> {
        self.bytes(b"D ")?;
        self.path(path)
    }

    fn path(&mut self, path: &[u8]) -> io::Result<()> {
        let mut quoted = vec![b'"'];
        for byte in path {
            match byte {
                b'"' | b'\\' => quoted.extend([b'\\', *byte]),
                b'\n' => quoted.extend(b"\\n"),
                _ => quoted.push(*byte),
            }
        }
        quoted.extend(b"\"\n");
        self.bytes(&quoted)
    }

    fn line(&mut self, text: &str) -> io::Result<()> {
        self.bytes(text.as_bytes())?;
        self.bytes(b"\n")
    }

    fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.buffer.extend(bytes);
        if self.buffer.len() >= PIECE { self.send() } else { Ok(()) }
    }

    fn send(&mut self) -> io::Result<()> {
        let piece = std::mem::replace(&mut self.buffer, Vec::with_capacity(PIECE));
        self.pieces.blocking_send(piece).map_err(|_| io::Error::new(io::ErrorKind::BrokenPipe, "git has ended"))
    }
}
