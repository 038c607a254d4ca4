//! How many assistants work at once, and whose is next: codebases take turns, so that a busy one cannot starve the rest.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hedgerow_core::CodebaseId;
use tokio::sync::oneshot;

/// The places there are.
#[derive(Debug)]
pub(crate) struct Slots {
    state: Arc<Mutex<State>>,
}

#[derive(Debug)]
struct State {
    free: u32,
    /// Those who wait, by codebase (conversations without one are one more); the codebase in front is served next.
    waiting: VecDeque<(Option<CodebaseId>, VecDeque<oneshot::Sender<Slot>>)>,
}

/// A place; the next in line gets it when this is dropped.
#[derive(Debug)]
pub(crate) struct Slot {
    state: Arc<Mutex<State>>,
    /// Whether this place was handed on already.
    given: bool,
}

impl Slots {
    pub(crate) fn new(many: u32) -> Self {
        Self { state: Arc::new(Mutex::new(State { free: many.max(1), waiting: VecDeque::new() })) }
    }

    /// Waits for a place.
    pub(crate) async fn take(&self, codebase: Option<CodebaseId>) -> Slot {
        let waiting = {
            let mut state = lock(&self.state);
            if state.free > 0 {
                state.free -= 1;
                return Slot { state: Arc::clone(&self.state), given: false };
            }
            let (sender, receiver) = oneshot::channel();
            match state.waiting.iter_mut().find(|(whose, _)| *whose == codebase) {
                Some((_, line)) => line.push_back(sender),
                None => state.waiting.push_back((codebase, VecDeque::from([sender]))),
            }
            receiver
        };
        waiting.await.expect("a place is never dropped without being handed on")
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        if self.given {
            return;
        }
        let mut state = lock(&self.state);
        loop {
            let Some((codebase, mut line)) = state.waiting.pop_front() else {
                state.free += 1;
                return;
            };
            let next = line.pop_front();
            if !line.is_empty() {
                state.waiting.push_back((codebase, line));
            }
            let Some(next) = next else { continue };
            // Whoever gave up waiting gives it back unused; then the next one is asked.
            match next.send(Slot { state: Arc::clone(&self.state), given: false }) {
                Ok(()) => return,
                Err(mut back) => back.given = true,
            }
        }
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Asks for a place and is in the line when this returns.
    async fn ask(slots: &Arc<Slots>, codebase: CodebaseId) -> tokio::task::JoinHandle<(CodebaseId, Slot)> {
        let slots = Arc::clone(slots);
        let mut asking = Box::pin(async move { (codebase, slots.take(Some(codebase)).await) });
        let pending =
            std::future::poll_fn(|context| std::task::Poll::Ready(asking.as_mut().poll(context).is_pending())).await;
        assert!(pending, "every place is taken");
        tokio::spawn(asking)
    }

    #[tokio::test]
    async fn codebases_take_turns() {
        let slots = Arc::new(Slots::new(1));
        let (busy, quiet) = (CodebaseId::new(), CodebaseId::new());
        let first = slots.take(Some(busy)).await;
        let mut asked = Vec::new();
        for codebase in [busy, busy, busy, quiet] {
            asked.push(ask(&slots, codebase).await);
        }
        drop(first);
        let mut order = Vec::new();
        for expected in [0, 3, 1, 2] {
            let (codebase, slot) = std::mem::replace(&mut asked[expected], tokio::spawn(std::future::pending()))
                .await
                .expect("it gets a place");
            order.push(codebase);
            drop(slot);
        }
        assert_eq!(order, [busy, quiet, busy, busy], "the quiet one does not wait for all of the busy one");
    }

    #[tokio::test]
    async fn who_gives_up_leaves_no_hole() {
        let slots = Arc::new(Slots::new(1));
        let codebase = CodebaseId::new();
        let first = slots.take(None).await;
        let gone = ask(&slots, codebase).await;
        let patient = ask(&slots, codebase).await;
        gone.abort();
        assert!(gone.await.is_err());
        drop(first);
        drop(patient.await.expect("it gets the place"));
        drop(slots.take(None).await);
    }
}
