//! Who somebody is, where names are unique and may pass to somebody else.

use hedgerow_core::environment::Actor;
use hedgerow_core::message::RawEvent;
use hedgerow_testkit::Office;

use super::{Scene, empty, hosts, last};

fn says(office: &Office, name: &str, id: &str, text: &str) -> RawEvent {
    let saying = office.forge.says("acme/shop#42", name, text).author_id(id);
    saying.repository("acme/shop").about("issue-42").raw()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_that_passed_to_somebody_else_is_not_the_owner_s() {
    let scene = Scene::begin().await;
    let office = &scene.office;
    office.hears(says(office, "Alice", "583231", "say hello")).await;
    let environment = scene.environment("issue-42").await;
    assert_eq!(environment.created_by, Actor::new("github", "alice"));

    office.hears(says(office, "alice", "99", "/worktree remove")).await;
    let told = last(office, "acme/shop#42");
    assert!(told.starts_with("Only its owner (`github:alice`) or an admin may remove `issue-42`"), "{told}");
    office.hears(says(office, "ALICE", "583231", "/worktree remove")).await;
    assert!(last(office, "acme/shop#42").starts_with("Moved `issue-42` to the trash"));

    office.hears(says(office, "alice", "99", "/worktree create other")).await;
    let other = scene.find("task-other").await.expect("it was made");
    assert_eq!(other.created_by, Actor::new("github", "alice~99"));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_admin_is_named_by_name_or_by_id_and_a_name_of_digits_is_no_id() {
    let (office, board) = empty(|settings| {
        settings.runs.admins.push(Actor::new("github", "583231"));
        settings.runs.admins.push(Actor::new("github", "Carol"));
    })
    .await;
    hosts(&office, &board, "shop").await;
    let may = async |name: &str, id: &str| {
        office.hears(says(&office, name, id, "/worktree cleanup orphans")).await;
        let told = last(&office, "acme/shop#42");
        assert!(told == "Nothing to clean up" || told.starts_with("Only an admin may clean up orphans"), "{told}");
        told == "Nothing to clean up"
    };
    assert!(may("dave", "583231").await, "by id");
    assert!(may("renamed", "583231").await, "whatever they are called");
    assert!(may("carol", "7").await, "by name, in any case");
    assert!(!may("carol", "8").await, "somebody else behind the name");
    assert!(!may("583231", "9").await, "a name that looks like an id");
    assert!(!may("erin", "10").await);
}
