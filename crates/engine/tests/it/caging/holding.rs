//! The cage holds: what is not the agent's is not there, or cannot be changed.

use std::fs;

use hedgerow_core::Work;
use hedgerow_core::assistant::Cover;

use super::office::Caged;

#[tokio::test(flavor = "multi_thread")]
async fn the_repository_beyond_its_own_work_cannot_be_changed() {
    let caged = Caged::new().await;
    let git = caged.git_folder();
    fs::create_dir_all(git.join("refs/hedgerow")).expect("a folder");
    let mut caged = caged;
    caged.bounds.guard.push(git.join("refs/hedgerow"));
    let git = git.display();
    let attempts = [
        "git config user.name X".to_owned(),
        format!("echo x >>{git}/config"),
        format!("mv {git}/config {git}/moved"),
        format!("echo x >{git}/hooks/post-commit"),
        format!("rm -r {git}/hooks"),
        format!("mv {git}/hooks {git}/moved"),
        format!("echo x >{git}/info/exclude"),
        format!("echo x >{git}/HEAD"),
        format!("echo x >{git}/index"),
        format!("mkdir {git}/worktrees/other"),
        format!("mv {git}/refs {git}/moved"),
        format!("mkdir {git}/refs/hedgerow/x"),
        format!("mount --bind /tmp {git}/hooks"),
        format!("umount {git}/hooks"),
        format!("mount -o remount,rw {git}/hooks"),
        format!("unshare -Urm umount {git}/hooks"),
    ];
    caged.refuses(&attempts).await;
    assert!(fs::read_to_string(caged.git_folder().join("config")).expect("it is there").contains("[core]"));
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_else_of_the_machine_is_there() {
    let caged = Caged::new().await;
    let world = &caged.world;
    let codebase = world.engine.store().codebases().await.expect("the store answers").remove(0);
    let sibling = world.environment(&codebase, Work::Task("other".to_owned())).await;
    let secret = world.folder().join("person/secret");
    fs::write(&secret, "secret").expect("a file");
    let unseen = [
        caged.repo.path().join("README.md"),
        sibling.path.join("README.md"),
        world.settings().home.join("hedgerow.db"),
        secret,
        "/home".into(),
        "/var/lib".into(),
        "/var/log".into(),
        "/boot".into(),
        "/sys/kernel".into(),
        "/dev/mem".into(),
        "/dev/kmsg".into(),
        "/run/dbus".into(),
    ];
    let attempts = unseen.iter().map(|path| format!("ls -d {}", path.display()));
    caged.refuses(&attempts.chain(["grep . /etc/shadow".to_owned()]).collect::<Vec<_>>()).await;
    caged.sh(&format!("echo x >{}", unseen[3].display())).await.well();
    assert_eq!(fs::read_to_string(&unseen[3]).expect("it is there"), "secret", "its home is another one");
    let seen = caged.sh("ls /").await.well();
    assert!(!seen.contains("mnt") && !seen.contains("old"), "{seen}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_system_and_the_kernel_are_only_read() {
    let caged = Caged::new().await;
    let attempts = [
        "touch /new",
        "touch /usr/new",
        "touch /etc/new",
        "touch /dev/new",
        "echo 1 >/proc/sys/kernel/printk",
        "echo h >/proc/sysrq-trigger",
        "echo /tmp/x >/proc/sys/kernel/core_pattern",
        "mknod /tmp/disk b 254 0",
        "mount -t tmpfs x /tmp",
        "mount -o remount,rw /",
        "chroot /tmp true",
        "unshare -U true",
        "unshare -r true",
        "hostname x",
    ];
    caged.refuses(&attempts).await;
    let powers = caged.sh("grep -E '^(Cap|NoNewPrivs)' /proc/self/status").await.well();
    let powers: Vec<_> = powers.lines().filter_map(|line| line.split_whitespace().nth(1)).collect();
    assert_eq!(powers, ["0000000000000000"; 5].into_iter().chain(["1"]).collect::<Vec<_>>());
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_outside_is_seen_or_reached() {
    let caged = Caged::new().await;
    let server = std::process::id();
    let seen = caged.sh("ls -d /proc/[0-9]* | wc -l").await.well();
    assert!(seen.parse::<u32>().expect("a number") < 10, "{seen}");
    let attempts = [
        format!("grep -z HOME= /proc/{server}/environ"),
        format!("kill -0 {server}"),
        "grep -z HEDGEROW_SERVER /proc/1/environ".to_owned(),
        "kill -KILL 1; sleep 0.1; kill -0 1 && false".to_owned(),
    ];
    caged.refuses(&attempts).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn abstract_sockets_of_others_cannot_be_spoken_to() {
    use std::os::linux::net::SocketAddrExt as _;
    use std::os::unix::net::{SocketAddr, UnixListener};
    let caged = Caged::new().await;
    if !std::path::Path::new("/usr/bin/python3").exists() {
        return;
    }
    let name = format!("hedgerow-{}", caged.environment.id);
    let address = SocketAddr::from_abstract_name(&name).expect("a name");
    let _listener = UnixListener::bind_addr(&address).expect("it can be bound");
    let connect = |name: &str| format!("import socket as s; s.socket(s.AF_UNIX).connect('\\0{name}')");
    caged.sh(&format!("/usr/bin/python3 -c \"{}\"", connect(&name))).await.badly();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_covered_is_seen_otherwise_and_stays_on_disk() {
    let mut caged = Caged::new().await;
    let place = caged.place().to_owned();
    for (file, words) in [("CLAUDE.md", "theirs"), (".claude/x", "theirs"), ("AGENTS.md", "theirs")] {
        fs::create_dir_all(place.join(file).parent().expect("a folder")).expect("a folder");
        fs::write(place.join(file), words).expect("a file");
    }
    let ours = caged.world.folder().join("ours");
    fs::write(&ours, "ours").expect("a file");
    let cover = |name: &str, with| Cover { path: place.join(name), with };
    caged.bounds.covers = vec![cover("CLAUDE.md", None), cover(".claude", None), cover("AGENTS.md", Some(ours))];
    caged.bounds.is_fork = true;
    let said = caged.sh("cat CLAUDE.md AGENTS.md; ls -A .claude").await.well();
    assert_eq!(said, "ours");
    let attempts = ["echo x >CLAUDE.md", "echo x >AGENTS.md", "touch .claude/new", "rm -r .claude", "mv CLAUDE.md x"];
    caged.refuses(&attempts).await;
    assert_eq!(fs::read_to_string(place.join("CLAUDE.md")).expect("it is there"), "theirs");
    caged.sh("echo x >~/kept").await.well();
    assert!(!caged.agents().join("kept").exists(), "nothing of a stranger stays in the home of others");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_hidden_stays_so_in_what_is_shown() {
    let mut caged = Caged::new().await;
    let shown = caged.world.folder().join("shown");
    fs::create_dir_all(&shown).expect("a folder");
    for name in ["open", "hidden"] {
        fs::write(shown.join(name), name).expect("a file");
    }
    caged.sandbox.read = vec![caged.world.folder().to_owned()];
    caged.sandbox.hidden = vec![shown.join("hidden")];
    let said = caged.sh(&format!("cat {0}/open {0}/hidden", shown.display())).await.well();
    assert_eq!(said, "open");
    let home = caged.world.settings().home.join("hedgerow.db");
    caged.sh(&format!("test -e {}", home.display())).await.badly();
    caged.sh("git status").await.well();
}
