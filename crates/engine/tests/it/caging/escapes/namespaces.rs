//! Mounts and namespaces: what the view is made of must not be unmade.

use super::calls::{CLONE3, FSOPEN, MOUNT, MOUNT_SETATTR, OPEN_TREE, PIVOT_ROOT, SETNS, UMOUNT, UNSHARE, call, perl};
use super::{Prey, a_cage, all_fail, cages, fail};

#[tokio::test(flavor = "multi_thread")]
async fn mounting_over_a_guard_or_off_it() {
    for caged in cages().await {
        let config = Prey::found(caged.git_folder().join("config"));
        let git = caged.git_folder();
        let (hooks, git) = (git.join("hooks"), git.display());
        let hooks = hooks.display();
        fail(
            &caged,
            &[
                format!("mount --bind /tmp {hooks}"),
                format!("mount -t tmpfs none {hooks}"),
                format!("umount {hooks}"),
                format!("umount -l {git}/config"),
                format!("umount -R {git}"),
                format!("mount -o remount,rw,bind {hooks}"),
                format!("mount -o remount,rw {git}/config"),
                "mount -o remount,rw,bind /".to_owned(),
                "mount -o remount,rw,bind /proc".to_owned(),
                format!("mount --move {hooks} /tmp"),
                "mount -t proc none /tmp".to_owned(),
                "mount -t overlay none -o lowerdir=/etc,upperdir=/tmp,workdir=/tmp /etc".to_owned(),
                call(MOUNT, &format!("t(\"none\"), t(\"{hooks}\"), t(\"\"), 4096 | 32, 0")),
                call(UMOUNT, &format!("t(\"{hooks}\"), 2")),
                call(UMOUNT, "t(\"/\"), 2"),
            ],
        )
        .await;
        config.is_unharmed();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_newer_calls_for_mounts() {
    for caged in cages().await {
        let attributes = "pack(\"QQQQ\", 0, 1, 0, 0)";
        all_fail(
            &caged,
            &[
                &call(FSOPEN, "t(\"tmpfs\"), 0"),
                // A copy of what there is, which would be without the guards on it.
                &call(OPEN_TREE, "-100, t(\"/\"), 1"),
                &call(OPEN_TREE, "-100, t(\"/\"), 1 | 0x8000"),
                &perl(&format!(
                    "my $a = {attributes}; exit(syscall({MOUNT_SETATTR}, -100, t(\"/\"), 0x8000, $a, 32) == -1)"
                )),
            ],
        )
        .await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn namespaces_within_namespaces() {
    for caged in cages().await {
        let config = Prey::found(caged.git_folder().join("config"));
        let hooks = caged.git_folder().join("hooks");
        let hooks = hooks.display();
        let flags = ["-U", "-r", "-Ur", "-Urm", "-Urp --fork", "-m", "-p --fork", "-n", "-i", "-u", "-C"];
        let mut attempts: Vec<_> = flags.iter().map(|flags| format!("unshare {flags} true")).collect();
        attempts.push(format!("unshare -Urm umount {hooks}"));
        attempts.push(format!("unshare -Urm sh -c 'mount -o remount,rw,bind {hooks} && touch {hooks}/x'"));
        attempts.extend(
            [0x1000_0000_u32, 0x1002_0000, 0x0002_0000, 0x2000_0000].map(|flags| call(UNSHARE, &flags.to_string())),
        );
        let new_user = "my $a = pack(\"Q8\", 0x10000000, 0, 0, 0, 17, 0, 0, 0)";
        attempts
            .push(perl(&format!("{new_user}; my $p = syscall({CLONE3}, $a, 64); exit(0) if $p == 0; exit($p == -1)")));
        fail(&caged, &attempts).await;
        config.is_unharmed();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn namespaces_of_others() {
    for caged in cages().await {
        let server = std::process::id();
        let mut attempts = Vec::new();
        for (process, kinds) in [("1", 0), (&*server.to_string(), 0), ("self", 0x2000_0000)] {
            for kind in ["mnt", "user", "pid", "net", "ipc", "uts"] {
                attempts.push(perl(&format!(
                    "open(my $f, \"<\", \"/proc/{process}/ns/{kind}\") or exit 1; \
                     exit(syscall({SETNS}, fileno($f), {kinds}) == -1)"
                )));
            }
        }
        attempts.push("nsenter -t 1 -m true".to_owned());
        attempts.push(format!("nsenter -t {server} -a true"));
        fail(&caged, &attempts).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn another_root() {
    for caged in cages().await {
        // The old way out: a root below, the working folder above it, and up.
        let climb = "mkdir \"/tmp/below\"; chroot(\"/tmp/below\") or exit 1; chdir(\"..\") for 1..64; chroot(\".\")";
        all_fail(
            &caged,
            &[
                "chroot /tmp true",
                "chroot / true",
                &perl(climb),
                &call(PIVOT_ROOT, "t(\"/tmp\"), t(\"/tmp\")"),
                &call(PIVOT_ROOT, "t(\".\"), t(\".\")"),
            ],
        )
        .await;
    }
}

/// The machine's own tree was there while the view was built. Nobody kept a way back.
#[tokio::test(flavor = "multi_thread")]
async fn a_way_back_that_was_left_open() {
    let Some(caged) = a_cage().await else { return };
    let outside = Prey::at(caged.world.folder().join("outside"));
    let path = outside.shown();
    let ran = fail(
        &caged,
        &[
            format!("for fd in /proc/[0-9]*/fd/*; do cat $fd{path} && exit 0; done 2>/dev/null; false"),
            format!("for way in /proc/[0-9]*/root /proc/[0-9]*/cwd; do cat $way{path} && exit 0; done; false"),
            format!("for fd in /proc/[0-9]*/map_files/*; do cat $fd{path} && exit 0; done 2>/dev/null; false"),
            "ls /old || ls /new || ls /oldroot".to_owned(),
            "ls -l /proc/1/fd /proc/self/fd | grep -E ' -> /(old|new|$)'".to_owned(),
        ],
    )
    .await;
    outside.is_unread(&caged, &ran);
    outside.is_unharmed();
}
