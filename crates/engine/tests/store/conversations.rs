use hedgerow_core::State;
use hedgerow_core::platform::{ConversationKey, PlatformKind};

use crate::{Scene, time};

fn thread(id: &str) -> ConversationKey {
    ConversationKey { platform: PlatformKind::Slack, id: id.to_owned() }
}

#[tokio::test]
async fn many_first_messages_make_one_conversation() {
    let scene = Scene::begin().await;
    let mut asking = tokio::task::JoinSet::new();
    for at in 0..40 {
        let shared = scene.store.clone();
        asking.spawn(async move { shared.conversation(&thread("C1"), time(at)).await.expect("made").id });
    }
    let mut ids = asking.join_all().await;
    ids.dedup();
    assert_eq!(ids.len(), 1);
    let other = ConversationKey { platform: PlatformKind::Discord, id: "C1".into() };
    assert_ne!(scene.store.conversation(&other, time(1)).await.expect("made").id, ids[0]);
}

#[tokio::test]
async fn a_conversation_points_at_an_environment_and_so_at_its_codebase() {
    let scene = Scene::begin().await;
    let issue = scene.issue(42).await;
    let first = scene.store.conversation(&thread("C1"), time(1)).await.expect("made");
    let second = scene.store.conversation(&thread("C2"), time(2)).await.expect("made");
    assert_eq!((first.environment, first.codebase), (None, None));

    for conversation in [&first, &second] {
        scene.store.point(conversation.id, Some(issue.id), time(3)).await.expect("pointed");
    }
    let first = scene.store.conversation(&thread("C1"), time(4)).await.expect("read");
    assert_eq!((first.environment, first.codebase), (Some(issue.id), Some(scene.codebase)));
    assert_eq!((first.created_at, first.last_activity_at), (time(1), time(4)));
    assert_eq!(scene.store.conversations_of(issue.id).await.expect("read"), [thread("C1"), thread("C2")]);
    let all = scene.store.conversations_in(scene.codebase).await.expect("read");
    assert_eq!(all, [(issue.id, thread("C1")), (issue.id, thread("C2"))]);

    scene.store.point(first.id, None, time(5)).await.expect("pointed");
    let first = scene.store.conversation(&thread("C1"), time(6)).await.expect("read");
    assert_eq!((first.environment, first.codebase), (None, Some(scene.codebase)));
    assert_eq!(scene.store.conversations_of(issue.id).await.expect("read"), [thread("C2")]);
}

#[tokio::test]
async fn who_lets_go_of_an_environment_keeps_another() {
    let scene = Scene::begin().await;
    let (gone, new) = (scene.issue(42).await, scene.issue(43).await);
    for (id, environment) in [("C1", &gone), ("C2", &gone), ("C3", &new)] {
        let conversation = scene.store.conversation(&thread(id), time(1)).await.expect("made").id;
        scene.store.point(conversation, Some(environment.id), time(2)).await.expect("pointed");
    }
    for (only, left) in [(Some(thread("C3")), 2), (Some(thread("C1")), 1), (None, 0)] {
        scene.store.let_go_of(gone.id, only.as_ref(), time(3)).await.expect("let go of");
        assert_eq!(scene.store.conversations_of(gone.id).await.expect("read").len(), left, "{only:?}");
    }
    assert_eq!(scene.store.conversations_of(new.id).await.expect("read"), [thread("C3")]);
}

#[tokio::test]
async fn a_forgotten_codebase_leaves_its_conversations_without_one() {
    let scene = Scene::begin().await;
    let issue = scene.issue(42).await;
    let conversation = scene.store.conversation(&thread("C1"), time(1)).await.expect("made");
    scene.store.point(conversation.id, Some(issue.id), time(3)).await.expect("pointed");
    scene.saved(&issue, |environment| environment.state = State::Destroyed).await;
    scene.store.forget_codebase(scene.codebase, &crate::alice(), time(4)).await.expect("forgotten");
    assert_eq!(scene.store.conversation(&thread("C1"), time(5)).await.expect("read").codebase, None);
}
