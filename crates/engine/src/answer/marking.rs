//! How it stands with a message, shown on the message itself where its platform can. Nobody waits for it.

use std::sync::Arc;
use std::time::Duration;

use hedgerow_core::platform::{Mark, Platform};
use hedgerow_core::run::MessageEnd;
use tokio::sync::mpsc;
use tokio::time::timeout;

/// Longest that a platform may take to show one.
const PATIENCE: Duration = Duration::from_secs(10);
/// More than a message ever gets.
const MOST: usize = 8;

/// The marks of one message, in their order. They are shown by a task of its own, which ends with the last of them.
pub(crate) struct Marks(Option<mpsc::Sender<Mark>>);

impl Marks {
    /// Without a handle there is nothing to show them on.
    pub(super) fn of(platform: &Arc<dyn Platform>, handle: Option<&str>) -> Self {
        let Some(handle) = handle.map(str::to_owned) else { return Self(None) };
        let platform = Arc::clone(platform);
        let (sender, mut marks) = mpsc::channel(MOST);
        tokio::spawn(async move {
            while let Some(mark) = marks.recv().await {
                if timeout(PATIENCE, platform.mark(&handle, mark)).await.is_err() {
                    tracing::debug!(?mark, "a platform does not show how it stands with a message");
                }
            }
        });
        Self(Some(sender))
    }

    pub(super) fn set(&self, mark: Mark) {
        if let Some(sender) = &self.0 {
            // Full only when the platform hangs, and then the answer is what counts.
            let _ = sender.try_send(mark);
        }
    }

    /// The message has had its last word.
    pub(super) fn ended(&self, end: MessageEnd) {
        match end {
            MessageEnd::Answered => self.set(Mark::Done),
            MessageEnd::Failed | MessageEnd::Interrupted => self.set(Mark::Failed),
            MessageEnd::Ignored => {}
        }
    }
}
