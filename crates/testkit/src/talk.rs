//! A place where people talk, in memory: any platform's part in a story, with every way it can go wrong.
//!
//! It takes the road of a real platform (raw events in a form of its own, prepared later, replies that may or may not
//! arrive) and remembers who said what, so that a story can be read as a transcript.

mod body;

use std::collections::{HashSet, VecDeque};
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::time::Duration;

use async_trait::async_trait;
use hedgerow_core::message::{Event, RawEvent};
use hedgerow_core::platform::{
    ConversationKey, Glimpse, Live, Mark, Pace, Platform, PlatformError, PlatformKind, Reply,
};
use tokio::sync::Notify;

pub use body::{NOT_ALLOWED, Saying};

use crate::{TestClock, World};

/// One platform in a test.
#[derive(Debug)]
pub struct Talk {
    kind: PlatformKind,
    clock: Arc<TestClock>,
    only: OnceLock<String>,
    state: Mutex<State>,
    heard: Notify,
}

#[derive(Debug)]
struct State {
    pace: Pace,
    longest: usize,
    recognises_repeats: bool,
    lines: Vec<Line>,
    /// Deliveries whose words are in the transcript: one that comes again was said once.
    deliveries: HashSet<String>,
    keys: HashSet<String>,
    /// What the next sends meet, one after the other; after them, `always`.
    next: VecDeque<Trouble>,
    always: Option<Trouble>,
    sends: usize,
    shown: Vec<(String, Glimpse)>,
    is_blind: bool,
    /// By the handle of the message.
    marks: Vec<(String, Mark)>,
    /// Every reply that arrived, as it came.
    replies: Vec<Reply>,
    prepare_fails: u32,
    delivered: u64,
}

/// One line of a transcript.
#[derive(Debug)]
struct Line {
    conversation: String,
    /// `None` when the bot says it.
    author: Option<String>,
    text: String,
    last: bool,
}

/// What a send can meet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trouble {
    /// An error that is worth another try; nothing arrives.
    Transient,
    /// The platform will not have it, ever.
    Refuse,
    /// No answer; nothing arrives.
    Hang,
    /// It arrives, and then there is no answer.
    ArriveAndHang,
    /// It arrives, and then an error that looks worth another try.
    ArriveAndFail,
}

impl World {
    /// A platform of this world: streams, takes long messages, recognises repeats.
    pub fn talk(&self, kind: PlatformKind) -> Arc<Talk> {
        Talk::new(kind, self.clock.clone())
    }
}

impl Talk {
    pub fn new(kind: PlatformKind, clock: Arc<TestClock>) -> Arc<Self> {
        let state = State {
            pace: Pace::Stream,
            longest: 60_000,
            recognises_repeats: true,
            lines: Vec::new(),
            deliveries: HashSet::new(),
            keys: HashSet::new(),
            next: VecDeque::new(),
            always: None,
            sends: 0,
            shown: Vec::new(),
            is_blind: false,
            marks: Vec::new(),
            replies: Vec::new(),
            prepare_fails: 0,
            delivered: 0,
        };
        Arc::new(Self { kind, clock, only: OnceLock::new(), state: Mutex::new(state), heard: Notify::new() })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no test panics while it holds the lock")
    }

    pub fn set_pace(&self, pace: Pace) {
        self.state().pace = pace;
    }

    pub fn set_longest(&self, longest: usize) {
        self.state().longest = longest;
    }

    /// From now on a reply that is sent twice is seen twice.
    pub fn does_not_recognise_repeats(&self) {
        self.state().recognises_repeats = false;
    }

    /// It is one window. Said before anything is sent.
    ///
    /// # Panics
    /// When it was said before.
    pub fn serves_only(&self, conversation: &str) {
        self.only.set(conversation.to_owned()).expect("it is said once");
    }

    /// What the next sends meet, one each. After them all is well again.
    pub fn meets(&self, troubles: impl IntoIterator<Item = Trouble>) {
        self.state().next.extend(troubles);
    }

    /// What every send meets until [`Self::recovers`].
    pub fn always_meets(&self, trouble: Trouble) {
        self.state().always = Some(trouble);
    }

    pub fn recovers(&self) {
        let mut state = self.state();
        state.next.clear();
        state.always = None;
    }

    /// From now on it does not answer when it is shown something or told how it stands with a message.
    pub fn cannot_show(&self) {
        self.state().is_blind = true;
    }

    /// The next so many events cannot be prepared yet.
    pub fn cannot_prepare(&self, times: u32) {
        self.state().prepare_fails = times;
    }

    /// How often a reply was sent, whatever became of it.
    pub fn sends(&self) -> usize {
        self.state().sends
    }

    /// What the bot said there, in the order it arrived, and whether it was a last word.
    pub fn said_in(&self, conversation: &str) -> Vec<(String, bool)> {
        let state = self.state();
        let ours = state.lines.iter().filter(|line| line.author.is_none() && line.conversation == conversation);
        ours.map(|line| (line.text.clone(), line.last)).collect()
    }

    /// What was shown there while assistants worked.
    pub fn shown_in(&self, conversation: &str) -> Vec<Glimpse> {
        let state = self.state();
        state.shown.iter().filter(|(to, _)| to == conversation).map(|(_, what)| what.clone()).collect()
    }

    /// The replies that arrived, whole, in their order.
    pub fn replies(&self) -> Vec<Reply> {
        self.state().replies.clone()
    }

    /// How it stood with the message of this handle, one after the other.
    pub fn marks_of(&self, handle: &str) -> Vec<Mark> {
        let state = self.state();
        state.marks.iter().filter(|(of, _)| of == handle).map(|(_, mark)| *mark).collect()
    }

    /// Waits until the message of this handle was marked so.
    ///
    /// # Panics
    /// When it is not within a minute.
    pub async fn marked(&self, handle: &str, mark: Mark) {
        let marked = self.until(|| self.marks_of(handle).contains(&mark)).await;
        assert!(marked, "`{handle}` was not marked as {mark:?}: {:?}", self.marks_of(handle));
    }

    /// Waits until something is so that a send or a mark brings about. `false` when it is not within a minute.
    async fn until(&self, is_so: impl Fn() -> bool) -> bool {
        let enough = async {
            loop {
                let heard = self.heard.notified();
                tokio::pin!(heard);
                heard.as_mut().enable();
                if is_so() {
                    return;
                }
                heard.await;
            }
        };
        tokio::time::timeout(Duration::from_mins(1), enough).await.is_ok()
    }

    /// Waits until the bot has had so many last words there.
    ///
    /// # Panics
    /// When they do not come within a minute.
    pub async fn answers(&self, conversation: &str, many: usize) {
        let last_words = || self.said_in(conversation).iter().filter(|(_, last)| *last).count();
        let waited = self.until(|| last_words() >= many).await;
        assert!(waited, "no {many} answers in {conversation}:\n{}", self.transcript(conversation));
    }

    /// Everything said in a conversation. `bot:` has the last word on a message, `bot…` is to be continued.
    pub fn transcript(&self, conversation: &str) -> String {
        let mut transcript = String::new();
        for line in self.state().lines.iter().filter(|line| line.conversation == conversation) {
            let who = match &line.author {
                Some(author) => format!("{author}:"),
                None if line.last => "bot:".to_owned(),
                None => "bot…".to_owned(),
            };
            let text = line.text.replace('\n', "\n  ");
            writeln!(transcript, "{who} {text}").expect("a string takes everything");
        }
        transcript
    }

    fn hear(&self, to: &ConversationKey, reply: &Reply) {
        let mut state = self.state();
        if !state.keys.insert(reply.idempotency_key.clone()) && state.recognises_repeats {
            return;
        }
        let line = Line { conversation: to.id.clone(), author: None, text: reply.text.clone(), last: reply.last };
        state.lines.push(line);
        state.replies.push(reply.clone());
        drop(state);
        self.heard.notify_waiters();
    }
}

#[async_trait]
impl Platform for Talk {
    fn kind(&self) -> PlatformKind {
        self.kind
    }

    fn pace(&self) -> Pace {
        self.state().pace
    }

    fn longest(&self) -> usize {
        self.state().longest
    }

    fn recognises_repeats(&self) -> bool {
        self.state().recognises_repeats
    }

    fn only(&self) -> Option<&str> {
        self.only.get().map(String::as_str)
    }

    async fn prepare(&self, raw: &RawEvent) -> Result<Option<Event>, PlatformError> {
        {
            let mut state = self.state();
            if state.prepare_fails > 0 {
                state.prepare_fails -= 1;
                return Err(PlatformError::Transient("not yet".to_owned()));
            }
        }
        body::prepare(self.kind, &raw.body)
    }

    async fn send(&self, to: &ConversationKey, reply: &Reply) -> Result<(), PlatformError> {
        assert_eq!(to.platform, self.kind, "a reply of another platform");
        assert!(reply.text.chars().count() <= self.longest(), "a reply that is too long: {}", reply.text);
        let trouble = {
            let mut state = self.state();
            state.sends += 1;
            state.next.pop_front().or(state.always)
        };
        if matches!(trouble, None | Some(Trouble::ArriveAndHang | Trouble::ArriveAndFail)) {
            self.hear(to, reply);
        }
        match trouble {
            None => Ok(()),
            Some(Trouble::Transient | Trouble::ArriveAndFail) => {
                Err(PlatformError::Transient("come back later".to_owned()))
            }
            Some(Trouble::Refuse) => Err(PlatformError::Refused("not here".to_owned())),
            Some(Trouble::Hang | Trouble::ArriveAndHang) => std::future::pending().await,
        }
    }

    async fn show(&self, to: &ConversationKey, live: &Live) {
        if self.state().is_blind {
            std::future::pending::<()>().await;
        }
        self.state().shown.push((to.id.clone(), live.what.clone()));
    }

    async fn mark(&self, handle: &str, mark: Mark) {
        if self.state().is_blind {
            std::future::pending::<()>().await;
        }
        self.state().marks.push((handle.to_owned(), mark));
        self.heard.notify_waiters();
    }
}
