//! Many agents at once, each with a daemon of its own that wants to stay.

use std::time::Duration;

use super::server::Server;
use super::{desk, figure, is_answered};
use crate::desk::Desk;
use crate::family;

/// So much memory the server may have, whatever its agents do.
const MOST: u64 = 150 * 1024 * 1024;
const PATIENCE: Duration = Duration::from_mins(5);
/// The supervisor asks first and kills after 3 seconds.
const MOMENT: Duration = Duration::from_secs(10);

/// A word in the command line of each process that belongs to the agents of this desk.
fn mark(desk: &Desk) -> String {
    desk.folder().file_name().expect("a name").to_string_lossy().into_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn fifty_agents_at_once_leave_the_server_small_and_nothing_behind() {
    let many = figure(50);
    let desk = desk().await;
    let mark = mark(&desk);
    let mut server = Server::start_as(&desk, &[("MAX_CONCURRENT_RUNS", "50")]).await;
    let caller = server.caller();
    for n in 0..many {
        let work = format!("say I begin\nspawn-daemon {mark}-{n}\nsay I go on\nhang");
        caller.post_until_accepted(&format!("talk-{n}"), &format!("work-{n}"), &work).await;
    }
    let daemons = || family::with_words(&["--linger", &mark]).len();
    family::comes(PATIENCE, "every daemon", || daemons() == many).await;
    // Each agent is there beside its daemon, and they all work at the same time.
    assert!(family::with_words(&["--state", &mark]).len() >= many);
    family::comes(MOMENT, "no zombie", || family::zombies_of(server.pid()).is_empty()).await;

    for n in 0..many {
        caller.post_until_accepted(&format!("talk-{n}"), &format!("stop-{n}"), "/stop").await;
    }
    is_answered(&desk.store().await).await;
    family::comes(MOMENT, "the end of every tree", || family::with_words(&[&mark]).is_empty()).await;
    // The server's own git may be at work a moment longer.
    family::comes(MOMENT, "a server without children", || family::children_of(server.pid()).is_empty()).await;
    for n in 0..many {
        let said = caller.read(&format!("talk-{n}")).await;
        let work = &said[0]["message_id"];
        let last = said.iter().rfind(|one| one["final"] == true && one["message_id"] == *work);
        let last = last.and_then(|last| last["text"].as_str()).expect("a last word on the work");
        assert!(last.contains("I go on"), "what it said until then is kept: {last}");
    }
    let most = server.most_memory();
    assert!(most < MOST, "the server had {} MB", most / 1024 / 1024);
    server.stop().await;
}
