//! What several of these stories do.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use hedgerow_core::platform::{ConversationKey, PlatformKind};
use hedgerow_core::{Codebase, Environment, Work};
use hedgerow_engine::engine::{Removed, Resolved};
use hedgerow_engine::{Clock as _, Failure};
use hedgerow_testkit::git::git;
use hedgerow_testkit::world::alice;
use hedgerow_testkit::{TestRepo, World};

/// A world with a repository and the environment of issue 42 in it.
pub(crate) struct Scene {
    pub(crate) world: World,
    pub(crate) repo: TestRepo,
    pub(crate) codebase: Codebase,
    pub(crate) environment: Environment,
}

impl Scene {
    pub(crate) async fn begin() -> Self {
        let world = World::new().await;
        let (repo, codebase) = world.given_a_repo("shop").await;
        Self::of(world, repo, codebase).await
    }

    pub(crate) async fn of(world: World, repo: TestRepo, codebase: Codebase) -> Self {
        let environment = world.environment(&codebase, Work::Issue(42)).await;
        Self { world, repo, codebase, environment }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.environment.path
    }

    /// git in the environment, as an agent would run it.
    pub(crate) fn git(&self, args: &[&str]) -> String {
        git(self.path(), args)
    }

    pub(crate) async fn removes(&self) -> Result<Removed, Failure> {
        self.world.removes(&self.environment, false).await
    }

    pub(crate) async fn forces(&self) -> Result<Removed, Failure> {
        self.world.removes(&self.environment, true).await
    }

    pub(crate) async fn restores(&self) -> Result<Resolved, Failure> {
        self.world.engine.restore(&self.codebase, "issue-42", &alice()).await
    }

    pub(crate) async fn row(&self) -> Environment {
        self.world.row(&self.environment).await
    }

    /// The words of the events of the environment, in order.
    pub(crate) async fn events(&self) -> Vec<String> {
        let events = self.world.engine.store().events_of(self.environment.id).await.expect("the store answers");
        events.into_iter().map(|event| event.what).collect()
    }
}

pub(crate) trait Acts {
    async fn removes(&self, environment: &Environment, force: bool) -> Result<Removed, Failure>;
    async fn talks(&self, platform: PlatformKind, id: &str, environment: &Environment);
}

impl Acts for World {
    async fn removes(&self, environment: &Environment, force: bool) -> Result<Removed, Failure> {
        self.engine.remove(environment, force, &alice()).await
    }

    /// A conversation refers to an environment.
    async fn talks(&self, platform: PlatformKind, id: &str, environment: &Environment) {
        let now = self.clock.now();
        let key = ConversationKey { platform, id: id.to_owned() };
        let conversation = self.engine.store().conversation(&key, now).await.expect("a conversation");
        self.engine.store().point(conversation.id, Some(environment.id), now).await.expect("it can be pointed");
    }
}

/// The admin folder of a worktree, as its `.git` names it.
pub(crate) fn admin(worktree: &Path) -> PathBuf {
    PathBuf::from(git(worktree, &["rev-parse", "--absolute-git-dir"]))
}

/// A program that stands in for git, and what it does first: a shell script that ends in the real one.
pub(crate) fn git_that(folder: &Path, first: &str) -> PathBuf {
    fs::create_dir_all(folder).expect("a folder for it");
    let path = folder.join("git-wrapper");
    // Written by another process: a file that this one has open for writing while a neighbour forks cannot be run.
    let written = Command::new("sh")
        .args(["-c", "printf '%s' \"$SCRIPT\" > \"$0\" && chmod 755 \"$0\""])
        .arg(&path)
        .env("SCRIPT", format!("#!/bin/sh\n{first}\nexec git \"$@\"\n"))
        .status();
    assert!(written.expect("a shell").success());
    path
}

/// `path` exists, in whatever form.
pub(crate) fn is_there(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}
