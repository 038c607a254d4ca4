//! The door: deliveries that come at the same time are written down together, and each is answered when it is on disk.
//!
//! One wait for the disk is shared by everyone who came while the last one was going on. The sender of each still waits
//! for its own: an acknowledged message is never lost.

use std::time::Duration;

use hedgerow_core::message::{Accepted, RawEvent};
use tokio::sync::{mpsc, oneshot};

use super::Desk;
use crate::store::StoreError;

/// Deliveries that wait at the door at most; the next is told that we are busy.
const CROWD: usize = 4096;
/// Deliveries that are written together at most.
const TOGETHER: usize = 256;
/// Longest anyone waits for the store.
const PATIENCE: Duration = Duration::from_secs(30);

type Knock = (RawEvent, oneshot::Sender<Accepted>);

/// Where deliveries are handed in.
#[derive(Debug, Clone)]
pub(crate) struct Door {
    knocks: mpsc::Sender<Knock>,
}

impl Door {
    pub(crate) fn new() -> (Self, mpsc::Receiver<Knock>) {
        let (knocks, waiting) = mpsc::channel(CROWD);
        (Self { knocks }, waiting)
    }

    pub(crate) async fn accept(&self, raw: RawEvent) -> Accepted {
        let (answer, answered) = oneshot::channel();
        if self.knocks.try_send((raw, answer)).is_err() {
            return Accepted::Busy;
        }
        match tokio::time::timeout(PATIENCE, answered).await {
            Ok(Ok(accepted)) => accepted,
            // It may be written all the same. Then the sender's next try is recognised.
            Ok(Err(_)) | Err(_) => Accepted::Busy,
        }
    }
}

/// Writes deliveries down until nobody can hand any in.
pub(crate) async fn keep(desk: &Desk, mut waiting: mpsc::Receiver<Knock>) {
    let mut knocks = Vec::with_capacity(TOGETHER);
    while waiting.recv_many(&mut knocks, TOGETHER).await > 0 {
        let (batch, senders): (Vec<_>, Vec<_>) = knocks.drain(..).unzip();
        let answers = if desk.is_closing() {
            vec![Accepted::Busy; batch.len()]
        } else {
            match desk.engine.store().deliver(&batch, desk.engine.settings().runs.queue).await {
                Ok(answers) => answers,
                Err(error) => {
                    tracing::error!(%error, deliveries = batch.len(), "deliveries could not be written down");
                    one_by_one(desk, &batch, &error).await
                }
            }
        };
        if answers.iter().any(|answer| matches!(answer, Accepted::Queued(_))) {
            desk.wake_messages.notify_one();
        }
        for (sender, answer) in senders.into_iter().zip(answers) {
            let _ = sender.send(answer);
        }
    }
}

/// One that the store will not have must not keep its neighbours out, whenever they come; two processes that are handed
/// the same in another order must not either. A store that is away is not asked again for each.
async fn one_by_one(desk: &Desk, batch: &[RawEvent], error: &StoreError) -> Vec<Accepted> {
    let mut is_away = batch.len() == 1 || matches!(error, StoreError::Unavailable(_));
    let mut answers = Vec::with_capacity(batch.len());
    for raw in batch {
        if is_away {
            answers.push(Accepted::Busy);
            continue;
        }
        let limit = desk.engine.settings().runs.queue;
        match desk.engine.store().deliver(std::slice::from_ref(raw), limit).await {
            Ok(answer) => answers.extend(answer),
            Err(error) => {
                tracing::error!(%error, "a delivery could not be written down");
                is_away = matches!(error, StoreError::Unavailable(_));
                answers.push(Accepted::Busy);
            }
        }
    }
    answers
}
