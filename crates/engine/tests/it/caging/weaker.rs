//! Where the system forbids views, or somebody switched the cage off.

use std::fs;

use hedgerow_core::assistant::AssistantError;
use hedgerow_engine::cage::Strength;
use hedgerow_engine::settings::SandboxMode;

use super::office::Caged;

#[tokio::test(flavor = "multi_thread")]
async fn rules_alone_keep_what_is_not_the_agents_from_it() {
    let caged = Caged::without_namespaces().await;
    let cage = caged.assistants(&["true"]).cage().clone();
    assert_eq!(cage.strength(), Strength::Rules);
    let why = cage.ability().view.expect_err("no view");
    assert!(why.contains("sysctl user.max_user_namespaces"), "{why}");

    let secret = caged.person().join("secret");
    fs::write(&secret, "secret").expect("a file");
    let work = "set -e; echo x >new; git add new; git -c user.name=A -c user.email=a@b commit -qm new; \
                echo kept >~/kept; mktemp >/dev/null";
    caged.sh(work).await.well();
    assert_eq!(fs::read_to_string(caged.agents().join("kept")).expect("it is there"), "kept\n");
    let database = caged.world.settings().home.join("hedgerow.db");
    let server = std::process::id();
    let mut attempts = vec![format!("kill -0 {server}"), format!("cat /proc/{server}/environ")];
    for path in [caged.repo.path().join("README.md"), database, secret, caged.world.folder().join("new")] {
        let path = path.display();
        attempts.extend([format!("cat {path}"), format!("echo x >{path}")]);
    }
    caged.refuses(&attempts).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_needs_a_view_does_not_run_without() {
    let mut caged = Caged::without_namespaces().await;
    caged.bounds.is_fork = true;
    let (_, ending) = caged.program(&["true"]).await;
    assert!(matches!(&ending, Err(AssistantError::Uncaged(why)) if why.contains("stranger")), "{ending:?}");
    caged.sandbox.uncovered_forks = true;
    caged.sh("true").await.well();
    caged.sandbox.mode = SandboxMode::Required;
    let (_, ending) = caged.program(&["true"]).await;
    assert!(matches!(&ending, Err(AssistantError::Uncaged(why)) if why.contains("required")), "{ending:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn switched_off_it_is_as_if_there_were_none() {
    let mut caged = Caged::new().await;
    caged.sandbox.mode = SandboxMode::Off;
    assert_eq!(caged.assistants(&["true"]).cage().strength(), Strength::Off);
    let said = caged.sh(&format!("cat {}", caged.repo.path().join("README.md").display())).await;
    assert_eq!(said.well(), "Hello");
}
