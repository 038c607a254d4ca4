//! Which environment a request gets: keep, reuse, restore, and what the conversation refers to afterwards.

use std::fs;

use hedgerow_core::environment::{Actor, Resolution, TrashedBecause};
use hedgerow_core::provider::Note;
use hedgerow_core::{Kind, State, Work};
use hedgerow_engine::engine::Sweep;
use hedgerow_testkit::World;
use hedgerow_testkit::repo::commit;
use hedgerow_testkit::world::{alice, branch};

#[tokio::test(flavor = "multi_thread")]
async fn the_same_work_gets_the_same_environment_whoever_asks() {
    let world = World::new().await;
    let (_repo, codebase) = world.given_a_repo("shop").await;
    let first = world.gets(&world.asks(&codebase, Work::Issue(42))).await;
    for request in [world.asks(&codebase, Work::Issue(42)), world.asks_for_branch(&codebase, "issue-42")] {
        let again = world.gets(&request).await;
        assert_eq!((again.resolution, again.environment.id), (Resolution::Reused, first.environment.id));
        assert_eq!(again.notes, []);
    }
    let other = world.gets(&world.asks(&codebase, Work::Issue(43))).await;
    assert_eq!(other.resolution, Resolution::Created);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_number_in_two_clones_is_two_environments() {
    let world = World::new().await;
    let (_, one) = world.given_a_repo("one").await;
    let (_, other) = world.given_a_repo("other").await;
    let first = world.environment(&one, Work::Issue(42)).await;
    let second = world.environment(&other, Work::Issue(42)).await;
    assert_ne!(first.id, second.id);
    assert_ne!(first.path, second.path);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_refers_to_what_it_got_and_keeps_it() {
    let world = World::new().await;
    let (_repo, codebase) = world.given_a_repo("shop").await;
    let first = world.from_conversation("acme/shop#42", world.asks(&codebase, Work::Issue(42))).await;
    let made = world.gets(&first).await;
    assert_eq!(made.resolution, Resolution::Created);
    let users = world.engine.store().conversations_of(made.environment.id).await.expect("the store answers");
    assert_eq!(users.iter().map(|key| key.id.as_str()).collect::<Vec<_>>(), ["acme/shop#42"]);

    // It keeps its environment even when it now talks about something else.
    let second = world.from_conversation("acme/shop#42", world.asks(&codebase, Work::Issue(7))).await;
    let kept = world.gets(&second).await;
    assert_eq!((kept.resolution, kept.environment.id), (Resolution::Kept, made.environment.id));
    assert_eq!(kept.notes, []);
    assert_eq!(kept.environment.works.len(), 1, "the other work is not put on it");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_environment_is_cleared_and_said_once_and_a_new_one_made() {
    let world = World::new().await;
    let (repo, codebase) = world.given_a_repo("shop").await;
    let request = world.asks(&codebase, Work::Issue(42));
    let first = world.from_conversation("acme/shop#42", request.clone()).await;
    let lost = world.gets(&first).await.environment;
    fs::remove_dir_all(&lost.path).expect("someone deletes it");

    let second = world.from_conversation("acme/shop#42", request.clone()).await;
    let made = world.gets(&second).await;

    assert_eq!(made.resolution, Resolution::Created);
    assert_ne!(made.environment.id, lost.id);
    let said = Note::Lost { environment: "issue-42".to_owned(), why: "its folder is gone".to_owned() };
    let notes: Vec<_> = made.notes.iter().filter(|note| matches!(note, Note::Lost { .. })).collect();
    assert_eq!(notes, [&said]);
    assert_eq!(world.row(&lost).await.state, State::Destroyed);
    assert_eq!(repo.worktrees(), std::slice::from_ref(&made.environment.path));
    let third = world.from_conversation("acme/shop#42", request).await;
    let kept = world.gets(&third).await;
    assert_eq!((kept.resolution, kept.environment.id, kept.notes), (Resolution::Kept, made.environment.id, vec![]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reference_to_a_removed_environment_or_another_codebase_is_cleared() {
    let world = World::new().await;
    let (_, shop) = world.given_a_repo("shop").await;
    let (_, other) = world.given_a_repo("other").await;
    let first = world.from_conversation("chat", world.asks(&shop, Work::Issue(1))).await;
    let made = world.gets(&first).await.environment;

    let elsewhere = world.from_conversation("chat", world.asks(&other, Work::Issue(1))).await;
    let moved = world.gets(&elsewhere).await;
    assert_eq!(moved.resolution, Resolution::Created);
    let why = "it belongs to another codebase".to_owned();
    assert_eq!(moved.notes, [Note::Lost { environment: "issue-1".to_owned(), why }]);

    world.engine.remove(&moved.environment, true, &alice()).await.expect("it goes");
    let after = world.from_conversation("chat", world.asks(&other, Work::Issue(2))).await;
    let next = world.gets(&after).await;
    assert_eq!(next.resolution, Resolution::Created);
    assert_eq!(world.row(&made).await.state, State::Active);
}

#[tokio::test(flavor = "multi_thread")]
async fn something_else_in_its_place_is_never_used() {
    let world = World::new().await;
    let (_repo, codebase) = world.given_a_repo("shop").await;
    let request = world.asks(&codebase, Work::Issue(42));
    let first = world.from_conversation("acme/shop#42", request.clone()).await;
    let made = world.gets(&first).await.environment;
    fs::rename(&made.path, world.folder().join("away")).expect("someone moves it");
    fs::create_dir(&made.path).expect("something else comes");
    fs::write(made.path.join("theirs.txt"), "theirs").expect("with content");

    // Whoever asks for the work is told that it needs a look.
    let (kind, words) = world.fails(&request).await;
    assert_eq!(kind, Kind::Protected);
    assert!(words.contains("`issue-42` is broken and needs a look"), "{words}");
    assert_eq!(fs::read_to_string(made.path.join("theirs.txt")).expect("untouched"), "theirs");
    // The conversation is free for other work.
    let other = world.from_conversation("acme/shop#42", world.asks(&codebase, Work::Issue(7))).await;
    let next = world.gets(&other).await;
    assert_eq!(next.resolution, Resolution::Created);
    assert!(matches!(next.notes.as_slice(), [Note::Lost { .. }]), "{:?}", next.notes);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_whose_environment_was_replaced_goes_on_with_its_other_work() {
    let world = World::new().await;
    let (_repo, codebase) = world.given_a_repo("shop").await;
    let first = world.from_conversation("chat", world.asks(&codebase, Work::Issue(1))).await;
    let made = world.gets(&first).await.environment;
    fs::rename(&made.path, world.folder().join("away")).expect("someone moves it");
    fs::create_dir(&made.path).expect("something else comes");

    let second = world.from_conversation("chat", world.asks(&codebase, Work::Issue(2))).await;
    let next = world.gets(&second).await;

    assert_eq!(next.resolution, Resolution::Created);
    assert!(matches!(next.notes.as_slice(), [Note::Lost { environment, .. }] if environment == "issue-1"));
    assert_eq!(world.row(&made).await.state, State::Broken);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_environment_whose_disk_is_away_is_waited_for_and_used_again() {
    let world = World::new().await;
    let (_repo, codebase) = world.given_a_repo("shop").await;
    let request = world.asks(&codebase, Work::Issue(42));
    let made = world.environment(&codebase, Work::Issue(42)).await;
    let away = world.folder().join("unmounted");
    fs::rename(&world.settings().worktrees, &away).expect("the disk goes");

    for _ in 0..2 {
        let (kind, words) = world.fails(&request).await;
        assert_eq!(kind, Kind::Failed);
        assert!(words.contains("`issue-42` is there, but its disk is not"), "{words}");
    }
    assert_eq!(world.row(&made).await.state, State::Unreachable);

    fs::rename(&away, &world.settings().worktrees).expect("the disk is back");
    let back = world.gets(&request).await;
    assert_eq!((back.resolution, back.environment.id), (Resolution::Reused, made.id));
    assert_eq!(back.environment.state, State::Active);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_automation_removed_unmerged_is_brought_back() {
    let world = World::new().await;
    let (_repo, codebase) = world.given_a_repo("shop").await;
    let made = world.environment(&codebase, Work::Issue(42)).await;
    let work = commit(&made.path, "work.txt", "unmerged");
    world.clock.days_pass(30);
    world.engine.cleanup(&codebase, Sweep::Stale, false, &Actor::automation()).await.expect("a sweep");
    let trashed = world.row(&made).await;
    assert_eq!(trashed.trash.expect("in the trash").because, TrashedBecause::Stale);
    assert!(!made.path.exists());

    let back = world.gets(&world.asks(&codebase, Work::Issue(42))).await;

    assert_eq!((back.resolution, back.environment.id), (Resolution::Restored, made.id));
    assert!(back.as_of.is_some());
    assert_eq!(hedgerow_testkit::git::git(&made.path, &["rev-parse", "HEAD"]), work.as_str());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_person_removed_stays_removed_unless_its_issue_is_reopened() {
    let world = World::new().await;
    let (_repo, codebase) = world.given_a_repo("shop").await;
    let old = world.environment(&codebase, Work::Issue(42)).await;
    commit(&old.path, "work.txt", "unmerged");
    world.engine.remove(&old, false, &alice()).await.expect("it goes");

    let made = world.gets(&world.asks(&codebase, Work::Issue(42))).await;
    assert_eq!(made.resolution, Resolution::Created);
    assert_ne!(made.environment.id, old.id);
    let told = [
        Note::InTrash { name: "issue-42".to_owned() },
        // Its branch had commits and stayed.
        Note::ExistingBranch { branch: branch("issue-42") },
    ];
    assert_eq!(made.notes, told);

    world.engine.remove(&made.environment, false, &alice()).await.expect("it goes");
    let mut reopened = world.asks(&codebase, Work::Issue(42));
    reopened.reopened = true;
    let back = world.gets(&reopened).await;
    assert_eq!((back.resolution, back.environment.id), (Resolution::Restored, made.environment.id));
}
