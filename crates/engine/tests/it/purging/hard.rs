//! States that are hard to save: each was once lost, came back different, or could never be purged.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use hedgerow_core::environment::Actor;
use hedgerow_core::{Kind, State};
use hedgerow_engine::engine::SweptOutcome;
use hedgerow_testkit::World;
use hedgerow_testkit::git::{git, hermetic_env};
use hedgerow_testkit::repo::{TestRepo, commit, write};
use hedgerow_testkit::world::{alice, words};

use crate::acts::{Scene, admin};

/// git that may fail: whether it did.
fn tries(at: &Path, args: &[&str]) -> bool {
    let git = Command::new("git").args(args).envs(hermetic_env()).env("GIT_EDITOR", "false").current_dir(at).output();
    git.expect("git runs").status.success()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_round_does_not_let_go_of_what_it_saves() {
    let world = World::with(|settings| settings.vault_keep_days = 1).await;
    let (repo, codebase) = world.given_a_repo("shop").await;
    let scene = Scene::of(world, repo, codebase).await;
    let by = Actor::automation();
    scene.world.engine.tick(false, &by).await.expect("a round");
    write(scene.path(), "new.txt", "precious\n");
    scene.forces().await.expect("it goes to the trash");
    scene.world.clock.days_pass(8);
    let round = scene.world.engine.tick(false, &by).await.expect("a round");
    assert_eq!(round.lines().map(|line| line.outcome).collect::<Vec<_>>(), [SweptOutcome::Purged]);
    scene.restores().await.expect("it comes back");
    assert_eq!(fs::read_to_string(scene.path().join("new.txt")).expect("it is there"), "precious\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stopped_merge_with_a_commit_that_was_public_can_be_finished() {
    let scene = Scene::begin().await;
    let main = scene.repo.path();
    git(main, &["switch", "-q", "-c", "theirs"]);
    commit(main, "README.md", "theirs\n");
    git(main, &["push", "-q", "origin", "theirs"]);
    git(main, &["fetch", "-q", "origin"]);
    git(main, &["switch", "-q", "main"]);
    git(main, &["branch", "-q", "-D", "theirs"]);
    commit(scene.path(), "README.md", "ours\n");
    assert!(!tries(scene.path(), &["merge", "origin/theirs"]), "it stops");
    scene.purges().await;
    git(main, &["push", "-q", "--force", "origin", "main:theirs"]);
    git(main, &["fetch", "-q", "--prune", "origin"]);
    scene.collects();
    scene.restores().await.expect("it comes back");
    write(scene.path(), "README.md", "both\n");
    scene.git(&["add", "README.md"]);
    scene.git(&["commit", "-q", "-m", "merged"]);
    git(main, &["fsck", "--connectivity-only"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_index_that_remembers_trees_does_not_break_the_repository() {
    let scene = Scene::begin().await;
    write(scene.path(), "deep/file", "2\n");
    scene.git(&["add", "deep"]);
    assert!(!tries(scene.path(), &["commit"]), "nobody writes a message");
    scene.comes_back().await;
    scene.collects();
    assert_eq!(scene.git(&["diff", "--cached", "--name-only"]).trim(), "deep/file");
}

#[tokio::test(flavor = "multi_thread")]
async fn bytes_that_a_filter_or_an_encoding_made_come_back_as_they_were() {
    let scene = Scene::begin().await;
    let at = scene.path();
    // Of one length in both forms, and the attributes themselves are not tracked.
    write(at, ".gitattributes", "*.utf16 working-tree-encoding=UTF-16LE\n*.rot filter=rot\n");
    let text: Vec<u8> = "привет".encode_utf16().flat_map(u16::to_le_bytes).collect();
    fs::write(at.join("a.utf16"), &text).expect("a file");
    write(at, "b.rot", "hello\n");
    let turn = "filter.rot.clean=tr a-z n-za-m";
    scene.git(&["-c", turn, "add", "a.utf16", "b.rot"]);
    scene.git(&["-c", turn, "commit", "-q", "-m", "converted"]);
    scene.comes_back().await;
    assert_eq!(fs::read(at.join("a.utf16")).expect("it is there"), text);
    assert_eq!(fs::read_to_string(at.join("b.rot")).expect("it is there"), "hello\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn odd_links_a_split_index_and_small_packs_are_no_obstacle() {
    let scene = Scene::begin().await;
    let at = scene.path();
    symlink("a//b/./c/", at.join("odd")).expect("a link");
    symlink("x".repeat(300), at.join("long")).expect("a link");
    scene.git(&["config", "pack.packSizeLimit", "1m"]);
    for name in ["one", "two", "three"] {
        let mut noise = vec![0_u8; 900_000];
        let mut seed = u32::from(name.as_bytes()[0]);
        for byte in &mut noise {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            *byte = (seed >> 24) as u8;
        }
        fs::write(at.join(name), noise).expect("a file");
    }
    scene.git(&["add", "."]);
    scene.git(&["commit", "-q", "-m", "large"]);
    scene.git(&["update-index", "--split-index"]);
    write(at, "new", "new\n");
    let before = super::tree(at);
    scene.comes_back().await;
    assert_eq!(before.differences(&super::tree(at)), Vec::<String>::new());
    assert_eq!(fs::read_link(at.join("odd")).expect("a link").as_os_str(), "a//b/./c/");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worktree_inside_an_environment_keeps_it_where_it_is() {
    let scene = Scene::begin().await;
    let inner = scene.path().join("inner");
    scene.git(&["worktree", "add", "-q", "--detach", "inner"]);
    commit(&inner, "a", "a\n");
    let refusal = scene.forces().await.expect_err("it is refused");
    assert_eq!(refusal.kind(), Kind::Protected);
    assert!(words(&refusal).contains("another worktree is inside it"), "{}", words(&refusal));
    assert_eq!(scene.row().await.state, State::Active);
    git(&inner, &["status"]);
    let outside = scene.world.folder().join("inner");
    git(scene.repo.path(), &["worktree", "move", inner.to_str().expect("text"), outside.to_str().expect("text")]);
    scene.forces().await.expect("now it goes");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_saved_yet_stays_in_the_trash_and_comes_back() {
    let scene = Scene::begin().await;
    scene.git(&["checkout", "-q", "--orphan", "pages"]);
    scene.git(&["rm", "-rfq", "--cached", "."]);
    write(scene.path(), "index.html", "site\n");
    scene.git(&["add", "index.html"]);
    scene.forces().await.expect("it goes to the trash");
    let refusal = scene.world.engine.purge(&scene.row().await, &alice()).await.expect_err("it is refused");
    assert!(words(&refusal).contains("branch without any commit"), "{}", words(&refusal));
    assert_eq!(scene.row().await.state, State::Trashed);

    let world = World::new().await;
    let at = world.folder().join("reftable");
    fs::create_dir(&at).expect("a folder");
    if !tries(&at, &["init", "-q", "--ref-format=reftable", "-b", "main", "."]) {
        return;
    }
    commit(&at, "README.md", "hello\n");
    let repo = TestRepo::at(&at);
    let codebase = world.register(&repo).await;
    let scene = Scene::of(world, repo, codebase).await;
    scene.forces().await.expect("it goes to the trash");
    let refusal = scene.world.engine.purge(&scene.row().await, &alice()).await.expect_err("it is refused");
    assert!(words(&refusal).contains("cannot be saved yet"), "{}", words(&refusal));
    scene.restores().await.expect("it comes back");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_could_be_undone_can_be_after_a_purge() {
    let scene = Scene::begin().await;
    let engine = &scene.world.engine;
    write(scene.path(), "kept.txt", "before\n");
    engine.checkpoint(&scene.environment, Some("before the turn"), &alice()).await.expect("a checkpoint");
    write(scene.path(), "kept.txt", "after\n");
    engine.checkpoint(&scene.environment, Some("after the turn"), &alice()).await.expect("a checkpoint");
    scene.purges().await;
    let findings = engine.doctor().await.expect("findings");
    let about = findings.iter().filter(|finding| finding.detail.contains("checkpoints")).collect::<Vec<_>>();
    assert!(about.is_empty(), "they are wanted: {about:?}");
    scene.collects();
    let restored = scene.restores().await.expect("it comes back").environment;
    assert_eq!(engine.checkpoints(&restored).await.expect("a list").len(), 2);
    engine.undo(&restored, None, &alice()).await.expect("it goes back");
    assert_eq!(fs::read_to_string(restored.path.join("kept.txt")).expect("it is there"), "before\n");
    assert!(admin(&restored.path).is_dir());
}
