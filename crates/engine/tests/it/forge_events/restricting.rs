//! A conversation of a forge works on its own repository; another one is an admin's to choose.

use hedgerow_core::Work;

use super::{SHOP, Scene, hosts, last, said};

#[tokio::test(flavor = "multi_thread")]
async fn other_codebases_cannot_be_seen_chosen_added_or_forgotten_from_there() {
    let scene = Scene::begin().await;
    hosts(&scene.office, &scene.board, "blog").await;
    let before = scene.office.engine.codebases().await.expect("the store answers");
    let admin_only = |what: &str| {
        format!(
            "Only an admin may {what}\n\
             • ask an admin to do it; `admins` in hedgerow.toml names them, and `github:alice` is not one"
        )
    };
    for (text, answer) in [
        ("/repos", "Clones of `acme/shop`:\n• `shop`: 0 environments ← active\n`/repo <name>` chooses one.".to_owned()),
        (
            "/repo blog",
            "`acme/shop` has no clone `blog` here\n• there are: shop\n\
             • this conversation is about that repository; another one needs an admin"
                .to_owned(),
        ),
        ("/clone https://forge.test/x/y", admin_only("clone something else where `acme/shop` is talked about")),
        ("/repo-remove blog", admin_only("forget the codebase `blog`")),
        ("/repo-remove nothing", admin_only("forget the codebase `nothing`")),
    ] {
        scene.office.hears(scene.says(text)).await;
        assert_eq!(last(&scene.office, "acme/shop#42"), answer, "{text}");
    }
    assert_eq!(scene.office.engine.codebases().await.expect("the store answers"), before);
    scene.office.hears(scene.says("/repo shop")).await;
    assert!(last(&scene.office, "acme/shop#42").starts_with("This conversation is about `shop` now"));
}

#[tokio::test(flavor = "multi_thread")]
async fn environments_of_other_codebases_cannot_be_reached_by_any_name() {
    let scene = Scene::begin().await;
    let (_, blog) = hosts(&scene.office, &scene.board, "blog").await;
    let theirs = scene.office.environment(&blog, Work::Issue(7)).await;
    scene.office.hears(scene.says("say hello")).await;
    let own = scene.environment("issue-42").await;
    let (path, id) = (theirs.path.display().to_string(), theirs.id.to_string());
    for name in ["issue-7", path.as_str(), id.as_str()] {
        for command in ["link", "remove", "restore"] {
            scene.office.hears(scene.says(&format!("/worktree {command} {name}"))).await;
            let told = last(&scene.office, "acme/shop#42");
            assert!(
                told.starts_with("That does not work")
                    || told.contains("No worktree found")
                    || told.contains("has no environment")
                    || told.starts_with("There is no"),
                "{command} {name}: {told}"
            );
        }
    }
    assert_eq!(scene.office.row(&theirs).await, theirs);
    let users = scene.office.engine.store().conversations_of(own.id).await.expect("the store answers");
    assert_eq!(users.len(), 1, "it still works in its own");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_an_admin_chose_elsewhere_is_not_for_others() {
    let scene = Scene::begin().await;
    hosts(&scene.office, &scene.board, "blog").await;
    let boss = |text: &str| said(&scene.office, SHOP, 42, "boss", text);
    scene.office.hears(boss("/repo blog")).await;
    scene.office.hears(boss("write secret.txt secret\nsay done")).await;
    assert_eq!(last(&scene.office, "acme/shop#42"), "done");

    let refusal = "This conversation works on another repository than `acme/shop`, which only an admin may do\n\
                   • `/repos` lists the clones of this one, and `/repo <name>` chooses one";
    for text in
        ["say hello", "/worktree diff", "/worktree remove --force", "/undo", "/status", "/stop", "/worktree create x"]
    {
        scene.office.hears(scene.says(text)).await;
        assert_eq!(last(&scene.office, "acme/shop#42"), refusal, "{text}");
    }
    scene.office.hears(boss("/worktree diff")).await;
    assert!(last(&scene.office, "acme/shop#42").contains("secret.txt"), "the admin goes on there");
    scene.office.hears(scene.says("/repo shop")).await;
    scene.office.hears(scene.says("say hello")).await;
    assert!(last(&scene.office, "acme/shop#42").ends_with("hello"));
    assert!(!scene.environment("issue-42").await.path.join("secret.txt").exists());
}
