//! What others have on the machine.

use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;
use std::{fs, path::Path};

use hedgerow_core::Work;

use super::{Prey, a_cage, cages, fail, only_read, out_of_reach, reads};

#[tokio::test(flavor = "multi_thread")]
async fn a_sibling_environment() {
    for caged in cages().await {
        let codebase = caged.world.engine.store().codebases().await.expect("the store answers").remove(0);
        let sibling = caged.world.environment(&codebase, Work::Task("sibling".to_owned())).await;
        let prey = [".env", "src/deep/file", "README.md"].map(|name| Prey::at(sibling.path.join(name)));
        out_of_reach(&caged, &prey).await;
        fail(&caged, &[format!("ls {}", sibling.path.display()), format!("git -C {} log", sibling.path.display())])
            .await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_main_checkout() {
    for caged in cages().await {
        let root = caged.repo.path();
        let readme = Prey::found(root.join("README.md"));
        out_of_reach(&caged, &[".env", "docs/plan"].map(|name| Prey::at(root.join(name)))).await;
        fail(&caged, &[format!("cat {}", readme.shown())]).await;
        readme.is_unharmed();
        fail(&caged, &[format!("git -C {0} status && ls {0} | grep -v .git", root.display())]).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_store_the_vault_the_trash_and_the_tokens() {
    for caged in cages().await {
        let home = &caged.world.settings().home;
        let names = ["token", "hedgerow.db-wal", "vault/one/pack", "trash/one/file", "agents/other/login", "gate.sock"];
        let prey = names.map(|name| Prey::at(home.join(name)));
        out_of_reach(&caged, &prey).await;
        let database = home.join("hedgerow.db");
        let before = fs::metadata(&database).ok().map(|metadata| metadata.len());
        let (home, database) = (home.display(), database.display());
        fail(&caged, &[format!("cat {database}"), format!("rm {database}")]).await;
        assert_eq!(caged.sh(&format!("ls -A {home}")).await.well(), "worktrees", "the way to its own place");
        let after = fs::metadata(caged.world.settings().home.join("hedgerow.db")).ok().map(|metadata| metadata.len());
        assert_eq!(before, after);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn another_codebase() {
    let Some(caged) = a_cage().await else { return };
    let (other, codebase) = caged.world.given_a_repo("other").await;
    let environment = caged.world.environment(&codebase, Work::Task("there".to_owned())).await;
    let prey = [other.path().join("private"), other.path().join(".git/private"), environment.path.join("private")];
    out_of_reach(&caged, &prey.map(Prey::at)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_and_logins_of_the_user() {
    for caged in cages().await {
        let names = [
            ".ssh/id_ed25519",
            ".aws/credentials",
            ".netrc",
            ".git-credentials",
            ".config/gh/hosts.yml",
            ".docker/config.json",
            ".kube/config",
            ".gnupg/private-keys-v1.d/key",
            ".npmrc",
            ".cargo/credentials.toml",
            ".bash_history",
            ".claude/.credentials.json",
            ".codex/auth.json",
        ];
        out_of_reach(&caged, &names.map(|name| Prey::at(caged.person().join(name)))).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn logins_among_the_settings_that_are_shown() {
    let Some(caged) = a_cage().await else { return };
    let names = [".config/git/credentials", ".local/share/uv/credentials/credentials.toml"];
    let prey = names.map(|name| Prey::at(caged.person().join(name)));
    fs::write(caged.person().join(".config/git/config"), "[user]\nname = Person\n").expect("a file");
    assert_eq!(caged.sh("git config user.name").await.well(), "Person");
    let ran = fail(&caged, &prey.iter().flat_map(reads).collect::<Vec<_>>()).await;
    for prey in prey {
        prey.is_unread(&caged, &ran);
        prey.is_unharmed();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_settings_of_the_users_own_agents() {
    let Some(caged) = a_cage().await else { return };
    let names = [".claude/settings.json", ".claude.json", ".codex/config.toml", ".gemini/settings.json", ".bashrc"];
    let prey = names.map(|name| Prey::at(caged.person().join(name)));
    let plant = "mkdir -p ~/.claude ~/.codex ~/.gemini; for file in .claude/settings.json .claude.json \
                 .codex/config.toml .gemini/settings.json .bashrc; do echo trap >~/$file; done; true";
    caged.sh(plant).await.well();
    prey.iter().for_each(Prey::is_unharmed);
}

#[tokio::test(flavor = "multi_thread")]
async fn tools_of_the_user_are_not_replaced() {
    let Some(caged) = a_cage().await else { return };
    let names = [".local/bin/git", ".gitconfig", ".config/git/config", ".cargo/bin/cargo", ".cargo/config.toml"];
    let prey = names.map(|name| Prey::at(caged.person().join(name)));
    fs::write(caged.person().join(".gitconfig"), prey[1].words.replace("secret", "# secret")).expect("a file");
    let prey = names.map(|name| Prey::found(caged.person().join(name)));
    only_read(&caged, &prey).await;
}

/// Whoever is root outside has the power of root over root's own files: it sees of the system what everyone sees.
#[tokio::test(flavor = "multi_thread")]
async fn what_only_root_reads_of_the_system() {
    let Some(caged) = a_cage().await else { return };
    let mut find = Command::new("find");
    find.args(["/etc", "(", "-type", "f", "-o", "-type", "d", ")", "!", "-perm", "-004", "-print"]);
    let found = String::from_utf8(find.output().expect("find is there").stdout).expect("names");
    let is_full = |path: &&str| match fs::metadata(path) {
        Ok(about) if about.is_dir() => fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_some()),
        Ok(about) => about.len() > 0 && about.permissions().mode() & 0o004 == 0,
        Err(_) => false,
    };
    let found: Vec<_> = found.lines().filter(is_full).collect();
    assert!(!rustix::process::geteuid().is_root() || found.contains(&"/etc/shadow"), "{found:?}");
    let read = |path: &&str| {
        if Path::new(path).is_dir() { format!("ls -A {path} | grep .") } else { format!("grep -q . {path}") }
    };
    fail(&caged, &found.iter().map(read).collect::<Vec<_>>()).await;
}
