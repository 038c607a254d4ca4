//! The codebase of a forge's event is a clone of its own repository, and no other.

use std::fs;

use hedgerow_testkit::TestRepo;

use super::{SHOP, Scene, empty, hosts, last, said};

#[tokio::test(flavor = "multi_thread")]
async fn the_clone_of_the_repository_is_worked_on_among_others() {
    let scene = Scene::begin().await;
    hosts(&scene.office, &scene.board, "blog").await;
    // In any case.
    scene.office.hears(said(&scene.office, "Acme/SHOP", 42, "alice", "write a.txt a\nsay done")).await;
    assert_eq!(last(&scene.office, "Acme/SHOP#42"), "done");
    assert!(scene.environment("issue-42").await.path.join("a.txt").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_only_codebase_there_is_is_not_taken_for_another_repository() {
    let scene = Scene::begin().await;
    scene.office.hears(said(&scene.office, "acme/wiki", 1, "alice", "say hello")).await;
    assert_eq!(
        last(&scene.office, "acme/wiki#1"),
        "I have no clone of `acme/wiki`\n• whoever runs me can add it: `hedgerow codebase add <url>`"
    );
    assert_eq!(scene.office.runs(), [""; 0]);
    assert_eq!(scene.find("issue-1").await, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn of_several_clones_the_author_is_asked_which() {
    let scene = Scene::begin().await;
    hosts(&scene.office, &scene.board, "blog").await;
    let (_, second) = scene.office.given_a_repo("shop-too").await;
    scene.board.hosts(SHOP, second.remote.clone().expect("a remote"));
    scene.office.hears(scene.says("say hello")).await;
    assert_eq!(
        last(&scene.office, "acme/shop#42"),
        "I have several clones of this repository. Choose one:\n• `/repo shop`\n• `/repo shop-too`\n\
         This conversation works on it from then on."
    );
    scene.office.hears(scene.says("/repo shop-too")).await;
    scene.office.hears(scene.says("say hello")).await;
    assert_eq!(last(&scene.office, "acme/shop#42"), "hello");
    assert_eq!(scene.find("issue-42").await, None, "it is the other clone's");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_here_is_cloned_once_however_many_ask_at_once() {
    let (office, board) = empty(|_| {}).await;
    let repo = TestRepo::with_origin(&office.folder().join("elsewhere"), "shop");
    board.hosts(SHOP, repo.origin().display().to_string());
    board.clones_what_is_asked_about();
    // What only looks clones nothing.
    for text in ["/status", "/repos", "/worktree list"] {
        office.hears(said(&office, SHOP, 1, "alice", text)).await;
    }
    assert_eq!(
        last(&office, "acme/shop#1"),
        "I have no clone of `acme/shop` yet\n• say what is to be done, and it is cloned"
    );
    assert_eq!(office.engine.codebases().await.expect("the store answers"), []);

    for number in 42..46 {
        office.gets(said(&office, SHOP, number, "alice", "say hello")).await;
    }
    office.is_idle().await;
    for number in 42..46 {
        let conversation = format!("acme/shop#{number}");
        let told: Vec<String> = office.forge.said_in(&conversation).into_iter().map(|(text, _)| text).collect();
        assert_eq!(told.last().map(String::as_str), Some("hello"), "{}", office.forge.transcript(&conversation));
    }
    let is_told =
        |number: &u64| office.forge.transcript(&format!("acme/shop#{number}")).contains("bot… Cloning `acme/shop`…");
    assert!((42..46).any(|number| is_told(&number)), "whoever comes too late for it need not know");
    let codebases = office.engine.codebases().await.expect("the store answers");
    assert_eq!(codebases.len(), 1, "{codebases:?}");
    assert!(codebases[0].path.starts_with(&office.settings().home));
    let clones = fs::read_dir(office.settings().home.join("codebases")).expect("a folder of clones");
    assert_eq!(clones.count(), 1, "nothing half-made is left");
}

#[tokio::test(flavor = "multi_thread")]
async fn while_the_forge_cannot_say_whether_a_clone_is_of_it_nothing_is_cloned() {
    let (office, board) = empty(|_| {}).await;
    // It may be the same repository under the name that it had before.
    let (_shop, _) = hosts(&office, &board, "shop").await;
    let store = TestRepo::with_origin(&office.folder().join("elsewhere"), "store");
    board.hosts("acme/store", store.origin().display().to_string());
    board.clones_what_is_asked_about();
    board.fails(1);
    office.hears(said(&office, "acme/store", 7, "alice", "say hello")).await;
    let told = last(&office, "acme/store#7");
    assert!(told.contains("cannot be found out now: nobody is there") && told.contains("ask again"), "{told}");
    assert_eq!(office.engine.codebases().await.expect("the store answers").len(), 1);
    office.hears(said(&office, "acme/store", 7, "alice", "say hello")).await;
    assert_eq!(last(&office, "acme/store#7"), "hello");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_clone_that_fails_is_told_with_what_to_do_and_works_later() {
    let (office, board) = empty(|_| {}).await;
    let repo = TestRepo::with_origin(&office.folder().join("elsewhere"), "shop");
    board.hosts(SHOP, repo.origin().display().to_string());
    board.clones_what_is_asked_about();
    repo.goes_offline();
    office.hears(said(&office, SHOP, 42, "alice", "say hello")).await;
    let told = last(&office, "acme/shop#42");
    assert!(told.starts_with("`acme/shop` could not be cloned: "), "{told}");
    assert!(told.contains("\n• see that I may read it, then ask again\n• whoever runs me can add it: "), "{told}");
    assert!(!told.contains(&*office.folder().to_string_lossy()), "{told}");
    assert_eq!(office.engine.codebases().await.expect("the store answers"), []);

    repo.comes_online();
    office.hears(said(&office, SHOP, 42, "alice", "say hello")).await;
    assert_eq!(last(&office, "acme/shop#42"), "hello");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_clone_that_was_forgotten_is_used_again() {
    let (office, board) = empty(|_| {}).await;
    let repo = TestRepo::with_origin(&office.folder().join("elsewhere"), "shop");
    board.hosts(SHOP, repo.origin().display().to_string());
    board.clones_what_is_asked_about();
    office.hears(said(&office, SHOP, 1, "alice", "say hello")).await;
    let codebase = office.engine.codebases().await.expect("the store answers").remove(0);
    office.hears(said(&office, SHOP, 1, "alice", "/worktree remove")).await;
    office.hears(said(&office, SHOP, 1, "boss", &format!("/repo-remove {}", codebase.name))).await;
    assert_eq!(office.engine.codebases().await.expect("the store answers"), []);
    office.hears(said(&office, SHOP, 2, "alice", "say again")).await;
    assert_eq!(last(&office, "acme/shop#2"), "again");
    assert_eq!(office.engine.codebases().await.expect("the store answers").len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn something_else_in_the_place_of_a_clone_is_left_alone() {
    let (office, board) = empty(|_| {}).await;
    let repo = TestRepo::with_origin(&office.folder().join("elsewhere"), "shop");
    board.hosts(SHOP, repo.origin().display().to_string());
    board.clones_what_is_asked_about();
    TestRepo::without_remote(&office.settings().home.join("codebases"), "shop-origin");
    office.hears(said(&office, SHOP, 1, "alice", "say hello")).await;
    let told = last(&office, "acme/shop#1");
    assert!(told.starts_with("Something else is where `acme/shop` would be cloned to"), "{told}");
    assert_eq!(office.engine.codebases().await.expect("the store answers"), []);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_remote_that_got_another_address_is_found_and_written_down() {
    let (office, board) = empty(|_| {}).await;
    board.clones_what_is_asked_about();
    let (repo, codebase) = office.given_a_repo("shop").await;
    // It was registered before it moved to the forge.
    let moved = repo.origin().with_file_name("moved.git");
    fs::rename(repo.origin(), &moved).expect("it moves");
    let moved = moved.display().to_string();
    repo.git(&["remote", "set-url", "origin", &moved]);
    board.hosts(SHOP, moved.clone());
    office.hears(said(&office, SHOP, 42, "alice", "say hello")).await;
    assert_eq!(last(&office, "acme/shop#42"), "hello");
    let codebases = office.engine.codebases().await.expect("the store answers");
    assert_eq!(codebases.len(), 1, "nothing was cloned");
    assert_eq!((codebases[0].id, codebases[0].remote.as_ref()), (codebase.id, Some(&moved)));
}
