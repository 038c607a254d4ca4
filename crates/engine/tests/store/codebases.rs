use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use hedgerow_core::{CodebaseId, State};
use hedgerow_engine::store::{StoreError, Taken};

use crate::{Scene, alice, codebase, time};

#[tokio::test]
async fn a_codebase_is_found_by_id_name_and_path() {
    let scene = Scene::begin().await;
    let other = codebase("api");
    scene.store.add_codebase(&other, &alice()).await.expect("added");

    let all = scene.store.codebases().await.expect("listed");
    assert_eq!(all.iter().map(|codebase| codebase.name.as_str()).collect::<Vec<_>>(), ["api", "shop"]);
    assert_eq!(scene.store.codebase(other.id).await.expect("read").as_ref(), Some(&other));
    assert_eq!(scene.store.codebase_named("api").await.expect("read").as_ref(), Some(&other));
    assert_eq!(scene.store.codebase_at(Path::new("/code/api")).await.expect("read").as_ref(), Some(&other));
    assert_eq!(scene.store.codebase_named("API").await.expect("read"), None);
    assert_eq!(scene.store.codebase(CodebaseId::new()).await.expect("read"), None);
}

#[tokio::test]
async fn name_path_and_folder_belong_to_one_codebase() {
    let scene = Scene::begin().await;
    let shop = codebase("shop");
    for taken in [Taken::CodebaseName, Taken::CodebasePath, Taken::CodebaseFolder] {
        let mut other = codebase("other");
        match taken {
            Taken::CodebaseName => other.name.clone_from(&shop.name),
            Taken::CodebasePath => other.path.clone_from(&shop.path),
            _ => other.folder.clone_from(&shop.folder),
        }
        let refused = scene.store.add_codebase(&other, &alice()).await;
        assert!(matches!(refused, Err(StoreError::Taken(what)) if what == taken), "{refused:?}");
    }
    assert_eq!(scene.store.codebases().await.expect("listed").len(), 1);
}

#[tokio::test]
async fn an_accepted_configuration_is_remembered_with_who_accepted_it() {
    let scene = Scene::begin().await;
    scene.store.set_fingerprint(scene.codebase, "f2", &alice(), time(7)).await.expect("set");
    let shop = scene.store.codebase(scene.codebase).await.expect("read").expect("there");
    assert_eq!(shop.fingerprint, "f2");
    let log = scene.store.events_in(scene.codebase).await.expect("read");
    assert_eq!(
        log.iter().map(|event| event.what.as_str()).collect::<Vec<_>>(),
        ["codebase-added", "configuration-accepted"]
    );
    assert_eq!((log[1].at, &log[1].actor), (time(7), &alice()));
}

#[tokio::test]
async fn a_codebase_is_forgotten_only_without_environments_and_leaves_its_name_and_history() {
    let scene = Scene::begin().await;
    let issue = scene.issue(42).await;
    let refused = scene.store.forget_codebase(scene.codebase, &alice(), time(8)).await;
    assert!(matches!(refused, Err(StoreError::InUse)), "{refused:?}");

    let issue = scene.saved(&issue, |environment| environment.state = State::Destroyed).await;
    scene.store.forget_codebase(scene.codebase, &alice(), time(9)).await.expect("forgotten");
    assert_eq!(scene.store.codebases().await.expect("listed"), []);
    assert_eq!(scene.store.codebase_named("shop").await.expect("read"), None);
    assert!(scene.store.codebase(scene.codebase).await.expect("read").is_some(), "its history needs it");
    assert_eq!(scene.store.events_of(issue.id).await.expect("read").len(), 2);

    let again = scene.store.forget_codebase(scene.codebase, &alice(), time(10)).await;
    assert!(matches!(again, Err(StoreError::Stale)), "{again:?}");
    scene.store.add_codebase(&codebase("shop"), &alice()).await.expect("the name is free again");
}

#[tokio::test]
async fn a_path_that_is_no_text_is_refused_by_name() {
    let scene = Scene::begin().await;
    let mut odd = codebase("odd");
    odd.path = Path::new(OsStr::from_bytes(b"/code/\xff")).to_owned();
    let refused = scene.store.add_codebase(&odd, &alice()).await.expect_err("not text");
    assert!(refused.to_string().contains("not valid UTF-8"), "{refused}");
}
