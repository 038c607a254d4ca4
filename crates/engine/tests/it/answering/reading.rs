//! Templates that need no isolation, and conversations without a codebase: folders to read or to talk in.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use hedgerow_testkit::{Office, TestRepo};

use super::{chat, environment, reads};

/// A codebase with `/look`, which needs no isolation and leaves a note of where it is.
async fn with_a_look(prompt: &str) -> (Office, TestRepo) {
    let (office, repo, _) = Office::with_a_repo().await;
    repo.write("run.sh", "echo\n");
    repo.commit("docs/guide.txt", "v1\n");
    repo.commit(".hedgerow/commands/look.md", &format!("---\ndescription: Looks\nisolation: none\n---\n{prompt}\n"));
    repo.push("main");
    repo.git(&["fetch", "--quiet", "origin"]);
    office.hears(chat(&office, "C1:0", "/load-commands .hedgerow/commands")).await;
    (office, repo)
}

/// Every folder there is below `scratch`, with this name.
fn folders(office: &Office, name: &str) -> Vec<PathBuf> {
    let scratch = office.settings().home.join("scratch");
    let all = fs::read_dir(scratch).into_iter().flatten().flatten();
    all.map(|conversation| conversation.path().join(name)).filter(|path| path.exists()).collect()
}

fn is_writable(path: &Path) -> bool {
    fs::metadata(path).expect("it is there").permissions().mode() & 0o222 != 0
}

#[tokio::test(flavor = "multi_thread")]
async fn a_template_without_isolation_reads_the_base_commit_and_cannot_write() {
    let (office, repo) = with_a_look("say looked").await;
    let before = repo.fingerprint();
    office.hears(chat(&office, "C1:1", "/look")).await;
    let views = folders(&office, "view");
    let [view] = views.as_slice() else { panic!("{views:?}") };
    assert_eq!(fs::read_to_string(view.join("docs/guide.txt")).expect("the guide"), "v1\n");
    assert!(!view.join(".git").exists());
    assert!(!view.join("run.sh").exists(), "what is not committed is not of the base");
    for path in [view.clone(), view.join("docs"), view.join("docs/guide.txt")] {
        assert!(!is_writable(&path), "{}", path.display());
    }
    assert_eq!(repo.fingerprint(), before);
    assert!(repo.worktrees().is_empty());
    // Somebody else's commit is there with the next look.
    repo.commit_on_origin("main", "docs/guide.txt", "v2\n");
    repo.git(&["fetch", "--quiet", "origin"]);
    office.hears(chat(&office, "C1:1", "/look")).await;
    assert_eq!(fs::read_to_string(view.join("docs/guide.txt")).expect("the guide"), "v2\n");
    reads(
        &office,
        &office.chat,
        "C1:1",
        "
        alice: /look
        bot: looked
        alice: /look
        bot: looked
    ",
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_template_without_isolation_reads_the_conversations_environment_if_it_has_one() {
    let (office, _repo) = with_a_look("write seen.txt x\nsay looked").await;
    office.hears(chat(&office, "C1:1", "say hello")).await;
    office.hears(chat(&office, "C1:1", "/look")).await;
    assert!(environment(&office, "thread-1b863934").await.path.join("seen.txt").exists());
    assert!(folders(&office, "view").is_empty());
    reads(
        &office,
        &office.chat,
        "C1:1",
        "
        alice: say hello
        bot… Working in isolated branch `thread-1b863934`
        bot: hello
        alice: /look
        bot: looked
    ",
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn without_any_codebase_one_can_talk_and_is_told_once_how_to_add_one() {
    let office = Office::opens().await;
    office.hears(chat(&office, "C1:1", "remember blue\nwrite a.txt a\nsay hello")).await;
    office.hears(chat(&office, "C1:1", "recall")).await;
    let talks = folders(&office, "talk");
    let [talk] = talks.as_slice() else { panic!("{talks:?}") };
    assert!(talk.join("a.txt").exists());
    reads(
        &office,
        &office.chat,
        "C1:1",
        "
        alice: remember blue
          write a.txt a
          say hello
        bot… No codebase here yet, so I can only talk. `/clone <url>` adds one.
        bot: hello
        alice: recall
        bot: blue
    ",
    );
    // Once there is one, it is worked on.
    office.given_a_repo("shop").await;
    office.hears(chat(&office, "C1:1", "say at last")).await;
    environment(&office, "thread-1b863934").await;
}
