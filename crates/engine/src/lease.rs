//! Leases: the sole right to change an environment, granted here and nowhere else.

use std::time::Duration;

use hedgerow_core::{Environment, Kind, Lease, UserError};

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
        match self.lease_to_settle(environment).await? {
            Some(lease) => Ok(Held { lease, _busy: lock }),
            None => {
                let holder = self.store.lease_holder(environment.id, self.clock.now()).await?.unwrap_or_default();
                Err(busy(&format!(" by {holder}")).into())
            }
        }
    }

    /// For a caller that already knows it is alone on this machine. A lease that a dead process of this machine
    /// left behind is no obstacle: whatever it began is settled now and not when the lease runs out.
    pub(crate) async fn lease_to_settle(&self, environment: &Environment) -> Outcome<Option<Lease>> {
        let owner = format!("{}:{}", self.settings.node, std::process::id());
        let take = || self.store.take_lease(environment.id, &owner, self.clock.now(), TTL_SECONDS);
        let mut epoch = take().await?;
        if epoch.is_none()
            && let Some(holder) = self.store.lease_holder(environment.id, self.clock.now()).await?
            && self.is_gone(&holder)
        {
            self.store.end_lease_of(environment.id, &holder).await?;
            epoch = take().await?;
        }
        Ok(epoch.map(|epoch| Lease::granted(environment.id, owner.clone(), epoch)))
    }

    /// Who is at work in an environment now. Whoever died at it on this machine is not.
    pub(crate) async fn at_work_in(&self, environment: &Environment) -> Outcome<Option<String>> {
        let holder = self.store.lease_holder(environment.id, self.clock.now()).await?;
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
        Ok(self.store.release_lease(held.lease.environment(), held.lease.epoch()).await?)
    }
}
