//! A server on a port of its own, with an inbox that writes to the real store, and somebody who answers.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use async_trait::async_trait;
use hedgerow_core::environment::Actor;
use hedgerow_core::message::{Accepted, Event, Inbox, Message, RawEvent};
use hedgerow_core::platform::{ConversationKey, Platform as _, PlatformKind, Reply};
use hedgerow_core::run::MessageEnd;
use hedgerow_core::{ConversationId, MessageId};
use hedgerow_engine::Engine;
use hedgerow_engine::store::{Claim, Conclusion, NewReply, Served, Understood, Which};
use hedgerow_testkit::World;
use hedgerow_web::{Hook, HttpPlatform, Limits, Token, Web, router_with, serve};
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use hedgerow_testkit::http::{Answered, Ask, Following, ask};

pub(crate) const TOKEN: &str = "correct-horse-battery-staple";
pub(crate) const EVENTS: &str = "/api/v1/events";

/// Writes what it is given to the store, as the dispatcher does.
struct StoreInbox {
    engine: Engine,
    room: Arc<AtomicU32>,
}

#[async_trait]
impl Inbox for StoreInbox {
    async fn accept(&self, raw: RawEvent) -> Accepted {
        let written = self.engine.store().deliver(&[raw], self.room.load(Ordering::SeqCst)).await;
        written.map_or(Accepted::Busy, |answers| answers[0])
    }

    async fn knows(&self, platform: PlatformKind, meaning: &str) -> bool {
        self.engine.store().knows(platform, meaning).await.unwrap_or(true)
    }
}

pub(crate) struct Door {
    pub(crate) world: World,
    pub(crate) address: SocketAddr,
    pub(crate) platform: Arc<HttpPlatform>,
    /// Most messages that may wait.
    pub(crate) room: Arc<AtomicU32>,
    stop: Option<oneshot::Sender<()>>,
    server: Option<JoinHandle<()>>,
}

impl Door {
    /// Who takes messages.
    pub(crate) const HOLDER: &str = "here:1";

    pub(crate) async fn new() -> Self {
        Self::with(World::new().await, Limits::default()).await
    }

    pub(crate) async fn limited(change: impl FnOnce(&mut Limits)) -> Self {
        let mut limits = Limits::default();
        change(&mut limits);
        Self::with(World::new().await, limits).await
    }

    pub(crate) async fn with_hooks(hooks: Vec<Hook>) -> Self {
        Self::open(World::new().await, Limits::default(), hooks).await
    }

    pub(crate) async fn with(world: World, limits: Limits) -> Self {
        Self::open(world, limits, Vec::new()).await
    }

    async fn open(world: World, limits: Limits, hooks: Vec<Hook>) -> Self {
        let platform = Arc::new(HttpPlatform::new());
        let room = Arc::new(AtomicU32::new(1000));
        let inbox = Arc::new(StoreInbox { engine: world.engine.clone(), room: Arc::clone(&room) });
        let origins = vec!["https://hedgerow.example".to_owned()];
        let web = Web::with(world.engine.clone(), inbox, &platform, Token::new(TOKEN), limits, origins);
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let (stop, stopped) = oneshot::channel();
        let routes = router_with(web.clone(), hooks);
        let server = tokio::spawn(serve(web, listener, routes, async { _ = stopped.await }));
        Self { world, address, platform, room, stop: Some(stop), server: Some(server) }
    }

    /// The server is told to go down.
    pub(crate) fn stop(&mut self) {
        _ = self.stop.take().expect("it runs").send(());
    }

    /// The server has ended.
    pub(crate) async fn ended(&mut self) {
        self.server.take().expect("it runs").await.expect("it ends well");
    }

    pub(crate) async fn ask(&self, asked: Ask) -> Answered {
        ask(self.address, &asked.header("Authorization", &format!("Bearer {TOKEN}"))).await
    }

    pub(crate) async fn get(&self, path: &str) -> Answered {
        self.ask(Ask::new("GET", path)).await
    }

    pub(crate) async fn post(&self, path: &str, body: &serde_json::Value) -> Answered {
        self.ask(Ask::new("POST", path).bytes(body.to_string().as_bytes())).await
    }

    /// Without the token.
    pub(crate) async fn ask_as_a_stranger(&self, asked: &Ask) -> Answered {
        ask(self.address, asked).await
    }

    pub(crate) async fn follow(&self, after: Option<&str>) -> Following {
        self.follow_at(EVENTS, after).await.expect("a stream")
    }

    pub(crate) async fn follow_at(&self, path: &str, after: Option<&str>) -> Result<Following, u16> {
        let mut asked = Ask::new("GET", path).header("Authorization", &format!("Bearer {TOKEN}"));
        if let Some(after) = after {
            asked = asked.header("Last-Event-ID", after);
        }
        Following::new(self.address, &asked).await
    }

    pub(crate) fn served() -> Served {
        Served { platform: PlatformKind::Http, only: None }
    }

    /// Takes the oldest message, as a worker does, and has it prepared.
    pub(crate) async fn takes(&self) -> (MessageId, ConversationId, Message) {
        let (engine, store) = (&self.world.engine, self.world.engine.store());
        let now = engine.now();
        let claim = Claim { holder: Self::HOLDER, now, until: now.plus_seconds(60) };
        let taken = store.take_messages(&Self::served(), &claim, Which::All, 1).await.expect("the store answers");
        let taken = taken.first().expect("a message waits");
        let prepared = self.platform.prepare(&taken.raw).await.expect("it can be prepared");
        let Some(Event::Said(message)) = prepared else { panic!("somebody said something") };
        let conversation = store.conversation(&message.conversation, now).await.expect("a conversation").id;
        let author = Actor::new("http", &message.author.id);
        let understood = Understood { conversation, author: &author, said: Some(&message.text), handle: None };
        let known = store.prepared(taken, Self::HOLDER, &understood).await;
        assert!(known.expect("the store answers"));
        (taken.id, conversation, *message)
    }

    /// Answers the oldest message: in the store first, then sent.
    pub(crate) async fn answers(&self, words: &[&str]) -> MessageId {
        let (id, conversation, message) = self.takes().await;
        let engine = &self.world.engine;
        let reply = |words: &&str| NewReply { conversation, message: Some(id), words: (*words).to_owned() };
        let conclusion = Conclusion {
            message: id,
            holder: Self::HOLDER,
            end: MessageEnd::Answered,
            replies: words.iter().map(reply).collect(),
            run: None,
            fence: None,
            session: None,
        };
        assert!(engine.store().conclude(&conclusion, engine.now()).await.expect("the store answers"));
        self.sends(&message.conversation).await;
        id
    }

    pub(crate) async fn sends(&self, to: &ConversationKey) {
        let reply = Reply::new("", true, "x");
        self.platform.send(to, &reply).await.expect("sending is never refused");
    }

    pub(crate) async fn says(&self, conversation: &str, text: &str) -> String {
        let path = format!("/api/v1/conversations/{conversation}/messages");
        let answered = self.post(&path, &serde_json::json!({ "text": text })).await;
        assert_eq!(answered.status, 202, "{answered:?}");
        answered.json()["message_id"].as_str().expect("an id").to_owned()
    }

    pub(crate) async fn waiting(&self) -> u64 {
        self.world.engine.store().waiting().await.expect("the store answers")
    }
}

impl Door {
    /// How many follow the events, as the metrics have it.
    pub(crate) async fn followers(&self) -> u64 {
        let metrics = self.get("/metrics").await.text;
        let line = metrics.lines().find_map(|line| line.strip_prefix("hedgerow_event_followers "));
        line.and_then(|number| number.parse().ok()).expect("a number")
    }
}
