//! The same where only rules hold: what they promise, they keep.

use std::fs;
use std::os::unix::fs::symlink;

use hedgerow_core::{RunId, Work};
use hedgerow_engine::cage::Strength;

use super::{Prey, fail};
use crate::caging::office::Caged;

async fn ruled() -> Option<Caged> {
    let caged = Caged::without_namespaces().await;
    (caged.assistants(&["true"]).cage().strength() == Strength::Rules).then_some(caged)
}

#[tokio::test(flavor = "multi_thread")]
async fn files_of_others_by_rules_alone() {
    let Some(caged) = ruled().await else { return };
    let codebase = caged.world.engine.store().codebases().await.expect("the store answers").remove(0);
    let sibling = caged.world.environment(&codebase, Work::Task("sibling".to_owned())).await;
    let home = &caged.world.settings().home;
    let prey = [
        sibling.path.join(".env"),
        caged.repo.path().join(".env"),
        home.join("token"),
        home.join("vault/one"),
        caged.person().join(".ssh/id_ed25519"),
    ];
    let prey = prey.map(Prey::at);
    let there = |prey: &Prey| super::reads(prey).into_iter().chain(super::writes(prey));
    // No rule is about the mode of a file.
    let attempts = prey.iter().flat_map(there).filter(|attempt| !attempt.starts_with("chmod"));
    let ran = fail(&caged, &attempts.collect::<Vec<_>>()).await;
    for prey in prey {
        prey.is_unread(&caged, &ran);
        prey.is_unharmed();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn killing_the_supervisor_to_stay() {
    let Some(caged) = ruled().await else { return };
    let mark = format!("lingerer-{}", RunId::new());
    let script = "env -i setsid -f sh -c 'sleep 1000; : '$0; kill -KILL $PPID; echo up; sleep 2";
    let (updates, ending) = caged.program(&["bash", "-c", script, &mark]).await;
    let is_meant = |pid: &i32| {
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(&mark)
    };
    let all = fs::read_dir("/proc").expect("it can be listed").flatten();
    let left: Vec<_> = all.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).filter(is_meant).collect();
    assert!(left.is_empty(), "{left:?} {updates:?} {ending:?}");
}

/// The server makes links in the agent's home, for what is the user's: not where the agent's own links lead.
#[tokio::test(flavor = "multi_thread")]
async fn links_in_the_way_of_the_servers_own() {
    let Some(caged) = ruled().await else { return };
    let outside = Prey::at(caged.world.folder().join("outside/file"));
    Prey::at(caged.person().join(".local/bin/tool"));
    Prey::at(caged.person().join(".cargo/config.toml"));
    for name in [".local", ".cargo", ".tmp"] {
        symlink(outside.folder(), caged.agents().join(name)).expect("a link");
    }
    caged.sh("true").await.well();
    let names = fs::read_dir(outside.folder()).expect("a folder").flatten().map(|entry| entry.file_name());
    assert_eq!(names.collect::<Vec<_>>(), ["file"]);
    cannot_be_written(&caged, &outside).await;
}

async fn cannot_be_written(caged: &Caged, outside: &Prey) {
    fail(caged, &["echo x >~/.local/file", "touch ~/.cargo/new", "touch $TMPDIR/new"].map(str::to_owned)).await;
    outside.is_unharmed();
}
