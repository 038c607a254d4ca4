//! Somebody asks who may not: they are told once, and nothing else happens.

use hedgerow_core::command::COMMANDS;
use hedgerow_core::platform::{ConversationKey, PlatformKind};
use hedgerow_core::run::MessageEnd;
use hedgerow_testkit::Tree;
use hedgerow_testkit::talk::NOT_ALLOWED;

use super::{Scene, said};

/// One use of each command, and words that are none.
const TEXTS: &[&str] = &[
    "say hello",
    "/help",
    "/status",
    "/clone https://forge.test/x/y",
    "/repos",
    "/repo shop",
    "/repo-remove shop",
    "/setcwd docs",
    "/getcwd",
    "/assistant fake",
    "/reset",
    "/stop",
    "/undo",
    "/worktree create evil",
    "/worktree list",
    "/worktree remove issue-42 --force",
    "/worktree restore issue-1",
    "/worktree link issue-42",
    "/worktree cleanup stale",
    "/worktree orphans",
    "/worktree keep",
    "/worktree unkeep",
    "/worktree setup",
    "/worktree diff",
    "/worktree sync",
    "/worktree merge",
    "/worktree abort",
    "/worktree pr",
    "/commands",
    "/command-set x y.md",
    "/load-commands docs",
    "/template of theirs",
];

#[test]
fn every_command_is_among_the_texts() {
    for help in COMMANDS {
        let is_used = |text: &&str| text.strip_prefix('/').is_some_and(|text| text.starts_with(help.name()));
        assert!(TEXTS.iter().any(is_used), "/{}", help.name());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn whatever_they_say_nothing_is_touched_and_one_sentence_is_said() {
    let scene = Scene::begin().await;
    let (office, store) = (&scene.office, scene.office.engine.store());
    office.hears(scene.says("write a.txt a\ncommit a\nsay done")).await;
    office.lets_go().await;
    let environment = scene.environment("issue-42").await;
    let key = ConversationKey { platform: PlatformKind::Github, id: "acme/shop#42".to_owned() };
    let conversation = store.known_conversation(&key).await.expect("the store answers").expect("it talked");
    let seen = async || {
        (
            store.known_conversation(&key).await.expect("the store answers"),
            store.active_session(conversation.id).await.expect("the store answers"),
            office.row(&environment).await,
            store.live(scene.codebase.id).await.expect("the store answers").len(),
            office.engine.codebases().await.expect("the store answers"),
            store.newest_runs(None, 100).await.expect("the store answers"),
            (scene.repo.fingerprint(), scene.repo.git(&["for-each-ref"])),
        )
    };
    let (before, files) = (seen().await, Tree::of(&environment.path));
    let settings = Tree::of(&scene.repo.git_dir()).without_times();
    let said_before = office.forge.said_in("acme/shop#42").len();
    office.clock.days_pass(1);

    for text in TEXTS {
        let raw = office.forge.refuses("acme/shop#42", "mallory", text).handle("h").raw();
        let id = office.gets(raw).await;
        office.is_idle().await;
        let end = store.message_end(id).await.expect("the store answers").expect("it ended");
        let expected = if *text == TEXTS[0] { MessageEnd::Answered } else { MessageEnd::Ignored };
        assert_eq!(end, expected, "{text}");
        assert_eq!(seen().await, before, "{text}");
    }
    assert_eq!(files.differences(&Tree::of(&environment.path)), Vec::<String>::new());
    assert_eq!(settings.differences(&Tree::of(&scene.repo.git_dir()).without_times()), Vec::<String>::new());
    let told = office.forge.said_in("acme/shop#42").split_off(said_before);
    assert_eq!(told, [(NOT_ALLOWED.to_owned(), true)]);
    assert_eq!(office.forge.marks_of("h"), [], "nothing is shown");
    let known = store.known_person("github", "mallory").await.expect("the store answers");
    assert_eq!(known, None, "they leave no name behind");
    let replies = office.forge.replies();
    assert_eq!(replies.last().and_then(|reply| reply.handle.as_deref()), Some("h"), "told where they asked");
}

#[tokio::test(flavor = "multi_thread")]
async fn each_person_is_told_once_in_each_conversation_across_restarts_and_at_once() {
    let mut scene = Scene::begin().await;
    let refused = |scene: &Scene, conversation: &str, author: &str, text: &str| {
        scene.office.forge.refuses(conversation, author, text).raw()
    };
    // Those that walk past the line are dealt with side by side.
    for _ in 0..10 {
        let raw = refused(&scene, "acme/shop#1", "mallory", "/status");
        scene.office.gets(raw).await;
    }
    scene.office.is_idle().await;
    for (conversation, author) in [("acme/shop#1", "trent"), ("acme/shop#2", "mallory"), ("acme/shop#1", "mallory")] {
        let raw = refused(&scene, conversation, author, "say hello");
        scene.office.hears(raw).await;
    }
    scene.office.restarts().await;
    let raw = refused(&scene, "acme/shop#1", "mallory", "say hello");
    scene.office.hears(raw).await;
    assert_eq!(scene.office.forge.said_in("acme/shop#1").len(), 2, "mallory and trent");
    assert_eq!(scene.office.forge.said_in("acme/shop#2").len(), 1);

    // They may by now.
    scene.office.hears(said(&scene.office, "acme/shop", 1, "mallory", "say welcome")).await;
    assert_eq!(super::last(&scene.office, "acme/shop#1"), "welcome");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_is_not_stopped_by_who_may_not() {
    let scene = Scene::begin().await;
    let (began, go) = (scene.office.signal("began"), scene.office.signal("go"));
    let text = format!("touch {}\nwait-for {}\nsay done", began.display(), go.display());
    scene.office.gets(scene.says(&text)).await;
    scene.office.sees(&began).await;
    scene.office.gets(scene.office.forge.refuses("acme/shop#42", "mallory", "/stop").raw()).await;
    scene.office.forge.answers("acme/shop#42", 1).await;
    let running = scene.office.engine.store().running().await.expect("the store answers");
    assert_eq!(running.iter().filter(|run| run.stop_asked_at.is_none()).count(), 1);
    std::fs::write(go, "").expect("the signal is given");
    scene.office.is_idle().await;
    assert_eq!(super::last(&scene.office, "acme/shop#42"), "done");
}
