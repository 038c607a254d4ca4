//! Every word of the Rust enums is one the database takes, and no other is.

use hedgerow_core::environment::{AdoptedFrom, InitState, ProviderKind, TrashedBecause};
use hedgerow_core::platform::{ConversationKey, PlatformKind};
use hedgerow_core::{State, Work};

use crate::{Scene, named, time, trash};

#[tokio::test]
async fn the_database_takes_every_word() {
    let scene = Scene::begin().await;
    let mut last = scene.issue(1).await;
    for state in State::ALL {
        last =
            scene.saved(&last, |environment| (environment.state, environment.trash) = (*state, Some(trash(1)))).await;
        assert_eq!(last.state, *state);
    }
    for because in TrashedBecause::ALL {
        let trash = hedgerow_core::environment::Trash { because: *because, ..trash(2) };
        last = scene.saved(&last, |environment| environment.trash = Some(trash.clone())).await;
        assert_eq!(last.trash, Some(trash));
    }
    for adopted in AdoptedFrom::ALL {
        last = scene.saved(&last, |environment| environment.adopted_from = Some(*adopted)).await;
        assert_eq!(last.adopted_from, Some(*adopted));
    }
    for init in InitState::ALL {
        last = scene.saved(&last, |environment| environment.init.state = Some(*init)).await;
        assert_eq!(last.init.state, Some(*init));
    }
    for provider in ProviderKind::ALL {
        last = scene.saved(&last, |environment| environment.provider = *provider).await;
        assert_eq!(last.provider, *provider);
    }
    for platform in PlatformKind::ALL {
        let key = ConversationKey { platform: *platform, id: "x".into() };
        assert_eq!(scene.store.conversation(&key, time(1)).await.expect("made").key, key);
    }
    let works =
        [Work::Issue(1), Work::PullRequest(1), Work::Review(1), Work::Thread("x".into()), Work::Task("x".into())];
    let works = works.map(named);
    scene.store.set_works(last.id, &works, &crate::event("works")).await.expect("set");
    assert_eq!(scene.read(last.id).await.works, works);
}

#[tokio::test]
async fn the_database_takes_no_other_word() {
    let scene = Scene::begin().await;
    scene.issue(1).await;
    let slack = ConversationKey { platform: PlatformKind::Slack, id: "x".into() };
    scene.store.conversation(&slack, time(1)).await.expect("made");
    for (table, column) in [
        ("environments", "state"),
        ("environments", "provider"),
        ("environments", "adopted_from"),
        ("environments", "init_state"),
        ("environments", "trashed_because"),
        ("environment_works", "kind"),
        ("conversations", "platform"),
    ] {
        let refused = scene.database.meddle(&format!("UPDATE {table} SET {column} = 'nonsense'")).await;
        let refused = refused.expect_err(column).to_string().to_lowercase();
        assert!(refused.contains("check constraint"), "{column}: {refused}");
    }
    let refused = scene.database.meddle("UPDATE environments SET state = 'trashed'").await;
    assert!(refused.is_err(), "nothing is in the trash without a place there");
}
