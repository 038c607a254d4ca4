//! Which messages and replies somebody of this process is really at.
//!
//! The store only knows what this process has taken, and keeps it for as long as the process lives. Whoever is to see to
//! it may never have heard of it (the store's reply was lost on the way), or may have had to leave it (the store was away
//! when its end was written). What is taken and in nobody's hands is found by comparing the two.

use std::collections::HashSet;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{Mutex as Gate, MutexGuard as Passed};

/// What is in hand, by its id.
#[derive(Debug)]
pub(crate) struct Hands<Id> {
    held: Arc<Mutex<HashSet<Id>>>,
    taking: Gate<()>,
}

/// Something in hand, until this is dropped.
#[derive(Debug)]
pub(crate) struct InHand<Id: Copy + Eq + Hash> {
    id: Id,
    held: Arc<Mutex<HashSet<Id>>>,
}

impl<Id> Default for Hands<Id> {
    fn default() -> Self {
        Self { held: Arc::default(), taking: Gate::default() }
    }
}

impl<Id: Copy + Eq + Hash> Hands<Id> {
    /// While this is held, only its holder takes anything.
    pub(crate) async fn taking(&self) -> Passed<'_, ()> {
        self.taking.lock().await
    }

    pub(crate) fn hold(&self, id: Id) -> InHand<Id> {
        lock(&self.held).insert(id);
        InHand { id, held: Arc::clone(&self.held) }
    }

    /// What is in hand now. Asked before the store is, and while nobody takes anything: then what the store has and this
    /// has not is nobody's.
    pub(crate) fn held(&self) -> HashSet<Id> {
        lock(&self.held).clone()
    }
}

impl<Id: Copy + Eq + Hash> Drop for InHand<Id> {
    fn drop(&mut self) {
        lock(&self.held).remove(&self.id);
    }
}

fn lock<Id>(held: &Mutex<HashSet<Id>>) -> MutexGuard<'_, HashSet<Id>> {
    // Nobody panics while they hold it: the set is whole.
    held.lock().unwrap_or_else(PoisonError::into_inner)
}
