//! Processes outside: the server, the supervisor, agents next door.

use std::fs;
use std::os::unix::ffi::OsStrExt as _;

use rustix::process::{Pid, Signal, getpriority_process, test_kill_process};

use super::calls::{PIDFD_OPEN, PIDFD_SEND_SIGNAL, PRLIMIT, PROCESS_VM_READV, PTRACE, SETPRIORITY, call, perl};
use super::{Prey, a_cage, cages, fail};
use crate::caging::office::{Caged, next};

/// An agent next door, at work until it is dropped, and all processes of it on the machine.
struct Sibling {
    pids: Vec<i32>,
    _updates: hedgerow_core::assistant::Updates,
}

impl Sibling {
    async fn of(caged: &Caged) -> Self {
        let mark = format!("sibling-{}", hedgerow_core::RunId::new());
        let mut updates = caged.starts(&["bash", "-c", "echo up; sleep 1000; exit $0", &mark]);
        next(&mut updates).await.expect("an update").expect("text");
        let is_meant = |pid: &i32| {
            let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            line.split(|byte| *byte == 0).any(|word| word == std::ffi::OsStr::new(&mark).as_bytes())
        };
        let all = fs::read_dir("/proc").expect("it can be listed").flatten();
        let pids: Vec<_> = all.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).filter(is_meant).collect();
        assert!(pids.len() >= 3, "two supervisors and the shell: {pids:?}");
        Self { pids, _updates: updates }
    }

    fn is_alive(&self) -> bool {
        self.pids.iter().all(|pid| Pid::from_raw(*pid).is_some_and(|pid| test_kill_process(pid).is_ok()))
    }
}

/// `None`, said aloud, when somebody in a cage can have its number as well: in a container with few processes.
#[expect(clippy::print_stderr, reason = "a story that is not told must not look like one that went well")]
fn server() -> Option<i32> {
    let id = i32::try_from(std::process::id()).expect("a number");
    if id < 1000 {
        eprintln!("SKIPPED: the tests run as process {id}, of which there is one in a cage too");
        return None;
    }
    Some(id)
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_server_knows() {
    for caged in cages().await {
        let outside = Prey::at(caged.world.folder().join("outside"));
        let (Some(server), path) = (server(), outside.shown()) else { return };
        let files =
            ["environ", "mem", "maps", "cmdline", "stack", "auxv", "status", "root", "cwd", "exe", "fd", "task"];
        let mut attempts: Vec<_> = files.iter().map(|file| format!("ls /proc/{server}/{file}")).collect();
        attempts.extend([
            format!("cat /proc/{server}/environ"),
            format!("head -c 1 /proc/{server}/mem"),
            format!("cat /proc/{server}/root{path}"),
            format!("ls /proc/{server}/fd/"),
            format!("cat /proc/*/root{path}"),
            "grep -l HEDGEROW_SERVER= /proc/[0-9]*/environ".to_owned(),
        ]);
        let ran = fail(&caged, &attempts).await;
        outside.is_unread(&caged, &ran);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn tracing_the_server_and_an_agent_next_door() {
    for caged in cages().await {
        let sibling = Sibling::of(&caged).await;
        let traced = |pid: &i32| {
            [
                call(PTRACE, &format!("0x4206, {pid}, 0, 0")),
                call(PIDFD_OPEN, &format!("{pid}, 0")),
                perl(&format!(
                    "my $b = \"x\" x 64; my $l = pack(\"PQ\", $b, 64); my $r = pack(\"QQ\", 0x400000, 64); \
                     exit(syscall({PROCESS_VM_READV}, {pid}, $l, 1, $r, 1, 0) == -1)"
                )),
            ]
        };
        let attempts: Vec<_> = sibling.pids.iter().chain(&server()).flat_map(traced).collect();
        fail(&caged, &attempts).await;
        assert!(sibling.is_alive());
        for pid in sibling.pids.iter().chain(&server()) {
            let status = fs::read_to_string(format!("/proc/{pid}/status")).expect("it is there");
            assert!(status.contains("TracerPid:\t0"), "{status}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn signals_to_the_server_the_supervisor_and_an_agent_next_door() {
    for caged in cages().await {
        let sibling = Sibling::of(&caged).await;
        let signalled = |pid: &i32, signals: &[&str]| {
            let one = signals.iter().map(|signal| format!("kill -{signal} {pid}")).collect::<Vec<_>>();
            let group = signals.iter().map(|signal| format!("kill -{signal} -- -{pid}")).collect::<Vec<_>>();
            let by_file = perl(&format!(
                "open(my $f, \"<\", \"/proc/{pid}\") or exit 1; exit(syscall({PIDFD_SEND_SIGNAL}, fileno($f), 0, 0, 0) == -1)"
            ));
            one.into_iter().chain(group).chain([by_file])
        };
        let mut attempts: Vec<_> = server().iter().flat_map(|pid| signalled(pid, &["0", "WINCH"])).collect();
        attempts.extend(sibling.pids.iter().flat_map(|pid| signalled(pid, &["0", "WINCH", "TERM", "KILL"])));
        fail(&caged, &attempts).await;
        // To everyone there is: one who waits for it outside does not hear it.
        let mut waiting = std::process::Command::new("sleep").arg("1000").spawn().expect("it can be started");
        let pid = Pid::from_child(&waiting);
        rustix::process::kill_process(pid, Signal::STOP).expect("it is ours");
        caged.sh("kill -CONT -1; kill -CONT 0; true").await.well();
        let state = fs::read_to_string(format!("/proc/{}/stat", waiting.id())).expect("it is there");
        waiting.kill().expect("it is ours");
        waiting.wait().expect("it has ended");
        assert!(state.contains(") T "), "{state}");
        assert!(sibling.is_alive());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn slowing_and_limiting_the_server() {
    let Some(caged) = a_cage().await else { return };
    let Some(server) = server() else { return };
    let priority = || getpriority_process(None).expect("it has one");
    let before = priority();
    let users = rustix::process::getuid().as_raw();
    let limit = perl(&format!("my $l = pack(\"QQ\", 0, 0); exit(syscall({PRLIMIT}, {server}, 7, 0, $l) == -1)"));
    let attempts = [format!("renice 19 {server}"), call(SETPRIORITY, &format!("0, {server}, 19")), limit];
    fail(&caged, &attempts).await;
    // All processes of the user: those in the cage.
    caged.sh(&call(SETPRIORITY, &format!("2, {users}, 19"))).await;
    assert_eq!(priority(), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_else_is_in_the_list() {
    for caged in cages().await {
        let sibling = Sibling::of(&caged).await;
        let seen = caged.sh("cat /proc/[0-9]*/cmdline | tr '\\0' ' '; ls -d /proc/[0-9]* | wc -l").await.well();
        assert!(!seen.contains("sibling-"), "{seen}");
        let count: u32 = seen.lines().last().and_then(|line| line.rsplit(' ').next()?.parse().ok()).expect("a number");
        assert!(count < 10, "{seen}");
        drop(sibling);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn files_that_the_server_has_open() {
    for mut caged in cages().await {
        let outside = Prey::at(caged.world.folder().join("outside"));
        // As a server that was itself started with open files.
        let open =
            format!("exec 7<>{0} 8<{1} 9>>{0}; exec \"$0\" \"$@\"", outside.shown(), caged.world.folder().display());
        let ordinary = std::mem::take(&mut caged.before);
        caged.before = ["sh", "-c", &open].map(Into::into).into_iter().chain(ordinary).collect();
        let attempts = [
            "cat <&7",
            "cat /proc/self/fd/7",
            "ls /proc/self/fd/8/",
            "echo x >&9",
            "cat /proc/1/fd/7",
            "cat /proc/1/fd/8/outside",
        ];
        let ran = fail(&caged, &attempts.map(str::to_owned)).await;
        outside.is_unread(&caged, &ran);
        outside.is_unharmed();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_terminal_of_the_server() {
    let Some(caged) = a_cage().await else { return };
    let push = |file: &str| {
        perl(&format!("open(my $f, \"+<\", \"{file}\") or exit 1; my $c = \"x\"; exit(!ioctl($f, 0x5412, $c))"))
    };
    let mut attempts: Vec<_> = ["/dev/tty", "/dev/console", "/dev/tty0", "/dev/tty1", "/dev/pts/0"].map(push).into();
    attempts.push("echo x >/dev/tty".to_owned());
    attempts.push("setsid -w sh -c 'echo x >/dev/tty'".to_owned());
    attempts.push("test -t 0 || test -t 1 || test -t 2".to_owned());
    fail(&caged, &attempts).await;
}
