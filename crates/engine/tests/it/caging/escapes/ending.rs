//! Outliving the turn.

use std::fs;
use std::time::{Duration, Instant};

use hedgerow_core::RunId;

use super::calls::{PTRACE, perl};
use super::{a_cage, cages};
use crate::caging::office::{Caged, next};

/// Ways to be left behind. `$0` is the mark by which the machine knows them.
const LINGERING: [&str; 6] = [
    "setsid -f sh -c 'sleep 1000; : '$0",
    "( ( setsid sh -c 'sleep 1000; : '$0 & ) & )",
    "env -i setsid -f sh -c 'sleep 1000; : '$0",
    "nohup sh -c 'trap \"\" TERM HUP INT QUIT; while :; do sleep 1; done; : '$0 >/dev/null 2>&1 &",
    "setsid -f sh -c 'kill -STOP $$; : '$0",
    "setsid -f sh -c 'exec >/dev/null 2>&1 </dev/null; cd /; while :; do sleep 1; done; : '$0",
];

fn lingering() -> String {
    LINGERING.map(|way| format!("{way}\n")).concat()
}

fn marked(mark: &str) -> usize {
    let is_meant = |pid: &i32| {
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(mark)
    };
    let all = fs::read_dir("/proc").expect("it can be listed").flatten();
    all.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).filter(is_meant).count()
}

fn mark() -> String {
    format!("lingerer-{}", RunId::new())
}

#[tokio::test(flavor = "multi_thread")]
async fn staying_after_the_end() {
    for caged in cages().await {
        let mark = mark();
        let (updates, ending) = caged.program(&["bash", "-c", &format!("{}echo up", lingering()), &mark]).await;
        assert_eq!(marked(&mark), 0, "{updates:?} {ending:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn staying_after_a_stop() {
    for caged in cages().await {
        let mark = mark();
        let mut updates = caged.starts(&["bash", "-c", &format!("{}echo up; sleep 1000", lingering()), &mark]);
        next(&mut updates).await.expect("an update").expect("text");
        assert!(marked(&mark) > LINGERING.len(), "they are at work");
        drop(updates);
        are_gone(&mark).await;
    }
}

/// The first process inside is its own: it can be stopped and traced, but not be made to stay.
#[tokio::test(flavor = "multi_thread")]
async fn holding_the_supervisor_inside() {
    let Some(caged) = a_cage().await else { return };
    let trace = format!("( {} $0 & )", perl(&format!("syscall({PTRACE}, 16, 1, 0, 0); sleep 1000")));
    for hold in ["kill -STOP 1", "kill -KILL 1", &trace] {
        // Only ever the first process of a cage.
        let hold = format!("grep -qz ^HEDGEROW_INSIDE= /proc/1/environ || exit 9; {hold}");
        let mark = mark();
        let script =
            format!("trap '' TERM; setsid -f sh -c 'trap \"\" TERM; sleep 1000; : '$0; {hold}; echo up; sleep 1000");
        let mut updates = caged.starts(&["bash", "-c", &script, &mark]);
        next(&mut updates).await.expect("an update").expect("text");
        drop(updates);
        are_gone(&mark).await;
    }
}

async fn are_gone(mark: &str) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while marked(mark) > 0 {
        assert!(Instant::now() < deadline, "somebody is left");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// What it leaves in memory is gone with it too.
#[tokio::test(flavor = "multi_thread")]
async fn leaving_something_for_the_next() {
    let Some(caged): Option<Caged> = a_cage().await else { return };
    let places = ["/tmp", "/var/tmp", "/dev/shm"];
    caged.sh(&places.map(|place| format!("echo left >{place}/left\n")).concat()).await.well();
    let left = caged.sh(&places.map(|place| format!("cat {place}/left 2>/dev/null\n")).concat()).await;
    assert_eq!(left.out, "");
    for place in places {
        assert!(!std::path::Path::new(place).join("left").exists(), "it is in memory, not on the machine");
    }
}
