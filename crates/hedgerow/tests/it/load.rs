//! The whole server under load, killed on the way: nothing is lost, nothing is done twice, nobody meets in an environment.
//!
//! The figures are those of the promise. `HEDGEROW_LOAD=full` makes them; without it a tenth, which takes seconds.

mod crowd;
pub(crate) mod server;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use hedgerow_core::platform::PlatformKind;
use hedgerow_engine::store::{Served, Store};
use hedgerow_testkit::brain;
use serde_json::json;

use crate::desk::Desk;
use server::{Caller, Server};

/// Longest that a storm may take to be answered.
const PATIENCE: Duration = Duration::from_mins(15);
const SENDERS: usize = 16;

/// The figure of the promise, or a tenth of it.
pub(crate) fn figure(full: usize) -> usize {
    if std::env::var_os("HEDGEROW_LOAD").is_some_and(|load| load == "full") { full } else { full / 10 }
}

/// A desk whose server has the fake assistant, and room for any number of environments.
async fn desk() -> Desk {
    let desk = Desk::new().await;
    let program = brain::program(desk.folder());
    let command: Vec<String> = program.command.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    desk.configure("worktrees.max_per_codebase = 0\nrun.lease_seconds = 5");
    desk.configure(&format!("[assistants.{}]\ncommand = {}", program.name, json!(command)));
    // Where they take their notes.
    desk.configure(&format!("[sandbox]\nwrite = {}", json!([desk.folder()])));
    let _ = desk.run(&["codebase", "add", "."]).success();
    desk
}

/// Every number from 0 to `many`, `times` times, in no order. The same each time.
pub(crate) fn shuffled(many: usize, times: usize) -> Vec<usize> {
    let mut all: Vec<usize> = (0..many * times).map(|n| n % many).collect();
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    for last in (1..all.len()).rev() {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        all.swap(last, usize::try_from(state % (last as u64 + 1)).expect("it is below a length"));
    }
    all
}

async fn is_answered(store: &Store) {
    let served = Served { platform: PlatformKind::Http, only: None };
    let answered = async {
        loop {
            let left =
                store.unfinished(&served).await.expect("counted") + store.unsent(&served).await.expect("counted");
            if left == 0 {
                return;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    tokio::time::timeout(PATIENCE, answered).await.expect("everything is answered in time");
}

/// Hands the messages in from many sides at once, each as often as it takes to be accepted.
async fn send(caller: Caller, messages: Vec<(String, String, String)>, accepted: &Arc<AtomicUsize>) {
    let messages = Arc::new(tokio::sync::Mutex::new(messages));
    let mut senders = tokio::task::JoinSet::new();
    for _ in 0..SENDERS {
        let (messages, accepted, caller) = (Arc::clone(&messages), Arc::clone(accepted), caller.clone());
        senders.spawn(async move {
            loop {
                let Some((conversation, key, text)) = messages.lock().await.pop() else { return };
                caller.post_until_accepted(&conversation, &key, &text).await;
                accepted.fetch_add(1, Ordering::SeqCst);
            }
        });
    }
    while let Some(sent) = senders.join_next().await {
        sent.expect("a sender does not panic");
    }
}

/// What was said last on each message, by conversation; every conversation is read over HTTP.
async fn finals(server: &Server, conversations: usize) -> BTreeMap<usize, Vec<String>> {
    let mut finals = BTreeMap::new();
    for conversation in 0..conversations {
        let said = server.caller().read(&format!("talk-{conversation}")).await;
        let last = said.into_iter().filter(|said| said["final"] == true);
        let last = last.map(|said| said["text"].as_str().expect("a text").to_owned()).collect();
        finals.insert(conversation, last);
    }
    finals
}

#[tokio::test(flavor = "multi_thread")]
async fn a_storm_of_repeats_with_the_server_killed_three_times_is_answered_exactly_once() {
    let (ids, conversations) = (figure(1000), figure(500));
    let desk = desk().await;
    let mut server = Server::start(&desk).await;
    let accepted = Arc::new(AtomicUsize::new(0));
    let messages: Vec<_> = shuffled(ids, 10)
        .into_iter()
        .map(|id| (format!("talk-{}", id % conversations), format!("key-{id}"), format!("say this is {id}")))
        .collect();
    let total = messages.len();
    let parts: Vec<Vec<_>> = messages.chunks(total.div_ceil(4)).map(<[_]>::to_vec).collect();
    for (number, part) in parts.into_iter().enumerate() {
        let sending = send(server.caller(), part, &accepted);
        if number < 3 {
            // Killed in the middle of the sending: some are waiting, some are being answered, some are not yet here.
            let kill = async {
                while accepted.load(Ordering::SeqCst) < number * total / 4 + total / 8 {
                    tokio::time::sleep(Duration::from_millis(2)).await;
                }
            };
            let (address, desk) = (server.address(), &desk);
            let process = server.process();
            tokio::join!(sending, async {
                kill.await;
                process.kill().await;
                process.restart(desk, address).await;
            });
        } else {
            sending.await;
        }
    }
    let store = desk.store().await;
    is_answered(&store).await;

    let mut finals: Vec<String> = finals(&server, conversations).await.into_values().flatten().collect();
    assert_eq!(finals.len(), ids, "one last word on each message");
    finals.retain(|last| !last.starts_with("Interrupted: "));
    let interrupted = ids - finals.len();
    let said: BTreeSet<_> = finals.iter().cloned().collect();
    assert_eq!(said.len(), finals.len(), "nothing is answered twice");
    assert!(said.iter().all(|said| said.starts_with("this is ")), "{said:?}");
    let runs = brain::runs(desk.folder());
    let prompts: BTreeSet<_> = runs.iter().map(|(_, prompt)| prompt).collect();
    assert_eq!(prompts.len(), runs.len(), "nothing was run twice");
    assert!(runs.len() <= ids && runs.len() >= finals.len(), "{} runs", runs.len());
    assert_eq!(brain::overlaps(desk.folder()), Vec::<String>::new());
    assert!(interrupted <= 3 * 10, "{interrupted} were interrupted by three kills of ten runs each at most");
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn many_messages_over_many_environments_never_meet_and_stay_small() {
    let (messages, environments) = (figure(1000), figure(200));
    let desk = desk().await;
    let mut server = Server::start(&desk).await;
    let accepted = Arc::new(AtomicUsize::new(0));
    let all = (0..messages).map(|n| (format!("talk-{}", n % environments), format!("key-{n}"), format!("say {n}")));
    send(server.caller(), all.collect(), &accepted).await;
    let store = desk.store().await;
    let answered = is_answered(&store);
    let mut most = 0;
    tokio::pin!(answered);
    loop {
        tokio::select! {
            () = &mut answered => break,
            () = tokio::time::sleep(Duration::from_millis(100)) => most = most.max(server.memory()),
        }
    }
    let finals = finals(&server, environments).await;
    let each = messages / environments;
    for (conversation, last) in &finals {
        let mut expected: Vec<_> = (0..each).map(|n| (n * environments + conversation).to_string()).collect();
        let mut last = last.clone();
        expected.sort();
        last.sort();
        assert_eq!(last, expected, "none lost, none doubled");
    }
    assert_eq!(brain::runs(desk.folder()).len(), messages);
    assert_eq!(brain::overlaps(desk.folder()), Vec::<String>::new());
    assert!(most < 300 * 1024 * 1024, "the server had {} MB", most / 1024 / 1024);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_servers_share_the_work_and_one_goes_on_when_the_other_is_killed() {
    let desk = desk().await;
    let mut servers = BTreeMap::new();
    for node in ["wren", "robin"] {
        servers.insert(node, Server::start_as(&desk, &[("HEDGEROW_NODE", node)]).await);
    }
    let store = desk.store().await;
    let callers: Vec<Caller> = servers.values().map(Server::caller).collect();
    // Messages of the same conversations come in at both.
    for n in 0..20 {
        let (caller, conversation) = (&callers[n % 2], format!("talk-{}", n / 4));
        caller.post_until_accepted(&conversation, &format!("key-{n}"), &format!("sleep 50\nsay {n}")).await;
    }
    is_answered(&store).await;
    assert_eq!(brain::runs(desk.folder()).len(), 20);

    let (started, go) = (desk.folder().join("started"), desk.folder().join("go"));
    let long = format!("touch {}\nwait-for {}\nsay too late", started.display(), go.display());
    callers[0].post_until_accepted("talk-0", "long", &long).await;
    callers[1].post_until_accepted("talk-0", "next", "say after it").await;
    while !started.exists() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let running = store.running().await.expect("read");
    let (node, _) = running[0].holder.split_once(':').expect("a holder names its machine");
    let mut killed = servers.remove(node).expect("one of the two");
    killed.process().kill().await;
    is_answered(&store).await;
    let (_, mut other) = servers.pop_first().expect("the other");
    let last = finals(&other, 5).await;
    let said = last[&0].iter().map(String::as_str).rev().take(2).collect::<Vec<_>>();
    assert_eq!(said[0], "after it", "the conversation goes on at the other server");
    assert!(said[1].starts_with("Interrupted: ") && said[1].contains("its changes are kept"), "{said:?}");
    std::fs::write(&go, "").expect("a signal");
    assert_eq!(last.values().map(Vec::len).sum::<usize>(), 22, "one last word on each");
    assert_eq!(brain::runs(desk.folder()).len(), 22);
    assert_eq!(brain::overlaps(desk.folder()), Vec::<String>::new());
    other.stop().await;
}
