//! Whose turn it is in an environment: first come, first served, within this process. Between processes the lease decides.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use hedgerow_core::EnvironmentId;
use tokio::sync::{Mutex as Gate, OwnedMutexGuard};

/// A queue for each environment that anybody waits for.
#[derive(Debug, Default)]
pub(crate) struct Turns {
    gates: Mutex<HashMap<EnvironmentId, Arc<Gate<()>>>>,
}

/// The right to go next; it ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Turn {
    _gate: OwnedMutexGuard<()>,
}

impl Turns {
    /// The turn, if nobody of this process has it.
    pub(crate) fn try_take(&self, environment: EnvironmentId) -> Option<Turn> {
        self.gate(environment).try_lock_owned().ok().map(|gate| Turn { _gate: gate })
    }

    /// Waits for the turn behind everyone who came before.
    pub(crate) async fn take(&self, environment: EnvironmentId) -> Turn {
        Turn { _gate: self.gate(environment).lock_owned().await }
    }

    fn gate(&self, environment: EnvironmentId) -> Arc<Gate<()>> {
        let mut gates = self.gates.lock().unwrap_or_else(PoisonError::into_inner);
        // Gates that nobody holds or waits for are not kept.
        if gates.len() > 1000 {
            gates.retain(|_, gate| Arc::strong_count(gate) > 1);
        }
        Arc::clone(gates.entry(environment).or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn turns_of_one_environment_come_in_order_and_others_do_not_wait() {
        let turns = Arc::new(Turns::default());
        let (one, other) = (EnvironmentId::new(), EnvironmentId::new());
        let first = turns.try_take(one).expect("it is free");
        assert!(turns.try_take(one).is_none());
        assert!(turns.try_take(other).is_some());
        let order = Arc::new(Mutex::new(Vec::new()));
        let mut waiting = Vec::new();
        for number in 0..5 {
            let (turns, order) = (Arc::clone(&turns), Arc::clone(&order));
            let mut next = Box::pin(async move {
                let _turn = turns.take(one).await;
                order.lock().expect("not poisoned").push(number);
            });
            // In the queue once it was asked for.
            let asked =
                std::future::poll_fn(|context| std::task::Poll::Ready(next.as_mut().poll(context).is_pending()));
            assert!(asked.await);
            waiting.push(tokio::spawn(next));
        }
        drop(first);
        for task in waiting {
            task.await.expect("it ends");
        }
        assert_eq!(*order.lock().expect("not poisoned"), [0, 1, 2, 3, 4]);
    }
}
