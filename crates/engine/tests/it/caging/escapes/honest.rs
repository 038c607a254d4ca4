//! Whatever the cage forbids, honest work goes on.

use std::process::Command;

use super::calls::perl;
use super::{a_cage, cages};

const WHO: &str = "set -e; export GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@example.com GIT_COMMITTER_NAME=A \
                   GIT_COMMITTER_EMAIL=a@example.com; ";

#[tokio::test(flavor = "multi_thread")]
async fn branches_merges_and_picks() {
    for caged in cages().await {
        let work = "
            mine=$(git branch --show-current)
            echo one >one && git add one && git commit -qm one
            git checkout -qb side && echo two >two && git add two && git commit -qm two
            git checkout -q $mine && echo three >three && git add three && git commit -qm three
            git merge -q --no-edit side && git branch -d side
            git checkout -qb other HEAD~1 && echo four >four && git add four && git commit -qm four
            git checkout -q $mine && git cherry-pick other >/dev/null && git branch -D other
            git tag mark && git tag -d mark
            echo five >one && git stash -q && git stash list | grep -q . && git stash pop -q && git commit -qam five
            git rebase -q HEAD~1 && git reset -q --hard HEAD
            git submodule status && git worktree list | grep -q . && git reflog | grep -q . && git fsck 2>/dev/null
            git gc -q && git log --format=%s | tr '\\n' ' '";
        let said = caged.sh(&format!("{WHO}{work}")).await.well();
        for subject in ["one", "two", "three", "four", "five"] {
            assert!(said.contains(subject), "{said}");
        }
        let whole = Command::new("git").args(["fsck", "--connectivity-only"]).current_dir(caged.repo.path()).output();
        assert!(whole.expect("git is there").status.success() || caged.before.len() > 1, "tidying up did no harm");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn fetching_and_rebasing_onto_what_is_new() {
    let Some(caged) = a_cage().await else { return };
    caged.repo.commit_on_origin("main", "news.txt", "news");
    let work = "echo one >one && git add one && git commit -qm one && git fetch -q origin && git rebase -q origin/main && cat news.txt";
    assert_eq!(caged.sh(&format!("{WHO}{work}")).await.well(), "news");
}

#[tokio::test(flavor = "multi_thread")]
async fn sockets_ports_pipes_and_terminals() {
    for caged in cages().await {
        let by_file = "use Socket; my $n = \"/tmp/own\"; socket(my $l, PF_UNIX, SOCK_STREAM, 0); bind($l, pack_sockaddr_un($n)) or exit 1; \
                       listen($l, 1); socket(my $s, PF_UNIX, SOCK_STREAM, 0); connect($s, pack_sockaddr_un($n)) or exit 2";
        let by_port = "use Socket; socket(my $l, PF_INET, SOCK_STREAM, 0); bind($l, pack_sockaddr_in(0, INADDR_LOOPBACK)) or exit 1; \
                       listen($l, 1); socket(my $s, PF_INET, SOCK_STREAM, 0); connect($s, getsockname($l)) or exit 2";
        let terminal = "use Fcntl; sysopen(my $m, \"/dev/ptmx\", O_RDWR) or exit 1; my $n = pack(\"i\", 0); ioctl($m, 0x40045431, $n) or exit 2; \
                        ioctl($m, 0x80045430, $n) or exit 3; open(my $s, \"+<\", \"/dev/pts/\" . unpack(\"i\", $n)) or exit 4; exit(!-t $s)";
        for (what, program) in [("file", by_file), ("port", by_port), ("terminal", terminal)] {
            let ran = caged.sh(&perl(program)).await;
            assert_eq!(ran.status, 0, "{what}: {ran:?}");
        }
        let shell = "file=$(mktemp) && folder=$(mktemp -d) && mkfifo $folder/pipe && (echo said >$folder/pipe &) && cat $folder/pipe \
                     && cat <(echo replaced) && echo here <<<x && echo shared >/dev/shm/x && echo gone >/dev/null && ls /dev/fd >/dev/null";
        assert_eq!(caged.sh(shell).await.well(), "said\nreplaced\nhere");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crate_with_a_dependency_and_a_build_script() {
    let Some(caged) = a_cage().await else { return };
    let build = r#"set -e
        mkdir -p app/src near/src && cd app
        printf '[package]\nname = "near"\nversion = "0.1.0"\nedition = "2024"\n' >../near/Cargo.toml
        echo 'pub fn word() -> &'"'static"' str { env!("WORD") }' >../near/src/lib.rs
        echo 'fn main() { println!("cargo::rustc-env=WORD=built"); }' >../near/build.rs
        printf '[package]\nname = "app"\nversion = "0.1.0"\nedition = "2024"\n[dependencies]\nnear = { path = "../near" }\n[workspace]\n' >Cargo.toml
        echo 'fn main() { println!("{}", near::word()) } #[test] fn works() {}' >src/main.rs
        cargo build -q --offline && target/debug/app && cargo test -q --offline >/dev/null && echo tested"#;
    assert_eq!(caged.sh(build).await.well(), "built\ntested");
}

#[tokio::test(flavor = "multi_thread")]
async fn packages_of_other_languages() {
    let Some(caged) = a_cage().await else { return };
    let is_there =
        |program: &str| Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success());
    if is_there("npm") {
        let install = r#"set -e
            mkdir -p web/near && cd web && echo '{"name":"web","version":"1.0.0"}' >package.json
            echo '{"name":"near","version":"1.0.0","bin":"run.js","scripts":{"install":"echo ran >ran"}}' >near/package.json
            printf '#!/usr/bin/env node\nconsole.log("installed")\n' >near/run.js
            npm install --offline --no-audit --no-fund --install-links ./near >/dev/null && npx near && cat node_modules/near/ran"#;
        assert_eq!(caged.sh(install).await.well(), "installed\nran");
    }
    let has_venv = Command::new("/usr/bin/python3").args(["-c", "import venv, ensurepip"]).status();
    if has_venv.is_ok_and(|status| status.success()) {
        let make = "/usr/bin/python3 -m venv --without-pip own && own/bin/python -c 'import sys; print(sys.prefix)'";
        assert_eq!(caged.sh(make).await.well(), caged.place().join("own").display().to_string());
    }
}
