use hedgerow_core::environment::{NamedWork, PullRequestInfo};
use hedgerow_core::{Environment, State, Work};
use hedgerow_engine::store::{Change, StoreError, Taken};

use crate::{Scene, branch, event, named};

fn active(environment: &Environment) -> Environment {
    Environment { state: State::Active, ..environment.clone() }
}

#[tokio::test]
async fn a_change_of_what_has_changed_meanwhile_is_refused_whole() {
    let scene = Scene::begin().await;
    let read = scene.issue(1).await;
    let saved = scene.saved(&read, |environment| {
        environment.state = State::Active;
        environment.generation = 2;
        environment.keywords = vec!["new".into()];
    });
    let saved = saved.await;

    for (expected, why) in
        [((State::Creating, 2), "state"), ((State::Active, 1), "generation"), ((State::Creating, 1), "both")]
    {
        let late = Environment { keywords: vec!["late".into()], ..active(&read) };
        let refused = scene.store.save(&late, expected, &event("late")).await;
        assert!(matches!(refused, Err(StoreError::Stale)), "{why}: {refused:?}");
    }
    assert_eq!(scene.read(read.id).await, saved);
    let log = scene.store.events_of(read.id).await.expect("read");
    assert!(log.iter().all(|event| event.what != "late"), "what did not happen is not in the log");
}

#[tokio::test]
async fn a_pin_and_a_fork_do_not_undo_each_other_nor_do_old_rows() {
    let scene = Scene::begin().await;
    let read = scene.issue(1).await;
    scene.store.becomes_forks(&read, &event("became-a-forks")).await.expect("written");
    let pinned = Environment { pinned_at: Some(crate::time(5)), ..read.clone() };
    scene.store.set_pinned(&pinned, &event("pinned")).await.expect("written");
    let now = scene.read(read.id).await;
    assert_eq!((now.is_fork, now.pinned_at), (true, Some(crate::time(5))));

    scene.saved(&now, |environment| environment.generation = 2).await;
    let late = scene.store.set_pinned(&Environment { pinned_at: None, ..read }, &event("late")).await;
    assert!(matches!(late, Err(StoreError::Stale)), "{late:?}");
}

#[tokio::test]
async fn a_pull_request_that_was_seen_late_does_not_replace_a_newer_one() {
    let scene = Scene::begin().await;
    let read = scene.issue(1).await;
    let (old, new) = (PullRequestInfo::numbered(5), PullRequestInfo::numbered(8));
    assert!(scene.store.see_pull_request(&read, &new, None).await.expect("asked"));
    assert!(!scene.store.see_pull_request(&read, &old, Some(&event("late"))).await.expect("asked"));
    let now = scene.read(read.id).await;
    assert_eq!(now.pr.as_ref().map(|pr| pr.number), Some(8));
    assert!(scene.store.see_pull_request(&now, &old, None).await.expect("asked"), "who knows of it may");
    let log = scene.store.events_of(read.id).await.expect("read");
    assert!(log.iter().all(|event| event.what != "late"));
}

#[tokio::test]
async fn of_several_changes_only_the_late_ones_are_left_out() {
    let scene = Scene::begin().await;
    let rows = [scene.issue(1).await, scene.issue(2).await, scene.issue(3).await];
    let moved_on = scene.saved(&rows[1], |environment| environment.generation = 2).await;
    let change =
        |row: &Environment| Change { environment: active(row), expected: (State::Creating, 1), event: event("turned") };
    let written = scene.store.save_each(&rows.each_ref().map(change)).await.expect("written");
    assert_eq!(written, [true, false, true]);
    assert_eq!(scene.read(rows[0].id).await.state, State::Active);
    assert_eq!(scene.read(rows[1].id).await, moved_on);
    for (row, times) in rows.iter().zip([1, 0, 1]) {
        let log = scene.store.events_of(row.id).await.expect("read");
        assert_eq!(log.iter().filter(|event| event.what == "turned").count(), times);
    }
}

#[tokio::test]
async fn coming_back_to_a_taken_work_branch_or_path_is_refused() {
    let scene = Scene::begin().await;
    let first = scene.issue(42).await;
    let first = scene.trashed(&first, 20).await;
    let back = |environment: &Environment| {
        let back = active(environment);
        let store = scene.store.clone();
        async move { store.save(&back, (State::Trashed, 1), &event("restored")).await }
    };

    let mut other = scene.draft(Work::Task("branch".into()));
    other.branch = branch("issue-42");
    let other = scene.made(&other).await;
    let refused = back(&first).await;
    assert!(matches!(refused, Err(StoreError::Taken(Taken::Branch))), "{refused:?}");
    scene.trashed(&other, 21).await;

    let mut other = scene.draft(Work::Task("path".into()));
    other.path.clone_from(&first.path);
    let other = scene.made(&other).await;
    let refused = back(&first).await;
    assert!(matches!(refused, Err(StoreError::Taken(Taken::Path))), "{refused:?}");
    scene.trashed(&other, 22).await;

    let mut other = scene.draft(Work::Issue(42));
    (other.branch, other.path) = (branch("other"), "/other".into());
    let other = scene.made(&other).await;
    let refused = back(&first).await;
    assert!(matches!(refused, Err(StoreError::Taken(Taken::Work))), "{refused:?}");
    assert_eq!(scene.read(first.id).await, first);
    scene.trashed(&other, 23).await;

    back(&first).await.expect("nothing is in the way any more");
    let found = scene.store.live_by_work(scene.codebase, &Work::Issue(42)).await.expect("read");
    assert_eq!(found.map(|environment| environment.id), Some(first.id), "it has its work again");
}

#[tokio::test]
async fn a_restore_can_let_go_of_a_work_that_another_has_now() {
    let scene = Scene::begin().await;
    let mut draft = scene.draft(Work::Issue(42));
    draft.works.push(named(Work::PullRequest(99)));
    let first = scene.made(&draft).await;
    let first = scene.trashed(&first, 20).await;
    let mut other = scene.draft(Work::PullRequest(99));
    other.branch = branch("feature");
    scene.made(&other).await;

    scene.store.set_works(first.id, &[named(Work::Issue(42))], &event("works-changed")).await.expect("set");
    let first = scene.read(first.id).await;
    assert_eq!(first.works, [named(Work::Issue(42))]);
    let back = scene.saved(&first, |environment| environment.state = State::Active).await;
    assert_eq!(back.works, first.works);
}

#[tokio::test]
async fn a_work_is_shared_once_and_only_with_the_living() {
    let scene = Scene::begin().await;
    let issue = scene.issue(42).await;
    let pr = named(Work::PullRequest(99));
    for _ in 0..2 {
        scene.store.add_work(issue.id, &pr, &event("shared")).await.expect("shared");
    }
    let shared = scene.read(issue.id).await;
    assert_eq!(shared.works, [named(Work::Issue(42)), pr.clone()], "in the order they came");
    let log = scene.store.events_of(issue.id).await.expect("read");
    assert_eq!(log.iter().filter(|event| event.what == "shared").count(), 1);

    let other = scene.issue(1).await;
    let refused = scene.store.add_work(other.id, &pr, &event("shared")).await;
    assert!(matches!(refused, Err(StoreError::Taken(Taken::Work))), "{refused:?}");
    let same_name = NamedWork { work: Work::Task("x".into()), name: "pr-99".into() };
    let refused = scene.store.add_work(other.id, &same_name, &event("shared")).await;
    assert!(matches!(refused, Err(StoreError::Taken(Taken::WorkName))), "{refused:?}");

    scene.trashed(&shared, 20).await;
    let refused = scene.store.add_work(issue.id, &named(Work::Issue(7)), &event("shared")).await;
    assert!(matches!(refused, Err(StoreError::Stale)), "{refused:?}");
    scene.store.add_work(other.id, &pr, &event("shared")).await.expect("free again");
}

#[tokio::test]
async fn the_trash_of_a_forgotten_codebase_can_be_emptied_but_not_brought_back() {
    let scene = Scene::begin().await;
    let issue = scene.issue(1).await;
    let trashed = scene.trashed(&issue, 20).await;
    scene.store.forget_codebase(scene.codebase, &crate::alice(), crate::time(30)).await.expect("forgotten");
    let refused = scene.store.save(&active(&trashed), (State::Trashed, 1), &event("restored")).await;
    assert!(matches!(refused, Err(StoreError::Stale)), "{refused:?}");
    let gone = scene.saved(&trashed, |environment| environment.state = State::Destroyed).await;
    assert_eq!(gone.state, State::Destroyed);
}
