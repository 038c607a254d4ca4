//! Honest work is not hindered.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::Command;

use super::office::Caged;

const GIT: &str = r#"
set -e
export GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@example.com GIT_COMMITTER_NAME=A GIT_COMMITTER_EMAIL=a@example.com
echo one >one.txt && git add -A && git commit -qm one
git branch side && git branch -m side aside && git branch -d aside
echo two >>one.txt && git stash -q && git stash pop -q && git commit -qam two
git fetch -q origin
git rebase -q origin/main
git tag v1 && git gc -q && git worktree list >/dev/null
test -z "$(git status --porcelain)"
git log -1 --format=%s
"#;

#[tokio::test(flavor = "multi_thread")]
async fn git_works() {
    let caged = Caged::new().await;
    caged.repo.commit_on_origin("main", "news.txt", "news");
    assert_eq!(caged.sh(GIT).await.well(), "two");
    assert_eq!(caged.sh("git log --format=%s -3").await.well(), "two\none\nChange news.txt");
}

#[tokio::test(flavor = "multi_thread")]
async fn git_works_for_a_user_without_any_power() {
    let caged = Caged::nobody().await;
    caged.repo.commit_on_origin("main", "news.txt", "news");
    assert_eq!(caged.sh(&format!("test $(id -u) != 0\n{GIT}")).await.well(), "two");
    caged.sh("git config user.name X").await.badly();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crate_is_built_offline() {
    let caged = Caged::new().await;
    let built = "set -e; cargo init -q --name tiny --vcs none . && cargo build -q --offline && target/debug/tiny";
    assert_eq!(caged.sh(built).await.well(), "Hello, world!");
    let cache = caged.agents().join(".cargo");
    assert!(cache.exists(), "its caches are in its own home");
}

#[tokio::test(flavor = "multi_thread")]
async fn packages_are_installed_and_scripts_run() {
    let caged = Caged::new().await;
    let place = caged.place();
    fs::create_dir(place.join("dependency")).expect("a folder");
    let package = r#"{"name":"dependency","version":"1.0.0","main":"index.js"}"#;
    fs::write(place.join("dependency/package.json"), package).expect("a file");
    fs::write(place.join("dependency/index.js"), "module.exports = 'installed'").expect("a file");
    fs::write(place.join("package.json"), r#"{"name":"app","version":"1.0.0"}"#).expect("a file");
    if is_there("npm") {
        let install = "npm install --offline --no-audit --no-fund --install-links ./dependency >/dev/null && \
                       node -e \"console.log(require('dependency'))\"";
        assert_eq!(caged.sh(install).await.well(), "installed");
    }
    if Path::new("/usr/bin/python3").exists() {
        let script = "import tempfile, multiprocessing as m; m.Lock(); print(tempfile.gettempdir())";
        assert_eq!(caged.sh(&format!("/usr/bin/python3 -c '{script}'")).await.well(), "/tmp");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn its_home_stays_and_temporary_files_go() {
    let caged = Caged::new().await;
    let first =
        "echo kept >~/kept && echo gone | tee /tmp/gone /var/tmp/gone /dev/shm/gone && echo $HOME $TMPDIR $IS_SANDBOX";
    let said = caged.sh(first).await.well();
    assert_eq!(said, format!("gone\n{} /tmp 1", caged.person().display()));
    let second = caged.sh("cat ~/kept; ls -A /tmp /var/tmp /dev/shm").await.well();
    assert_eq!(second.lines().next(), Some("kept"));
    assert!(!second.contains("gone"), "{second}");
    assert_eq!(fs::read_to_string(caged.agents().join("kept")).expect("it is on disk"), "kept\n");
    assert!(!caged.person().join("kept").exists(), "the user's own home is another one");
}

#[tokio::test(flavor = "multi_thread")]
async fn tools_and_logins_of_the_user_are_at_hand() {
    let mut caged = Caged::new().await;
    let person = caged.person();
    for folder in [".local/bin", ".config/git", "elsewhere", ".aws"] {
        fs::create_dir_all(person.join(folder)).expect("a folder");
    }
    let tool = person.join("elsewhere/tool");
    fs::write(&tool, "#!/bin/sh\necho at hand\n").expect("a file");
    fs::set_permissions(&tool, fs::Permissions::from_mode(0o755)).expect("its mode");
    fs::copy(&tool, person.join(".local/bin/tool")).expect("a file");
    fs::write(person.join("settings"), "[user]\nname = Person\n").expect("a file");
    symlink(person.join("settings"), person.join(".gitconfig")).expect("a link");
    fs::write(person.join(".aws/login"), "old").expect("a file");
    fs::write(person.join("private"), "private").expect("a file");
    caged.belongings = vec![".aws".to_owned()];

    let script = "set -e; ~/.local/bin/tool; git config user.name; echo new >~/.aws/login; ls -A ~";
    let said = caged.sh(script).await.well();
    assert!(said.starts_with("at hand\nPerson\n") && !said.contains("private"), "{said}");
    assert_eq!(fs::read_to_string(person.join(".aws/login")).expect("it is there"), "new\n", "a login is renewed");
    caged
        .refuses(&[
            "echo x >~/.local/bin/tool",
            "git config --global a.b c",
            "touch ~/.local/bin/new",
            "rm ~/.gitconfig",
        ])
        .await;

    // A program that is nowhere in PATH comes with its folder, behind links as well.
    symlink(&tool, person.join("link")).expect("a link");
    let (updates, ending) = caged.program(&[person.join("link").to_str().expect("a name")]).await;
    assert!(format!("{updates:?}").contains("at hand"), "{updates:?} {ending:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_program_left_in_the_way_gives_way() {
    let caged = Caged::new().await;
    fs::create_dir_all(caged.person().join(".local/bin")).expect("a folder");
    fs::write(caged.person().join(".gitconfig"), "[user]\nname = Person\n").expect("a file");
    caged.sh("rm -rf ~/.local 2>/dev/null; mv ~/.local ~/moved; ln -s /etc ~/.local; ln -s /usr ~/.cargo").await;
    assert_eq!(caged.sh("git config user.name").await.well(), "Person");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_status_and_the_place_are_the_programs_own() {
    let mut caged = Caged::new().await;
    caged.variables = vec![("TOLD".to_owned(), "so".to_owned())];
    let said = caged.sh("echo $TOLD; pwd; env | grep HEDGEROW_; exit 7").await;
    assert_eq!(said.status, 7, "{said:?}");
    let lines: Vec<_> = said.out.lines().collect();
    assert_eq!(lines[..2], ["so", &caged.place().to_string_lossy()]);
    assert!(lines[2].starts_with("HEDGEROW_RUN=") && lines.len() == 3, "only its mark: {lines:?}");
    let (_, ending) = caged.program(&["sh", "-c", "exit 3"]).await;
    assert!(format!("{ending:?}").contains("exit status 3"), "{ending:?}");
}

fn is_there(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success())
}
