//! Environments and codebases, made and removed through the API.

use hedgerow_core::Work;
use hedgerow_testkit::World;
use hedgerow_web::Limits;
use serde_json::{Value, json};

use crate::door::Door;
use hedgerow_testkit::http::Ask;

const ENVIRONMENTS: &str = "/api/v1/environments";

async fn delete(door: &Door, path: &str) -> (u16, Value) {
    let answered = door.ask(Ask::new("DELETE", path)).await;
    (answered.status, answered.json())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_environment_is_made_found_removed_and_brought_back() {
    let door = Door::new().await;
    let (repo, _) = door.world.given_a_repo("shop").await;
    let wanted = json!({"codebase": "shop", "work": "issue-42", "description": "Login is broken"});
    let made = door.post(ENVIRONMENTS, &wanted).await;
    assert_eq!(made.status, 200, "{made:?}");
    let made = made.json();
    for (field, value) in [
        ("codebase", json!("shop")),
        ("works", json!(["issue-42"])),
        ("branch", json!("issue-42")),
        ("resolution", json!("created")),
        ("state", json!("active")),
        ("created_by", json!("http:api")),
        ("description", json!("Login is broken")),
        ("dirty", json!(false)),
    ] {
        assert_eq!(made[field], value, "{field}");
    }
    assert_eq!(door.post(ENVIRONMENTS, &wanted).await.json()["resolution"], json!("reused"));

    let id = made["id"].as_str().expect("an id");
    for name in [id, &id[..18], "issue-42"] {
        let shown = door.get(&format!("{ENVIRONMENTS}/{name}")).await;
        assert_eq!((shown.status, &shown.json()["id"]), (200, &made["id"]), "{name}");
    }
    let list = door.get(&format!("{ENVIRONMENTS}?codebase=shop&full=true")).await.json();
    assert_eq!((list.as_array().map(Vec::len), &list[0]["merged"]), (Some(1), &json!("new")));

    let (status, removed) = delete(&door, &format!("{ENVIRONMENTS}/issue-42")).await;
    assert_eq!((status, &removed["outcome"]), (200, &json!("trashed")));
    assert_eq!(removed["undo"], json!(format!("POST {ENVIRONMENTS}/{id}/restore")));
    assert_eq!(door.get(ENVIRONMENTS).await.json(), json!([]));
    assert_eq!(door.get(&format!("{ENVIRONMENTS}/issue-42")).await.json()["state"], json!("trashed"));

    let back = door.ask(Ask::new("POST", &format!("{ENVIRONMENTS}/{id}/restore"))).await;
    assert_eq!((back.status, &back.json()["resolution"]), (200, &json!("restored")), "{back:?}");
    assert!(repo.path().exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn work_is_protected_unless_it_is_forced() {
    let door = Door::new().await;
    let (_, codebase) = door.world.given_a_repo("shop").await;
    let environment = door.world.environment(&codebase, Work::Issue(1)).await;
    std::fs::write(environment.path.join("new.txt"), "precious").expect("a file is written");
    let path = format!("{ENVIRONMENTS}/issue-1");
    let (status, refused) = delete(&door, &path).await;
    assert_eq!((status, &refused["error"]["kind"]), (409, &json!("protected")));
    assert!(environment.path.exists());
    assert_eq!(delete(&door, &format!("{path}?force=true")).await.0, 200);
    assert!(!environment.path.exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_in_use_by_another_is_locked() {
    let door = Door::new().await;
    let (_, codebase) = door.world.given_a_repo("shop").await;
    let environment = door.world.environment(&codebase, Work::Issue(1)).await;
    let store = door.world.engine.store();
    let now = door.world.engine.store_now().await.expect("a time");
    store.take_lease(environment.id, "elsewhere:7", now, 600).await.expect("the store answers").expect("a lease");
    let (status, busy) = delete(&door, &format!("{ENVIRONMENTS}/issue-1")).await;
    assert_eq!((status, &busy["error"]["kind"]), (423, &json!("busy")), "{busy}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_limit_is_told_with_the_ways_out() {
    let world = World::with(|settings| settings.limit = 1).await;
    let (_, codebase) = world.given_a_repo("shop").await;
    world.environment(&codebase, Work::Issue(1)).await;
    let door = Door::with(world, Limits::default()).await;
    let full = door.post(ENVIRONMENTS, &json!({"work": "issue-2"})).await;
    assert_eq!((full.status, full.kind().as_str()), (429, "limit"));
    assert!(full.message().contains("limit reached"), "{full:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn with_several_codebases_a_name_must_be_clear() {
    let door = Door::new().await;
    let none = door.post(ENVIRONMENTS, &json!({"work": "issue-1"})).await;
    assert_eq!((none.status, none.kind().as_str()), (404, "not_found"), "there is no codebase at all");
    for name in ["shop", "blog"] {
        let (_, codebase) = door.world.given_a_repo(name).await;
        door.world.environment(&codebase, Work::Issue(1)).await;
    }
    let (_, codebase) = door.world.given_a_repo("docs").await;
    door.world.environment(&codebase, Work::Issue(2)).await;

    assert_eq!(door.post(ENVIRONMENTS, &json!({"work": "issue-1"})).await.status, 422, "of which codebase?");
    let unclear = door.get(&format!("{ENVIRONMENTS}/issue-1")).await;
    assert_eq!((unclear.status, unclear.kind().as_str()), (422, "usage"));
    let clear = door.get(&format!("{ENVIRONMENTS}/issue-1?codebase=blog")).await;
    assert_eq!((clear.status, &clear.json()["codebase"]), (200, &json!("blog")));
    let only = door.get(&format!("{ENVIRONMENTS}/issue-2")).await;
    assert_eq!((only.status, &only.json()["codebase"]), (200, &json!("docs")));
    let by_id = format!("{ENVIRONMENTS}/{}", clear.json()["id"].as_str().expect("an id"));
    assert_eq!(door.get(&by_id).await.json()["codebase"], json!("blog"));

    for (path, kind) in [
        ("/issue-7", "not_found"),
        ("/issue-7?codebase=blog", "not_found"),
        ("/issue-1?codebase=nope", "not_found"),
        ("/0198c0de-0000-7000-8000-000000000000", "not_found"),
    ] {
        let answered = door.get(&format!("{ENVIRONMENTS}{path}")).await;
        assert_eq!((answered.status, answered.kind().as_str()), (404, kind), "{path}");
    }
    assert_eq!(delete(&door, &format!("{ENVIRONMENTS}/issue-7")).await.0, 404);
    let restore = Ask::new("POST", &format!("{ENVIRONMENTS}/issue-2/restore"));
    assert_eq!(door.ask(restore).await.status, 404, "it is not in the trash");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_branch_with_a_slash_is_named_in_the_path() {
    let door = Door::new().await;
    door.world.given_a_repo("shop").await;
    let made = door.post(ENVIRONMENTS, &json!({"branch": "feature/auth"})).await;
    assert_eq!((made.status, &made.json()["branch"]), (200, &json!("feature/auth")), "{made:?}");
    let shown = door.get(&format!("{ENVIRONMENTS}/feature%2Fauth")).await;
    assert_eq!((shown.status, &shown.json()["id"]), (200, &made.json()["id"]));
}

#[tokio::test(flavor = "multi_thread")]
async fn codebases_are_added_by_path_or_url_and_listed() {
    let door = Door::new().await;
    let repo = hedgerow_testkit::TestRepo::with_origin(&door.world.folder().join("code"), "shop");
    let added = door.post("/api/v1/codebases", &json!({"path": repo.path(), "name": "shop"})).await;
    assert_eq!((added.status, &added.json()["is_new"]), (200, &json!(true)), "{added:?}");
    let again = door.post("/api/v1/codebases", &json!({"path": repo.path()})).await;
    assert_eq!((&again.json()["is_new"], &again.json()["id"]), (&json!(false), &added.json()["id"]));
    let list = door.get("/api/v1/codebases").await.json();
    assert_eq!((list.as_array().map(Vec::len), &list[0]["name"]), (Some(1), &json!("shop")));
    let nothing = door.post("/api/v1/codebases", &json!({"path": door.world.folder()})).await;
    assert!(nothing.status >= 400 && nothing.status < 500, "a folder without a repository: {nothing:?}");
}
