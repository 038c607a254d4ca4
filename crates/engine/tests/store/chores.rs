use hedgerow_core::Timestamp;
use hedgerow_engine::store::Chore;

use crate::Scene;

fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis)
}

#[tokio::test]
async fn a_chore_is_taken_renewed_and_ended_by_its_holder_alone() {
    let scene = Scene::begin().await;
    let store = &scene.store;
    let never = store.chore("sweep").await.expect("read");
    assert_eq!(never, Chore::default());
    assert!(store.take_chore("sweep", &never, "here:1", at(10), at(20)).await.expect("taken"));
    let held = store.chore("sweep").await.expect("read");
    let begun =
        Chore { holder: Some("here:1".into()), held_until: Some(at(20)), began_at: Some(at(10)), ended_at: None };
    assert_eq!(held, begun);

    assert!(store.renew_chore("sweep", "here:1", at(10), at(30)).await.expect("renewed"));
    assert!(!store.renew_chore("sweep", "here:2", at(10), at(40)).await.expect("answered"), "not theirs");
    assert!(!store.renew_chore("sweep", "here:1", at(9), at(40)).await.expect("answered"), "not that round");
    assert!(!store.take_chore("sweep", &held, "here:2", at(25), at(50)).await.expect("answered"), "renewed meanwhile");
    store.end_chore("sweep", "here:2", at(10), at(40)).await.expect("answered");
    let held = store.chore("sweep").await.expect("read");
    assert_eq!(held, Chore { held_until: Some(at(30)), ..begun }, "what is not theirs they do not end");

    assert!(store.take_chore("sweep", &held, "there:7", at(31), at(60)).await.expect("taken over"));
    store.end_chore("sweep", "here:1", at(10), at(40)).await.expect("answered");
    assert_eq!(store.chore("sweep").await.expect("read").holder.as_deref(), Some("there:7"));
    store.end_chore("sweep", "there:7", at(31), at(45)).await.expect("ended");
    let over = Chore { holder: None, held_until: None, began_at: Some(at(31)), ended_at: Some(at(45)) };
    assert_eq!(store.chore("sweep").await.expect("read"), over);
    assert_eq!(store.chore("another").await.expect("read"), Chore::default());
}

#[tokio::test(flavor = "multi_thread")]
async fn of_sixteen_who_saw_the_same_chore_one_gets_it() {
    let scene = Scene::begin().await;
    for round in 0..4 {
        let seen = scene.store.chore("sweep").await.expect("read");
        let mut racers = tokio::task::JoinSet::new();
        for racer in 0..16 {
            let store = scene.database.store().await;
            let seen = seen.clone();
            let now = at(100 * (round + 1));
            racers.spawn(async move {
                let holder = format!("node-{racer}:1");
                let got = store.take_chore("sweep", &seen, &holder, now, now.plus_seconds(120)).await.expect("answers");
                store.close().await;
                got
            });
        }
        let got = racers.join_all().await.into_iter().filter(|got| *got).count();
        assert_eq!(got, 1, "round {round}");
    }
}
