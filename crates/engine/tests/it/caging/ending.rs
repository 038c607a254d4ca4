//! The end of a cage is the end of everyone in it.

use std::fs;
use std::time::{Duration, Instant};

use super::office::{Caged, next};

/// Somebody who wants to stay: in a session of its own, orphaned, deaf to requests.
const STUBBORN: &str = "setsid -f sh -c 'trap \"\" TERM INT HUP; while :; do sleep 1; done'; echo up; ";

#[tokio::test(flavor = "multi_thread")]
async fn whoever_stays_behind_ends_with_the_program() {
    let caged = Caged::new().await;
    caged.sh(STUBBORN).await.well();
    assert_eq!(left(&caged), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn stopping_ends_everyone() {
    let caged = Caged::new().await;
    let mut updates = caged.starts(&["bash", "-c", &format!("{STUBBORN} sleep 1000")]);
    next(&mut updates).await.expect("an update").expect("text");
    assert!(left(&caged) >= 3);
    drop(updates);
    let deadline = Instant::now() + Duration::from_secs(20);
    while left(&caged) > 0 {
        assert!(Instant::now() < deadline, "somebody is left");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_supervisor_takes_everyone_with_it() {
    let caged = Caged::new().await;
    let mut updates = caged.starts(&["bash", "-c", &format!("{STUBBORN} sleep 1000")]);
    next(&mut updates).await.expect("an update").expect("text");
    let outermost = of(&caged).into_iter().min().and_then(rustix::process::Pid::from_raw).expect("it is at work");
    rustix::process::kill_process(outermost, rustix::process::Signal::KILL).expect("it is ours");
    while let Some(update) = next(&mut updates).await {
        drop(update);
    }
    assert_eq!(left(&caged), 0);
}

fn left(caged: &Caged) -> usize {
    of(caged).len()
}

/// The processes that were told where this world's notes are.
fn of(caged: &Caged) -> Vec<i32> {
    let mark = format!("NOTES={}", caged.world.folder().join("notes").display());
    let is_meant = |pid: &i32| {
        let environ = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        // A supervisor is told it for the program.
        environ.split(|byte| *byte == 0).any(|entry| entry.ends_with(mark.as_bytes()))
    };
    let all = fs::read_dir("/proc").expect("it can be listed").flatten();
    all.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).filter(is_meant).collect()
}
