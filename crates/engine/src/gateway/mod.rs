//! The model gateway: the passes of the runs that are on, what may be spent, and what was.
//!
//! An agent gets a URL and a token that are good for its run. The true keys stay here, and are added to its calls on
//! their way to the models by `hedgerow-web`, which asks this room who may pass and tells it what a call used. A pass is
//! in memory only: when its run ends, or the server does, there is nothing left that could be used.

mod budget;
pub mod money;
mod prices;
mod settings;
mod spending;

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use hedgerow_core::assistant::{AssistantError, Maker, Models};
use hedgerow_core::environment::Actor;
use hedgerow_core::{CodebaseId, RunId};
use tokio::sync::{OwnedRwLockReadGuard, OwnedSemaphorePermit, RwLock, Semaphore, watch};

use crate::clock::Clock;
use crate::store::{Spent, Store};
use crate::token::{self, Token};
pub use budget::Budgets;
use prices::Prices;
pub use prices::{Counted, Price};
pub use settings::{ApiKey, GatewaySettings, Upstream};
pub use spending::{Spending, SpendingLine};

/// Most calls of one run at the same time. What each of them costs is known at its end only, so this is also what a run
/// can overdraw its budget by.
const CALLS_AT_ONCE: usize = 16;
/// Longest that the end of the process waits for what calls used to be written down.
const LONGEST_END: Duration = Duration::from_secs(2);

/// Who may reach the models, and what they spend there.
pub struct Gateway {
    upstreams: Vec<Upstream>,
    budgets: Budgets,
    prices: Prices,
    store: Store,
    clock: Arc<dyn Clock>,
    /// Where agents find us, once somebody listens.
    url: OnceLock<String>,
    passes: Mutex<HashMap<RunId, Entry>>,
    /// Models whose price nobody knows, each said once.
    unpriced: Mutex<HashSet<String>>,
    /// Held for reading by every call until what it used is written down.
    under_way: Arc<RwLock<()>>,
}

/// What is known of a run that is on.
#[derive(Clone)]
struct Entry {
    token: Token,
    holder: Arc<Holder>,
    /// Its other end is the pass: gone with it.
    open: watch::Receiver<()>,
}

/// Whose pass it is.
struct Holder {
    run: RunId,
    codebase: Option<CodebaseId>,
    person: Actor,
    seats: Arc<Semaphore>,
    /// Why a call was refused for want of money, once one was.
    refused: OnceLock<String>,
}

/// The way of one run to the models. Dropped, it is shut: nobody comes in, and calls under way are cut.
pub struct Pass {
    gateway: Arc<Gateway>,
    holder: Arc<Holder>,
    models: Models,
    _open: watch::Sender<()>,
}

/// A call that came with the token of a run that is on.
pub struct Call {
    gateway: Arc<Gateway>,
    holder: Arc<Holder>,
    open: watch::Receiver<()>,
    _seat: OwnedSemaphorePermit,
    _under_way: OwnedRwLockReadGuard<()>,
}

/// Why a call does not come in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Barred {
    /// There is no such run, or it is not its token. Which of the two is nobody's business.
    Stranger,
    /// The run has too many calls under way already.
    Crowded,
}

impl fmt::Debug for Gateway {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gateway").field("upstreams", &self.upstreams).finish_non_exhaustive()
    }
}

impl fmt::Debug for Pass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pass").field("run", &self.holder.run).finish_non_exhaustive()
    }
}

impl fmt::Debug for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call").field("run", &self.holder.run).finish_non_exhaustive()
    }
}

impl Gateway {
    pub(crate) fn new(settings: &GatewaySettings, store: Store, clock: Arc<dyn Clock>) -> Arc<Self> {
        Arc::new(Self {
            upstreams: settings.upstreams.clone(),
            budgets: settings.budgets,
            prices: Prices::new(settings.prices.clone()),
            store,
            clock,
            url: OnceLock::new(),
            passes: Mutex::default(),
            unpriced: Mutex::default(),
            under_way: Arc::default(),
        })
    }

    /// Says where agents of this machine find us. Before this no pass is given.
    pub fn listens_at(&self, address: SocketAddr) {
        let ip = match address.ip() {
            IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
            IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
            ip => ip,
        };
        // Whoever listens first is as good as whoever comes later.
        _ = self.url.set(format!("http://{}", SocketAddr::new(ip, address.port())));
    }

    pub fn upstreams(&self) -> &[Upstream] {
        &self.upstreams
    }

    pub fn upstream(&self, maker: Maker) -> Option<&Upstream> {
        self.upstreams.iter().find(|upstream| upstream.maker == maker)
    }

    /// Lets a run in until the pass is dropped. `None` when nobody listens.
    pub fn open(self: &Arc<Self>, run: RunId, codebase: Option<CodebaseId>, person: &Actor) -> Option<Pass> {
        let url = self.url.get()?;
        let secret = match token::new_secret() {
            Ok(secret) => secret,
            Err(error) => {
                tracing::error!(%run, %error, "a run gets no way to the models: the system gives no random numbers");
                return None;
            }
        };
        let (sender, open) = watch::channel(());
        let seats = Arc::new(Semaphore::new(CALLS_AT_ONCE));
        let holder = Arc::new(Holder { run, codebase, person: person.clone(), seats, refused: OnceLock::new() });
        let entry = Entry { token: Token::new(&secret), holder: Arc::clone(&holder), open };
        self.passes().insert(run, entry);
        let makers = self.upstreams.iter().map(|upstream| upstream.maker).collect();
        let models = Models { url: format!("{url}/llm/{run}"), token: secret, makers };
        Some(Pass { gateway: Arc::clone(self), holder, models, _open: sender })
    }

    /// A call for this run with these words in the headers where keys are shown.
    pub fn enter<'a>(self: &Arc<Self>, run: &str, shown: impl IntoIterator<Item = &'a [u8]>) -> Result<Call, Barred> {
        let known = run.parse::<RunId>().ok().and_then(|run| self.passes().get(&run).cloned());
        let entry =
            known.filter(|entry| shown.into_iter().any(|shown| entry.token.is(shown))).ok_or(Barred::Stranger)?;
        let Entry { holder, open, .. } = entry;
        let seat = Arc::clone(&holder.seats).try_acquire_owned().map_err(|_| Barred::Crowded)?;
        let under_way = Arc::clone(&self.under_way).try_read_owned().map_err(|_| Barred::Stranger)?;
        Ok(Call { gateway: Arc::clone(self), holder, open, _seat: seat, _under_way: under_way })
    }

    /// Returns when what calls used is written down, or it takes too long.
    pub(crate) async fn settled(&self) {
        self.passes().clear();
        if tokio::time::timeout(LONGEST_END, self.under_way.write()).await.is_err() {
            tracing::warn!("calls of models are cut off; what they used is not written down");
        }
    }

    fn passes(&self) -> std::sync::MutexGuard<'_, HashMap<RunId, Entry>> {
        self.passes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn cost(&self, model: &str, counted: &Counted) -> u64 {
        if let Some(price) = self.prices.of(model) {
            return price.cost(counted).micros;
        }
        if self.unpriced.lock().unwrap_or_else(PoisonError::into_inner).insert(model.to_owned()) {
            tracing::warn!(model, "nobody knows what this model costs; `llm.prices` can say it");
        }
        // A budget that does not know a price must not let everything through.
        if self.budgets.is_any() { self.prices.dearest(counted).micros } else { 0 }
    }
}

impl Pass {
    /// For the agent.
    pub fn models(&self) -> Models {
        self.models.clone()
    }

    /// What really ended a turn that failed: whatever an assistant makes of a call that is refused, its people are told
    /// that the money is spent.
    pub(crate) fn explain(&self, error: &mut AssistantError) {
        if let Some(why) = self.holder.refused.get() {
            *error = AssistantError::OutOfBounds(why.clone());
        }
    }
}

impl Drop for Pass {
    fn drop(&mut self) {
        let mut passes = self.gateway.passes();
        // The same run may have got another one meanwhile.
        if passes.get(&self.holder.run).is_some_and(|entry| Arc::ptr_eq(&entry.holder, &self.holder)) {
            passes.remove(&self.holder.run);
        }
    }
}

impl Call {
    pub fn run(&self) -> RunId {
        self.holder.run
    }

    /// Returns when the run has ended.
    pub async fn shut(&self) {
        let mut open = self.open.clone();
        while open.changed().await.is_ok() {}
    }

    /// Writes down what it used.
    pub async fn used(&self, model: &str, counted: &Counted) {
        let spent = Spent {
            calls: 1,
            input_tokens: counted.input_tokens,
            cached_tokens: counted.cached_tokens,
            output_tokens: counted.output_tokens,
            cost_micros: self.gateway.cost(model, counted),
        };
        let gateway = &self.gateway;
        if let Err(error) = gateway.store.spend(self.holder.run, model, &spent, gateway.clock.now()).await {
            tracing::error!(run = %self.holder.run, model, ?spent, %error, "what a call used could not be written down");
        }
    }
}
