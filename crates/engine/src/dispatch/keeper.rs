//! What must happen whatever else does: claims are renewed, runs that somebody wants to end are ended, replies are sent,
//! and what the dead left is settled.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hedgerow_core::{EventId, RunId, Timestamp};
use tokio::time::{sleep, timeout};

use super::{Desk, Stop, later};
use crate::answer;
use crate::engine::Engine;
use crate::explain::Trouble;
use crate::failure::Outcome;
use crate::isolation::make_private;
use crate::journal::{Busy, try_lock};
use crate::outbox::Outbox;
use crate::store::Delivered;

/// How often to look whether somebody on another machine wants a run of ours to end.
const STOPS: Duration = Duration::from_secs(1);
/// How often to look for what the dead left, if they are not found dead sooner.
const DEAD: Duration = Duration::from_secs(5);
/// How often to forget what is older than it need be kept.
const FORGETTING: Duration = Duration::from_hours(1);
/// Longest sleep of the sender: another process may have written something for us to say.
const LONGEST_SLEEP: Duration = Duration::from_secs(1);

/// How the names of those locks begin.
const LOCK: &str = "dispatch-";

/// The lock that a dispatcher holds while it lives; `None` when it does. In the home, wherever the environments are: it
/// must not seem free while their disk is away.
pub(super) fn live(engine: &Engine, instance: &str) -> Outcome<Option<Busy>> {
    let folder = engine.settings().home.join("locks");
    make_private(&folder).map_err(Trouble::folder(&folder))?;
    Ok(try_lock(&folder.join(format!("{LOCK}{instance}"))).map_err(Trouble::folder(&folder))?)
}

/// A name for a new dispatcher, and its lock. A neighbour that tidies up may touch the lock in the moment it is made; then
/// another name is as good.
pub(super) fn name(engine: &Engine) -> Outcome<(String, Busy)> {
    for _ in 0..8 {
        let instance = EventId::new().to_string();
        if let Some(lock) = live(engine, &instance)? {
            return Ok((instance, lock));
        }
    }
    Err(anyhow::anyhow!("no lock can be had below {}", engine.settings().home.display()).into())
}

/// Takes away the locks that dispatchers left when they were killed. A lock whose holder lives stays.
pub(super) fn tidy_locks(engine: &Engine) {
    let Ok(locks) = std::fs::read_dir(engine.settings().home.join("locks")) else { return };
    for lock in locks.flatten() {
        if let Some(instance) = lock.file_name().to_str().and_then(|name| name.strip_prefix(LOCK)) {
            // It goes when it is let go of.
            drop(live(engine, instance));
        }
    }
}

/// Sees to what is due, until it is dropped.
pub(super) struct Keeper {
    desk: Arc<Desk>,
    outbox: Arc<Outbox>,
    /// Holders that were found dead. Their locks are gone with the finding.
    dead: HashSet<String>,
}

impl Keeper {
    pub(super) fn new(desk: Arc<Desk>, outbox: Arc<Outbox>) -> Self {
        Self { desk, outbox, dead: HashSet::new() }
    }

    pub(super) async fn run(mut self) {
        let look_for_the_dead = DEAD.min(self.desk.engine.settings().runs.lease);
        // The first look comes a while after the start, which is busy enough.
        let mut forgot = Instant::now();
        loop {
            sleep(look_for_the_dead).await;
            told("what the dead left", self.settle_the_dead().await);
            told("messages that nobody is at", self.settle_the_dropped().await);
            told("replies that nobody sends", self.outbox.settle_the_dropped().await);
            if forgot.elapsed() >= FORGETTING {
                told("what is old", self.forget().await);
                forgot = Instant::now();
            }
        }
    }

    async fn forget(&self) -> Outcome<()> {
        let days = u64::from(self.desk.engine.settings().runs.keep_days);
        let now = self.desk.engine.now();
        let before =
            Timestamp::from_millis(2 * now.as_millis() - later(now, Duration::from_hours(24 * days)).as_millis());
        while self.desk.engine.store().forget_talk(before).await? {
            sleep(Duration::from_millis(50)).await;
        }
        Ok(())
    }

    /// Carries on where a dispatcher that is gone left off: what it had not begun is put back, what it had begun is
    /// reported and never begun again, and what it was saying is said.
    pub(super) async fn settle_the_dead(&mut self) -> Outcome<()> {
        let engine = self.desk.engine.clone();
        let now = engine.store_now().await?;
        for served in self.desk.served() {
            for message in engine.store().taken_by_others(&served, &self.desk.holder).await? {
                if !is_dead(&engine, &mut self.dead, &message.holder, message.held_until, now)? {
                    continue;
                }
                let claim = self.desk.claim().await?;
                if engine.store().take_over_message(&message, &claim).await? {
                    self.settle_message(message).await;
                }
            }
            for reply in engine.store().sending_by_others(&served, &self.desk.holder).await? {
                is_dead(&engine, &mut self.dead, &reply.holder, reply.held_until, now)?;
            }
        }
        let dead = self.dead.clone();
        self.outbox.take_over(&move |holder, until| until <= now || dead.contains(holder)).await?;
        self.desk.wake_messages.notify_one();
        self.desk.wake_replies.notify_one();
        Ok(())
    }

    /// Carries on with what this dispatcher has taken and nobody of it is at, as if its holder were gone: otherwise its
    /// conversation would wait for as long as this process lives.
    async fn settle_the_dropped(&self) -> Outcome<()> {
        let store = self.desk.engine.store();
        let taken = {
            let _taking = self.desk.hands.taking().await;
            let held = self.desk.hands.held();
            let mut taken = store.taken_by(&self.desk.holder).await?;
            taken.retain(|id| !held.contains(id));
            taken
        };
        for id in taken {
            match store.message(id).await {
                Ok(Some(message)) => self.settle_message(message).await,
                Ok(None) => {}
                Err(error) => tracing::error!(message = %id, %error, "a message cannot be read"),
            }
        }
        Ok(())
    }

    /// One that cannot be settled does not keep the others from it. It is ours, and comes up again.
    async fn settle_message(&self, message: Delivered) {
        let id = message.id;
        if let Err(error) = answer::after_a_death(&self.desk, message).await {
            tracing::error!(message = %id, %error, "what became of a message could not be written down");
        }
        self.desk.wake_messages.notify_one();
        self.desk.wake_replies.notify_one();
    }
}

/// Renews what this dispatcher has taken, and ends the runs that somebody wants to end, until it is dropped. Apart from
/// everything that may take its time: a claim that is not renewed is taken for a dead one's.
pub(super) async fn keep_claims(desk: Arc<Desk>) {
    let renew_every = desk.engine.settings().runs.lease / 4;
    let mut renewed = Instant::now();
    loop {
        let _ = timeout(STOPS.min(renew_every), desk.engine.stop_asked.notified()).await;
        told("runs that somebody wants to end", stop_runs(&desk).await);
        if renewed.elapsed() >= renew_every {
            match renew(&desk).await {
                Ok(()) => renewed = Instant::now(),
                // Again at the next turn: there is not much time.
                Err(error) => told("claims", Err(error)),
            }
        }
    }
}

async fn stop_runs(desk: &Desk) -> Outcome<()> {
    for run in desk.engine.store().runs_to_stop(&desk.holder).await? {
        desk.stops.one(run, Stop::Asked);
    }
    Ok(())
}

async fn renew(desk: &Desk) -> Outcome<()> {
    let claim = desk.claim().await?;
    Ok(desk.engine.store().renew_claims(claim.holder, claim.until).await?)
}

/// Whether whoever has taken something is gone: its time is over, or it was of this machine and its lock is free.
fn is_dead(
    engine: &Engine,
    dead: &mut HashSet<String>,
    holder: &str,
    until: Timestamp,
    now: Timestamp,
) -> Outcome<bool> {
    if until <= now || dead.contains(holder) {
        return Ok(true);
    }
    let Some((node, instance)) = holder.rsplit_once(':') else { return Ok(false) };
    if node != engine.settings().node || live(engine, instance)?.is_none() {
        return Ok(false);
    }
    dead.insert(holder.to_owned());
    Ok(true)
}

/// Ends whatever is still at work for a run, on a thread that may wait.
pub(crate) async fn end_processes(run: RunId) {
    let ended = tokio::task::spawn_blocking(move || crate::assistant::processes::end_run(&run.to_string())).await;
    if !ended.unwrap_or(false) {
        tracing::error!(%run, "something of a run that was interrupted is still at work");
    }
}

/// Sends what is due, until it is dropped.
pub(super) async fn send(desk: Arc<Desk>, outbox: Arc<Outbox>) {
    loop {
        let round = tokio::select! {
            round = outbox.round() => round,
            // What is written while a round is under way goes with it.
            never = pass_on(&desk, &outbox) => match never {},
        };
        match round {
            Ok(0) => {
                let pause = pause(&desk, &outbox).await;
                let _ = timeout(pause, desk.wake_replies.notified()).await;
            }
            Ok(_) => {}
            Err(error) => {
                tracing::error!(%error, "replies could not be sent");
                sleep(LONGEST_SLEEP).await;
            }
        }
    }
}

async fn pass_on(desk: &Desk, outbox: &Outbox) -> std::convert::Infallible {
    loop {
        desk.wake_replies.notified().await;
        outbox.poke();
    }
}

async fn pause(desk: &Desk, outbox: &Outbox) -> Duration {
    let due = outbox.next_due().await.ok().flatten();
    let now = desk.engine.store_now().await.ok();
    let wait = due.zip(now).map(|(due, now)| due.as_millis().saturating_sub(now.as_millis()));
    let wait = wait.map(|millis| Duration::from_millis(u64::try_from(millis).unwrap_or(0)));
    wait.unwrap_or(LONGEST_SLEEP).clamp(Duration::from_millis(5), LONGEST_SLEEP)
}

fn told(what: &str, outcome: Outcome<()>) {
    if let Err(error) = outcome {
        tracing::error!(%error, "{what} could not be seen to");
    }
}
