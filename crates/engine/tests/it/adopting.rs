//! Worktrees that someone else made.

use std::fs;
use std::path::PathBuf;

use hedgerow_core::environment::{AdoptedFrom, Resolution};
use hedgerow_core::{Kind, Work};
use hedgerow_testkit::git::git;
use hedgerow_testkit::world::{alice, branch, words};
use hedgerow_testkit::{TestRepo, World};

/// Someone's own worktree on a new branch.
fn worktree(world: &World, repo: &TestRepo, place: &str, on: &str) -> PathBuf {
    let path = world.folder().join(place);
    repo.git(&["worktree", "add", "--quiet", "-b", on, &path.to_string_lossy()]);
    fs::canonicalize(path).expect("it was made just now")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worktree_on_the_pull_requests_branch_is_adopted_as_it_is() {
    let world = World::new().await;
    let (repo, codebase) = world.given_a_repo("shop").await;
    let theirs = worktree(&world, &repo, "theirs", "feature/auth");
    fs::write(theirs.join("unsaved.txt"), "mine").expect("a change");
    let before = repo.git(&["worktree", "list", "--porcelain"]);

    let got = world.gets(&world.asks_for_pr(&codebase, 99, "feature/auth")).await;

    assert_eq!(got.resolution, Resolution::Adopted);
    assert_eq!((&got.environment.path, got.environment.adopted_from), (&theirs, Some(AdoptedFrom::Branch)));
    assert_eq!(repo.git(&["worktree", "list", "--porcelain"]), before, "not even locked");
    assert!(!got.environment.branch_made);
    let again = world.gets(&world.asks_for_pr(&codebase, 99, "feature/auth")).await;
    assert_eq!((again.resolution, again.environment.id), (Resolution::Reused, got.environment.id));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_suggested_and_a_named_branch_are_looked_for_too() {
    let world = World::new().await;
    let (repo, codebase) = world.given_a_repo("shop").await;
    let one = worktree(&world, &repo, "one", "idea");
    let two = worktree(&world, &repo, "two", "plan");
    let mut suggested = world.asks(&codebase, Work::Issue(42));
    suggested.hints.suggested_branch = Some(branch("idea"));
    let got = world.gets(&suggested).await;
    assert_eq!((got.resolution, &got.environment.path), (Resolution::Adopted, &one));
    assert_eq!(got.environment.name(), "issue-42");
    let got = world.gets(&world.asks_for_branch(&codebase, "plan")).await;
    assert_eq!((got.resolution, got.environment.path), (Resolution::Adopted, two));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_generated_branch_that_someone_checked_out_is_adopted() {
    let world = World::new().await;
    let (repo, codebase) = world.given_a_repo("shop").await;
    let theirs = worktree(&world, &repo, "theirs", "issue-5");
    let got = world.gets(&world.asks(&codebase, Work::Issue(5))).await;
    assert_eq!((got.resolution, &got.environment.path), (Resolution::Adopted, &theirs));
    assert_eq!(got.environment.adopted_from, Some(AdoptedFrom::Branch));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_other_spelling_counts_when_nothing_else_can_be_meant() {
    let world = World::new().await;
    let (repo, codebase) = world.given_a_repo("shop").await;
    let dashed = worktree(&world, &repo, "dashed", "feature-auth");
    let got = world.gets(&world.asks_for_pr(&codebase, 1, "feature/auth")).await;
    assert_eq!((got.resolution, got.environment.path), (Resolution::Adopted, dashed));
    assert_eq!(got.environment.branch, branch("feature-auth"), "the real name is recorded");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_other_spelling_does_not_count_when_the_asked_branch_exists() {
    let world = World::new().await;
    let (repo, codebase) = world.given_a_repo("shop").await;
    worktree(&world, &repo, "one", "fix-local");
    repo.git(&["branch", "fix/local"]);
    worktree(&world, &repo, "two", "fix-remote");
    repo.commit_on_origin("fix/remote", "a.txt", "a");
    repo.git(&["fetch", "--quiet", "origin"]);
    worktree(&world, &repo, "three", "a/b-c");
    worktree(&world, &repo, "four", "a-b/c");

    for (number, wanted) in [(1, "fix/local"), (2, "fix/remote")] {
        let got = world.gets(&world.asks_for_pr(&codebase, number, wanted)).await;
        assert_eq!((got.resolution, got.environment.branch), (Resolution::Created, branch(wanted)));
    }
    let got = world.gets(&world.asks_for_branch(&codebase, "a-b-c")).await;
    assert_eq!(got.resolution, Resolution::Created, "two could be meant");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worktree_at_the_expected_path_is_adopted_from_there() {
    let world = World::new().await;
    let (repo, codebase) = world.given_a_repo("shop").await;
    let place = world.settings().worktrees.join(&codebase.folder).join("issue-42");
    repo.git(&["worktree", "add", "--quiet", "-b", "issue-42", &place.to_string_lossy()]);
    let got = world.gets(&world.asks(&codebase, Work::Issue(42))).await;
    assert_eq!((got.resolution, got.environment.adopted_from), (Resolution::Adopted, Some(AdoptedFrom::Path)));
    assert_eq!(got.environment.path, fs::canonicalize(place).expect("it is there"));
}

#[tokio::test(flavor = "multi_thread")]
async fn worktrees_of_the_skill_are_known_as_such() {
    let world = World::new().await;
    let (repo, codebase) = world.given_a_repo("shop").await;
    let in_folder = worktree(&world, &repo, "person/tmp/worktrees/shop/a", "skill/a");
    let listed = worktree(&world, &repo, "elsewhere", "skill/b");
    let registry = world.settings().skill_registry.clone().expect("a registry");
    fs::create_dir_all(registry.parent().expect("a folder")).expect("its folder");
    let text = format!("{{\"worktrees\": [{{\"worktreePath\": \"{}\"}}]}}", listed.display());
    fs::write(registry, text).expect("the registry");
    for (number, head, path) in [(1, "skill/a", in_folder), (2, "skill/b", listed)] {
        let got = world.gets(&world.asks_for_pr(&codebase, number, head)).await;
        assert_eq!((&got.environment.path, got.environment.adopted_from), (&path, Some(AdoptedFrom::Skill)));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn one_of_ours_is_never_adopted() {
    let world = World::new().await;
    let (repo, codebase) = world.given_a_repo("shop").await;
    let ours = world.environment(&codebase, Work::Issue(1)).await;
    git(&ours.path, &["switch", "--quiet", "-c", "feature/auth"]);
    repo.git(&["push", "--quiet", "origin", "feature/auth"]);

    let (kind, words) = world.fails(&world.asks_for_pr(&codebase, 99, "feature/auth")).await;

    assert_eq!(kind, Kind::Failed);
    assert!(words.contains("is checked out in the environment `issue-1`"), "{words}");
    assert!(!words.contains(&*world.folder().to_string_lossy()), "no path of the host: {words}");
    let live = world.engine.store().live(codebase.id).await.expect("the store answers");
    assert_eq!(live.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn adopting_by_hand_takes_a_linked_worktree_and_nothing_else() {
    let world = World::new().await;
    let (repo, codebase) = world.given_a_repo("shop").await;
    let theirs = worktree(&world, &repo, "theirs", "idea");
    let adopted = world.engine.adopt(&codebase, &theirs, &alice()).await.expect("it is adopted");
    assert_eq!((adopted.resolution, adopted.environment.name()), (Resolution::Adopted, "task-idea"));

    let detached = world.folder().join("detached");
    repo.git(&["worktree", "add", "--quiet", "--detach", &detached.to_string_lossy()]);
    let other = TestRepo::without_remote(world.folder(), "other");
    let expected = [
        (theirs.as_path(), Kind::Failed, "is an environment already: `task-idea`"),
        (repo.path(), Kind::Protected, "is the main checkout; it is never an environment"),
        (detached.as_path(), Kind::Failed, "is on no branch"),
        (other.path(), Kind::NotFound, "is not a worktree of `shop`"),
        (world.folder(), Kind::NotFound, "is not a worktree of `shop`"),
    ];
    for (path, kind, text) in expected {
        let failure = world.engine.adopt(&codebase, path, &alice()).await.expect_err("it is refused");
        assert_eq!(failure.kind(), kind, "{}", path.display());
        assert!(words(&failure).contains(text), "{}", words(&failure));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_environment_of_ours_that_the_store_forgot_is_taken_over_under_its_own_id() {
    let world = World::new().await;
    let (repo, codebase) = world.given_a_repo("shop").await;
    let ours = world.environment(&codebase, Work::Issue(42)).await;
    // The same home and repository, but a database that knows nothing of it.
    let mut settings = world.settings().clone();
    let empty = hedgerow_testkit::TestDatabase::new().await;
    settings.database = empty.database();
    let engine = hedgerow_engine::Engine::open(settings, world.clock.clone()).await.expect("it opens");
    let codebase = engine.codebase_at(repo.path(), &alice()).await.expect("registered").codebase;

    let request = world.asks(&codebase, Work::Issue(42));
    let got = engine.resolve(&request, &hedgerow_core::provider::NoProgress).await.expect("an environment");

    assert_eq!((got.resolution, got.environment.id), (Resolution::Adopted, ours.id));
    assert_eq!((got.environment.path, got.environment.adopted_from), (ours.path, None));
}
