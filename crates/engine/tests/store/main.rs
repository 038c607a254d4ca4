//! One story of the store, told on whichever database the tests run on.

mod chores;
mod codebases;
mod conversations;
mod environments;
mod find;
mod inserting;
mod leases;
mod messages;
mod opening;
mod ports;
mod saving;
mod words;

use std::path::PathBuf;

use hedgerow_core::environment::{Actor, NamedWork, Trash, TrashedBecause};
use hedgerow_core::{BranchName, Codebase, CodebaseId, CommitSha, Environment, EnvironmentId, State, Timestamp, Work};
use hedgerow_engine::store::{Inserted, NewEvent, Store};
use hedgerow_testkit::database::TestDatabase;

/// A database with one codebase in it.
struct Scene {
    database: TestDatabase,
    store: Store,
    codebase: CodebaseId,
}

impl Scene {
    async fn begin() -> Self {
        let database = TestDatabase::new().await;
        let store = database.store().await;
        let shop = codebase("shop");
        store.add_codebase(&shop, &alice()).await.expect("the first codebase");
        Self { database, store, codebase: shop.id }
    }

    fn draft(&self, work: Work) -> Environment {
        draft(self.codebase, work)
    }

    /// Inserts without a limit, at the draft's own path.
    async fn made(&self, draft: &Environment) -> Environment {
        match self.insert(draft, None).await {
            Inserted::Written(environment) => environment,
            other => panic!("{other:?}"),
        }
    }

    async fn insert(&self, draft: &Environment, limit: Option<u32>) -> Inserted {
        insert(&self.store, draft, limit).await
    }

    async fn issue(&self, number: u64) -> Environment {
        self.made(&self.draft(Work::Issue(number))).await
    }

    async fn saved(&self, environment: &Environment, change: impl FnOnce(&mut Environment)) -> Environment {
        let mut changed = environment.clone();
        change(&mut changed);
        let expected = (environment.state, environment.generation);
        self.store.save(&changed, expected, &event("changed")).await.expect("saved");
        self.read(environment.id).await
    }

    async fn trashed(&self, environment: &Environment, at: i64) -> Environment {
        self.saved(environment, |environment| {
            environment.state = State::Trashed;
            environment.trash = Some(trash(at));
        })
        .await
    }

    async fn read(&self, id: EnvironmentId) -> Environment {
        self.store.environment(id).await.expect("readable").expect("there")
    }
}

async fn insert(store: &Store, draft: &Environment, limit: Option<u32>) -> Inserted {
    store
        .insert(draft, std::slice::from_ref(&draft.path), limit, &event("environment-created"))
        .await
        .expect("inserted or refused")
}

fn alice() -> Actor {
    Actor::new("terminal", "alice")
}

fn time(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis)
}

fn event(what: &'static str) -> NewEvent {
    NewEvent::new(time(5), &alice(), what)
}

fn branch(name: &str) -> BranchName {
    BranchName::parse(name).expect("a branch name")
}

fn sha(digit: char) -> CommitSha {
    CommitSha::parse(&digit.to_string().repeat(40)).expect("a sha")
}

fn named(work: Work) -> NamedWork {
    NamedWork { name: work.to_string(), work }
}

fn trash(at: i64) -> Trash {
    Trash {
        path: PathBuf::from(format!("/trash/{at}")),
        at: time(at),
        because: TrashedBecause::Asked,
        head: Some(sha('a')),
        was_detached: false,
        branch_deleted: true,
    }
}

fn codebase(name: &str) -> Codebase {
    Codebase {
        id: CodebaseId::new(),
        name: name.to_owned(),
        path: PathBuf::from(format!("/code/{name}")),
        folder: name.to_owned(),
        remote: Some(format!("https://example.com/{name}.git")),
        remote_name: None,
        base_branch: Some(branch("main")),
        fingerprint: "f1".to_owned(),
        created_at: time(1),
    }
}

fn draft(codebase: CodebaseId, work: Work) -> Environment {
    let named = named(work);
    let path = PathBuf::from(format!("/environments/{}", named.name));
    Environment {
        node: "here".to_owned(),
        branch_made: true,
        base: Some(branch("main")),
        base_sha: Some(sha('b')),
        works: vec![named.clone()],
        ..Environment::new(EnvironmentId::new(), codebase, branch(&named.name), path, alice(), time(10))
    }
}
