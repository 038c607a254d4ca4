//! Links, planted where somebody outside may follow them.

use std::fs;
use std::os::unix::fs::symlink;

use hedgerow_core::assistant::{Turn, Update};

use super::{Prey, a_cage, cages, fail, name, reads};
use crate::caging::office::{Caged, next};

#[tokio::test(flavor = "multi_thread")]
async fn a_link_in_the_environment_that_leads_out() {
    for caged in cages().await {
        let outside = Prey::at(caged.world.folder().join("outside/file"));
        symlink(&outside.path, caged.place().join("link")).expect("a link");
        symlink(outside.folder(), caged.place().join("folder")).expect("a link");
        let attempts =
            ["cat link", "echo x >link", "cat folder/file", "echo x >folder/file", "touch folder/new", "ls folder/"];
        let ran = fail(&caged, &attempts.map(str::to_owned)).await;
        outside.is_unread(&caged, &ran);
        outside.is_unharmed();
        assert_eq!(fs::read_dir(outside.folder()).expect("a folder").count(), 1);
    }
}

/// A folder of the environment that was one in the last turn, and is a link in the next one, where the work goes on.
#[tokio::test(flavor = "multi_thread")]
async fn a_folder_that_becomes_a_link_between_two_turns() {
    let Some(caged) = a_cage().await else { return };
    let outside = Prey::at(caged.world.folder().join("outside/file"));
    caged.sh("mkdir app && echo x >app/file").await.well();
    caged.sh(&format!("rm -r app && ln -s {} app", outside.folder().display())).await.well();
    let turn = Turn { subfolder: Some("app".into()), ..caged.turn() };
    let heard = runs(&caged, turn, &["cat", "file"]).await;
    assert!(heard.contains("leads out"), "{heard}");
    assert!(!heard.contains(outside.words.trim()), "{heard}");

    caged.sh("rm app && ln -s /etc app && ln -s .. up").await.well();
    for inside in ["app", "up"] {
        let turn = Turn { subfolder: Some(inside.into()), ..caged.turn() };
        assert!(runs(&caged, turn, &["pwd"]).await.contains("leads out"), "{inside}");
    }
    outside.is_unharmed();
}

async fn runs(caged: &Caged, turn: Turn, command: &[&str]) -> String {
    let assistant = caged.assistants(command).require(None).expect("the only one");
    let lease = caged.lease();
    let mut updates = assistant.run(&lease, turn);
    let mut heard = Vec::new();
    while let Some(update) = next(&mut updates).await {
        let is_last = matches!(update, Ok(Update::Finished(_)) | Err(_));
        heard.push(format!("{update:?}"));
        if is_last {
            break;
        }
    }
    heard.join("\n")
}

/// What is guarded is found anew before each turn, in folders that an agent could change in the last one.
#[tokio::test(flavor = "multi_thread")]
async fn a_folder_of_the_repository_that_becomes_a_link() {
    let Some(mut caged) = a_cage().await else { return };
    let git = caged.git_folder();
    let outside = Prey::at(caged.world.folder().join("outside/later/file"));
    // Not there at first, so there is nothing to guard.
    let (guard, own) = (git.join("sometimes/later"), git.join("sometimes/later/file"));
    let outer = outside.folder().parent().expect("a folder").display();
    caged.sh(&format!("ln -s {outer} {}/sometimes", git.display())).await.well();
    caged.bounds.guard.push(guard);
    caged.bounds.own.push(own);
    let ran = fail(&caged, &reads(&outside)).await;
    outside.is_unread(&caged, &ran);
    let through = format!("{}/sometimes/later/file", git.display());
    fail(&caged, &[format!("cat {through}"), format!("echo x >{through}")]).await;
    outside.is_unharmed();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cover_that_becomes_a_link() {
    let Some(mut caged) = a_cage().await else { return };
    let outside = Prey::at(caged.world.folder().join("outside/file"));
    let ours = caged.world.folder().join("ours");
    fs::write(&ours, "ours").expect("a file");
    symlink(&outside.path, caged.place().join("CLAUDE.md")).expect("a link");
    symlink(outside.folder(), caged.place().join(".claude")).expect("a link");
    let cover =
        |name: &str| hedgerow_core::assistant::Cover { path: caged.place().join(name), with: Some(ours.clone()) };
    caged.bounds.covers = ["CLAUDE.md", ".claude", ".claude/file"].map(cover).into();
    caged.bounds.is_fork = true;
    let ran = fail(&caged, &["cat CLAUDE.md", "ls .claude/", "cat .claude/file"].map(str::to_owned)).await;
    outside.is_unread(&caged, &ran);
    outside.is_unharmed();
    assert_eq!(name(&outside.path), "file");
}
