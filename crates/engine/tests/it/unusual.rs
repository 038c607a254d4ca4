//! Repositories of every shape: bare, linked, shallow, sparse, partial, SHA-256, with submodules.

use std::fs;
use std::path::Path;

use hedgerow_core::environment::Resolution;
use hedgerow_core::provider::Note;
use hedgerow_core::{Codebase, Work};
use hedgerow_engine::Settings;
use hedgerow_testkit::git::git;
use hedgerow_testkit::world::alice;
use hedgerow_testkit::{TestRepo, World};

use crate::witness::Witness;

/// A clone as a person makes it.
fn clone(world: &World, options: &[&str], of: &Path, name: &str) -> TestRepo {
    let url = format!("file://{}", of.display());
    let into = world.folder().join(name);
    let mut args = vec!["clone", "--quiet"];
    args.extend(options);
    let shown = into.to_string_lossy().into_owned();
    args.extend([url.as_str(), shown.as_str()]);
    git(world.folder(), &args);
    TestRepo::at(&into)
}

async fn makes_a_sound_environment(world: &World, repo: &TestRepo, codebase: &Codebase) -> hedgerow_core::Environment {
    let main = repo.rev("HEAD").expect("a commit");
    let sees = Witness::of(repo);
    let made = world.gets(&world.asks(codebase, Work::Issue(1))).await;
    assert_eq!(made.resolution, Resolution::Created);
    sees.finds(&made.environment, &main);
    assert_eq!(made.environment.base_sha, Some(main));
    made.environment
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bare_repository_is_a_codebase() {
    let world = World::new().await;
    let source = TestRepo::without_remote(world.folder(), "source");
    let bare = clone(&world, &["--bare"], source.path(), "shop.git");
    let codebase = world.register(&bare).await;
    assert_eq!((codebase.name.as_str(), codebase.path.as_path()), ("shop", bare.path()));
    let made = makes_a_sound_environment(&world, &bare, &codebase).await;
    assert!(made.path.join("README.md").is_file());
    let again = world.gets(&world.asks(&codebase, Work::Issue(1))).await;
    assert_eq!(again.resolution, Resolution::Reused);
}

#[tokio::test(flavor = "multi_thread")]
async fn from_a_linked_worktree_or_a_subfolder_the_main_checkout_is_found() {
    let world = World::new().await;
    let repo = TestRepo::without_remote(world.folder(), "shop");
    repo.commit("src/deep/lib.rs", "");
    let linked = world.folder().join("linked");
    repo.git(&["worktree", "add", "--quiet", &linked.to_string_lossy()]);
    let first = world.register(&TestRepo::at(&linked.join("src"))).await;
    assert_eq!(first.path, repo.path());
    let made = makes_a_sound_environment(&world, &repo, &first).await;

    for folder in [repo.path().join("src/deep"), linked, made.path.join("src"), repo.path().join(".git")] {
        let known = world.engine.codebase_at(&folder, &alice()).await.expect("it is found");
        assert_eq!((known.codebase.id, known.is_new), (first.id, false), "{}", folder.display());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn spaces_and_letters_of_any_language_in_paths_do_no_harm() {
    let world = World::with(|settings| settings.worktrees = settings.home.join("Ärbeit plätze")).await;
    let folder = world.folder().join("mein schönes Verzeichnis 日本");
    let repo = TestRepo::with_origin(&folder, "läden 店");
    let codebase = world.register(&repo).await;
    let made = makes_a_sound_environment(&world, &repo, &codebase).await;
    let named = world.gets(&world.asks_for_branch(&codebase, "größe/日本語")).await.environment;
    assert!(named.path.ends_with("größe-日本語"), "{}", named.path.display());
    assert_ne!(made.path, named.path);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shallow_clone_stays_shallow() {
    let world = World::new().await;
    let source = TestRepo::without_remote(world.folder(), "source");
    for number in 0..3 {
        source.commit("file.txt", &number.to_string());
    }
    let shallow = clone(&world, &["--depth=1"], source.path(), "shop");
    let codebase = world.register(&shallow).await;
    let made = makes_a_sound_environment(&world, &shallow, &codebase).await;
    assert_eq!(git(&made.path, &["rev-list", "--count", "HEAD"]), "1");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sparse_checkout_stays_sparse() {
    let world = World::new().await;
    let source = TestRepo::without_remote(world.folder(), "source");
    source.commit("wanted/a.txt", "a");
    source.commit("unwanted/b.txt", "b");
    let sparse = clone(&world, &[], source.path(), "shop");
    sparse.git(&["sparse-checkout", "set", "--cone", "wanted"]);
    let codebase = world.register(&sparse).await;
    let made = makes_a_sound_environment(&world, &sparse, &codebase).await;
    assert!(made.path.join("wanted/a.txt").is_file());
    assert!(!made.path.join("unwanted").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_partial_clone_fetches_what_it_needs() {
    let world = World::new().await;
    let source = TestRepo::without_remote(world.folder(), "source");
    source.commit("big.txt", "big");
    source.git(&["config", "uploadpack.allowFilter", "true"]);
    source.git(&["config", "uploadpack.allowAnySHA1InWant", "true"]);
    let partial = clone(&world, &["--filter=blob:none", "--no-checkout"], source.path(), "shop");
    partial.git(&["checkout", "--quiet", "main~1"]);
    partial.git(&["switch", "--quiet", "--detach"]);
    let codebase = world.register(&partial).await;
    let tip = partial.rev("main").expect("main");
    let sees = Witness::of(&partial);
    let made = world.environment(&codebase, Work::Issue(1)).await;
    sees.finds(&made, &tip);
    assert_eq!(fs::read_to_string(made.path.join("big.txt")).expect("the file"), "big");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_partial_clone_whose_files_cannot_be_fetched_leaves_nothing() {
    let world = World::new().await;
    let source = TestRepo::without_remote(world.folder(), "source");
    source.git(&["config", "uploadpack.allowFilter", "true"]);
    let partial = clone(&world, &["--filter=blob:none", "--no-checkout"], source.path(), "shop");
    let codebase = world.register(&partial).await;
    fs::rename(source.path(), world.folder().join("away")).expect("the remote goes");
    let sees = Witness::of(&partial);
    let (_, words) = world.fails(&world.asks(&codebase, Work::Issue(1))).await;
    assert!(words.starts_with("Failed to create isolated worktree for branch `issue-1`. "), "{words}");
    sees.sees_nothing_left(&world, &codebase).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repository_of_long_hashes_is_like_any_other() {
    let world = World::new().await;
    let path = world.folder().join("shop");
    fs::create_dir_all(&path).expect("a folder");
    git(&path, &["init", "--quiet", "--object-format=sha256"]);
    let repo = TestRepo::at(&path);
    let sha = repo.commit("README.md", "Hello");
    assert_eq!(sha.as_str().len(), 64);
    let codebase = world.register(&repo).await;
    makes_a_sound_environment(&world, &repo, &codebase).await;
}

/// The person lets submodules come from folders of this machine.
fn folders_may_be_submodules(settings: &mut Settings) {
    let own = settings.home.with_file_name("gitconfig");
    fs::write(&own, "[protocol \"file\"]\n\tallow = always\n").expect("the person's configuration");
    settings.git_env.push(("GIT_CONFIG_GLOBAL".into(), own.into()));
}

fn with_a_submodule(world: &World) -> TestRepo {
    let library = TestRepo::without_remote(world.folder(), "library");
    let repo = TestRepo::with_origin(world.folder(), "shop");
    repo.git(&["submodule", "--quiet", "add", &library.path().to_string_lossy(), "library"]);
    repo.git(&["commit", "--quiet", "-m", "Add the library"]);
    repo.push("main");
    repo
}

#[tokio::test(flavor = "multi_thread")]
async fn submodules_are_there_for_our_own_work_and_not_for_forks() {
    let world = World::with(folders_may_be_submodules).await;
    let repo = with_a_submodule(&world);
    let fork = repo.pull_request_from_fork(7, "seven.txt", "seven");
    let codebase = world.register(&repo).await;
    let made = makes_a_sound_environment(&world, &repo, &codebase).await;
    assert!(made.path.join("library/README.md").is_file());

    let sees = Witness::of(&repo);
    let theirs = world.gets(&world.asks_for_fork(&codebase, 7, Some(&fork))).await;
    sees.finds(&theirs.environment, &fork);
    assert!(!theirs.environment.path.join("library/README.md").exists());
    assert_eq!(theirs.notes, []);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_submodule_that_cannot_be_filled_is_a_note() {
    let world = World::with(folders_may_be_submodules).await;
    let repo = with_a_submodule(&world);
    let plain = clone(&world, &[], repo.origin(), "plain");
    fs::rename(world.folder().join("library"), world.folder().join("away")).expect("the library goes");
    let codebase = world.register(&plain).await;

    let made = world.gets(&world.asks(&codebase, Work::Issue(1))).await;

    assert!(matches!(made.notes.as_slice(), [Note::NoSubmodules { .. }]), "{:?}", made.notes);
    assert!(made.environment.path.join("README.md").is_file());
    let next = world.gets(&world.asks(&codebase, Work::Issue(2))).await;
    assert!(matches!(next.notes.as_slice(), [Note::NoSubmodules { .. }]), "{:?}", next.notes);
}

#[tokio::test(flavor = "multi_thread")]
async fn nobodys_identity_is_written_and_no_hook_runs() {
    let world = World::new().await;
    let (repo, codebase) = world.given_a_repo("shop").await;
    let ran = world.folder().join("ran");
    for hook in ["post-checkout", "reference-transaction", "post-index-change"] {
        let file = repo.path().join(".git/hooks").join(hook);
        fs::create_dir_all(file.parent().expect("a folder")).expect("the hooks' folder");
        fs::write(&file, format!("#!/bin/sh\ntouch '{}'\n", ran.display())).expect("a hook");
        fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("executable");
    }
    makes_a_sound_environment_without_hooks(&world, &repo, &codebase).await;
    assert!(!ran.exists(), "a hook ran");
}

async fn makes_a_sound_environment_without_hooks(world: &World, repo: &TestRepo, codebase: &Codebase) {
    let made = world.gets(&world.asks(codebase, Work::Issue(1))).await;
    assert_eq!(made.resolution, Resolution::Created);
    let config = fs::read_to_string(repo.path().join(".git/config")).expect("the configuration");
    assert!(!config.contains("[user]"), "{config}");
}
