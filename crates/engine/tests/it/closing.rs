//! The close of an issue or pull request: who keeps the environment, and what becomes of it.

use std::fs;

use hedgerow_core::environment::TrashedBecause;
use hedgerow_core::platform::{ConversationKey, PlatformKind};
use hedgerow_core::{Environment, State, Work};
use hedgerow_engine::engine::{Swept, SweptOutcome};
use hedgerow_testkit::git::git;
use hedgerow_testkit::repo::{commit, write};
use hedgerow_testkit::world::alice;
use hedgerow_testkit::{Tree, World};

use crate::acts::{Acts as _, Scene, is_there};

use SweptOutcome::{Forgotten, Kept, Removed};

const ISSUE: &str = "acme/shop#42";
const PR: &str = "acme/shop#99";

fn key(id: &str) -> ConversationKey {
    ConversationKey { platform: PlatformKind::Github, id: id.to_owned() }
}

async fn closes(world: &World, id: &str, environment: &Environment) -> Swept {
    world.engine.cleanup_on_close(&key(id), environment, &alice()).await.expect("a line")
}

fn told(line: &Swept) -> (SweptOutcome, &str) {
    (line.outcome, line.because.as_str())
}

/// Who refers to the environment.
async fn users(world: &World, environment: &Environment) -> Vec<String> {
    let keys = world.engine.store().conversations_of(environment.id).await.expect("the store answers");
    keys.into_iter().map(|key| key.id).collect()
}

/// The environment of issue 42, with its conversation.
async fn scene() -> Scene {
    let scene = Scene::begin().await;
    scene.world.talks(PlatformKind::Github, ISSUE, &scene.environment).await;
    scene
}

#[tokio::test(flavor = "multi_thread")]
async fn an_issue_leaves_its_environment_to_the_pull_request_whose_merge_removes_it() {
    let scene = scene().await;
    scene.world.talks(PlatformKind::Github, PR, &scene.environment).await;
    commit(scene.path(), "a", "1\n");
    commit(scene.path(), "b", "2\n");
    let line = closes(&scene.world, ISSUE, &scene.environment).await;
    assert_eq!(told(&line), (Kept, "still used by github:acme/shop#99"));
    assert_eq!(users(&scene.world, &scene.environment).await, [PR]);
    assert!(is_there(scene.path()));

    // The forge takes it in as commits of its own; only the remote knows.
    scene.repo.commit_on_origin("main", "other", "3\n");
    scene.repo.commit_on_origin("main", "a", "1\n");
    scene.repo.commit_on_origin("main", "b", "2\n");
    let line = closes(&scene.world, PR, &scene.environment).await;
    assert_eq!((line.name.as_str(), told(&line)), ("issue-42", (Removed, "closed")));
    let trash = scene.row().await.trash.expect("it is in the trash");
    assert_eq!((trash.because, trash.branch_deleted), (TrashedBecause::Closed, true), "all of it is in the base");
    assert!(!is_there(scene.path()) && users(&scene.world, &scene.environment).await.is_empty());
    assert_eq!(scene.repo.branches(), ["main"]);
    let back = scene.restores().await.expect("it comes back").environment;
    assert_eq!(git(&back.path, &["rev-list", "--count", "main..HEAD"]), "2", "with its own commits");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_closed_unmerged_goes_and_its_branch_stays() {
    let scene = scene().await;
    let head = commit(scene.path(), "a", "1\n");
    let line = closes(&scene.world, ISSUE, &scene.environment).await;
    assert_eq!(told(&line), (Removed, "closed"));
    assert_eq!(scene.repo.rev("issue-42"), Some(head), "its commits are nowhere else");
    // It is reopened, and somebody asks for it.
    let back = scene.world.environment(&scene.codebase, Work::Issue(42)).await;
    assert_eq!(back.id, scene.environment.id);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_close_that_is_told_late_or_twice_does_no_harm() {
    let scene = scene().await;
    assert_eq!(closes(&scene.world, ISSUE, &scene.environment).await.outcome, Removed);
    let line = closes(&scene.world, ISSUE, &scene.environment).await;
    assert_eq!(told(&line), (Kept, "it is in the trash already"));
    // By now the conversation is about another environment.
    let newer = scene.world.environment(&scene.codebase, Work::Issue(43)).await;
    scene.world.talks(PlatformKind::Github, ISSUE, &newer).await;
    closes(&scene.world, ISSUE, &scene.environment).await;
    assert_eq!(users(&scene.world, &newer).await, [ISSUE]);
    assert!(is_there(&newer.path));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_protected_stays_and_the_reference_goes() {
    for (what, because) in [
        ("changes", "uncommitted changes"),
        ("rebase", "bisect in progress"),
        ("pin", "pinned"),
        ("telegram", "still used by telegram:7"),
        ("run", "a run is active"),
        ("lock", "locked by someone else: backup"),
    ] {
        let scene = scene().await;
        let (world, path) = (&scene.world, scene.path().to_str().expect("a plain path"));
        match what {
            "changes" => write(scene.path(), "notes", "mine\n"),
            "rebase" => drop(scene.git(&["bisect", "start"])),
            "pin" => drop(world.engine.pin(&scene.environment, true, &alice()).await.expect("pinned")),
            "telegram" => world.talks(PlatformKind::Telegram, "7", &scene.environment).await,
            "run" => {
                let now = world.engine.store_now().await.expect("the store answers");
                let lease = world.engine.store().take_lease(scene.environment.id, "wren:1", now, 3600);
                lease.await.expect("answers").expect("free");
            }
            _ => {
                scene.repo.git(&["worktree", "unlock", path]);
                scene.repo.git(&["worktree", "lock", "--reason", "backup", path]);
            }
        }
        let before = Tree::of(scene.path());
        let line = closes(world, ISSUE, &scene.environment).await;
        assert_eq!(told(&line), (Kept, because), "{what}");
        assert!(!users(world, &scene.environment).await.contains(&ISSUE.to_owned()), "{what}");
        assert_eq!(before.differences(&Tree::of(scene.path())), Vec::<String>::new(), "{what}");
        assert_eq!(scene.row().await.state, State::Active, "{what}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_adopted_worktree_outlives_every_conversation() {
    let scene = Scene::begin().await;
    let mine = scene.world.folder().join("mine");
    scene.repo.git(&["worktree", "add", "--quiet", "-b", "mine", mine.to_str().expect("a plain path")]);
    let adopted = scene.world.engine.adopt(&scene.codebase, &mine, &alice()).await.expect("adopted").environment;
    scene.world.talks(PlatformKind::Github, PR, &adopted).await;
    assert_eq!(told(&closes(&scene.world, PR, &adopted).await), (Kept, "adopted"));
    assert!(is_there(&mine) && users(&scene.world, &adopted).await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_gone_is_forgotten_and_what_is_away_is_not() {
    let gone = scene().await;
    fs::remove_dir_all(gone.path()).expect("deleted");
    assert_eq!(told(&closes(&gone.world, ISSUE, &gone.environment).await), (Forgotten, "its folder was gone"));
    assert_eq!(told(&closes(&gone.world, ISSUE, &gone.environment).await), (Kept, "it is gone already"));

    let away = scene().await;
    fs::rename(&away.world.settings().worktrees, away.world.folder().join("away")).expect("the disk goes");
    assert_eq!(closes(&away.world, ISSUE, &away.environment).await.outcome, Kept);
    assert_eq!(away.row().await.state, State::Active);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_that_never_used_it_is_not_written_down() {
    let scene = scene().await;
    let line = closes(&scene.world, PR, &scene.environment).await;
    assert_eq!(told(&line), (Kept, "still used by github:acme/shop#42"));
    assert_eq!(users(&scene.world, &scene.environment).await, [ISSUE]);
}
