//! The kernel's own doors.

use std::fs;

use super::calls::{
    ACCT, ADD_KEY, BPF, INIT_MODULE, IO_URING_ENTER, IO_URING_SETUP, KEXEC_LOAD, KEYCTL, MEMFD_CREATE, MMAP,
    OPEN_BY_HANDLE_AT, PERF_EVENT_OPEN, PROCESS_VM_WRITEV, REBOOT, REQUEST_KEY, SETTIMEOFDAY, SWAPON, SYSLOG, call,
    perl,
};
use super::{Prey, a_cage, all_fail, cages, fail};

#[tokio::test(flavor = "multi_thread")]
async fn switches_of_the_kernel() {
    for caged in cages().await {
        // Each is set to what it is.
        let names = ["kernel/core_pattern", "kernel/modprobe", "kernel/hostname", "kernel/panic", "fs/suid_dumpable"];
        let names = names.map(|name| format!("/proc/sys/{name}"));
        let attempts = names.iter().map(|name| format!("value=$(cat {name}) && echo \"$value\" >{name}"));
        let more =
            ["echo 1 >/proc/sys/vm/drop_caches", "echo h >/proc/sysrq-trigger", "echo x >/proc/self/attr/current"];
        fail(&caged, &attempts.chain(more.map(str::to_owned)).collect::<Vec<_>>()).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_kernel_shows_of_the_machine() {
    for caged in cages().await {
        all_fail(
            &caged,
            &[
                "ls /sys/kernel",
                "ls /sys/fs/cgroup",
                "ls /sys/class",
                "ls /sys/firmware",
                "find /sys -type f -name online -writable | head -1 | { read file && cat $file >$file; }",
                "head -c 1 /proc/kcore",
                "head -c 1 /proc/kmsg",
                "dmesg",
                "ls /sys/kernel/debug /sys/kernel/security",
                "mount -t cgroup2 none /tmp",
                "mount -t debugfs none /tmp",
                &call(SYSLOG, "3, my $b = \"x\" x 64, 64"),
            ],
        )
        .await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_that_only_the_owner_of_the_machine_makes() {
    for caged in cages().await {
        all_fail(
            &caged,
            &[
                &call(REBOOT, "0xfee1dead, 0x28121969, 0, 0"),
                &call(KEXEC_LOAD, "0, 0, 0, 0"),
                &call(INIT_MODULE, "t(\"x\"), 1, t(\"\")"),
                &call(SWAPON, "t(\"/tmp/x\"), 0"),
                &call(ACCT, "t(\"/tmp/x\")"),
                &call(SETTIMEOFDAY, "0, 0"),
                "hostname \"$(hostname)\"",
                "date -s \"$(date)\"",
                "chown 1:1 .",
                "sudo -n true",
                "su -c true",
            ],
        )
        .await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_that_the_kernel_keeps_for_the_server() {
    for mut caged in cages().await {
        let secret = format!("secret {}", hedgerow_core::RunId::new());
        // As a server that was started in a session with keys.
        let keep = format!(
            "sub t {{ my $t = \"$_[0]\\0\"; $t }} syscall({KEYCTL}, 1, 0) == -1 and exit 90; my $s = \"{secret}\"; \
             syscall({ADD_KEY}, t(\"user\"), t(\"hedgerow\"), $s, length($s), -3) == -1 and exit 91; exec @ARGV"
        );
        let ordinary = std::mem::take(&mut caged.before);
        caged.before = ordinary.into_iter().chain(["/usr/bin/perl", "-e", &keep].map(Into::into)).collect();
        let found = |how: &str| {
            perl(&format!(
                "my $k = {how}; exit 1 if $k == -1; my $b = \" \" x 99; \
             my $n = syscall({KEYCTL}, 11, $k, $b, 99); exit 1 if $n < 1; print $b"
            ))
        };
        let asked = format!("syscall({REQUEST_KEY}, t(\"user\"), t(\"hedgerow\"), 0, 0)");
        let looked = format!("syscall({KEYCTL}, 10, -3, t(\"user\"), t(\"hedgerow\"), 0)");
        let ran = fail(&caged, &[found(&asked), found(&looked)]).await;
        assert!(!ran.out.contains(&secret), "{ran:?}");
    }
}

/// Work that the kernel does for a program is bound as the program is.
#[tokio::test(flavor = "multi_thread")]
async fn interfaces_with_a_life_of_their_own() {
    for caged in cages().await {
        let attribute =
            |kind: u32, flags: u32| format!("my $a = pack(\"LLQQQQ\", {kind}, 112, 0, 0, 0, {flags}) . (\"\\0\" x 80)");
        let perf = |pid: i32, cpu: i32| {
            perl(&format!("{}; exit(syscall({PERF_EVENT_OPEN}, $a, {pid}, {cpu}, -1, 0) == -1)", attribute(1, 0)))
        };
        let attempts = [
            // Of all processes on a processor, and of the server.
            perf(-1, 0),
            perf(i32::try_from(std::process::id()).expect("a number"), -1),
            // A program in the kernel that looks at what others do.
            perl(&format!(
                "my $a = pack(\"LLQQ\", 5, 2, 0, 0) . (\"\\0\" x 96); exit(syscall({BPF}, 5, $a, 120) == -1)"
            )),
            // A file by its number, past all folders.
            perl(&format!(
                "open(my $f, \"<\", \".\"); my $h = pack(\"LlLL\", 8, 1, 2, 0); \
                 opendir(my $d, \".\"); exit(syscall({OPEN_BY_HANDLE_AT}, fileno($d), $h, 0) == -1)"
            )),
        ];
        fail(&caged, &attempts).await;
    }
}

/// Opens a file by a ring of requests that threads of the kernel serve, and goes well when it is open; 9 where there are
/// no rings.
fn by_ring(path: &str) -> String {
    perl(&format!(
        "my $p = \"\\0\" x 120; my $r = syscall({IO_URING_SETUP}, 4, $p); exit 9 if $r == -1; \
         my @p = unpack(\"L10 L8 Q L8 Q\", $p); my ($tail, $array, $cqes) = @p[11, 16, 24]; \
         my $ring = syscall({MMAP}, 0, 4096, 3, 1, $r, 0); my $sqes = syscall({MMAP}, 0, 4096, 3, 1, $r, 0x10000000); \
         sub put {{ my ($to, $what) = @_; my $l = pack(\"pQ\", $what, length($what)); \
           my $d = pack(\"QQ\", $to, length($what)); syscall({PROCESS_VM_WRITEV}, $$ + 0, $l, 1, $d, 1, 0) == -1 and exit 8 }} \
         my $name = \"{path}\\0\"; my $at = unpack(\"Q\", pack(\"p\", $name)); \
         put($sqes, pack(\"CCSlQQLLQ\", 18, 0, 0, -100, 0, $at, 0, 0, 7) . (\"\\0\" x 24)); \
         put($ring + $array, pack(\"L\", 0)); put($ring + $tail, pack(\"L\", 1)); \
         syscall({IO_URING_ENTER}, $r, 1, 1, 1, 0, 0) == -1 and exit 7; \
         exit(unpack(\"l\", unpack(\"P4\", pack(\"Q\", $ring + $cqes + 8))) < 0)"
    ))
}

#[tokio::test(flavor = "multi_thread")]
async fn reading_by_the_kernels_own_threads() {
    for caged in cages().await {
        let outside = Prey::at(caged.world.folder().join("outside"));
        let allowed = caged.sh(&by_ring("/etc/passwd")).await;
        assert!([0, 9].contains(&allowed.status), "the attempt is a real one: {allowed:?}");
        fail(&caged, &[by_ring(&outside.shown()), by_ring(&format!("/proc/1/root{}", outside.shown()))]).await;
    }
}

/// A program that is nowhere but in memory has no more power than one on disk.
#[tokio::test(flavor = "multi_thread")]
async fn programs_in_memory_with_the_power_of_another() {
    for caged in cages().await {
        let copy = |then: &str| {
            perl(&format!(
                "my $f = syscall({MEMFD_CREATE}, t(\"x\"), 0); exit 1 if $f == -1; open(my $o, \">&=\", $f) or exit 1; \
             open(my $i, \"<\", \"/usr/bin/id\") or exit 1; local $/; print $o <$i>; close($i); $o->flush(); \
             chmod 06755, \"/proc/self/fd/$f\"; {then}"
            ))
        };
        let own = caged.sh("id -u").await.well();
        let seen = caged.sh(&copy("exec \"/proc/$$/fd/$f\", \"-u\"")).await;
        assert!(seen.out.trim().is_empty() || seen.out.trim() == own, "{seen:?}");
        // Nor has one that says it belongs to somebody else.
        let seen = caged
            .sh("cp /usr/bin/id mine && chmod 6755 mine && ./mine -u && grep -E '^CapEff' /proc/self/status")
            .await;
        assert_eq!(seen.well(), format!("{own}\nCapEff:\t0000000000000000"));
        let powers = caged.sh("grep -E '^(Cap...|NoNewPrivs):' /proc/self/status /proc/1/status").await.well();
        for line in powers.lines() {
            let value = line.rsplit('\t').next().expect("a value");
            assert_eq!(value, if line.contains("NoNewPrivs") { "1" } else { "0000000000000000" }, "{powers}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_core_that_is_dumped_on_the_machine() {
    let Some(caged) = a_cage().await else { return };
    let before = cores();
    caged.sh("ulimit -c unlimited; cd /tmp; sh -c 'kill -SEGV $$'; true").await.well();
    let new: Vec<_> = cores().into_iter().filter(|core| !before.contains(core)).collect();
    // What handles them on the machine is its owner's choice; in the usual folders nothing of ours is left.
    assert!(new.is_empty(), "{new:?}");
}

fn cores() -> Vec<String> {
    let folders = ["/", "/tmp", "/var/tmp"].into_iter().filter_map(|folder| fs::read_dir(folder).ok());
    let names = folders.flatten().flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.filter(|name| name == "core" || name.starts_with("core.")).collect()
}
