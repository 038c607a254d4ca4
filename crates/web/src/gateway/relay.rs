//! The answer of a model on its way to the agent: passed on piece by piece as it comes, counted, and cut when its run
//! ends.
//!
//! A task of its own carries it, so that what was used is written down however the call ends.

use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use axum::body::{Body, Bytes};
use futures_util::stream;
use hedgerow_engine::gateway::Call;
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::meter::Meter;

/// Pieces that wait for a slow reader; more are left with the maker.
const AHEAD: usize = 4;

/// A call that is being answered.
pub(super) struct Answering {
    pub(super) call: Call,
    pub(super) from: reqwest::Response,
    /// Of calls that cost something.
    pub(super) meter: Option<Meter>,
    /// Bytes of the request.
    pub(super) sent: Arc<AtomicU64>,
    /// Longest silence of the maker.
    pub(super) idle: Duration,
}

/// How it ended.
enum End {
    Whole,
    /// The agent went away.
    Left,
    Cut(&'static str),
}

impl Answering {
    /// The body for the agent.
    pub(super) fn begin(self) -> Body {
        let (to, pieces) = mpsc::channel(AHEAD);
        tokio::spawn(self.carry(to));
        let pieces = stream::unfold(pieces, |mut pieces| async { pieces.recv().await.map(|piece| (piece, pieces)) });
        Body::from_stream(pieces)
    }

    async fn carry(mut self, to: mpsc::Sender<io::Result<Bytes>>) {
        let end = self.pass(&to).await;
        let Self { call, from, meter, sent, .. } = self;
        drop(from);
        if let Some(meter) = meter {
            let (model, counted) = meter.total(sent.load(Ordering::Relaxed));
            call.used(&model, &counted).await;
        }
        match end {
            // The end of the body comes after what was used is written down: who asks next is counted right.
            End::Whole => {}
            End::Left => tracing::debug!(run = %call.run(), "an agent did not wait for the end of an answer"),
            End::Cut(why) => {
                tracing::debug!(run = %call.run(), why, "an answer was cut");
                // An agent must not take half an answer for a whole one. Its end may be gone already.
                _ = to.try_send(Err(io::Error::other(why)));
            }
        }
    }

    async fn pass(&mut self, to: &mpsc::Sender<io::Result<Bytes>>) -> End {
        let Self { call, from, meter, idle, .. } = self;
        let mut shut = pin!(call.shut());
        loop {
            let piece = tokio::select! {
                biased;
                () = &mut shut => return End::Cut("the run has ended"),
                () = to.closed() => return End::Left,
                piece = timeout(*idle, from.chunk()) => piece,
            };
            let piece = match piece {
                Ok(Ok(Some(piece))) => piece,
                Ok(Ok(None)) => return End::Whole,
                Ok(Err(_)) => return End::Cut("the model's answer broke off"),
                Err(_) => return End::Cut("the model said nothing for too long"),
            };
            if let Some(meter) = meter {
                meter.read(&piece);
            }
            tokio::select! {
                biased;
                () = &mut shut => return End::Cut("the run has ended"),
                taken = to.send(Ok(piece)) => if taken.is_err() { return End::Left },
            }
        }
    }
}
