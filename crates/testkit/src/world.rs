//! A machine with a Hedgerow home, a store, and repositories on it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hedgerow_core::environment::Actor;
use hedgerow_core::platform::{ConversationKey, PlatformKind};
use hedgerow_core::provider::NoProgress;
use hedgerow_core::{BranchName, Codebase, CommitSha, Environment, Hints, Kind, Work};
use hedgerow_engine::engine::{Asking, Request, Resolved};
use hedgerow_engine::settings::Runs;
use hedgerow_engine::store::Database;
use hedgerow_engine::{Clock as _, Engine, Failure, Settings};
use tempfile::TempDir;

use crate::clock::TestClock;
use crate::database::TestDatabase;
use crate::git::hermetic_env;
use crate::repo::TestRepo;

/// One test's world. Everything in it goes away with it.
#[derive(Debug)]
pub struct World {
    pub engine: Engine,
    pub clock: Arc<TestClock>,
    settings: Settings,
    database: TestDatabase,
    folder: TempDir,
}

impl World {
    pub async fn new() -> Self {
        Self::with(|_| {}).await
    }

    /// A world whose settings a test changes first.
    ///
    /// # Panics
    /// When the engine cannot be opened.
    pub async fn with(change: impl FnOnce(&mut Settings)) -> Self {
        let folder = tempfile::Builder::new().prefix("hedgerow-world-").tempdir().expect("a temporary folder");
        let database = TestDatabase::new().await;
        let mut settings = settings_at(folder.path(), database.database());
        change(&mut settings);
        let clock = Arc::new(TestClock::default());
        let engine = Engine::open(settings.clone(), clock.clone()).await.expect("the engine opens");
        Self { engine, clock, settings, database, folder }
    }

    /// Another process on the same machine: the same home and store.
    ///
    /// # Panics
    /// When the engine cannot be opened.
    pub async fn another_engine(&self) -> Engine {
        Engine::open(self.settings.clone(), self.clock.clone()).await.expect("the engine opens again")
    }

    /// The machine restarts: what was unfinished is settled.
    pub async fn restarts(&mut self) {
        self.engine = self.another_engine().await;
    }

    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    pub const fn database(&self) -> &TestDatabase {
        &self.database
    }

    /// A folder that belongs to the test.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// A checkout with an `origin` next door, registered.
    pub async fn given_a_repo(&self, name: &str) -> (TestRepo, Codebase) {
        let repo = TestRepo::with_origin(&self.folder.path().join("code"), name);
        let codebase = self.register(&repo).await;
        (repo, codebase)
    }

    /// A checkout without a remote, registered.
    pub async fn given_a_repo_without_remote(&self, name: &str) -> (TestRepo, Codebase) {
        let repo = TestRepo::without_remote(&self.folder.path().join("code"), name);
        let codebase = self.register(&repo).await;
        (repo, codebase)
    }

    /// # Panics
    /// When it cannot be registered.
    pub async fn register(&self, repo: &TestRepo) -> Codebase {
        self.engine.codebase_at(repo.path(), &alice()).await.expect("it can be registered").codebase
    }

    pub fn asks(&self, codebase: &Codebase, work: Work) -> Request {
        let hints = Hints { work: Some(work.clone()), ..Hints::default() };
        Request {
            codebase: codebase.clone(),
            work,
            hints,
            branch: None,
            conversation: None,
            by: alice(),
            reopened: false,
        }
    }

    /// A request for the very branch a person named.
    pub fn asks_for_branch(&self, codebase: &Codebase, name: &str) -> Request {
        let branch = branch(name);
        Request { branch: Some(branch), ..self.asks(codebase, Work::Task(name.to_owned())) }
    }

    /// A pull request of this very repository.
    pub fn asks_for_pr(&self, codebase: &Codebase, number: u64, head: &str) -> Request {
        let mut request = self.asks(codebase, Work::PullRequest(number));
        request.hints.pr_branch = Some(branch(head));
        request
    }

    /// A pull request from somebody else's repository.
    pub fn asks_for_fork(&self, codebase: &Codebase, number: u64, sha: Option<&CommitSha>) -> Request {
        let mut request = self.asks(codebase, Work::PullRequest(number));
        request.hints.is_fork = true;
        request.hints.pr_branch = Some(branch("main"));
        request.hints.pr_head = sha.cloned();
        request
    }

    /// The same request, coming from a conversation as the store knows it now.
    pub async fn from_conversation(&self, name: &str, request: Request) -> Request {
        let key = ConversationKey { platform: PlatformKind::Github, id: name.to_owned() };
        let known = self.engine.store().conversation(&key, self.clock.now()).await.expect("the store answers");
        let asking = Asking { conversation: known.id, environment: known.environment };
        Request { conversation: Some(asking), ..request }
    }

    /// Resolves a request that must succeed.
    ///
    /// # Panics
    /// When it does not.
    pub async fn gets(&self, request: &Request) -> Resolved {
        self.resolve(request).await.expect("an environment")
    }

    /// Resolves a request that must fail, for what the person reads.
    ///
    /// # Panics
    /// When it succeeds, or fails for a reason of our own.
    pub async fn fails(&self, request: &Request) -> (Kind, String) {
        let failure = self.resolve(request).await.expect_err("no environment");
        (failure.kind(), words(&failure))
    }

    /// Resolves a request.
    pub async fn resolve(&self, request: &Request) -> Result<Resolved, Failure> {
        self.engine.resolve(request, &NoProgress).await
    }

    /// An environment for a work, whatever way.
    ///
    /// # Panics
    /// When it cannot be had.
    pub async fn environment(&self, codebase: &Codebase, work: Work) -> Environment {
        self.resolve(&self.asks(codebase, work)).await.expect("an environment").environment
    }

    /// The row as it is now.
    ///
    /// # Panics
    /// When there is none.
    pub async fn row(&self, environment: &Environment) -> Environment {
        self.engine.store().environment(environment.id).await.expect("the store answers").expect("the row is there")
    }
}

/// The settings of a world whose folder this is.
pub(crate) fn settings_at(folder: &Path, database: Database) -> Settings {
    let home = folder.join("home");
    Settings {
        worktrees: home.join("worktrees"),
        home,
        database,
        node: "here".to_owned(),
        limit: 25,
        stale_after_days: 14,
        cleanup_every_hours: 6,
        trash_keep_days: 7,
        vault_keep_days: 30,
        // The disk of the machine that runs the tests is not part of them.
        low_space_percent: 0,
        branch_prefix: String::new(),
        pull_ref: "refs/pull/{number}/head".to_owned(),
        remote: None,
        base_branch: None,
        allowed_root: None,
        skill_registry: Some(folder.join("person/.claude/worktree-registry.json")),
        skill_folder: Some(folder.join("person/tmp/worktrees")),
        git: PathBuf::from("git"),
        git_env: hermetic_env(),
        git_name: None,
        git_email: None,
        runs: Runs::default(),
        gateway: None,
        forges: hedgerow_engine::Forges::default(),
    }
}

/// # Panics
/// When git would not take it.
pub fn branch(name: &str) -> BranchName {
    BranchName::parse(name).expect("a branch name")
}

/// The person in most tests.
pub fn alice() -> Actor {
    Actor::new("terminal", "alice")
}

/// The text and hints of a failure that a person would read.
///
/// # Panics
/// When it is an internal failure.
pub fn words(failure: &Failure) -> String {
    match failure {
        Failure::User(error) => {
            let mut lines = vec![error.message.clone()];
            lines.extend(error.hints.iter().map(|hint| format!("hint: {hint}")));
            lines.join("\n")
        }
        Failure::Internal(error) => panic!("an internal failure: {error:?}"),
    }
}
