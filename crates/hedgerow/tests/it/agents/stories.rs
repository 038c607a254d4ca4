//! The stories, the same for every agent.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::agent::Agent;
use super::scene::{KEY, Scene, commits, glimpses, hears};

pub(super) async fn work_is_committed_in_the_environment_and_the_next_message_resumes(agent: Agent) {
    let mut scene = Scene::new(agent).await;
    let head = scene.desk.repo.git(&["rev-parse", "main"]);
    let mut events = scene.follow().await;
    let work = [
        "Make a nest.",
        "model: remember kingfisher",
        "model: think Where do they nest?",
        "model: say I make the nest.",
        &agent.writes("nest.txt", "twigs and moss"),
        &agent.runs("git add --all && git commit --quiet -m 'Make a nest'"),
        "model: say The nest is committed.",
    ];
    let message = scene.say(&work.join("\n")).await;
    let seen = glimpses(&mut events).await;
    let last = scene.last_word(&message).await;
    assert!(last.contains("The nest is committed."), "{last}");

    let place = scene.environment();
    assert_eq!(commits(&place), ["Make a nest"]);
    assert_eq!(fs::read_to_string(place.join("nest.txt")).expect("the file"), "twigs and moss\n");
    assert_eq!(hedgerow_testkit::git::git(&place, &["status", "--porcelain"]), "");
    scene.main_is_untouched(&head);

    let live = |what: &str| {
        let texts = seen.iter().filter(|event| event.name == "live").map(hedgerow_testkit::http::Event::json);
        texts.filter(|data| data["what"] == what).map(|data| data["text"].to_string()).collect::<Vec<_>>()
    };
    assert!(live("text").concat().contains("nest"), "{seen:#?}");
    assert!(live("tool").iter().any(|tool| tool.contains("git commit")), "{:#?}", live("tool"));
    assert!(live("tool").len() >= 2, "{:#?}", live("tool"));
    assert!(seen.iter().any(|event| event.name == "run" && event.json()["what"] == "run-started"));

    let recalled = scene.ask("What was it?\nmodel: recall").await;
    assert!(recalled.contains("I remember kingfisher."), "{recalled}");
    scene.model_was_asked();
    scene.is_quiet().await;
    scene.server.stop().await;
}

pub(super) async fn a_stop_keeps_what_was_said_and_leaves_nothing_running(agent: Agent) {
    let mut scene = Scene::new(agent).await;
    let work = ["Watch the river.", "model: remember heron", "model: say I watch it now.", &scene.endless()].join("\n");
    let mut events = scene.follow().await;
    let message = scene.say(&work).await;
    scene.sees("started").await;
    // An agent may run its tools before it tells what it said; what nobody has heard yet cannot be kept.
    hears(&mut events, "I watch it now.").await;
    let stopped = scene.ask("/stop").await;
    assert!(stopped.to_lowercase().contains("stop"), "{stopped}");
    let last = scene.last_word(&message).await;
    assert!(last.contains("I watch it now."), "what it said until then is kept: {last}");
    scene.is_quiet().await;
    let recalled = scene.ask("And?\nmodel: recall").await;
    assert!(recalled.contains("I remember heron."), "{recalled}");
    scene.server.stop().await;
}

pub(super) async fn a_server_that_is_killed_reports_the_run_once_and_the_next_one_resumes(agent: Agent) {
    let mut scene = Scene::new(agent).await;
    let writes = agent.writes("kept.txt", "an egg");
    let work = ["Sit on it.", "model: remember wren", "model: say I sit.", &writes, &scene.endless()].join("\n");
    let message = scene.say(&work).await;
    let place = scene.sees("started").await;
    let address = scene.server.address();
    scene.server.process().kill().await;
    scene.is_quiet().await;
    scene.server.process().restart(&scene.desk, address).await;

    let last = scene.last_word(&message).await;
    assert!(last.starts_with("Interrupted: ") && last.contains("its changes are kept"), "{last}");
    assert_eq!(fs::read_to_string(place.join("kept.txt")).expect("the file"), "an egg\n");
    let recalled = scene.ask("Still there?\nmodel: recall").await;
    assert!(recalled.contains("I remember wren."), "{recalled}");
    assert_eq!(scene.last_words(&message).await.len(), 1, "it is reported once");
    scene.server.stop().await;
}

pub(super) async fn a_conversation_remembers_in_another_environment(agent: Agent) {
    let mut scene = Scene::new(agent).await;
    let begun = scene.ask("Look at this.\nmodel: remember dipper\nmodel: say I look.").await;
    assert!(begun.contains("I look."), "{begun}");
    let before = scene.environment();
    let moved = scene.ask("/worktree create other").await;
    assert!(moved.contains("other"), "{moved}");
    let work = ["And here?", &agent.runs("touch here.txt"), "model: recall"].join("\n");
    let recalled = scene.ask(&work).await;
    if agent.remembers_elsewhere() {
        assert!(recalled.contains("I remember dipper."), "{recalled}");
    } else {
        assert!(recalled.starts_with("The assistant no longer knew the session, so this is a new one."), "{recalled}");
    }
    let after = scene.sees("here.txt").await;
    assert_ne!(after, before);
    scene.server.stop().await;
}

pub(super) async fn trouble_with_the_model_is_told_apart(agent: Agent) {
    let mut scene = Scene::new(agent).await;
    let begun = scene.ask("Listen.\nmodel: remember owl\nmodel: say I listen.").await;
    assert!(begun.contains("I listen."), "{begun}");
    let mut sentences = BTreeSet::new();
    for trouble in ["401", "429"] {
        let told = scene.ask(&format!("Go on.\nmodel: error {trouble}")).await;
        assert!(!told.contains(KEY) && !told.contains("panicked"), "{told}");
        sentences.insert(told);
        let recalled = scene.ask("Again.\nmodel: recall").await;
        assert!(recalled.contains("I remember owl."), "after {trouble} the session is kept: {recalled}");
    }
    let told = scene.ask("Go on.\nmodel: error too-long").await;
    sentences.insert(told);
    let first_lines: BTreeSet<_> = sentences.iter().map(|told| told.lines().next().unwrap_or_default()).collect();
    assert_eq!(first_lines.len(), 3, "{sentences:#?}");
    let recalled = scene.ask("And now?\nmodel: recall").await;
    assert!(recalled.contains("I remember nothing."), "a session that is full gives way to a new one: {recalled}");
    scene.server.stop().await;
}

pub(super) async fn a_missing_program_is_said_to_be_missing(agent: Agent) {
    let mut scene = Scene::with(agent, Path::new("/nowhere/at-all")).await;
    let told = scene.ask("Hello?\nmodel: say Hello.").await;
    assert!(told.contains(agent.name()) && !told.contains("/nowhere"), "{told}");
    assert!(scene.model.requests().is_empty());
    scene.server.stop().await;
}

/// It looks at its own variables and at those of the server of this test, at nobody else's, and only counts: what it
/// finds on somebody's machine is not to be read out.
pub(super) async fn the_key_stays_with_the_server(agent: Agent) {
    let mut scene = Scene::new(agent).await;
    let server = scene.server.pid();
    // In brackets, so that the words of this very command are not what is found.
    let key = format!("{}[{}]", &KEY[..KEY.len() - 1], &KEY[KEY.len() - 1..]);
    let looks = format!(
        "echo own $(env | grep -c '{key}') branch $(env | grep -c '^HEDGEROW_BRANCH=') \
         server:$(grep -c '{key}' /proc/{server}/environ 2>/dev/null || true):"
    );
    let found = scene.ask(&["Look around.", &agent.runs(&looks), "model: read"].join("\n")).await;
    assert!(found.contains("own 0 branch 1 "), "{found}");
    // It cannot be read at all, or it holds no key.
    assert!(found.contains("server::") || found.contains("server:0:"), "{found}");
    scene.model_was_asked();
    scene.server.stop().await;
}
