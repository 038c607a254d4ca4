//! The limit of environments per codebase.

use hedgerow_core::environment::Resolution;
use hedgerow_core::provider::Note;
use hedgerow_core::{Codebase, Environment, Kind, State, Work};
use hedgerow_testkit::git::git;
use hedgerow_testkit::repo::{commit, write};
use hedgerow_testkit::world::{alice, words};
use hedgerow_testkit::{TestRepo, World};

use crate::witness::Witness;

async fn world_with_room_for(limit: u32) -> (World, TestRepo, Codebase) {
    let world = World::with(|settings| settings.limit = limit).await;
    let (repo, codebase) = world.given_a_repo("shop").await;
    (world, repo, codebase)
}

/// An environment whose work went into main by a squash.
async fn merged(world: &World, repo: &TestRepo, codebase: &Codebase, number: u64) -> Environment {
    let environment = world.environment(codebase, Work::Issue(number)).await;
    let file = format!("{number}.txt");
    commit(&environment.path, &file, "work");
    git(repo.path(), &["merge", "--quiet", "--squash", environment.branch.as_str()]);
    git(repo.path(), &["commit", "--quiet", "-m", &format!("Squash {number}")]);
    repo.push("main");
    environment
}

#[tokio::test(flavor = "multi_thread")]
async fn the_message_says_what_there_is_and_what_to_do() {
    let (world, repo, codebase) = world_with_room_for(5).await;
    let dirty = merged(&world, &repo, &codebase, 1).await;
    write(&dirty.path, "unsaved.txt", "x");
    for number in 2..=3 {
        let old = world.environment(&codebase, Work::Issue(number)).await;
        commit(&old.path, "old.txt", "old");
    }
    world.clock.days_pass(20);
    for number in 4..=5 {
        world.environment(&codebase, Work::Issue(number)).await;
    }
    world.engine.touch(&dirty).await.expect("touched");
    let sees = Witness::of(&repo);

    let failure = world.resolve(&world.asks(&codebase, Work::Issue(6))).await.expect_err("no room");

    assert_eq!((failure.kind(), failure.kind().exit_code()), (Kind::Limit, 5));
    let expected = "\
You have 5 active worktrees for **shop** (limit reached).

Worktree status:
• 1 merged but kept: uncommitted changes
• 2 stale (no activity for 14+ days)
• 2 active

Options:
• `/worktree cleanup merged` - remove merged worktrees (1)
• `/worktree cleanup stale` - remove stale worktrees (2)
• `/worktree list` - see all
• `/worktree remove <name>` - remove one
hint: in a terminal `/worktree` is `hedgerow env`";
    assert_eq!(words(&failure), expected);
    sees.sees_the_checkout_untouched();
    assert_eq!(repo.rev("issue-6"), None);
    assert_eq!(world.engine.store().live(codebase.id).await.expect("the store answers").len(), 5);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_exists_is_found_even_when_the_limit_is_reached() {
    let (world, _repo, codebase) = world_with_room_for(1).await;
    let made = world.environment(&codebase, Work::Issue(1)).await;
    assert_eq!(world.fails(&world.asks(&codebase, Work::Issue(2))).await.0, Kind::Limit);
    let again = world.gets(&world.asks(&codebase, Work::Issue(1))).await;
    assert_eq!((again.resolution, again.environment.id), (Resolution::Reused, made.id));
}

#[tokio::test(flavor = "multi_thread")]
async fn merged_ones_make_room() {
    let (world, repo, codebase) = world_with_room_for(2).await;
    let done = merged(&world, &repo, &codebase, 1).await;
    let open = world.environment(&codebase, Work::Issue(2)).await;

    let made = world.gets(&world.asks(&codebase, Work::Issue(3))).await;

    assert_eq!(made.resolution, Resolution::Created);
    assert_eq!(made.notes, [Note::MadeRoom { names: vec!["issue-1".to_owned()] }]);
    assert_eq!(world.row(&done).await.state, State::Trashed);
    assert_eq!(world.row(&open).await.state, State::Active);
    let back = world.engine.restore(&codebase, "issue-1", &alice()).await.expect("it can be brought back");
    assert_eq!(back.environment.id, done.id);
}

#[tokio::test(flavor = "multi_thread")]
async fn pinned_adopted_and_changed_ones_do_not_make_room() {
    let (world, repo, codebase) = world_with_room_for(3).await;
    let pinned = merged(&world, &repo, &codebase, 1).await;
    world.engine.pin(&world.row(&pinned).await, true, &alice()).await.expect("pinned");
    let dirty = merged(&world, &repo, &codebase, 2).await;
    write(&dirty.path, "2.txt", "changed again");
    let theirs = world.folder().join("theirs");
    repo.git(&["worktree", "add", "--quiet", "-b", "theirs", &theirs.to_string_lossy()]);
    let adopted = world.engine.adopt(&codebase, &theirs, &alice()).await.expect("adopted").environment;

    let (kind, words) = world.fails(&world.asks(&codebase, Work::Issue(4))).await;

    assert_eq!(kind, Kind::Limit);
    assert!(words.contains("• 2 merged but kept: "), "{words}");
    for environment in [pinned, dirty, adopted] {
        assert_eq!(world.row(&environment).await.state, State::Active, "{}", environment.name());
        assert!(environment.path.exists());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn zero_is_no_limit_and_trashed_ones_do_not_count() {
    let (world, _repo, codebase) = world_with_room_for(0).await;
    for number in 1..=4 {
        world.environment(&codebase, Work::Issue(number)).await;
    }
    let (world, _repo, codebase) = world_with_room_for(1).await;
    for number in 1..=3 {
        let made = world.environment(&codebase, Work::Issue(number)).await;
        world.engine.remove(&made, false, &alice()).await.expect("it goes");
    }
}
