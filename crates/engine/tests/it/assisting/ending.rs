//! How turns end, well or badly, and that nothing is left of them.

use std::fs;
use std::time::{Duration, Instant};

use hedgerow_core::assistant::AssistantError;
use hedgerow_testkit::brain;

use super::office::{self, Office, becomes, eventually, is_alive, state};

fn why(ending: Result<hedgerow_core::assistant::Outcome, AssistantError>) -> String {
    match ending {
        Err(AssistantError::Failed(why)) => why,
        other => panic!("it did not fail: {other:?}"),
    }
}

/// How it broke off.
fn broke(ending: Result<hedgerow_core::assistant::Outcome, AssistantError>) -> String {
    match ending {
        Err(AssistantError::Crashed(why)) => why,
        other => panic!("it did not break off: {other:?}"),
    }
}

/// What of it was not to be understood.
fn garbled(ending: Result<hedgerow_core::assistant::Outcome, AssistantError>) -> String {
    match ending {
        Err(AssistantError::Garbled(why)) => why,
        other => panic!("it was understood: {other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failure_is_told_in_the_program_s_own_words() {
    let office = Office::open().await;
    assert_eq!(why(office.fake("say working\nfail no tokens left").await.1), "no tokens left");
    assert_eq!(broke(office.fake("exit 3").await.1), "it ended with exit status 3");
    let (_, ending) = office.script("echo half; printf 'one\\n\\e[31mtwo\\n' >&2; exit 7").await;
    assert_eq!(broke(ending), "it ended with exit status 7\none\n\\u{1b}[31mtwo");
    assert_eq!(broke(office.script("kill -KILL $$").await.1), "it was ended by signal 9");
    let unsupervised = office::unsupervised(&["bash", "-c", "kill -KILL $$"]);
    assert_eq!(broke(office::all(office.starts(&unsupervised, "go")).await.1), "it was ended by signal 9");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_last_of_many_complaints_is_kept() {
    let office = Office::open().await;
    let (_, ending) = office.script("yes complaint | head -c 1000000 >&2; echo the end >&2; exit 1").await;
    let why = broke(ending);
    assert!(why.ends_with("complaint\nthe end") && why.len() < 9 << 10, "{} bytes", why.len());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flood_is_an_error_and_the_program_ends() {
    let office = Office::open().await;
    assert_eq!(garbled(office.fake("flood").await.1), "it wrote a line longer than 16 MiB");
    let (_, ending) = office.script("echo $$ > pid; exec yes $(head -c 60000 /dev/zero | tr '\\0' x)").await;
    assert_eq!(garbled(ending), "it wrote more than 256 MiB");
    assert!(!is_alive(office.pid_in("pid")));
    // Complaining without end is no reason not to end.
    let (_, ending) = office.script("echo '{\"type\":\"finished\",\"answer\":\"x\"}'; exec yes >&2").await;
    assert_eq!(ending.expect("it had finished").answer, "x");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_that_does_not_end_after_its_last_word_is_ended() {
    let office = Office::open().await;
    let began = Instant::now();
    let (_, ending) = office.script("echo $$ > pid; echo '{\"type\":\"finished\",\"answer\":\"x\"}'; sleep 600").await;
    assert_eq!(ending.expect("it had finished").answer, "x");
    assert!(began.elapsed() >= Duration::from_secs(2), "it gets a moment");
    assert!(!is_alive(office.pid_in("pid")));
}

#[tokio::test(flavor = "multi_thread")]
async fn dropping_the_updates_ends_the_program_and_its_daemon() {
    let office = Office::open().await;
    for assistants in [office.supervised(), office.unsupervised_fake()] {
        let turn = office.turn("spawn-daemon daemon\nsay up\nhang");
        let run = turn.run;
        let mut updates = office.runs(&assistants, turn);
        office::next(&mut updates).await.expect("an update").expect("it is up");
        let daemon = office.pid_in("daemon");
        assert!(is_alive(daemon));
        drop(updates);
        assistants.gone(run).await;
        assert!(!is_alive(daemon), "whoever waited for the end finds nothing");
        fs::remove_file(office.place().join("daemon")).expect("it was there");
    }
    // The desk is free again.
    office.fake("say next").await.1.expect("it went well");
    assert_eq!(brain::overlaps(office.notes()), [""; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tree_that_ignores_being_asked_is_killed() {
    let office = Office::open().await;
    let script = "trap '' TERM INT HUP; echo $$ > pid; (setsid sleep 600 & echo $! > child); echo up; \
                  while true; do sleep 600; done";
    let assistants = office::plain(&["bash", "-c", script]);
    let turn = office.turn("go");
    let run = turn.run;
    let mut updates = office.runs(&assistants, turn);
    office::next(&mut updates).await.expect("an update").expect("it is up");
    drop(updates);
    assistants.gone(run).await;
    assert!(!is_alive(office.pid_in("pid")) && !is_alive(office.pid_in("child")));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_program_leaves_in_the_background_ends_with_it() {
    let office = Office::open().await;
    let (_, ending) = office.fake("spawn-daemon daemon\nsay done").await;
    assert_eq!(ending.expect("it went well").answer, "done");
    assert!(!is_alive(office.pid_in("daemon")), "the last update comes when nothing is left");
    let (_, ending) = office.script("sleep 600 & echo $! > pid; echo done").await;
    assert_eq!(ending.expect("it went well").answer, "done");
    assert!(!is_alive(office.pid_in("pid")));
    let unsupervised = office::unsupervised(&["bash", "-c", "sleep 600 & echo $! > pid2; echo -n done"]);
    let (_, ending) = office::all(office.starts(&unsupervised, "go")).await;
    assert_eq!(ending.expect("it went well").answer, "done");
    assert!(!is_alive(office.pid_in("pid2")));
}

#[tokio::test(flavor = "multi_thread")]
async fn no_zombie_is_left_on_either_side() {
    let office = Office::open().await;
    let script = "for i in $(seq 20); do (sleep 0.01 & echo $! >> orphans); done; echo $PPID > supervisor; \
                  while [ ! -e go ]; do sleep 0.01; done";
    let mut updates = office.starts(&office::plain(&["bash", "-c", script]), "go");
    let supervisor = office.pid_in("supervisor");
    let orphans = fs::read_to_string(office.place().join("orphans")).expect("they were started");
    let orphans: Vec<u32> = orphans.lines().map(|line| line.parse().expect("a number")).collect();
    assert_eq!(orphans.len(), 20);
    eventually(|| orphans.iter().all(|orphan| state(*orphan).is_none()));
    fs::write(office.place().join("go"), "").expect("it can be written");
    while office::next(&mut updates).await.is_some() {}
    assert_eq!(state(supervisor), None, "it was reaped");
}

#[tokio::test(flavor = "multi_thread")]
async fn fifty_at_once_keep_to_themselves() {
    let office = Office::open().await;
    let assistants = office.supervised();
    let mut streams = Vec::new();
    for number in 0..50 {
        let folder = office.place().join(number.to_string());
        fs::create_dir_all(&folder).expect("a folder");
        let mut turn = office.turn(&format!("write mine {number}\nwait-for ../go\nsay I am {number}"));
        turn.place.path = folder;
        streams.push(tokio::spawn(office::all(office.runs(&assistants, turn))));
    }
    let at_work = || (0..50).all(|number| office.place().join(number.to_string()).join("mine").exists());
    assert!(becomes(Duration::from_mins(1), at_work), "all are at work at the same time");
    fs::write(office.place().join("go"), "").expect("it can be written");
    for (number, stream) in streams.into_iter().enumerate() {
        let (_, ending) = stream.await.expect("no panic");
        assert_eq!(ending.expect("it went well").answer, format!("I am {number}"));
    }
    assert_eq!(brain::runs(office.notes()).len(), 50);
    assert_eq!(brain::overlaps(office.notes()), [""; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_fake_assistant_notices_that_it_is_not_alone() {
    let office = Office::open().await;
    let mut first = office.starts(&office.supervised(), "say here\nwait-for go");
    office::next(&mut first).await.expect("an update").expect("it is here");
    assert_eq!(why(office.fake("say me too").await.1), "overlap");
    assert_eq!(brain::overlaps(office.notes()).len(), 1);
    fs::write(office.place().join("go"), "").expect("it can be written");
    office::all(first).await.1.expect("the first goes on");
}
