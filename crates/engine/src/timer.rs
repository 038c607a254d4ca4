//! When a round is due, who does it, and the loop that waits for the next.
//!
//! One row of the store is the timer of a machine; every process of the machine shares it. Each machine has its own,
//! because nobody else can see its disk. Whoever finds a round due claims the row; a claim whose holder died is taken
//! over. How much time counts as passed is what rounds have seen: a clock that jumps ends nothing before its time.

use std::future::Future;
use std::pin::pin;
use std::time::Duration;

use hedgerow_core::environment::Actor;
use hedgerow_core::{Kind, Timestamp, UserError};
use sha2::{Digest as _, Sha256};
use tokio::time::sleep;

use crate::engine::{Engine, Round};
use crate::failure::{Failure, Outcome};
use crate::journal::Busy;
use crate::steps;
use crate::store::Chore;

/// Held on this machine while a round is under way: it ends with its process at once, where a claim has to run out.
const LOCK: &str = "cleanup";

/// A holder that does not renew its claim for so long has died.
const TTL_SECONDS: i64 = 120;
const RENEW_EVERY: Duration = Duration::from_secs(40);

/// A moment further ahead than this was written by a clock that has since gone back.
const PLAUSIBLE_SECONDS: i64 = 60;

/// Most time that can pass between two rounds, as far as what is kept for some days is concerned.
const MOST_WATCHED_MS: i64 = 24 * 60 * 60 * 1000;

/// Longest and shortest sleep between two looks at the clock. Neither may be trusted to the other: a machine that slept,
/// or whose clock was set, is noticed at the next look.
const LONGEST_SLEEP: Duration = Duration::from_mins(5);
const SHORTEST_SLEEP: Duration = Duration::from_secs(1);

/// The right to do a round, with everything that ends with it.
#[derive(Debug)]
struct Claim {
    holder: String,
    began_at: Timestamp,
    watched_ms: i64,
    _lock: Busy,
}

impl Engine {
    /// Does a round now, due or not. `Busy` while another is under way; a dry run disturbs nobody.
    pub async fn tick(&self, dry_run: bool, by: &Actor) -> Outcome<Round> {
        if dry_run {
            return self.round(true, 0, by).await;
        }
        match self.claim_chore(false).await? {
            Some(claim) => self.carry_out(claim, by).await,
            None => Err(UserError::new(Kind::Busy, "a round of cleanup is under way already")
                .hint("try again when that is done")
                .into()),
        }
    }

    /// Does a round if one is due and nobody else is at it.
    pub async fn run_if_due(&self) -> Outcome<Option<Round>> {
        if self.settings.cleanup_every_hours == 0 {
            return Ok(None);
        }
        match self.claim_chore(true).await? {
            Some(claim) => self.carry_out(claim, &Actor::automation()).await.map(Some),
            None => Ok(None),
        }
    }

    /// When the next round is due; a moment that is not in the future means now. `None` when rounds are switched off.
    pub async fn next_round_at(&self) -> Outcome<Option<Timestamp>> {
        if self.settings.cleanup_every_hours == 0 {
            return Ok(None);
        }
        let seen = self.store.chore(&self.chore()).await?;
        let now = self.clock.now();
        let nobody_is_at_it = || Ok::<_, Failure>(self.try_lock(LOCK)?.is_some());
        let was_abandoned = self.was_abandoned(&seen, now) && nobody_is_at_it()?;
        Ok(Some(if was_abandoned { now } else { self.due_at(&seen, now) }))
    }

    fn chore(&self) -> String {
        format!("cleanup:{}", self.settings.node)
    }

    /// The interval after the last round began, give or take a tenth: machines that started together drift apart.
    fn due_at(&self, seen: &Chore, now: Timestamp) -> Timestamp {
        match seen.began_at {
            Some(began_at) if began_at <= now.plus_seconds(PLAUSIBLE_SECONDS) => {
                let hours = i64::from(self.settings.cleanup_every_hours);
                Timestamp::from_millis(began_at.as_millis().saturating_add(interval_ms(
                    &self.settings.node,
                    began_at,
                    hours,
                )))
            }
            _ => now,
        }
    }

    /// Whether somebody began a round and will not end it, provided that nobody on this machine has the lock.
    fn was_abandoned(&self, seen: &Chore, now: Timestamp) -> bool {
        let Some(holder) = &seen.holder else { return false };
        let plausible = now.plus_seconds(TTL_SECONDS + PLAUSIBLE_SECONDS);
        let is_over = seen.held_until.is_none_or(|until| until <= now || until > plausible);
        is_over || self.is_gone(holder)
    }

    /// Claims a round. `None` when somebody is at one, or, if it must be due, when it is not.
    async fn claim_chore(&self, must_be_due: bool) -> Outcome<Option<Claim>> {
        let name = self.chore();
        let Some(lock) = self.try_lock(LOCK)? else { return Ok(None) };
        let seen = self.store.chore(&name).await?;
        // Read after the row: whatever a neighbour of ours wrote there is not in the future.
        let now = self.clock.now();
        let was_abandoned = self.was_abandoned(&seen, now);
        let is_held = seen.holder.is_some() && !was_abandoned;
        let is_due = was_abandoned || self.due_at(&seen, now) <= now;
        if is_held || (must_be_due && !is_due) {
            return Ok(None);
        }
        let holder = format!("{}:{}", self.settings.node, std::process::id());
        if !self.store.take_chore(&name, &seen, &holder, now, now.plus_seconds(TTL_SECONDS)).await? {
            return Ok(None);
        }
        steps::reached("round claimed");
        let watched_ms = watched_ms(seen.began_at, now);
        Ok(Some(Claim { holder, began_at: now, watched_ms, _lock: lock }))
    }

    /// Does the round that was claimed. One whose claim is lost stops where it stands; the journal knows what is half
    /// done.
    async fn carry_out(&self, claim: Claim, by: &Actor) -> Outcome<Round> {
        let round = tokio::select! {
            biased;
            lost = self.keep_claim(&claim) => Err(lost.into()),
            round = self.round(false, claim.watched_ms, by) => round,
        };
        let now = self.clock.now();
        if let Err(error) = self.store.end_chore(&self.chore(), &claim.holder, claim.began_at, now).await {
            tracing::warn!(%error, "the end of a round could not be written down; its claim runs out by itself");
        }
        round
    }

    /// Renews the claim for as long as it is ours.
    async fn keep_claim(&self, claim: &Claim) -> UserError {
        loop {
            sleep(RENEW_EVERY).await;
            let until = self.clock.now().plus_seconds(TTL_SECONDS);
            match self.store.renew_chore(&self.chore(), &claim.holder, claim.began_at, until).await {
                Ok(true) => {}
                Ok(false) => return UserError::new(Kind::Busy, "another process has taken the round over"),
                Err(error) => tracing::warn!(%error, "the claim of a round could not be renewed"),
            }
        }
    }

    /// How long to sleep before looking again.
    async fn pause(&self) -> Duration {
        let wait = match self.next_round_at().await {
            Ok(Some(at)) => at.as_millis().saturating_sub(self.clock.now().as_millis()),
            Ok(None) => i64::MAX,
            Err(error) => {
                tracing::error!(%error, "the next round of cleanup could not be looked up");
                i64::MAX
            }
        };
        Duration::from_millis(u64::try_from(wait).unwrap_or(0)).clamp(SHORTEST_SLEEP, LONGEST_SLEEP)
    }
}

/// Does every round that is due and tells of it, until `shutdown`. No error ends it.
///
/// A round that is interrupted by the shutdown is done again by whoever looks next.
pub async fn run(engine: &Engine, shutdown: impl Future<Output = ()>, mut told: impl FnMut(Round)) {
    let rounds = async {
        loop {
            match engine.run_if_due().await {
                Ok(Some(round)) => told(round),
                Ok(None) => {}
                Err(error) => tracing::error!(%error, "a round of cleanup failed"),
            }
            sleep(engine.pause().await).await;
        }
    };
    let mut rounds = pin!(rounds);
    tokio::select! {
        biased;
        () = shutdown => {}
        () = &mut rounds => {}
    }
}

/// How much of the time since the last round counts as passed.
fn watched_ms(last: Option<Timestamp>, now: Timestamp) -> i64 {
    let passed = last.map_or(0, |last| now.as_millis().saturating_sub(last.as_millis()));
    passed.clamp(0, MOST_WATCHED_MS)
}

/// Milliseconds from the beginning of a round to the next: the same for whoever asks, different for each machine and round.
fn interval_ms(node: &str, began_at: Timestamp, hours: i64) -> i64 {
    let interval = hours.saturating_mul(60 * 60 * 1000);
    let tenth = interval / 10;
    let digest = Sha256::digest(format!("{node} {}", began_at.as_millis()));
    let bytes = digest.iter().take(6).fold(0_i64, |number, byte| (number << 8) | i64::from(*byte));
    interval - tenth + bytes % (2 * tenth + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_are_a_tenth_early_or_late_at_most_and_the_same_for_whoever_asks() {
        let hour = 60 * 60 * 1000;
        let all: Vec<i64> = (0..2000).map(|n| interval_ms("here", Timestamp::from_millis(n * 7919), 6)).collect();
        assert!(all.iter().all(|ms| (6 * hour * 9 / 10..=6 * hour * 11 / 10).contains(ms)));
        assert!(all.iter().any(|ms| *ms < 6 * hour * 92 / 100) && all.iter().any(|ms| *ms > 6 * hour * 108 / 100));
        let at = Timestamp::from_millis(1_777_802_400_000);
        assert_eq!(interval_ms("here", at, 6), interval_ms("here", at, 6));
        assert_ne!(interval_ms("here", at, 6), interval_ms("there", at, 6));
    }

    #[test]
    fn a_clock_that_jumps_lets_a_day_pass_at_most_and_never_goes_back() {
        let at = Timestamp::from_millis(1_777_802_400_000);
        for (last, seconds) in [
            (None, 0),
            (Some(at), 0),
            (Some(at.plus_seconds(-6 * 3600)), 6 * 3600),
            (Some(at.plus_seconds(-365 * 86_400)), 86_400),
            (Some(at.plus_seconds(365 * 86_400)), 0),
            (Some(Timestamp::from_millis(i64::MIN)), 86_400),
        ] {
            assert_eq!(watched_ms(last, at), seconds * 1000, "{last:?}");
        }
    }
}
