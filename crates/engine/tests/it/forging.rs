//! Work that goes to a forge: pushed, proposed, followed, and merged there.

mod following;
mod opening;
mod proposing;
mod pushing;
mod shelf;
mod wishing;

use std::sync::Arc;

use hedgerow_core::{Codebase, CommitSha, Environment, Kind, Work};
use hedgerow_engine::Outcome;
use hedgerow_engine::pull_requests::Proposed;
use hedgerow_engine::replies;
use hedgerow_testkit::git::git;
use hedgerow_testkit::world::{alice, words};
use hedgerow_testkit::{Board, TestRepo, World};

const SHOP: &str = "acme/shop";

/// A machine with one codebase that is on a forge.
struct Yard {
    world: World,
    board: Arc<Board>,
    repo: TestRepo,
    codebase: Codebase,
}

impl Yard {
    async fn begin() -> Self {
        let board = Board::new();
        let world = World::with(|settings| settings.forges = board.forges()).await;
        let (repo, codebase) = world.given_a_repo("shop").await;
        board.hosts(SHOP, repo.origin().display().to_string());
        Self { world, board, repo, codebase }
    }

    /// Another checkout of a remote of the same repository.
    async fn registers(&self, repo: &TestRepo) -> Codebase {
        self.board.hosts(SHOP, repo.origin().display().to_string());
        self.world.register(repo).await
    }

    async fn issue(&self, number: u64) -> Environment {
        self.world.environment(&self.codebase, Work::Issue(number)).await
    }

    async fn tries(&self, environment: &Environment) -> Outcome<Proposed> {
        self.world.engine.propose(&self.world.row(environment).await, &alice()).await
    }

    /// Proposes it, which must work.
    async fn proposes(&self, environment: &Environment) -> (Proposed, String) {
        let proposed = self.tries(environment).await.expect("a pull request");
        let told = replies::proposed(&proposed);
        (proposed, told)
    }

    /// Proposes it, which must be refused.
    async fn refuses(&self, environment: &Environment) -> (Kind, String) {
        let failure = self.tries(environment).await.expect_err("a refusal");
        (failure.kind(), words(&failure))
    }

    /// Where a branch of the remote is.
    fn remote(&self, branch: &str) -> Option<CommitSha> {
        let list =
            git(self.repo.origin(), &["for-each-ref", "--format=%(objectname)", &format!("refs/heads/{branch}")]);
        CommitSha::parse(list.trim()).ok()
    }
}
