use hedgerow_core::{Environment, Work};
use hedgerow_engine::store::{Scope, StoreError};

use crate::{Scene, branch, codebase};

async fn found(scene: &Scene, name: &str, scope: Scope) -> Option<Environment> {
    scene.store.find(scene.codebase, name, scope).await.expect("looked up")
}

#[tokio::test]
async fn a_work_counts_before_a_branch_before_a_path_before_an_id() {
    let scene = Scene::begin().await;
    let by_work = scene.issue(1).await;
    // One whose branch is called like the other's work, and one that stands at a path of that name.
    let mut draft = scene.draft(Work::Issue(2));
    draft.branch = branch("pr-7");
    let by_branch = scene.made(&draft).await;
    let mut draft = scene.draft(Work::PullRequest(7));
    draft.branch = branch("feature/auth");
    let pr = scene.made(&draft).await;
    let mut draft = scene.draft(Work::Issue(3));
    draft.path = "/feature/auth".into();
    let by_path = scene.made(&draft).await;

    assert_eq!(found(&scene, "issue-1", Scope::Live).await.as_ref(), Some(&by_work));
    assert_eq!(found(&scene, "pr-7", Scope::Live).await.as_ref(), Some(&pr), "the work, not the branch");
    assert_eq!(found(&scene, "feature/auth", Scope::Live).await.as_ref(), Some(&pr), "the branch");
    assert_eq!(found(&scene, "/feature/auth", Scope::Live).await.as_ref(), Some(&by_path), "the path");
    assert_eq!(found(&scene, "/feature/auth/", Scope::Live).await.as_ref(), Some(&by_path), "as shells complete it");
    for id in [by_branch.id.to_string(), by_branch.id.to_string().to_uppercase().replace('-', "")] {
        assert_eq!(found(&scene, &id, Scope::Live).await.as_ref(), Some(&by_branch));
    }
    assert_eq!(found(&scene, "issue-9", Scope::Live).await, None);
    assert_eq!(found(&scene, "%", Scope::Live).await, None);
    assert_eq!(found(&scene, "", Scope::Live).await, None);
}

#[tokio::test]
async fn the_beginning_of_an_id_must_be_unique_and_not_too_short() {
    let scene = Scene::begin().await;
    let one = scene.issue(1).await;
    let id = one.id.to_string();
    assert_eq!(found(&scene, &id[..4], Scope::Live).await, Some(one));
    assert_eq!(found(&scene, &id[..3], Scope::Live).await, None);
    scene.issue(2).await;
    let both = scene.store.find(scene.codebase, &id[..4], Scope::Live).await;
    assert!(matches!(both, Err(StoreError::Ambiguous(2))), "{both:?}");
}

#[tokio::test]
async fn the_newest_in_the_trash_counts() {
    let scene = Scene::begin().await;
    let older = scene.issue(42).await;
    let older = scene.trashed(&older, 20).await;
    let newer = scene.issue(42).await;
    assert_eq!(found(&scene, "issue-42", Scope::Live).await.as_ref(), Some(&newer));
    let newer = scene.trashed(&newer, 30).await;

    assert_eq!(found(&scene, "issue-42", Scope::Live).await, None);
    assert_eq!(found(&scene, "issue-42", Scope::Trashed).await.as_ref(), Some(&newer));
    assert_eq!(found(&scene, "/environments/issue-42", Scope::Trashed).await.as_ref(), Some(&newer));
    assert_eq!(found(&scene, "/trash/20", Scope::Trashed).await.as_ref(), Some(&older));
    assert_eq!(found(&scene, &older.id.to_string(), Scope::Trashed).await.as_ref(), Some(&older));
    assert_eq!(found(&scene, &older.id.to_string(), Scope::Live).await, None);
}

#[tokio::test]
async fn other_codebases_are_not_looked_at() {
    let scene = Scene::begin().await;
    scene.issue(42).await;
    let api = codebase("api");
    scene.store.add_codebase(&api, &crate::alice()).await.expect("added");
    assert_eq!(scene.store.find(api.id, "issue-42", Scope::Live).await.expect("looked up"), None);
}
