use hedgerow_core::EnvironmentId;
use tokio::task::JoinSet;

use crate::{Scene, time};

#[tokio::test(flavor = "multi_thread")]
async fn one_of_many_gets_the_lease() {
    let scene = Scene::begin().await;
    let id = scene.issue(1).await.id;
    let mut asking = JoinSet::new();
    for n in 0..40 {
        let shared = scene.store.clone();
        asking.spawn(async move { shared.take_lease(id, &format!("run {n}"), time(0), 60).await.expect("asked") });
    }
    let granted: Vec<u64> = asking.join_all().await.into_iter().flatten().collect();
    assert_eq!(granted, [1]);
}

#[tokio::test]
async fn a_lease_ends_by_being_given_back_or_by_time() {
    let scene = Scene::begin().await;
    let id = scene.issue(1).await.id;
    let store = &scene.store;
    assert_eq!(store.lease_holder(id, time(0)).await.expect("asked"), None);
    assert_eq!(store.take_lease(id, "one", time(0), 60).await.expect("asked"), Some(1));
    assert_eq!(store.lease_holder(id, time(59_999)).await.expect("asked").as_deref(), Some("one"));
    assert_eq!(store.take_lease(id, "two", time(59_999), 60).await.expect("asked"), None);

    assert_eq!(store.lease_holder(id, time(60_000)).await.expect("asked"), None);
    assert_eq!(store.take_lease(id, "two", time(60_000), 60).await.expect("asked"), Some(2));
    store.release_lease(id, 1).await.expect("released");
    assert_eq!(store.lease_holder(id, time(60_001)).await.expect("asked").as_deref(), Some("two"), "not its to give");

    store.release_lease(id, 2).await.expect("released");
    assert_eq!(store.lease_holder(id, time(60_001)).await.expect("asked"), None);
    assert_eq!(store.take_lease(id, "three", time(60_001), 60).await.expect("asked"), Some(3), "the epoch only rises");
    assert_eq!(store.take_lease(EnvironmentId::new(), "x", time(0), 60).await.expect("asked"), None);
}

#[tokio::test]
async fn a_lease_is_renewed_by_its_holder_only() {
    let scene = Scene::begin().await;
    let id = scene.issue(1).await.id;
    let store = &scene.store;
    store.take_lease(id, "one", time(0), 60).await.expect("asked");
    assert!(store.renew_lease(id, 1, time(50_000), 60).await.expect("asked"));
    assert_eq!(store.lease_holder(id, time(100_000)).await.expect("asked").as_deref(), Some("one"));
    assert_eq!(store.take_lease(id, "two", time(110_000), 60).await.expect("asked"), Some(2));
    assert!(!store.renew_lease(id, 1, time(110_001), 60).await.expect("asked"));
    store.release_lease(id, 2).await.expect("released");
    assert!(!store.renew_lease(id, 2, time(110_002), 60).await.expect("asked"), "given back");
}

#[tokio::test]
async fn saving_leaves_the_lease_alone() {
    let scene = Scene::begin().await;
    let issue = scene.issue(1).await;
    scene.store.take_lease(issue.id, "one", time(0), 60).await.expect("asked");
    scene.saved(&issue, |environment| environment.generation += 1).await;
    assert_eq!(scene.store.lease_holder(issue.id, time(1)).await.expect("asked").as_deref(), Some("one"));
}
