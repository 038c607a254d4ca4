//! Those who answer: each message that is taken gets a task of its own.

use std::sync::Arc;
use std::time::Duration;

use hedgerow_core::MessageId;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::Desk;
use crate::answer;
use crate::failure::Outcome;
use crate::hands::InHand;
use crate::store::{Delivered, Which};

/// Messages in hand at most, those that wait for a run or a place included.
const IN_HAND: usize = 2000;
/// Those that are urgent are taken past that, up to so many: one of them may be what ends all the waiting.
const URGENT_BESIDES: usize = 100;
/// Messages that are taken together at most.
const TOGETHER: u32 = 64;
/// How often to look for what another process has accepted, or what is due again.
const LOOK: Duration = Duration::from_millis(500);
/// How long to wait when the store does not answer.
const STORE_AWAY: Duration = Duration::from_secs(2);

/// Takes messages and answers them until the dispatcher goes; returns when the last one in hand is dealt with.
pub(super) async fn work(desk: Arc<Desk>) {
    let mut crew = JoinSet::new();
    while !desk.is_closing() {
        while let Some(ended) = crew.try_join_next() {
            note_panic(ended);
        }
        match take(&desk, crew.len()).await {
            Ok(taken) if taken.is_empty() => wait(&desk, &mut crew).await,
            Ok(taken) => {
                for (message, in_hand) in taken {
                    let desk = Arc::clone(&desk);
                    crew.spawn(async move {
                        answer::deal_with(desk, message).await;
                        drop(in_hand);
                    });
                }
            }
            Err(error) => {
                tracing::error!(%error, "messages could not be taken");
                let _ = timeout(STORE_AWAY, desk.closes()).await;
            }
        }
    }
    while let Some(ended) = crew.join_next().await {
        note_panic(ended);
    }
}

async fn take(desk: &Desk, in_hand: usize) -> Outcome<Vec<(Delivered, InHand<MessageId>)>> {
    let (which, room) = match IN_HAND.saturating_sub(in_hand) {
        0 => (Which::Urgent, (IN_HAND + URGENT_BESIDES).saturating_sub(in_hand)),
        room => (Which::All, room),
    };
    let most = u32::try_from(room).unwrap_or(TOGETHER).min(TOGETHER);
    let mut taken = Vec::new();
    if most == 0 {
        return Ok(taken);
    }
    let claim = desk.claim().await?;
    let _taking = desk.hands.taking().await;
    for served in desk.served() {
        match desk.engine.store().take_messages(&served, &claim, which, most).await {
            Ok(messages) => {
                taken.extend(messages.into_iter().map(|message| {
                    let in_hand = desk.hands.hold(message.id);
                    (message, in_hand)
                }));
            }
            // What was taken before it is dealt with all the same.
            Err(error) if !taken.is_empty() => {
                tracing::error!(%error, platform = %served.platform, "messages could not be taken");
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(taken)
}

/// Until there may be something to take: one was accepted, one was dealt with, or it is time to look again.
async fn wait(desk: &Desk, crew: &mut JoinSet<()>) {
    tokio::select! {
        () = desk.closes() => {}
        () = desk.wake_messages.notified() => {}
        Some(ended) = crew.join_next() => note_panic(ended),
        () = sleep(LOOK) => {}
    }
}

fn note_panic(ended: Result<(), tokio::task::JoinError>) {
    if let Err(error) = ended {
        tracing::error!(%error, "whoever deals with messages panicked");
    }
}
