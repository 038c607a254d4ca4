//! What must never be touched: other people's branches, worktrees and files, and another Hedgerow's environments.

use std::fs;

use hedgerow_core::provider::Note;
use hedgerow_core::{Kind, State, Work};
use hedgerow_engine::engine::{Sweep, SweptOutcome};
use hedgerow_engine::{Engine, Settings};
use hedgerow_testkit::git::{git, try_git};
use hedgerow_testkit::repo::{commit, write};
use hedgerow_testkit::world::{alice, words};
use hedgerow_testkit::{TestRepo, World};

#[tokio::test(flavor = "multi_thread")]
async fn removing_in_a_copied_repository_leaves_the_originals_worktrees_alone() {
    let world = World::new().await;
    let original = TestRepo::without_remote(world.folder(), "original");
    let mine = world.folder().join("mine");
    original.git(&["worktree", "add", "--quiet", &mine.to_string_lossy()]);
    let before = fs::read_to_string(mine.join(".git")).expect("a linked worktree");
    let copy = world.folder().join("copy");
    let copied = std::process::Command::new("cp").arg("-a").arg(original.path()).arg(&copy).status();
    assert!(copied.expect("cp").success());

    let codebase = world.register(&TestRepo::at(&copy)).await;
    let made = world.environment(&codebase, Work::Task("x".into())).await;
    world.engine.remove(&made, true, &alice()).await.expect("it goes");
    world.engine.restore(&codebase, "task-x", &alice()).await.expect("it comes back");

    assert_eq!(fs::read_to_string(mine.join(".git")).expect("still linked"), before);
    assert_eq!(git(&made.path, &["status", "--porcelain"]), "");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_branch_whose_beginnings_are_nowhere_else_stays() {
    let world = World::new().await;
    let (repo, codebase) = world.given_a_repo_without_remote("shop").await;
    let last = repo.commit("last.txt", "only here");
    let made = world.environment(&codebase, Work::Issue(5)).await;
    repo.git(&["reset", "--quiet", "--hard", "HEAD~1"]);

    world.engine.remove(&made, false, &alice()).await.expect("it goes");

    assert_eq!(repo.rev("issue-5"), Some(last));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_ignored_file_is_worth_more_than_a_moved_head() {
    let world = World::new().await;
    let (repo, codebase) = world.given_a_repo("shop").await;
    repo.commit(".gitignore", "secret.env\n");
    repo.push("main");
    repo.commit_on_origin("feature/auth", "auth.txt", "one");
    let made = world.gets(&world.asks_for_pr(&codebase, 99, "feature/auth")).await.environment;
    write(&made.path, "secret.env", "mine");
    let elsewhere = world.folder().join("elsewhere");
    git(
        world.folder(),
        &["clone", "--quiet", "--branch", "feature/auth", &repo.origin().to_string_lossy(), "elsewhere"],
    );
    write(&elsewhere, "secret.env", "theirs");
    git(&elsewhere, &["add", "--force", "secret.env"]);
    git(&elsewhere, &["commit", "--quiet", "-m", "A secret"]);
    git(&elsewhere, &["push", "--quiet"]);
    let news = TestRepo::at(&elsewhere).rev("HEAD").expect("a commit");

    let mut again = world.asks_for_pr(&codebase, 99, "feature/auth");
    again.hints.pr_head = Some(news.clone());
    let kept = world.gets(&again).await;

    assert_eq!(kept.notes, [Note::HeadMovedKept { to: news }]);
    assert_eq!(fs::read_to_string(made.path.join("secret.env")).expect("still there"), "mine");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_moved_head_does_not_move_another_branch_that_someone_switched_to() {
    let world = World::new().await;
    let (repo, codebase) = world.given_a_repo("shop").await;
    repo.commit_on_origin("feature/auth", "auth.txt", "one");
    let made = world.gets(&world.asks_for_pr(&codebase, 99, "feature/auth")).await.environment;
    git(&made.path, &["switch", "--quiet", "-c", "backup"]);
    let before = repo.rev("backup");
    let news = repo.commit_on_origin("feature/auth", "auth.txt", "two");

    let mut again = world.asks_for_pr(&codebase, 99, "feature/auth");
    again.hints.pr_head = Some(news.clone());
    assert_eq!(world.gets(&again).await.notes, [Note::HeadMovedKept { to: news }]);
    assert_eq!(repo.rev("backup"), before);
}

/// Another Hedgerow on the same machine, with a home and a store of its own.
async fn another_hedgerow(world: &World) -> Engine {
    let home = world.folder().join("other-home");
    let settings = Settings {
        worktrees: home.join("worktrees"),
        database: hedgerow_engine::store::Database::Sqlite(home.join("hedgerow.db")),
        home,
        ..world.settings().clone()
    };
    Engine::open(settings, world.clock.clone()).await.expect("it opens")
}

#[tokio::test(flavor = "multi_thread")]
async fn another_hedgerows_environments_are_neither_swept_nor_taken() {
    let world = World::new().await;
    let (repo, codebase) = world.given_a_repo("shop").await;
    let theirs = world.environment(&codebase, Work::Issue(1)).await;
    let other = another_hedgerow(&world).await;
    let shop = other.codebase_at(repo.path(), &alice()).await.expect("it can be registered").codebase;

    let report = other.cleanup(&shop, Sweep::Orphans, false, &alice()).await.expect("a report");
    assert_eq!(report.iter().map(|line| line.outcome).collect::<Vec<_>>(), [SweptOutcome::Listed]);
    let refused = other.adopt(&shop, &theirs.path, &alice()).await.expect_err("it is not ours");
    assert_eq!(refused.kind(), Kind::Protected, "{}", words(&refused));
    assert!(theirs.path.is_dir());
    assert_eq!(world.row(&theirs).await.state, State::Active);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_index_and_submodules_of_a_folder_that_is_gone_are_set_aside_and_not_deleted() {
    let world = World::new().await;
    let (repo, codebase) = world.given_a_repo("shop").await;
    let made = world.environment(&codebase, Work::Issue(1)).await;
    commit(&made.path, "a.txt", "committed");
    write(&made.path, "b.txt", "only staged");
    git(&made.path, &["add", "b.txt"]);
    let blob = git(&made.path, &["hash-object", "b.txt"]);
    fs::rename(&made.path, world.folder().join("moved-by-hand")).expect("moved");

    world.environment(&codebase, Work::Issue(1)).await;

    let lost = repo.path().join(".git/hedgerow-lost");
    let index = fs::read_dir(&lost).expect("set aside").next().expect("one").expect("readable").path().join("index");
    let staged =
        hedgerow_testkit::git::command(repo.path()).env("GIT_INDEX_FILE", &index).args(["ls-files", "-s"]).output();
    assert!(String::from_utf8_lossy(&staged.expect("git").stdout).contains(&blob));
    assert!(try_git(repo.path(), &["cat-file", "-e", &blob]).status.success());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_merged_pull_requests_environment_is_seen_as_merged() {
    let world = World::new().await;
    let (repo, codebase) = world.given_a_repo("shop").await;
    let head = repo.commit_on_origin("feature/auth", "auth.txt", "one");
    world.gets(&world.asks_for_pr(&codebase, 99, "feature/auth")).await;
    git(repo.origin(), &["update-ref", "refs/heads/main", head.as_str()]);

    let report = world.engine.cleanup(&codebase, Sweep::Merged, true, &alice()).await.expect("a report");
    assert_eq!(report[0].outcome, SweptOutcome::WouldRemove, "{}", report[0].because);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_codebase_whose_repository_is_gone_can_be_forgotten_and_its_folders_stay() {
    let world = World::new().await;
    let (repo, codebase) = world.given_a_repo("shop").await;
    let made = world.environment(&codebase, Work::Issue(1)).await;
    write(&made.path, "work.txt", "not committed");
    fs::rename(repo.path(), world.folder().join("gone")).expect("the repository goes away");

    world.engine.remove_codebase(&codebase, &alice()).await.expect("it can be forgotten");

    assert!(world.engine.codebases().await.expect("a list").is_empty());
    assert_eq!(fs::read_to_string(made.path.join("work.txt")).expect("still there"), "not committed");
}
