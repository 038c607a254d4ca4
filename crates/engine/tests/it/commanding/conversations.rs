//! How a conversation works: where the agent starts, which one, and its end.

use std::os::unix::fs::symlink;

use hedgerow_core::run::SessionEnd;
use hedgerow_core::{Kind, Work};
use hedgerow_testkit::repo::write;

use super::Room;

#[tokio::test(flavor = "multi_thread")]
async fn the_agent_starts_in_a_folder_that_is_there() {
    let room = Room::begin().await;
    let bob = room.bob();
    let top = "The agent starts at the top of the environment. `/setcwd <subfolder>` changes that.";
    let api = "The agent starts in `services/api`. `/setcwd .` goes back to the top.";
    assert_eq!(bob.says("/getcwd").await, top);
    assert_eq!(bob.says("/setcwd services/api/").await, api, "before there is an environment");
    let environment = bob.works_on(Work::Issue(42)).await;
    write(&environment.path, "services/api/x.rs", "x");
    for good in ["./services/./api", "\"services/api\""] {
        assert_eq!(bob.says(&format!("/setcwd {good}")).await, api);
    }
    assert_eq!(bob.says("/getcwd").await, api);
    assert_eq!(bob.says("/setcwd .").await, top);
    assert_eq!(bob.conversation().await.subfolder, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_agent_never_starts_outside() {
    let room = Room::begin().await;
    let bob = room.bob();
    let environment = bob.works_on(Work::Issue(42)).await;
    symlink(room.world.folder(), environment.path.join("way-out")).expect("a link");
    write(&environment.path, "file.txt", "x");
    for bad in ["..", "a/../..", "/etc", "services/../../x", "way-out"] {
        let (kind, told) = bob.refused(&format!("/setcwd {bad}")).await;
        assert_eq!(kind, Kind::Usage, "{told}");
        assert!(told.contains("leads out of the environment"), "{told}");
    }
    for bad in ["nowhere", "file.txt"] {
        let (kind, told) = bob.refused(&format!("/setcwd {bad}")).await;
        assert_eq!(kind, Kind::NotFound);
        assert!(told.starts_with(&format!("`issue-42` has no folder `{bad}`\n")), "{told}");
    }
    assert_eq!(bob.conversation().await.subfolder, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn another_assistant_begins_another_session() {
    let room = Room::begin().await;
    let bob = room.bob();
    assert_eq!(bob.says("/assistant claude").await, "This conversation works with `claude` now.");
    bob.has_session("claude").await;
    bob.says("/assistant Claude").await;
    assert!(bob.session().await.is_some());
    assert_eq!(
        bob.says("/assistant codex").await,
        "This conversation works with `codex` now. Its session begins with your next message."
    );
    assert_eq!(bob.last_end().await, Some(SessionEnd::Assistant));
    assert_eq!(bob.conversation().await.assistant.as_deref(), Some("codex"));
    assert_eq!(
        bob.refused("/assistant hal").await,
        (Kind::NotFound, "There is no assistant `hal`\n• there are: claude, codex".to_owned())
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reset_ends_the_session_and_nothing_else() {
    let room = Room::begin().await;
    let bob = room.bob();
    assert_eq!(bob.says("/reset").await, "There is no session to end; your next message begins one.");
    bob.works_on(Work::Issue(42)).await;
    bob.has_session("claude").await;
    assert_eq!(
        bob.says("/reset").await,
        "The session is over; your next message begins a new one. `issue-42` stays as it is."
    );
    assert_eq!(bob.last_end().await, Some(SessionEnd::Reset));
    assert!(bob.conversation().await.environment.is_some());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_is_stopped_from_its_own_conversation_and_from_one_that_shares_its_environment() {
    let room = Room::begin().await;
    let bob = room.bob();
    assert_eq!(bob.says("/stop").await, "Nothing is running here.");
    bob.works_on(Work::Issue(42)).await;
    let run = bob.has_run().await;
    let stranger = room.chat(bob.key.platform, "C1:200", "carol");
    assert_eq!(stranger.says("/stop").await, "Nothing is running here.");
    stranger.says("/worktree link issue-42").await;
    assert_eq!(stranger.says("/stop").await, "Stopping `claude`; its changes are kept. `/undo` takes them back.");
    let store = room.world.engine.store();
    assert_eq!(store.runs_to_stop(super::HOLDER).await.expect("the store answers"), [run.id]);
    assert_eq!(bob.says("/stop").await, "`claude` is being stopped already; its changes are kept.");
    let stopped = store.running_of(run.conversation).await.expect("the store answers").expect("still on");
    assert_eq!(stopped.stop_asked_by, Some(stranger.by.clone()), "the first who asked");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_undo_takes_back_the_last_turn() {
    let room = Room::begin().await;
    let bob = room.bob();
    let (kind, told) = bob.refused("/undo").await;
    assert_eq!(kind, Kind::NotFound);
    assert_eq!(
        told,
        "This conversation has no environment yet\n• say what is to be done, and it gets one\n\
         • or choose: `/worktree create <branch>`, `/worktree link <work>`; `/worktree list` shows them"
    );
    let environment = bob.works_on(Work::Issue(42)).await;
    assert_eq!(bob.refused("/undo").await.1.lines().next(), Some("`issue-42` has no checkpoints"));
    let engine = &room.world.engine;
    engine.checkpoint(&environment, None, &bob.by).await.expect("a checkpoint");
    write(&environment.path, "new.txt", "x");
    engine.checkpoint(&environment, None, &bob.by).await.expect("a checkpoint");
    assert_eq!(
        bob.says("/undo").await,
        "Took `issue-42` back to checkpoint 1\n• deleted new.txt\n\
         The state before is kept: `hedgerow env undo issue-42 --to 3` in a terminal goes back to it."
    );
    assert!(!environment.path.join("new.txt").exists());
    bob.has_run().await;
    assert_eq!(
        bob.refused("/undo").await,
        (
            Kind::Busy,
            "`issue-42` is busy: `claude` is at work in it for slack:bob\n\
             • wait until that is done, or stop it: `/stop`"
                .to_owned()
        )
    );
}
