//! Leases: the sole right to change an environment, granted here and nowhere else.

use std::time::Duration;

use hedgerow_core::{ConversationId, Environment, Kind, Lease, UserError};

use tokio::time::sleep;

use crate::engine::Engine;
use crate::failure::Outcome;
use crate::journal::Busy;

/// Longest a change of an environment takes before its lease must be renewed.
const TTL_SECONDS: i64 = 120;

/// How long, and how often, we wait for somebody who is done in a moment.
const GLANCE: Duration = Duration::from_millis(20);
const GLANCES: usize = 10;

/// A lease with everything that ends with it.
#[derive(Debug)]
pub(crate) struct Held {
    pub(crate) lease: Lease,
    _busy: Busy,
}

impl Engine {
    /// Takes the lease of an environment, or says who has it.
    pub(crate) async fn lease(&self, environment: &Environment) -> Outcome<Held> {
        self.lease_for(environment, TTL_SECONDS).await
    }

    /// The same for a run, which keeps it by renewing.
    pub(crate) async fn lease_for_run(&self, environment: &Environment) -> Outcome<Held> {
        self.lease_for(environment, self.run_ttl()).await
    }

    fn run_ttl(&self) -> i64 {
        i64::try_from(self.settings.runs.lease.as_secs()).unwrap_or(TTL_SECONDS)
    }

    /// Keeps a run's lease for longer. `false` when it has passed to somebody else.
    pub(crate) async fn renew(&self, lease: &Lease) -> Outcome<bool> {
        let Some(environment) = lease.environment() else { return Ok(true) };
        Ok(self.store.renew_lease(environment, lease.epoch(), self.store_now().await?, self.run_ttl()).await?)
    }

    /// Does something that may take longer than a lease, which is renewed meanwhile. It is given up when that fails: then
    /// somebody else may be in the environment.
    pub(crate) async fn keep_while<T>(&self, lease: &Lease, done: impl Future<Output = Outcome<T>>) -> Outcome<T> {
        let keeping = async {
            loop {
                if !self.renew(lease).await? {
                    let lost = UserError::new(Kind::Busy, "the environment passed to somebody else meanwhile");
                    return Err(lost.hint("try again").into());
                }
                sleep(Duration::from_secs(self.run_ttl().max(3).unsigned_abs() / 3)).await;
            }
        };
        tokio::select! {
            biased;
            lost = keeping => lost,
            done = done => done,
        }
    }

    async fn lease_for(&self, environment: &Environment, seconds: i64) -> Outcome<Held> {
        let busy = |who: &str| {
            UserError::new(Kind::Busy, format!("`{}` is in use right now{who}", environment.name()))
                .hint("try again when that is done")
        };
        let mut lock = self.try_busy(environment.id)?;
        for _ in 0..GLANCES {
            if lock.is_none() {
                // It may only be someone who looks whether anything is left to settle.
                sleep(GLANCE).await;
                lock = self.try_busy(environment.id)?;
            }
        }
        let Some(lock) = lock else { return Err(busy("").into()) };
        match self.take_lease(environment, seconds).await? {
            Some(lease) => Ok(Held { lease, _busy: lock }),
            None => {
                let holder =
                    self.store.lease_holder(environment.id, self.store_now().await?).await?.unwrap_or_default();
                Err(busy(&format!(" by {holder}")).into())
            }
        }
    }

    /// For a caller that already knows it is alone on this machine. A lease that a dead process of this machine
    /// left behind is no obstacle: whatever it began is settled now and not when the lease runs out.
    pub(crate) async fn lease_to_settle(&self, environment: &Environment) -> Outcome<Option<Lease>> {
        self.take_lease(environment, TTL_SECONDS).await
    }

    async fn take_lease(&self, environment: &Environment, seconds: i64) -> Outcome<Option<Lease>> {
        let owner = format!("{}:{}", self.settings.node, std::process::id());
        let now = self.store_now().await?;
        let take = || self.store.take_lease(environment.id, &owner, now, seconds);
        let mut epoch = take().await?;
        if epoch.is_none()
            && let Some(holder) = self.store.lease_holder(environment.id, now).await?
            && self.is_gone(&holder)
        {
            self.store.end_lease_of(environment.id, &holder).await?;
            epoch = take().await?;
        }
        Ok(epoch.map(|epoch| Lease::granted(environment.id, owner.clone(), epoch)))
    }

    /// The lease of a conversation's scratch folder, for whoever has taken the conversation's message: messages of one
    /// conversation are taken one at a time.
    pub fn scratch_lease(&self, conversation: ConversationId) -> Lease {
        Lease::granted_scratch(conversation, format!("{}:{}", self.settings.node, std::process::id()))
    }

    /// Who is at work in an environment now. Whoever died at it on this machine is not.
    pub(crate) async fn at_work_in(&self, environment: &Environment) -> Outcome<Option<String>> {
        let holder = self.store.lease_holder(environment.id, self.store_now().await?).await?;
        let own = format!("{}:{}", self.settings.node, std::process::id());
        Ok(holder.filter(|holder| *holder == own || !self.is_gone(holder)))
    }

    /// Whether the holder of a lease was a process of this machine that is no more, or an earlier act of this very one.
    pub(crate) fn is_gone(&self, holder: &str) -> bool {
        let Some((node, pid)) = holder.rsplit_once(':') else { return false };
        let pid = pid.parse::<i32>().ok().and_then(rustix::process::Pid::from_raw);
        let Some(pid) = pid.filter(|_| node == self.settings.node) else { return false };
        pid == rustix::process::getpid()
            || rustix::process::test_kill_process(pid).is_err_and(|error| error == rustix::io::Errno::SRCH)
    }

    /// Gives it back. A lease that is not given back runs out by itself.
    pub(crate) async fn release(&self, held: Held) -> Outcome<()> {
        let Some(environment) = held.lease.environment() else { return Ok(()) };
        Ok(self.store.release_lease(environment, held.lease.epoch()).await?)
    }
}
