//! The process that dies: it opens the engine, does one act, and kills itself at the step it was told.

use std::fmt::{Debug, Write as _};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use hedgerow_core::Timestamp;
use hedgerow_engine::store::Database;
use hedgerow_engine::{Engine, Failure, steps};
use rustix::process::{Signal, getpid, kill_process};
use serde::{Deserialize, Serialize};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

use super::act::{Act, Scene};
use super::stage::allow_folders;
use crate::clock::TestClock;
use crate::world::settings_at;

/// More system calls of one kind than our main thread makes in any act.
const APART: usize = 300;

/// What the child is told, in a file.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Order {
    /// The folder of the world it lives in.
    pub folder: PathBuf,
    /// A file, or the address of a PostgreSQL database.
    pub database: String,
    pub git: PathBuf,
    pub act: String,
    pub scene: String,
    /// What its clock shows at first.
    pub now: i64,
    pub dies: Option<Dies>,
}

/// At which step, and how.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Dies {
    pub at: usize,
    pub after_micros: u64,
    /// The act goes on while death is on its way.
    pub goes_on: bool,
}

/// What a child that lived has to say.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Told {
    pub steps: Vec<String>,
    /// From before the engine was opened to after the act.
    pub micros: u64,
    pub failure: Option<String>,
    pub warnings: Vec<String>,
}

/// Carries an order out.
pub fn obey(order: &Path) -> anyhow::Result<Told> {
    let order: Order = serde_json::from_slice(&fs::read(order)?)?;
    let act = Act::parse(&order.act).context("an act")?;
    let scene = Scene::parse(&order.scene).context("a scene")?;
    let listener = Listener { dies: order.dies, heard: Arc::default() };
    let heard = listener.heard.clone();
    tracing::subscriber::set_global_default(listener)?;
    let mut settings = settings_at(&order.folder, database(&order.database));
    settings.git = order.git;
    allow_folders(&mut settings);
    // One thread, and one for what blocks, so that the system calls of each come in one order.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().max_blocking_threads(1).build()?;
    runtime.block_on(async { tokio::task::spawn_blocking(count_apart).await })?;
    let began = Instant::now();
    let done = runtime.block_on(async {
        let clock = TestClock::default();
        clock.set(Timestamp::from_millis(order.now));
        let engine = Engine::open(settings, Arc::new(clock)).await?;
        let done = act.perform(&engine, scene).await;
        engine.close().await;
        done
    });
    let micros = u64::try_from(began.elapsed().as_micros())?;
    let failure = done.err().map(|failure| match failure {
        Failure::User(error) => format!("{}; {}", error.message, error.hints.join("; ")),
        Failure::Internal(error) => format!("{error:#}"),
    });
    let heard = std::mem::take(&mut *heard.lock().expect("nobody panics while holding it"));
    Ok(Told { steps: heard.steps, micros, failure, warnings: heard.warnings })
}

/// `strace` counts the calls of each thread. Ours and those of the thread that blocks must not share a number: its own
/// begin after as many that do nothing.
fn count_apart() {
    let nothing = fs::File::open("/dev/null").expect("every system has it");
    for _ in 0..APART {
        let _ = rustix::fs::unlink("");
        let _ = rustix::fs::fsync(&nothing);
    }
}

fn database(text: &str) -> Database {
    if text.starts_with("postgres") { Database::Postgres(text.to_owned()) } else { Database::Sqlite(text.into()) }
}

#[derive(Debug, Default)]
struct Heard {
    steps: Vec<String>,
    warnings: Vec<String>,
}

/// Listens to the engine's log: the steps, and what it warns of.
struct Listener {
    dies: Option<Dies>,
    heard: Arc<Mutex<Heard>>,
}

impl Subscriber for Listener {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_event() && (metadata.target() == steps::TARGET || *metadata.level() <= Level::WARN)
    }

    fn event(&self, event: &Event<'_>) {
        let mut words = Words::default();
        event.record(&mut words);
        let mut heard = self.heard.lock().expect("nobody panics while holding it");
        if event.metadata().target() != steps::TARGET {
            heard.warnings.push(words.all);
            return;
        }
        heard.steps.push(words.step);
        let reached = heard.steps.len();
        drop(heard);
        if let Some(dies) = self.dies.filter(|dies| dies.at == reached) {
            dies.now();
        }
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

impl Dies {
    fn now(self) {
        let wait = Duration::from_micros(self.after_micros);
        if self.goes_on {
            std::thread::spawn(move || die_after(wait));
        } else {
            die_after(wait);
        }
    }
}

fn die_after(wait: Duration) {
    std::thread::sleep(wait);
    let _ = kill_process(getpid(), Signal::KILL);
    loop {
        std::thread::park();
    }
}

#[derive(Default)]
struct Words {
    step: String,
    all: String,
}

impl Visit for Words {
    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == "step" {
            value.clone_into(&mut self.step);
        }
        self.record_debug(field, &value);
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let _ = write!(self.all, "{}={value:?} ", field.name());
    }
}
