//! Taking so much that nothing is left for the server. All within limits, for the sake of the machine.

use std::fs;

use super::{a_cage, cages};

fn inclination(process: &str) -> i32 {
    let text = fs::read_to_string(format!("/proc/{process}/oom_score_adj")).expect("it can be read");
    text.trim().parse().expect("a number")
}

/// Whoever takes all memory is the first to be ended for it, not the server.
#[tokio::test(flavor = "multi_thread")]
async fn memory() {
    for caged in cages().await {
        let own = inclination("self");
        let said = caged.sh("cat /proc/self/oom_score_adj /proc/1/oom_score_adj").await.well();
        for inside in said.lines() {
            assert!(inside.parse::<i32>().expect("a number") > own, "{said}");
        }
        let lower = caged.sh(&format!("echo {own} >/proc/self/oom_score_adj; cat /proc/self/oom_score_adj")).await;
        assert!(lower.out.trim().parse::<i32>().expect("a number") > own, "{lower:?}");
        caged.sh("head -c 64M /dev/zero | tail -c 64M | wc -c").await.well();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn files_in_memory() {
    let Some(caged) = a_cage().await else { return };
    for place in ["/dev/shm", "/dev", "/"] {
        let size = caged.sh(&format!("stat -f -c '%b %S' {place}")).await.well();
        let [blocks, size] =
            size.split(' ').map(|number| number.parse::<u64>().expect("a number")).collect::<Vec<_>>()[..]
        else {
            panic!("{size}")
        };
        let all = total_memory();
        assert!(blocks > 0 && blocks * size <= all / 2, "{place} may take {} of {all}", blocks * size);
    }
}

fn total_memory() -> u64 {
    let text = fs::read_to_string("/proc/meminfo").expect("it can be read");
    let line = text.lines().find(|line| line.starts_with("MemTotal:")).expect("it says so");
    line.split_whitespace().nth(1).and_then(|number| number.parse::<u64>().ok()).expect("a number") * 1024
}

#[tokio::test(flavor = "multi_thread")]
async fn processes() {
    let Some(caged) = a_cage().await else { return };
    let bomb = "for i in $(seq 200); do sh -c 'sleep 1000 & sleep 1000' & done; echo up";
    caged.sh(bomb).await.well();
    let ids = fs::read_dir("/proc").expect("it can be listed").flatten().map(|entry| entry.path());
    let place = caged.place();
    let left = ids.filter(|id| fs::read_link(id.join("cwd")).is_ok_and(|folder| folder == place)).count();
    assert_eq!(left, 0, "every one of them is gone");
    assert_eq!(caged.sh("echo again").await.well(), "again");
}
