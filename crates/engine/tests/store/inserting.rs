use std::path::{Path, PathBuf};
use std::slice;

use hedgerow_core::{Environment, State, Work};
use hedgerow_engine::store::{Inserted, Store, StoreError, Taken};
use tokio::task::JoinSet;

use crate::{Scene, branch, codebase, draft, event, insert, named, time};

/// As many at once as there are drafts, from ten processes' worth of stores.
async fn all_at_once(scene: &Scene, drafts: Vec<Environment>, limit: Option<u32>) -> Vec<Inserted> {
    let mut stores = Vec::new();
    for _ in 0..10 {
        stores.push(Store::open(&scene.database.database()).await.expect("opened"));
    }
    let mut asking = JoinSet::new();
    for (draft, store) in drafts.into_iter().zip(stores.iter().cycle()) {
        let its_own = store.clone();
        asking.spawn(async move { insert(&its_own, &draft, limit).await });
    }
    asking.join_all().await
}

fn written(answers: &[Inserted]) -> usize {
    answers.iter().filter(|answer| matches!(answer, Inserted::Written(_))).count()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hundred_requests_for_one_work_make_one_environment() {
    let scene = Scene::begin().await;
    let drafts = (0..100).map(|_| scene.draft(Work::Issue(42))).collect();
    let answers = all_at_once(&scene, drafts, Some(25)).await;
    let only = &scene.store.live(scene.codebase).await.expect("read")[..];
    let [only] = only else { panic!("{} environments", only.len()) };
    assert_eq!(written(&answers), 1);
    let told = answers.iter().filter(|answer| matches!(answer, Inserted::WorkTaken(holder) if holder == only)).count();
    assert_eq!(told, 99);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hundred_requests_at_the_last_place_make_one_more() {
    let scene = Scene::begin().await;
    for number in 1..=24 {
        scene.issue(number).await;
    }
    let drafts = (101..=200).map(|number| scene.draft(Work::Issue(number))).collect();
    let answers = all_at_once(&scene, drafts, Some(25)).await;
    assert_eq!(written(&answers), 1);
    assert_eq!(answers.iter().filter(|answer| **answer == Inserted::Full { live: 25 }).count(), 99);
    assert_eq!(scene.store.count_live(scene.codebase).await.expect("counted"), 25);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hundred_works_without_a_limit_get_a_hundred_environments_with_ports_of_their_own() {
    let scene = Scene::begin().await;
    let api = codebase("api");
    scene.store.add_codebase(&api, &crate::alice()).await.expect("added");
    // Two codebases on one machine, so that the codebase's lock alone does not keep ports apart.
    let drafts = (1..=100)
        .map(|number| {
            let mut draft = draft(if number % 2 == 0 { api.id } else { scene.codebase }, Work::Issue(number));
            draft.created_at = time(i64::try_from(number).expect("small"));
            draft
        })
        .collect();
    let answers = all_at_once(&scene, drafts, Some(0)).await;
    assert_eq!(written(&answers), 100);
    let mut ports: Vec<_> =
        scene.store.live_everywhere().await.expect("read").iter().filter_map(|environment| environment.port).collect();
    ports.sort_unstable();
    assert_eq!(ports, (4800..5800).step_by(10).collect::<Vec<u16>>());
}

#[tokio::test]
async fn a_taken_branch_is_told_with_its_holder() {
    let scene = Scene::begin().await;
    let issue = scene.issue(42).await;
    let mut other = scene.draft(Work::Task("other".into()));
    other.branch = branch("issue-42");
    assert_eq!(scene.insert(&other, Some(1)).await, Inserted::BranchTaken(issue));
    assert_eq!(scene.insert(&scene.draft(Work::Issue(1)), Some(1)).await, Inserted::Full { live: 1 });
    assert!(matches!(scene.insert(&scene.draft(Work::Issue(1)), None).await, Inserted::Written(_)));
}

#[tokio::test]
async fn any_of_several_works_can_be_the_taken_one() {
    let scene = Scene::begin().await;
    let review = scene.made(&scene.draft(Work::Review(9))).await;
    let mut fork = scene.draft(Work::PullRequest(9));
    fork.works.push(named(Work::Review(9)));
    assert_eq!(scene.insert(&fork, None).await, Inserted::WorkTaken(review));
    assert_eq!(scene.store.count_live(scene.codebase).await.expect("counted"), 1);
}

#[tokio::test]
async fn a_path_that_differs_in_case_only_is_taken() {
    let scene = Scene::begin().await;
    let mut upper = scene.draft(Work::Task("A".into()));
    upper.path = "/environments/Straße-A".into();
    scene.made(&upper).await;

    let draft = scene.draft(Work::Task("a".into()));
    let paths: Vec<PathBuf> = vec!["/environments/STRAßE-a".into(), "/environments/a-12345678".into()];
    let refused = scene.store.insert(&draft, &paths[..1], None, &event("created")).await;
    assert!(matches!(refused, Err(StoreError::Taken(Taken::Path))), "{refused:?}");
    let Ok(Inserted::Written(made)) = scene.store.insert(&draft, &paths, None, &event("created")).await else {
        panic!("the next path was free")
    };
    assert_eq!(made.path, Path::new("/environments/a-12345678"));
}

#[tokio::test]
async fn a_name_that_another_work_has_is_taken() {
    let scene = Scene::begin().await;
    scene.made(&scene.draft(Work::Thread("one".into()))).await;
    let mut other = scene.draft(Work::Thread("two".into()));
    let name = Work::Thread("one".into()).to_string();
    other.works[0].name.clone_from(&name);
    let refused = scene.store.insert(&other, &[other.path.clone()], None, &event("created")).await;
    assert!(matches!(refused, Err(StoreError::Taken(Taken::WorkName))), "{refused:?}");

    let taken = |work: Work| {
        let name = name.clone();
        let scene = &scene;
        async move { scene.store.work_name_taken(scene.codebase, &name, &work).await.expect("asked") }
    };
    assert!(taken(Work::Thread("two".into())).await);
    assert!(!taken(Work::Thread("one".into())).await, "its own name");
}

#[tokio::test]
async fn what_is_gone_is_not_counted_and_not_in_the_way() {
    let scene = Scene::begin().await;
    let first = scene.issue(42).await;
    scene.trashed(&first, 20).await;
    let second = match scene.insert(&scene.draft(Work::Issue(42)), Some(1)).await {
        Inserted::Written(second) => second,
        other => panic!("{other:?}"),
    };
    scene.saved(&second, |environment| environment.state = State::Destroyed).await;
    let third = scene.insert(&scene.draft(Work::Issue(42)), Some(1)).await;
    assert!(matches!(third, Inserted::Written(_)), "{third:?}");
}

#[tokio::test]
async fn nothing_is_made_in_a_forgotten_codebase() {
    let scene = Scene::begin().await;
    scene.store.forget_codebase(scene.codebase, &crate::alice(), time(3)).await.expect("forgotten");
    let draft = scene.draft(Work::Issue(1));
    let refused = scene.store.insert(&draft, slice::from_ref(&draft.path), None, &event("created")).await;
    assert!(matches!(refused, Err(StoreError::Stale)), "{refused:?}");
}
