use std::slice;

use hedgerow_core::environment::{AdoptedFrom, Init, InitState, PullRequestInfo};
use hedgerow_core::platform::Checks;
use hedgerow_core::{EnvironmentId, State, Work};

use crate::{Scene, branch, codebase, draft, event, named, sha, time, trash};

#[tokio::test]
async fn every_field_of_an_environment_survives() {
    let scene = Scene::begin().await;
    let mut full = scene.draft(Work::Issue(42));
    full.works.push(named(Work::Thread("C1:17.2".into())));
    full.adopted_from = Some(AdoptedFrom::Branch);
    full.migrated_at = Some(time(2));
    full.pinned_at = Some(time(3));
    full.init = Init { state: Some(InitState::Failed), error: Some("exit 1".into()) };
    full.pr = Some(PullRequestInfo {
        number: 99,
        url: Some("https://example.com/99".into()),
        title: Some("Fix the login".into()),
        state: Some("open".into()),
        created_at: Some(time(4)),
        head: Some(sha('7')),
        checks: Some(Checks::Failing),
        seen_at: Some(time(5)),
    });
    full.pushed_sha = Some(sha('8'));
    full.description = Some("Ünïcode 🌿".into());
    full.keywords = vec!["login".into(), "auth".into(), "login".into()];
    full.last_error = Some("oh".into());
    full.trash = Some(trash(6));

    let written = scene.made(&full).await;
    full.port = Some(4800);
    assert_eq!(written, full);
    assert_eq!(scene.read(full.id).await, full);
    let bare = scene.issue(1).await;
    assert_eq!(scene.read(bare.id).await, bare);
    assert_eq!(scene.store.environment(EnvironmentId::new()).await.expect("read"), None);
}

#[tokio::test]
async fn words_with_a_zero_byte_are_kept_readable_on_both_databases() {
    let scene = Scene::begin().await;
    let issue = scene.issue(1).await;
    let issue = scene.saved(&issue, |environment| environment.last_error = Some("a\0b".into())).await;
    assert_eq!(issue.last_error.as_deref(), Some("a\u{fffd}b"));
}

#[tokio::test]
async fn lists_come_in_order_and_whole() {
    let scene = Scene::begin().await;
    let mut made = Vec::new();
    for (number, at) in [(1, 30), (2, 10), (3, 20), (4, 40)] {
        let mut draft = scene.draft(Work::Issue(number));
        draft.created_at = time(at);
        draft.keywords = vec![format!("k{number}")];
        made.push(scene.made(&draft).await);
    }
    let elsewhere = codebase("api");
    scene.store.add_codebase(&elsewhere, &crate::alice()).await.expect("added");
    let mut far = draft(elsewhere.id, Work::Issue(9));
    far.node = "there".into();
    let far = scene.made(&far).await;
    let gone = scene.trashed(&made[0], 50).await;
    let newer = scene.trashed(&made[3], 60).await;

    assert_eq!(scene.store.live(scene.codebase).await.expect("read"), [made[1].clone(), made[2].clone()]);
    assert_eq!(scene.store.live(elsewhere.id).await.expect("read"), slice::from_ref(&far));
    assert_eq!(scene.store.live_everywhere().await.expect("read").len(), 3);
    assert_eq!(scene.store.trashed(scene.codebase).await.expect("read"), [newer, gone]);
    assert_eq!(scene.store.in_state("there", State::Creating).await.expect("read"), [far]);
    assert_eq!(scene.store.in_state("there", State::Active).await.expect("read"), []);
    assert_eq!(scene.store.count_live(scene.codebase).await.expect("counted"), 2);
}

#[tokio::test]
async fn a_long_list_is_read_whole() {
    let scene = Scene::begin().await;
    for number in 1..=110 {
        scene.issue(number).await;
    }
    let all = scene.store.live(scene.codebase).await.expect("read");
    assert_eq!(all.len(), 110);
    assert!(all.iter().all(|environment| environment.works.len() == 1 && environment.port.is_some()));
}

#[tokio::test]
async fn a_live_environment_is_found_by_work_and_by_branch_until_it_is_gone() {
    let scene = Scene::begin().await;
    let issue = scene.issue(42).await;
    let by_work = scene.store.live_by_work(scene.codebase, &Work::Issue(42)).await.expect("read");
    assert_eq!(by_work.as_ref(), Some(&issue));
    assert_eq!(scene.store.live_by_work(scene.codebase, &Work::PullRequest(42)).await.expect("read"), None);
    let by_branch = scene.store.live_by_branch(scene.codebase, &branch("issue-42")).await.expect("read");
    assert_eq!(by_branch.as_ref(), Some(&issue));

    scene.trashed(&issue, 20).await;
    assert_eq!(scene.store.live_by_work(scene.codebase, &Work::Issue(42)).await.expect("read"), None);
    assert_eq!(scene.store.live_by_branch(scene.codebase, &branch("issue-42")).await.expect("read"), None);
}

#[tokio::test]
async fn activity_moves_forward_only() {
    let scene = Scene::begin().await;
    let issue = scene.issue(1).await;
    scene.store.touch(issue.id, time(90)).await.expect("touched");
    scene.store.touch(issue.id, time(80)).await.expect("touched");
    assert_eq!(scene.read(issue.id).await.last_activity_at, time(90));
    let saved = scene.saved(&issue, |environment| environment.state = State::Active).await;
    assert_eq!(saved.last_activity_at, time(90), "an older reading does not undo a touch");
}

#[tokio::test]
async fn every_change_is_in_the_log_with_its_commits() {
    let scene = Scene::begin().await;
    let issue = scene.issue(42).await;
    let removed = event("removed").shas(Some(sha('1')), Some(sha('2'))).detail("because\0");
    let mut gone = issue.clone();
    gone.state = State::Destroyed;
    scene.store.save(&gone, (State::Creating, 1), &removed).await.expect("saved");
    scene.store.record(&event("looked-at").of(scene.codebase, issue.id)).await.expect("recorded");

    let log = scene.store.events_of(issue.id).await.expect("read");
    let mut words: Vec<_> = log.iter().map(|event| event.what.as_str()).collect();
    words.sort_unstable();
    assert_eq!(words, ["environment-created", "looked-at", "removed"]);
    let entry = log.iter().find(|event| event.what == "removed").expect("logged");
    assert_eq!((entry.codebase, entry.environment), (Some(scene.codebase), Some(issue.id)));
    assert_eq!((entry.old_sha.clone(), entry.new_sha.clone()), (Some(sha('1')), Some(sha('2'))));
    assert_eq!(entry.detail.as_deref(), Some("because\u{fffd}"));
}
