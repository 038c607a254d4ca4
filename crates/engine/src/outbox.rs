//! Replies on their way out: each is sent until it has arrived, in the order of its conversation, and never twice if that
//! can be known.
//!
//! What was written to the store is sent from there, so a crash loses nothing. It can leave a doubt: did the reply arrive
//! before the sender died, or before the platform stopped answering? A platform that recognises repeats is simply sent
//! it again. On another there is one more try, which says that it is one.

mod pace;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use hedgerow_core::platform::{Platform, PlatformError, PlatformKind, Reply};
use hedgerow_core::split::split;
use hedgerow_core::{ReplyId, Timestamp};
use tokio::sync::Notify;
use tokio::task::{JoinError, JoinSet};

use crate::engine::Engine;
use crate::failure::Outcome;
use crate::hands::{Hands, InHand};
use crate::store::{Claim, Outgoing, Sent, Served};

/// The first line of a reply that may have arrived before.
pub const AGAIN: &str = "(sent again: you may have seen this)";

/// Most replies of one platform that are on their way at the same time.
const AT_ONCE: usize = 32;

/// How often a round whose replies take their time looks for more.
const GLANCE: Duration = Duration::from_secs(1);

/// Longest that a platform may take for one reply.
const TIMEOUT: Duration = Duration::from_secs(30);

/// A text as the replies it takes on a platform. Empty when there is nothing to see in it.
pub fn parts(platform: &dyn Platform, text: &str) -> Vec<String> {
    let reserved = if platform.recognises_repeats() { 0 } else { AGAIN.len() + 1 };
    split(text, platform.longest().saturating_sub(reserved))
}

/// The sender of this process.
pub struct Outbox {
    engine: Engine,
    platforms: Vec<Arc<dyn Platform>>,
    holder: Arc<str>,
    timeout: Duration,
    more: Notify,
    /// The replies that are on their way.
    hands: Hands<ReplyId>,
}

impl std::fmt::Debug for Outbox {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Outbox").field("holder", &self.holder).finish_non_exhaustive()
    }
}

impl Outbox {
    pub fn new(engine: Engine, platforms: Vec<Arc<dyn Platform>>, holder: String) -> Self {
        Self {
            engine,
            platforms,
            holder: holder.into(),
            timeout: TIMEOUT,
            more: Notify::new(),
            hands: Hands::default(),
        }
    }

    /// The same with less patience, for tests of platforms that do not answer.
    #[must_use]
    pub fn with_timeout(self, timeout: Duration) -> Self {
        Self { timeout, ..self }
    }

    /// There may be something new to send: a round that is under way takes it at once, and [`Self::poked`] ends.
    pub fn poke(&self) {
        self.more.notify_one();
    }

    pub async fn poked(&self) {
        self.more.notified().await;
    }

    /// Sends what is due, and what becomes due meanwhile, until nothing is left; and says how many it took. A reply that
    /// hangs holds up its own conversation only.
    ///
    /// It must be waited for: what is dropped on its way counts as doubtful when this process is gone.
    pub async fn round(&self) -> Outcome<usize> {
        let mut round = Round::default();
        let failure = loop {
            if let Err(failure) = self.take(&mut round).await {
                break Some(failure);
            }
            if round.sending.is_empty() {
                break None;
            }
            tokio::select! {
                done = round.sending.join_next() => round.end(done.as_ref()),
                () = self.more.notified() => {}
                // Another process may have written something for us to say.
                () = tokio::time::sleep(GLANCE) => {}
            }
        };
        while !round.sending.is_empty() {
            let done = round.sending.join_next().await;
            round.end(done.as_ref());
        }
        match failure {
            Some(failure) => Err(failure),
            None => Ok(round.taken),
        }
    }

    /// Takes what is due on every platform, as far as it has room.
    async fn take(&self, round: &mut Round) -> Outcome<()> {
        for platform in &self.platforms {
            let room = AT_ONCE - round.on(platform.kind());
            if room == 0 {
                continue;
            }
            let now = self.engine.store_now().await?;
            let claim = Claim { holder: &self.holder, now, until: pace::after(now, self.engine.settings.runs.lease) };
            let room = u32::try_from(room).unwrap_or(u32::MAX);
            let _taking = self.hands.taking().await;
            for reply in self.engine.store.take_replies(&served(platform.as_ref()), &claim, room).await? {
                let sender = Sender {
                    engine: self.engine.clone(),
                    platform: platform.clone(),
                    holder: self.holder.clone(),
                    timeout: self.timeout,
                    _in_hand: self.hands.hold(reply.id),
                };
                round.begin(sender, reply);
            }
        }
        Ok(())
    }

    /// Lets replies whose sender is gone be sent again, where that is right. Returns how many there were.
    pub async fn take_over(&self, is_dead: &(dyn Fn(&str, Timestamp) -> bool + Send + Sync)) -> Outcome<usize> {
        let mut taken = 0;
        for platform in &self.platforms {
            let others = self.engine.store.sending_by_others(&served(platform.as_ref()), &self.holder).await?;
            for reply in others.into_iter().filter(|reply| is_dead(&reply.holder, reply.held_until)) {
                taken += usize::from(self.settle_left(platform.as_ref(), &reply).await?);
            }
        }
        Ok(taken)
    }

    /// The same for replies that this process has taken and that nobody of it sends: otherwise their conversations would
    /// hear nothing for as long as it lives.
    pub async fn settle_the_dropped(&self) -> Outcome<()> {
        for platform in &self.platforms {
            let dropped = {
                let _taking = self.hands.taking().await;
                let held = self.hands.held();
                let mut own = self.engine.store.sending_by(&served(platform.as_ref()), &self.holder).await?;
                own.retain(|reply| !held.contains(&reply.id));
                own
            };
            for reply in dropped {
                self.settle_left(platform.as_ref(), &reply).await?;
            }
        }
        Ok(())
    }

    /// `false` when it has moved on meanwhile.
    async fn settle_left(&self, platform: &dyn Platform, reply: &Outgoing) -> Outcome<bool> {
        let now = self.engine.store_now().await?;
        let sent = unclear(platform, reply, now, "its sender is gone");
        let is_settled = self.engine.store.settle_for(reply, &sent, self.engine.now()).await?;
        if is_settled {
            log(reply, &sent);
        }
        Ok(is_settled)
    }

    /// When the next reply is due; in the past when it is due now. `None` when nothing waits.
    pub async fn next_due(&self) -> Outcome<Option<Timestamp>> {
        let mut next: Option<Timestamp> = None;
        for platform in &self.platforms {
            let due = self.engine.store.next_reply_due(&served(platform.as_ref())).await?;
            next = match (next, due) {
                (Some(next), Some(due)) => Some(next.min(due)),
                (next, due) => next.or(due),
            };
        }
        Ok(next)
    }
}

/// What of a platform this process serves.
pub fn served(platform: &dyn Platform) -> Served {
    Served { platform: platform.kind(), only: platform.only().map(str::to_owned) }
}

/// The replies that are on their way.
#[derive(Default)]
struct Round {
    sending: JoinSet<PlatformKind>,
    /// How many of each platform.
    many: HashMap<PlatformKind, usize>,
    taken: usize,
}

impl Round {
    fn on(&self, platform: PlatformKind) -> usize {
        self.many.get(&platform).copied().unwrap_or_default()
    }

    fn begin(&mut self, sender: Sender, reply: Outgoing) {
        let platform = reply.to.platform;
        *self.many.entry(platform).or_default() += 1;
        self.taken += 1;
        self.sending.spawn(async move {
            sender.deliver(reply).await;
            platform
        });
    }

    fn end(&mut self, done: Option<&Result<PlatformKind, JoinError>>) {
        // A task of ours that broke is not counted back: the room it leaves is the least of the trouble.
        if let Some(Ok(platform)) = done
            && let Some(many) = self.many.get_mut(platform)
        {
            *many -= 1;
        }
    }
}

/// Sends one reply.
struct Sender {
    engine: Engine,
    platform: Arc<dyn Platform>,
    holder: Arc<str>,
    timeout: Duration,
    _in_hand: InHand<ReplyId>,
}

impl Sender {
    async fn deliver(&self, reply: Outgoing) {
        let went = self.send(&reply).await;
        let mut wait = Duration::from_secs(1);
        // The reply is ours until it is settled, and what went out cannot be taken back: a store that is away for a
        // moment is waited for.
        loop {
            match self.settle(&reply, &went).await {
                Ok(true) => return,
                Ok(false) => {
                    tracing::warn!(reply = %reply.id, "another process has taken over a reply that this one sent");
                    return;
                }
                Err(error) => tracing::error!(reply = %reply.id, %error, "it cannot be written down how a reply went"),
            }
            tokio::time::sleep(wait).await;
            wait = (wait * 2).min(Duration::from_secs(30));
        }
    }

    async fn send(&self, reply: &Outgoing) -> Went {
        let again = reply.doubts > 0 && !self.platform.recognises_repeats();
        let text = if again { format!("{AGAIN}\n{}", reply.words) } else { reply.words.clone() };
        let outgoing = Reply {
            is_repeat: reply.attempts > 1 || reply.doubts > 0,
            run: reply.run,
            handle: reply.handle.clone(),
            ..Reply::new(text, reply.last, reply.id.to_string())
        };
        let (platform, to, timeout) = (self.platform.clone(), reply.to.clone(), self.timeout);
        // A task of its own, so that a platform that breaks does not take the sender with it.
        let sending = tokio::spawn(async move { tokio::time::timeout(timeout, platform.send(&to, &outgoing)).await });
        match sending.await {
            Ok(Ok(Ok(()))) => Went::Well,
            Ok(Ok(Err(PlatformError::Refused(why)))) => Went::Refused(why),
            Ok(Ok(Err(PlatformError::Transient(why)))) => Went::Wrong(why),
            Ok(Err(_)) => Went::Unclear("no answer"),
            Err(_) => Went::Unclear("sending it broke"),
        }
    }

    async fn settle(&self, reply: &Outgoing, went: &Went) -> Outcome<bool> {
        let not_before = pace::retry(reply, self.engine.store_now().await?);
        let sent = match went {
            Went::Well => Sent::Yes,
            Went::Refused(why) => Sent::No { why: why.clone() },
            Went::Wrong(_) | Went::Unclear(_) if pace::is_too_old(reply, self.engine.now()) => {
                Sent::No { why: "the platform has not taken it for a day".to_owned() }
            }
            Went::Wrong(why) => Sent::Later { not_before, why: why.clone() },
            Went::Unclear(why) => unclear(self.platform.as_ref(), reply, not_before, why),
        };
        let settled = self.engine.store.settle_reply(reply.id, &self.holder, &sent, self.engine.now()).await?;
        if settled {
            log(reply, &sent);
        }
        Ok(settled)
    }
}

/// How a send went.
enum Went {
    Well,
    /// It did not arrive.
    Wrong(String),
    /// Nobody knows whether it arrived.
    Unclear(&'static str),
    Refused(String),
}

/// What follows from a send of which nobody knows how it went.
fn unclear(platform: &dyn Platform, reply: &Outgoing, not_before: Timestamp, why: &str) -> Sent {
    let why = why.to_owned();
    match (platform.recognises_repeats(), reply.doubts) {
        (true, _) => Sent::Later { not_before, why },
        (false, 0) => Sent::Unclear { not_before, why },
        (false, _) => Sent::No { why: format!("{why}, and it may have arrived twice already") },
    }
}

fn log(reply: &Outgoing, sent: &Sent) {
    let to = format!("{}:{}", reply.to.platform, reply.to.id);
    match sent {
        Sent::Yes => {}
        Sent::Later { why, .. } | Sent::Unclear { why, .. } => {
            tracing::debug!(reply = %reply.id, conversation = %to, attempts = reply.attempts, %why, "a reply will be sent again");
        }
        Sent::No { why } => {
            tracing::error!(reply = %reply.id, conversation = %to, attempts = reply.attempts, %why, "a reply could not be sent");
        }
    }
}
