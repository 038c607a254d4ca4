//! What git is told on its standard input.

use std::fs::File;

use tokio::io::AsyncWriteExt as _;
use tokio::sync::{Notify, mpsc};

/// What a call is told on its standard input.
pub(super) enum Input {
    Nothing,
    Bytes(Vec<u8>),
    /// More than fits into memory, piece by piece from whoever reads it.
    Pieces(mpsc::Receiver<Vec<u8>>),
    /// git reads it itself.
    File(Option<File>),
}

impl Input {
    /// Each piece that git takes is told to `fed`.
    pub(super) async fn feed(self, mut pipe: impl tokio::io::AsyncWrite + Unpin, fed: &Notify) {
        // git may close its end early; its exit code tells why.
        match self {
            Self::Nothing | Self::File(_) => {}
            Self::Bytes(bytes) => drop(pipe.write_all(&bytes).await),
            Self::Pieces(mut pieces) => {
                while let Some(piece) = pieces.recv().await {
                    if pipe.write_all(&piece).await.is_err() {
                        return;
                    }
                    fed.notify_one();
                }
            }
        }
        let _ = pipe.flush().await;
    }
}
