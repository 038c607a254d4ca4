//! The signals that ask a command to stop.

use hedgerow_engine::Outcome;
use rustix::process::Signal;
use tokio::signal::unix::{Signal as Stream, SignalKind, signal};

/// From the moment it listens, none of them ends the process by itself.
pub(super) struct Signals {
    interrupt: Stream,
    quit: Stream,
    terminate: Stream,
    hangup: Stream,
}

impl Signals {
    pub(super) fn listen() -> Outcome<Self> {
        let listen = |kind| signal(kind).map_err(anyhow::Error::from);
        Ok(Self {
            interrupt: listen(SignalKind::interrupt())?,
            quit: listen(SignalKind::quit())?,
            terminate: listen(SignalKind::terminate())?,
            hangup: listen(SignalKind::hangup())?,
        })
    }

    pub(super) async fn next(&mut self) -> Signal {
        tokio::select! {
            _ = self.interrupt.recv() => Signal::INT,
            _ = self.quit.recv() => Signal::QUIT,
            _ = self.terminate.recv() => Signal::TERM,
            _ = self.hangup.recv() => Signal::HUP,
        }
    }

    /// The exit status of a command that was stopped.
    pub(super) async fn stop(&mut self) -> u8 {
        status(self.next().await)
    }
}

/// The exit status of a command that a signal ended, as shells have it: 130 for Ctrl-C.
pub(super) fn status(signal: Signal) -> u8 {
    128 + u8::try_from(signal.as_raw()).unwrap_or(2)
}
