//! Nothing is lost: every kind of token comes back, whichever way an environment went, and can be worked on.

mod naive;

use std::path::PathBuf;

use hedgerow_core::Work;
use hedgerow_testkit::tokens::{Kind, Plan, nothing_collected};
use hedgerow_testkit::world::alice;
use hedgerow_testkit::{Tokens, World};

use crate::acts::{Scene, git_that, is_there};

/// How an environment goes away before it comes back.
#[derive(Debug, Clone, Copy)]
enum Way {
    Trash,
    /// Purged from the trash, and made again from the saved state.
    Vault,
}

impl Scene {
    /// Away by `way`, then git forgets all it may, then back again; where it is now.
    async fn goes_and_comes_back(&self, way: Way) -> PathBuf {
        self.forces().await.expect("force always may");
        assert!(!is_there(self.path()), "it is gone from its place");
        match way {
            Way::Trash => {}
            Way::Vault => {
                let purged = self.world.engine.purge(&self.row().await, &alice()).await.expect("it is purged");
                assert_eq!(purged.skipped, [], "nothing is left out");
            }
        }
        nothing_collected(&self.repo);
        let restored = self.restores().await.expect("it comes back");
        restored.environment.path
    }
}

async fn everything_comes_back(plan: Plan, way: Way) {
    let scene = Scene::begin().await;
    let planted = Tokens::plant(plan, &scene.repo, scene.path());
    assert_eq!(planted.missing(scene.path()), [], "{}: as planted", plan.name);
    let at = scene.goes_and_comes_back(way).await;
    assert_eq!(planted.missing(&at), [], "{}, {way:?}", plan.name);
    assert_eq!(planted.operation_continues(&at), [], "{}, {way:?}: carried on", plan.name);
    // From here on it is held by what came back, such as its reflog, and by nothing of ours.
    let ours = scene.repo.git(&["for-each-ref", "refs/hedgerow/trash"]);
    assert_eq!(ours, "", "{}: nothing of ours is left", plan.name);
    let never = ["-c", "gc.reflogExpire=never", "-c", "gc.reflogExpireUnreachable=never"];
    scene.repo.git(&[&never[..], &["gc", "--quiet", "--prune=now"]].concat());
    let mut later = planted.missing(&at);
    later.retain(|loss| !OPERATIONS.contains(&loss.kind));
    assert_eq!(later, [], "{}, {way:?}: for good", plan.name);
}

/// What is over once it was carried on.
const OPERATIONS: [Kind; 4] = [Kind::Rebase, Kind::Merge, Kind::Bisect, Kind::CherryPick];

macro_rules! stories {
    ($($name:ident: $plan:ident by $way:ident,)+) => {
        $(
            #[tokio::test(flavor = "multi_thread")]
            async fn $name() {
                everything_comes_back(Plan::$plan, Way::$way).await;
            }
        )+
    };
}

stories! {
    a_busy_environment_comes_back_from_the_trash: BUSY by Trash,
    a_pushed_environment_comes_back_from_the_trash: PUSHED by Trash,
    a_detached_environment_comes_back_from_the_trash: DETACHED by Trash,
    a_rebase_comes_back_from_the_trash: REBASING by Trash,
    a_merge_comes_back_from_the_trash: MERGING by Trash,
    a_bisect_comes_back_from_the_trash: BISECTING by Trash,
    a_cherry_pick_comes_back_from_the_trash: PICKING by Trash,
    a_busy_environment_comes_back_from_the_vault: BUSY by Vault,
    a_pushed_environment_comes_back_from_the_vault: PUSHED by Vault,
    a_detached_environment_comes_back_from_the_vault: DETACHED by Vault,
    a_rebase_comes_back_from_the_vault: REBASING by Vault,
    a_merge_comes_back_from_the_vault: MERGING by Vault,
    a_bisect_comes_back_from_the_vault: BISECTING by Vault,
    a_cherry_pick_comes_back_from_the_vault: PICKING by Vault,
}

#[test]
fn every_kind_of_token_is_in_a_plan() {
    for kind in Kind::ALL {
        assert!(Plan::ALL.iter().any(|plan| plan.kinds.contains(&kind)), "{kind} is in no plan");
    }
}

/// Many amended commits hang together by one ref: whoever lists the refs of the repository does not pay for them.
#[tokio::test(flavor = "multi_thread")]
async fn a_long_reflog_costs_no_more_calls_and_one_ref() {
    let mut calls = Vec::new();
    for amends in [1, 300] {
        let world = World::with(|settings| {
            let folder = settings.home.parent().expect("the world's folder").to_owned();
            let log = folder.join("calls");
            settings.git = git_that(&folder, &format!("echo . >> '{}'", log.display()));
        })
        .await;
        let (repo, codebase) = world.given_a_repo("shop").await;
        let environment = world.environment(&codebase, Work::Issue(42)).await;
        let scene = Scene { world, repo, codebase, environment };
        let lost = amend(&scene, amends);
        let count = || std::fs::read_to_string(scene.world.folder().join("calls")).expect("calls").lines().count();
        let before = count();
        scene.forces().await.expect("force always may");
        calls.push(count() - before);
        let refs = scene.repo.git(&["for-each-ref", "refs/hedgerow/trash"]);
        assert_eq!(refs.lines().count(), 1, "{refs}");
        nothing_collected(&scene.repo);
        scene.restores().await.expect("it comes back");
        let log = scene.git(&["log", "--walk-reflogs", "--format=%H", "HEAD"]);
        assert!(lost.iter().all(|commit| log.contains(commit)), "all of them are in the log");
        scene.git(&["cat-file", "-e", &lost[0]]);
    }
    assert!(calls[1] <= calls[0] + 1, "one call more, whatever the length: {calls:?}");
}

/// Commits that were amended away, written into the log as git would.
fn amend(scene: &Scene, times: usize) -> Vec<String> {
    let tree = scene.git(&["rev-parse", "HEAD^{tree}"]);
    let lost: Vec<String> = (0..times)
        .map(|nth| scene.git(&["commit-tree", "-p", "HEAD", "-m", &format!("Attempt {nth}"), &tree]))
        .collect();
    let head = scene.git(&["rev-parse", "HEAD"]);
    let (from, to) = ([&head].into_iter().chain(&lost), lost.iter().chain([&head]));
    let entry = |(from, to)| format!("{from} {to} Alice <alice@example.com> 1777636800 +0000\tcommit (amend)\n");
    let log: String = from.zip(to).map(entry).collect();
    let file = crate::acts::admin(scene.path()).join("logs/HEAD");
    let begun = std::fs::read_to_string(&file).expect("a log");
    std::fs::write(file, begun + &log).expect("a log");
    lost
}

/// A removal that is done again after it was interrupted does not take a shortened log for the whole.
#[tokio::test(flavor = "multi_thread")]
async fn a_log_that_git_shortened_between_two_attempts_is_whole_again() {
    let scene = Scene::begin().await;
    let planted = Tokens::plant(Plan::PUSHED, &scene.repo, scene.path());
    scene.forces().await.expect("force always may");
    let trashed = scene.row().await;
    nothing_collected(&scene.repo);
    // As a start finds it that came after a crash in the last step: all of it is done once more.
    let going = hedgerow_core::Environment { state: hedgerow_core::State::Removing, ..trashed.clone() };
    let event = hedgerow_engine::store::NewEvent::new(trashed.created_at, &alice(), "test");
    let was = (trashed.state, trashed.generation);
    scene.world.engine.store().save(&going, was, &event).await.expect("the store answers");
    scene.world.another_engine().await;
    assert_eq!(scene.row().await.state, hedgerow_core::State::Trashed);
    scene.restores().await.expect("it comes back");
    assert_eq!(planted.missing(scene.path()), []);
}
