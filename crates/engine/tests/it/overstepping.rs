//! Runs that change what is not their own: it is put back and reported, and nobody else's work is.

mod deeds;
mod neighbours;
mod remotes;
mod telling;
mod traps;

use hedgerow_core::{Codebase, Environment, RunId, Work};
use hedgerow_engine::tripwire::{Done, Found, Tripwire, What};
use hedgerow_testkit::git::git;
use hedgerow_testkit::repo::commit;
use hedgerow_testkit::world::alice;
use hedgerow_testkit::{TestRepo, World};

/// A world with an environment in which a run begins.
struct Scene {
    world: World,
    repo: TestRepo,
    codebase: Codebase,
    environment: Environment,
}

impl Scene {
    async fn set() -> Self {
        let world = World::new().await;
        let (repo, codebase) = world.given_a_repo("shop").await;
        repo.commit("a.txt", "one");
        repo.push("main");
        repo.git(&["branch", "old"]);
        repo.git(&["tag", "v1"]);
        let environment = world.environment(&codebase, Work::Issue(1)).await;
        Self { world, repo, codebase, environment }
    }

    async fn arms(&self, is_view: bool) -> Tripwire {
        let engine = &self.world.engine;
        engine.arm(RunId::new(), &self.environment, &self.codebase, is_view).await.expect("it can be looked at")
    }

    async fn springs(&self, tripwire: Tripwire) -> Vec<Found> {
        self.world.engine.spring(tripwire, &alice()).await
    }

    /// In the environment.
    fn git(&self, args: &[&str]) -> String {
        git(&self.environment.path, args)
    }
}

fn put_back(found: &[Found]) -> Vec<&What> {
    found.iter().filter(|one| matches!(one.done, Done::PutBack { .. })).map(|one| &one.what).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_work_of_a_run_is_its_own() {
    let scene = Scene::set().await;
    for is_view in [false, true] {
        let tripwire = scene.arms(is_view).await;
        let place = &scene.environment.path;
        commit(place, "mine.txt", "mine");
        scene.git(&["branch", "--force", "made-here"]);
        scene.git(&["tag", "--force", &format!("new-{is_view}")]);
        scene.git(&["fetch", "--quiet", "origin"]);
        scene.git(&["reset", "--quiet", "--hard", "HEAD~1"]);
        std::fs::write(place.join("a.txt"), "stashed").expect("writes");
        scene.git(&["stash", "--quiet"]);
        scene.git(&["stash", "pop", "--quiet"]);
        scene.git(&["checkout", "--quiet", "--", "a.txt"]);
        scene.git(&["rebase", "--quiet", "HEAD"]);
        scene.git(&["pack-refs", "--all"]);
        scene.git(&["branch", "--delete", "--force", "made-here"]);
        assert_eq!(scene.springs(tripwire).await, []);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn others_branches_and_tags_are_put_back_and_what_they_became_is_kept() {
    let scene = Scene::set().await;
    let (main, old, tag) = (scene.repo.rev("main"), scene.repo.rev("old"), scene.repo.rev("v1"));
    let tripwire = scene.arms(false).await;
    let mine = commit(&scene.environment.path, "mine.txt", "mine");
    scene.git(&["update-ref", "refs/heads/main", "HEAD"]);
    scene.git(&["update-ref", "-d", "refs/heads/old"]);
    scene.git(&["tag", "--force", "v1"]);
    let found = scene.springs(tripwire).await;
    let name = |name: &str| name.to_owned();
    assert_eq!(
        put_back(&found),
        [
            &What::Moved(name("refs/heads/main")),
            &What::Gone(name("refs/heads/old")),
            &What::Moved(name("refs/tags/v1"))
        ]
    );
    assert_eq!((scene.repo.rev("main"), scene.repo.rev("old"), scene.repo.rev("v1")), (main.clone(), old, tag));
    let Done::PutBack { kept: Some(kept) } = &found[0].done else { panic!("{found:?}") };
    assert_eq!(scene.repo.rev(kept), Some(mine.clone()));
    let events = scene.world.engine.store().events_of(scene.environment.id).await.expect("the store answers");
    let told: Vec<_> = events.iter().filter(|event| event.what == "run-overstepped").collect();
    assert_eq!(told.len(), 3);
    assert_eq!((told[0].old_sha.clone(), told[0].new_sha.clone()), (main, Some(mine)));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_branch_that_an_earlier_run_made_is_its_own() {
    let scene = Scene::set().await;
    let tripwire = scene.arms(false).await;
    scene.git(&["switch", "--quiet", "-c", "draft"]);
    scene.git(&["switch", "--quiet", "issue-1"]);
    assert_eq!(scene.springs(tripwire).await, []);
    let tripwire = scene.arms(false).await;
    scene.git(&["branch", "--delete", "--force", "draft"]);
    assert_eq!(scene.springs(tripwire).await, []);
    assert_eq!(scene.repo.rev("draft"), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stash_of_another_branch_that_was_dropped_is_put_back_and_its_own_is_not() {
    let scene = Scene::set().await;
    let stash = |at: &std::path::Path, text: &str| {
        std::fs::write(at.join("a.txt"), text).expect("writes");
        git(at, &["stash", "--quiet"]);
    };
    stash(scene.repo.path(), "first of main");
    stash(&scene.environment.path, "own");
    stash(scene.repo.path(), "second of main");
    let theirs = [scene.repo.rev("stash@{2}"), scene.repo.rev("stash@{0}")];
    let tripwire = scene.arms(false).await;
    scene.git(&["stash", "clear"]);
    let found = scene.springs(tripwire).await;
    assert!(found.iter().all(|one| matches!(one.what, What::Stash(_))), "{found:?}");
    assert_eq!(put_back(&found).len(), 2);
    assert_eq!([scene.repo.rev("stash@{1}"), scene.repo.rev("stash@{0}")], theirs);
    assert_eq!(scene.repo.git(&["stash", "list"]).lines().count(), 2);
}
