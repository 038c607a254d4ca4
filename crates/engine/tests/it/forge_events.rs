//! What a forge tells, from its event to what becomes of it: which repository, who may ask, who is meant, how it stands.

mod cloning;
mod closing;
mod people;
mod refusing;
mod restricting;
mod showing;

use std::sync::Arc;

use hedgerow_core::environment::Actor;
use hedgerow_core::message::RawEvent;
use hedgerow_core::{Codebase, Environment, State};
use hedgerow_engine::Settings;
use hedgerow_testkit::{Board, Office, TestRepo};

const SHOP: &str = "acme/shop";

/// An office on a forge, with a clone of `acme/shop`. `boss` is an admin.
struct Scene {
    office: Office,
    board: Arc<Board>,
    repo: TestRepo,
    codebase: Codebase,
}

impl Scene {
    async fn begin() -> Self {
        let (office, board) = empty(|_| {}).await;
        let (repo, codebase) = hosts(&office, &board, "shop").await;
        Self { office, board, repo, codebase }
    }

    /// Alice says something about issue 42.
    fn says(&self, text: &str) -> RawEvent {
        said(&self.office, SHOP, 42, "alice", text)
    }

    /// The live environment of this name.
    async fn environment(&self, name: &str) -> Environment {
        self.find(name).await.unwrap_or_else(|| panic!("no environment {name}"))
    }

    async fn find(&self, name: &str) -> Option<Environment> {
        let live = self.office.engine.store().live(self.codebase.id).await.expect("the store answers");
        live.into_iter().find(|environment| environment.name() == name)
    }

    async fn state(&self, environment: &Environment) -> State {
        self.office.row(environment).await.state
    }
}

/// An office on a forge that has no clone of anything.
async fn empty(change: impl FnOnce(&mut Settings)) -> (Office, Arc<Board>) {
    let board = Board::new();
    let office = Office::with(|settings| {
        settings.forges = board.forges();
        settings.runs.admins.push(Actor::new("github", "boss"));
        change(settings);
    })
    .await;
    (office, board)
}

/// A clone of `acme/<name>`, registered.
async fn hosts(office: &Office, board: &Board, name: &str) -> (TestRepo, Codebase) {
    let (repo, codebase) = office.given_a_repo(name).await;
    board.hosts(&format!("acme/{name}"), codebase.remote.clone().expect("it has a remote"));
    (repo, codebase)
}

/// What somebody says about an issue.
fn said(office: &Office, repository: &str, number: u64, author: &str, text: &str) -> RawEvent {
    let saying = office.forge.says(&format!("{repository}#{number}"), author, text);
    saying.repository(repository).about(&format!("issue-{number}")).raw()
}

/// The last thing that was said there.
fn last(office: &Office, conversation: &str) -> String {
    office.forge.said_in(conversation).pop().map(|(text, _)| text).unwrap_or_default()
}
