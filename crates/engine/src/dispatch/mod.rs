//! From the door to the last word: deliveries are written down, taken in order, answered, and what we say is sent.
//!
//! Everything that must survive a crash is in the store. What is here can be lost at any moment: who has taken what is
//! a claim with a time, and whoever finds a claim whose holder is gone carries on. Nothing that was begun is begun again.

mod crew;
mod door;
mod keeper;
mod slots;
mod stops;
mod turns;

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use hedgerow_core::message::{Accepted, Inbox, RawEvent};
use hedgerow_core::platform::{Platform, PlatformKind};
use hedgerow_core::{MessageId, Timestamp};
use tokio::sync::{Notify, Semaphore, watch};
use tokio::task::JoinSet;

use crate::assistant::Assistants;
use crate::engine::Engine;
use crate::failure::Outcome;
use crate::hands::Hands;
use crate::journal::Busy;
use crate::outbox::Outbox;
use crate::store::{Claim, Served};
use door::Door;
pub(crate) use keeper::end_processes;
pub(crate) use slots::{Slot, Slots};
pub(crate) use stops::{Stop, Stops};
pub(crate) use turns::{Turn, Turns};

/// Environments that are found or made at the same time; each is a few processes of git.
const RESOLVING: usize = 8;
/// Repositories that are cloned at the same time because somebody asked about them.
const CLONING: usize = 2;
/// How often `idle` and the end of a shutdown look.
const GLANCE: Duration = Duration::from_millis(20);
/// Longest to wait for those who were told to stop.
const LONGEST_END: Duration = Duration::from_secs(30);
/// How long replies that are written get to be sent when we go.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// What answering needs: the engine, who talks, who works, and whose turn it is.
pub(crate) struct Desk {
    pub(crate) engine: Engine,
    pub(crate) platforms: Vec<Arc<dyn Platform>>,
    pub(crate) assistants: Assistants,
    /// Under which name this dispatcher takes things: its machine, and which of the machine's.
    pub(crate) holder: String,
    /// The messages that somebody is at.
    pub(crate) hands: Hands<MessageId>,
    pub(crate) turns: Turns,
    pub(crate) slots: Slots,
    pub(crate) stops: Stops,
    pub(crate) resolving: Semaphore,
    pub(crate) cloning: Semaphore,
    pub(crate) wake_messages: Notify,
    pub(crate) wake_replies: Notify,
    closing: watch::Sender<bool>,
    /// Ends with this process, however that ends: whoever finds it free knows that the holder is gone.
    _alive: Busy,
}

impl fmt::Debug for Desk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Desk").field("holder", &self.holder).finish_non_exhaustive()
    }
}

impl Desk {
    pub(crate) fn platform(&self, kind: PlatformKind) -> Option<&Arc<dyn Platform>> {
        self.platforms.iter().find(|platform| platform.kind() == kind)
    }

    pub(crate) fn served(&self) -> impl Iterator<Item = Served> {
        self.platforms
            .iter()
            .map(|platform| Served { platform: platform.kind(), only: platform.only().map(str::to_owned) })
    }

    pub(crate) fn is_closing(&self) -> bool {
        *self.closing.borrow()
    }

    /// Returns when the dispatcher is going down.
    pub(crate) async fn closes(&self) {
        let mut closing = self.closing.subscribe();
        // The sender lives as long as the desk.
        let _ = closing.wait_for(|closing| *closing).await;
    }

    /// A claim of this dispatcher from now on.
    pub(crate) async fn claim(&self) -> Outcome<Claim<'_>> {
        let now = self.engine.store_now().await?;
        Ok(Claim { holder: &self.holder, now, until: later(now, self.engine.settings().runs.lease) })
    }
}

pub(crate) fn later(at: Timestamp, by: Duration) -> Timestamp {
    Timestamp::from_millis(at.as_millis().saturating_add(i64::try_from(by.as_millis()).unwrap_or(i64::MAX)))
}

/// Takes deliveries, and sees to it that each gets its last word. Clones are the same dispatcher.
#[derive(Clone)]
pub struct Dispatcher {
    desk: Arc<Desk>,
    door: Door,
    tasks: Arc<tokio::sync::Mutex<Tasks>>,
}

/// What runs until the dispatcher goes, in the order in which it goes.
#[derive(Default)]
struct Tasks {
    crew: JoinSet<()>,
    keeper: JoinSet<()>,
}

impl fmt::Debug for Dispatcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dispatcher").field("holder", &self.desk.holder).finish_non_exhaustive()
    }
}

impl Dispatcher {
    /// Settles what a dispatcher that is gone left behind, then begins to work.
    pub async fn start(engine: Engine, platforms: Vec<Arc<dyn Platform>>, assistants: Assistants) -> Outcome<Self> {
        let (instance, alive) = keeper::name(&engine)?;
        let desk = Arc::new(Desk {
            holder: format!("{}:{instance}", engine.settings().node),
            hands: Hands::default(),
            turns: Turns::default(),
            slots: Slots::new(engine.settings().runs.at_once),
            stops: Stops::default(),
            resolving: Semaphore::new(RESOLVING),
            cloning: Semaphore::new(CLONING),
            wake_messages: Notify::new(),
            wake_replies: Notify::new(),
            closing: watch::Sender::new(false),
            _alive: alive,
            engine,
            platforms,
            assistants,
        });
        let outbox = Arc::new(Outbox::new(desk.engine.clone(), desk.platforms.clone(), desk.holder.clone()));
        let mut keeper = keeper::Keeper::new(Arc::clone(&desk), Arc::clone(&outbox));
        // Before anything new begins: an agent of a server that died may still be at work.
        keeper.settle_the_dead().await?;
        keeper::tidy_locks(&desk.engine);
        let (door, knocks) = Door::new();
        let mut tasks = Tasks::default();
        let doorkeeper = Arc::clone(&desk);
        tasks.keeper.spawn(async move { door::keep(&doorkeeper, knocks).await });
        tasks.keeper.spawn(keeper::send(Arc::clone(&desk), outbox));
        tasks.keeper.spawn(keeper::keep_claims(Arc::clone(&desk)));
        tasks.keeper.spawn(keeper.run());
        tasks.crew.spawn(crew::work(Arc::clone(&desk)));
        Ok(Self { desk, door, tasks: Arc::new(tokio::sync::Mutex::new(tasks)) })
    }

    pub fn engine(&self) -> &Engine {
        &self.desk.engine
    }

    /// Returns when every delivery has had its last word and every reply was sent or given up.
    pub async fn idle(&self) -> Outcome<()> {
        loop {
            let mut left = 0;
            for served in self.desk.served() {
                let store = self.desk.engine.store();
                left += store.unfinished(&served).await? + store.unsent(&served).await?;
            }
            if left == 0 {
                return Ok(());
            }
            tokio::time::sleep(GLANCE).await;
        }
    }

    /// Goes: accepts nothing more, puts back what was not begun, lets runs finish for as long as `grace`, then stops
    /// them. What is left is in the store, for the next one. Bounded: `grace` and well under a minute.
    pub async fn shutdown(&self, grace: Duration) {
        self.desk.closing.send_replace(true);
        let mut tasks = self.tasks.lock().await;
        let finishing = async { while tasks.crew.join_next().await.is_some() {} };
        if tokio::time::timeout(grace, finishing).await.is_err() {
            // Said again and again: a run that is just beginning hears it once it listens.
            let deadline = Instant::now() + LONGEST_END;
            while !tasks.crew.is_empty() && Instant::now() < deadline {
                self.desk.stops.all(Stop::Shutdown);
                let _ = tokio::time::timeout(GLANCE, tasks.crew.join_next()).await;
            }
        }
        // A clone, a checkout or a platform may take its time. What is dropped in the middle is settled at the next start.
        tasks.crew.shutdown().await;
        let unsent = async {
            for served in self.desk.served() {
                while self.desk.engine.store().unsent(&served).await.is_ok_and(|left| left > 0) {
                    self.desk.wake_replies.notify_one();
                    tokio::time::sleep(GLANCE).await;
                }
            }
        };
        let _ = tokio::time::timeout(LAST_WORDS, unsent).await;
        tasks.keeper.shutdown().await;
    }
}

#[async_trait]
impl Inbox for Dispatcher {
    async fn accept(&self, raw: RawEvent) -> Accepted {
        if self.desk.is_closing() {
            return Accepted::Busy;
        }
        self.door.accept(raw).await
    }

    async fn knows(&self, platform: PlatformKind, meaning: &str) -> bool {
        // A store that does not answer now is asked again at the next look; an act that is done twice is not undone.
        self.desk.engine.store().knows(platform, meaning).await.unwrap_or(true)
    }
}
