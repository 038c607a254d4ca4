//! What people read about a run that overstepped, and what becomes of one whose server died.

use std::fs;
use std::path::Path;

use hedgerow_engine::settings::{Program, SandboxMode};
use hedgerow_testkit::Office;

/// An office whose assistant is a script that the test writes.
async fn office(script: &Path, mode: SandboxMode) -> Office {
    let program = Program::script("villain", ["sh".into(), script.as_os_str().to_owned()]);
    Office::with(|settings| {
        settings.runs.assistants = vec![program];
        settings.runs.sandbox.mode = mode;
        settings.runs.sandbox.write.extend(script.parent().map(Path::to_owned));
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn the_answer_says_what_was_put_back() {
    let folder = tempfile::tempdir().expect("a folder");
    let script = folder.path().join("script");
    // In a cage the settings could not be changed at all.
    let office = office(&script, SandboxMode::Off).await;
    let (repo, _) = office.world.given_a_repo("shop").await;
    let main = repo.commit("a.txt", "one");
    repo.push("main");
    fs::write(&script, "git update-ref refs/heads/main HEAD~1 && git config core.editor evil && echo done\n")
        .expect("a script");
    office.hears(office.forge.says("acme/shop#1", "alice", "go").about("issue-1").raw()).await;
    let said: Vec<String> = office.forge.said_in("acme/shop#1").into_iter().map(|(text, _)| text).collect();
    let last = said.last().expect("an answer");
    let paragraphs: Vec<&str> = last.split("\n\n").collect();
    assert_eq!(paragraphs.len(), 3, "{last}");
    assert_eq!(
        paragraphs[0],
        "The run changed the repository's git settings (`core.editor`), which is not its own. It was put back."
    );
    assert!(paragraphs[1].starts_with("The run moved branch `main`, which is not its own. It was put back;"), "{last}");
    assert_eq!(paragraphs[2], "done");
    assert_eq!(repo.rev("main"), Some(main));
    assert!(!repo.try_git(&["config", "core.editor"]).status.success());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_whose_server_died_is_looked_at_by_the_next() {
    let folder = tempfile::tempdir().expect("a folder");
    let (script, began) = (folder.path().join("script"), folder.path().join("began"));
    let mut office = office(&script, SandboxMode::On).await;
    let (repo, _) = office.world.given_a_repo("shop").await;
    let main = repo.commit("a.txt", "one");
    repo.push("main");
    let text = format!("git update-ref refs/heads/main HEAD~1 && touch {} && sleep 600\n", began.display());
    fs::write(&script, text).expect("a script");
    office.gets(office.forge.says("acme/shop#1", "alice", "go").about("issue-1").raw()).await;
    office.sees(&began).await;
    office.crashes().await;
    assert_ne!(repo.rev("main"), Some(main.clone()), "nobody has looked yet");
    office.starts_again().await;
    office.is_idle().await;
    assert_eq!(repo.rev("main"), Some(main));
    let said: Vec<String> = office.forge.said_in("acme/shop#1").into_iter().map(|(text, _)| text).collect();
    let last = said.last().expect("a last word");
    assert!(last.starts_with("The run moved branch `main`"), "{last}");
    assert!(last.contains("Interrupted: the server stopped"), "{last}");
    let left = fs::read_dir(office.settings().home.join("tripwires")).expect("a folder").count();
    assert_eq!(left, 0, "nothing is left to look at");
}
