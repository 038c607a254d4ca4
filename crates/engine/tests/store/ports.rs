use hedgerow_core::{State, Work};

use crate::Scene;

#[tokio::test]
async fn the_lowest_free_block_of_the_machine_is_given() {
    let scene = Scene::begin().await;
    let first = scene.issue(1).await;
    let second = scene.issue(2).await;
    let mut elsewhere = scene.draft(Work::Issue(3));
    elsewhere.node = "there".into();
    let elsewhere = scene.made(&elsewhere).await;
    assert_eq!([first.port, second.port, elsewhere.port], [Some(4800), Some(4810), Some(4800)]);
    scene.trashed(&first, 20).await;
    assert_eq!(scene.issue(4).await.port, Some(4800));
    assert_eq!(scene.issue(5).await.port, Some(4820));
}

#[tokio::test]
async fn an_environment_that_comes_back_keeps_its_block_or_gets_another() {
    let scene = Scene::begin().await;
    let first = scene.issue(1).await;
    scene.issue(2).await;
    let trashed = scene.trashed(&first, 20).await;
    let back = scene.saved(&trashed, |environment| environment.state = State::Active).await;
    assert_eq!(back.port, Some(4800));

    let trashed = scene.trashed(&back, 21).await;
    scene.issue(3).await;
    let back = scene.saved(&trashed, |environment| environment.state = State::Active).await;
    assert_eq!(back.port, Some(4820));
    // Its holder may not have read the new one yet.
    let saved = scene.saved(&trashed_as_active(&trashed), |environment| environment.state = State::Suspended).await;
    assert_eq!(saved.port, Some(4820));
}

fn trashed_as_active(environment: &hedgerow_core::Environment) -> hedgerow_core::Environment {
    hedgerow_core::Environment { state: State::Active, ..environment.clone() }
}
