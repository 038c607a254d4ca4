//! What an agent does that was talked into it: undone or refused, reported, and run by none of our own calls.

use std::fs;

use hedgerow_core::{RunId, Work};
use hedgerow_engine::engine::Detail;
use hedgerow_engine::tripwire::Done;
use hedgerow_testkit::World;
use hedgerow_testkit::evil::{Deed, Lair, OF_AGENTS};
use hedgerow_testkit::git::git;
use hedgerow_testkit::world::alice;

/// The lines of the repository's settings, in whatever order.
fn settings(lair: &Lair) -> Vec<String> {
    let text = fs::read_to_string(lair.repo.git_dir().join("config")).expect("settings");
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    lines.sort();
    lines
}

async fn is_undone(world: &World, number: u64, deed: &Deed) {
    let lair = Lair::new(&world.folder().join(number.to_string()));
    lair.repo.git(&["branch", "old"]);
    lair.repo.git(&["tag", "v1"]);
    let codebase = world.register(&lair.repo).await;
    let environment = world.environment(&codebase, Work::Issue(number)).await;
    let place = &environment.path;
    let engine = &world.engine;
    engine.checkpoint(&environment, Some("before"), &alice()).await.expect("a checkpoint");
    let settings = settings(&lair);
    let refs = lair.repo.git(&["for-each-ref"]);
    let tripwire = engine.arm(RunId::new(), &environment, &codebase, false).await.expect("it can be looked at");

    deed.act(&lair, place);
    // Before anybody has looked, too: what it left may be refused, and is not run.
    let _ = engine.view(&environment, Detail::Full).await;
    let _ = engine.bounds(Some(&codebase), &environment.place(), Some(&environment)).await;
    assert!(!lair.is_bitten() && lair.strays().is_empty(), "{deed:?} sprang");
    let found = engine.spring(tripwire, &alice()).await;

    assert!(!found.is_empty(), "{deed:?} is not noticed");
    assert!(found.iter().all(|one| matches!(one.done, Done::PutBack { .. })), "{deed:?}: {found:?}");
    assert_eq!(self::settings(&lair), settings, "{deed:?}");
    let now = lair.repo.git(&["for-each-ref"]);
    // A commit of the proof moves the environment's own branch.
    let others = |text: &str| {
        text.lines()
            .filter(|line| !line.contains("/issue-") && !line.contains("/undone/"))
            .collect::<Vec<_>>()
            .join("\n")
    };
    assert_eq!(others(&now), others(&refs), "{deed:?}");
    assert_eq!(lair.repo.git(&["symbolic-ref", "HEAD"]), "refs/heads/main", "{deed:?}");

    engine.checkpoint(&environment, Some("after"), &alice()).await.expect("a checkpoint");
    engine.view(&environment, Detail::Full).await.expect("it can be looked at");
    engine.remove(&environment, true, &alice()).await.expect("it goes");
    engine.restore(&codebase, environment.name(), &alice()).await.expect("it comes back");
    git(place, &["status"]);
    let _ = hedgerow_testkit::git::try_git(place, &["commit", "--allow-empty", "-m", "x"]);
    assert!(!lair.is_bitten(), "{deed:?} sprang");
    assert!(lair.strays().is_empty(), "{deed:?} wrote where it should not");
}

#[tokio::test(flavor = "multi_thread")]
async fn every_deed_is_undone_and_bites_nobody_afterwards() {
    let world = World::new().await;
    for (number, deed) in (1..).zip(OF_AGENTS) {
        is_undone(&world, number, deed).await;
    }
}
