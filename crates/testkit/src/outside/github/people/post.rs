//! How deliveries come: at once, held back, twice, in another order, late, or not at all.

use std::time::Duration;

use crate::outside::github::GitHub;
use crate::outside::github::delivery::{Delivery, Hooks, signature};
use crate::outside::github::state::World;

impl GitHub {
    /// From now on everything that happens is delivered there, by the hook of the repository.
    pub fn delivers_to(&self, url: &str, secret: &str) {
        self.office.world(|world| world.post.target = Some((url.to_owned(), secret.to_owned())));
    }

    /// The hook of the App delivers, and that of the repository does not.
    pub fn delivers_by_app(&self) {
        self.office.world(|world| world.post.mode.hooks = Hooks::App);
    }

    /// Both hooks deliver: the same content under two names.
    pub fn delivers_twice(&self) {
        self.office.world(|world| world.post.mode.hooks = Hooks::Both);
    }

    /// Both hooks deliver, under one name, as GitHub's documentation has it.
    pub fn delivers_twice_under_one_name(&self) {
        self.office.world(|world| world.post.mode.hooks = Hooks::BothUnderOneName);
    }

    /// Deliveries wait until they are let go.
    pub fn holds_back(&self) {
        self.office.world(|world| world.post.mode.holds_back = true);
    }

    /// What waits goes, oldest first, and nothing waits any more.
    pub async fn lets_go(&self) {
        self.let_go(|_| {}).await;
    }

    /// The same, newest first.
    pub async fn lets_go_backwards(&self) {
        self.let_go(|waiting| waiting.reverse()).await;
    }

    /// The same in an order that a number decides.
    pub async fn lets_go_shuffled(&self, seed: u64) {
        self.let_go(|waiting| shuffle(waiting, seed)).await;
    }

    async fn let_go(&self, order: impl FnOnce(&mut Vec<usize>)) {
        self.office.world(|world| {
            world.post.mode.holds_back = false;
            let mut waiting = std::mem::take(&mut world.post.waiting);
            order(&mut waiting);
            for index in waiting {
                world.post.send(index);
            }
        });
        self.office.settled().await;
    }

    /// The next so many deliveries are lost.
    pub fn drops_deliveries(&self, count: usize) {
        self.office.world(|world| world.post.mode.drops = count);
    }

    /// Each delivery takes this long.
    pub fn delays_deliveries(&self, by: Duration) {
        self.office.world(|world| world.post.mode.delay = by);
    }

    /// Everything that was delivered, or would have been, oldest first.
    pub fn deliveries(&self) -> Vec<Delivery> {
        self.office.world(|world| world.post.deliveries.clone())
    }

    /// The last one of an event, such as `issue_comment`, and an action.
    ///
    /// # Panics
    /// When there is none.
    pub fn last_delivery(&self, event: &str, action: &str) -> Delivery {
        let found =
            self.deliveries().into_iter().rfind(|delivery| delivery.event == event && delivery.action == action);
        found.unwrap_or_else(|| panic!("nothing of {event} {action} was delivered"))
    }

    /// Sends one again, under its old name, and waits until it is there.
    pub async fn redelivers(&self, delivery: &Delivery) {
        self.office.world(|world| {
            let found = world.post.deliveries.iter().position(|other| other.id == delivery.id);
            world.redelivers(found.expect("a delivery of this GitHub"));
        });
        self.settled().await;
    }

    /// Waits until everything that is on its way has arrived, also what our own calls caused.
    pub async fn settled(&self) {
        self.office.settled().await;
    }

    /// Something else happens in a repository, of whatever kind: for events that nobody here has deeds for.
    pub async fn tells(&self, repository: &str, by: &str, event: &str, payload: serde_json::Value) {
        self.office.world(|world: &mut World| {
            let (by, id) = (world.user(by), world.makes_repository(repository, None, None));
            world.happened(event, id, by, payload);
        });
        self.settled().await;
    }

    /// What a delivery of this body is signed with.
    pub fn signature(secret: &str, body: &[u8]) -> String {
        signature(secret, body)
    }
}

/// Fisher and Yates, with a small generator of our own: the same number gives the same order.
fn shuffle(waiting: &mut [usize], seed: u64) {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    for last in (1..waiting.len()).rev() {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let other = usize::try_from(state % (last as u64 + 1)).unwrap_or_default();
        waiting.swap(last, other);
    }
}
