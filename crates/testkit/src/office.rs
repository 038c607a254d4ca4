//! A world with somebody at the desk: a platform, the fake assistant, and a dispatcher between them.

use std::fs::File;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use hedgerow_core::message::{Accepted, Inbox as _, RawEvent};
use hedgerow_core::platform::{Platform, PlatformKind};
use hedgerow_core::{Codebase, MessageId};
use hedgerow_engine::assistant::Assistants;
use hedgerow_engine::dispatch::Dispatcher;
use hedgerow_engine::{Engine, Settings};
use tempfile::TempDir;

use crate::{Talk, TestRepo, World, brain};

/// Longest a story waits for its end.
const PATIENCE: Duration = Duration::from_mins(2);

/// One test's office.
#[derive(Debug)]
pub struct Office {
    pub world: World,
    /// Where people talk: issues and pull requests of a forge.
    pub forge: Arc<Talk>,
    /// Where people chat.
    pub chat: Arc<Talk>,
    /// `None` only while the server is down.
    dispatcher: Option<Dispatcher>,
    /// What the fake assistant writes down.
    notes: TempDir,
}

impl Office {
    pub async fn opens() -> Self {
        Self::with(|_| {}).await
    }

    /// An office whose settings a test changes first.
    pub async fn with(change: impl FnOnce(&mut Settings)) -> Self {
        let notes = tempfile::tempdir().expect("a folder for notes");
        let world = World::with(|settings| {
            settings.runs.assistants = vec![brain::program(notes.path())];
            settings.runs.supervisor = brain::supervisor();
            settings.runs.sandbox.write = vec![notes.path().to_owned()];
            change(settings);
        })
        .await;
        let (forge, chat) = (world.talk(PlatformKind::Github), world.talk(PlatformKind::Slack));
        let dispatcher = dispatcher(world.engine.clone(), &[&forge, &chat]).await;
        Self { world, forge, chat, dispatcher: Some(dispatcher), notes }
    }

    /// An office with one codebase, `shop`.
    pub async fn with_a_repo() -> (Self, TestRepo, Codebase) {
        let office = Self::opens().await;
        let (repo, codebase) = office.world.given_a_repo("shop").await;
        (office, repo, codebase)
    }

    /// # Panics
    /// When the server is down.
    pub fn dispatcher(&self) -> &Dispatcher {
        self.dispatcher.as_ref().expect("the server is up")
    }

    /// Hands an event in, which must be new.
    pub async fn gets(&self, raw: RawEvent) -> MessageId {
        match self.dispatcher().accept(raw).await {
            Accepted::Queued(id) => id,
            other => panic!("{other:?}"),
        }
    }

    /// Hands an event in, and waits until everybody has been answered.
    pub async fn hears(&self, raw: RawEvent) {
        self.gets(raw).await;
        self.is_idle().await;
    }

    pub async fn is_idle(&self) {
        let idle = tokio::time::timeout(PATIENCE, self.dispatcher().idle()).await;
        idle.expect("every message is answered in time").expect("the store answers");
    }

    /// Waits until no environment is held any more: the checkpoint for `/undo` is made after the last word is said.
    pub async fn lets_go(&self) {
        let all = async {
            loop {
                let now = self.engine.store_now().await.expect("the store answers");
                if self.engine.store().leases(now).await.expect("the store answers").is_empty() {
                    return;
                }
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        };
        tokio::time::timeout(PATIENCE, all).await.expect("everybody lets go in time");
    }

    /// The server stops as it should, and another one starts.
    pub async fn restarts(&mut self) {
        self.dispatcher().shutdown(Duration::ZERO).await;
        self.starts_again().await;
    }

    /// Another server starts, with what is in the store.
    pub async fn starts_again(&mut self) {
        self.world.restarts().await;
        self.dispatcher = Some(dispatcher(self.world.engine.clone(), &[&self.forge, &self.chat]).await);
    }

    /// The server is gone in the middle of whatever it was at, as if it had been killed.
    pub async fn crashes(&mut self) {
        self.dispatcher = None;
        all_are_gone(&self.world.settings().home).await;
    }

    /// Another server on the same store and home, of another name.
    pub async fn neighbour(&self, node: &str) -> Dispatcher {
        let settings = Settings { node: node.to_owned(), ..self.world.settings().clone() };
        let engine = Engine::open(settings, self.world.clock.clone()).await.expect("the engine opens");
        dispatcher(engine, &[&self.forge, &self.chat]).await
    }

    /// Each run there was: the first line of its prompt.
    pub fn runs(&self) -> Vec<String> {
        brain::runs(self.notes()).into_iter().map(|(_, prompt)| prompt).collect()
    }

    pub fn overlaps(&self) -> Vec<String> {
        brain::overlaps(self.notes())
    }

    pub fn notes(&self) -> &Path {
        self.notes.path()
    }

    /// A file that the fake assistant waits for with `wait-for`.
    pub fn signal(&self, name: &str) -> PathBuf {
        self.notes.path().join(name)
    }

    /// Waits until a file is there that the fake assistant makes with `touch`.
    pub async fn sees(&self, path: &Path) {
        let there = async {
            while !path.exists() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(PATIENCE, there).await.expect("the file appears in time");
    }
}

impl Deref for Office {
    type Target = World;

    fn deref(&self) -> &World {
        &self.world
    }
}

/// Waits until no dispatcher of this home is alive: what it was at ends a moment after it is let go of.
async fn all_are_gone(home: &Path) {
    let is_free = |path: PathBuf| File::open(path).is_ok_and(|lock| lock.try_lock().is_ok());
    let is_alive = || {
        let locks = std::fs::read_dir(home.join("locks")).expect("the home has locks").flatten();
        locks
            .map(|lock| lock.path())
            .filter(|path| path.to_string_lossy().contains("dispatch-"))
            .any(|path| !is_free(path))
    };
    let gone = async {
        while is_alive() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    tokio::time::timeout(PATIENCE, gone).await.expect("it is gone in time");
}

async fn dispatcher(engine: Engine, platforms: &[&Arc<Talk>]) -> Dispatcher {
    let assistants = Assistants::new(&engine.settings().runs, &engine.settings().home);
    let platforms = platforms.iter().map(|talk| Arc::clone(talk) as Arc<dyn Platform>).collect();
    Dispatcher::start(engine, platforms, assistants).await.expect("the dispatcher starts")
}
