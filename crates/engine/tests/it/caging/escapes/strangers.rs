//! The runs of strangers' pull requests, which get less than others.

use std::fs;

use hedgerow_core::assistant::Cover;

use super::{Prey, a_cage, fail};
use crate::caging::office::Caged;

async fn a_strangers_cage() -> Option<Caged> {
    let mut caged = a_cage().await?;
    caged.bounds.is_fork = true;
    Some(caged)
}

#[tokio::test(flavor = "multi_thread")]
async fn covers_stay_where_they_are() {
    let Some(mut caged) = a_strangers_cage().await else { return };
    let names = ["CLAUDE.md", ".claude/settings.json", ".mcp.json"];
    let theirs = names.map(|name| Prey::at(caged.place().join(name)));
    let ours = Prey::at(caged.world.folder().join("ours"));
    let cover = |name: &str, with| Cover { path: caged.place().join(name), with };
    caged.bounds.covers =
        vec![cover("CLAUDE.md", Some(ours.path.clone())), cover(".claude", None), cover(".mcp.json", None)];
    let attempts = [
        "umount CLAUDE.md",
        "umount -l .claude",
        "unshare -Urm umount CLAUDE.md",
        "rm CLAUDE.md",
        "mv CLAUDE.md x",
        "mv .claude x",
        "echo x >x && mv x CLAUDE.md",
        "ln CLAUDE.md x",
        "echo x >.mcp.json",
        "touch .claude/settings.json",
        "mount --bind . /tmp && cat /tmp/CLAUDE.md",
        "cat .claude/settings.json",
        "grep -q . .mcp.json",
    ];
    let ran = fail(&caged, &attempts.map(str::to_owned)).await;
    let seen = caged.sh("cat CLAUDE.md .mcp.json; ls -A .claude; tar c . | tr -d '\\0' | grep -a secret").await;
    assert_eq!(seen.out.matches("secret").count(), 2, "ours, twice: {seen:?}");
    for theirs in theirs {
        assert!(!ran.out.contains(theirs.words.trim()) && !seen.out.contains(theirs.words.trim()), "{seen:?}");
        theirs.is_unharmed();
    }
    ours.is_unharmed();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_login_is_only_read() {
    let Some(mut caged) = a_strangers_cage().await else { return };
    let login = Prey::at(caged.person().join(".agent/login"));
    caged.belongings = vec![".agent".to_owned()];
    assert_eq!(caged.sh("cat ~/.agent/login").await.well(), login.words.trim_end());
    let attempts = [
        "echo x >~/.agent/login",
        "rm ~/.agent/login",
        "touch ~/.agent/new",
        "mv ~/.agent ~/x",
        "chmod 777 ~/.agent/login",
    ];
    fail(&caged, &attempts.map(str::to_owned)).await;
    login.is_unharmed();
    assert_eq!(fs::read_dir(login.folder()).expect("a folder").count(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_left_in_the_home_of_others() {
    let Some(mut caged) = a_strangers_cage().await else { return };
    let kept = Prey::at(caged.agents().join(".cache/kept"));
    let ran = fail(&caged, &["cat ~/.cache/kept".to_owned(), "find ~ -name kept | grep .".to_owned()]).await;
    kept.is_unharmed();
    assert!(!ran.out.contains(kept.words.trim()), "{ran:?}");
    caged.sh("mkdir -p ~/.cache && echo trap >~/.cache/kept && echo trap >~/.bashrc").await.well();
    kept.is_unharmed();
    let left = caged.sh("ls -A ~; cat ~/.bashrc").await;
    assert!(!left.out.contains("trap") && !left.out.contains(".bashrc"), "{left:?}");
    caged.bounds.is_fork = false;
    let left = caged.sh("ls -A ~").await.well();
    assert!(!left.contains(".bashrc"), "{left}");
}
