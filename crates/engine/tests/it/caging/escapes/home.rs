//! The agent's own home: what it leaves there, the next turn finds, and so does the server.

use std::fs;
use std::os::unix::fs::symlink;

use super::{Prey, a_cage, cages, fail};

/// Tools and logins are laid into the home before each turn, past whatever is there.
#[tokio::test(flavor = "multi_thread")]
async fn links_in_the_way_of_what_is_laid_into_the_home() {
    for mut caged in cages().await {
        let outside = Prey::at(caged.world.folder().join("outside/file"));
        let person = caged.person();
        let tool = Prey::at(person.join(".local/bin/tool"));
        let login = Prey::at(person.join(".aws/login"));
        caged.belongings = vec![".aws/login".to_owned()];
        let home = caged.agents();
        for name in [".local", ".aws", ".cargo", ".config", ".rustup", "go"] {
            symlink(outside.folder(), home.join(name)).expect("a link");
        }
        let said = caged.sh("cat ~/.local/bin/tool ~/.aws/login").await.well();
        assert_eq!(said, format!("{}{}", tool.words, login.words.trim_end()));
        outside.is_unharmed();
        assert_eq!(fs::read_dir(outside.folder()).expect("a folder").count(), 1, "nothing was made there");

        // Once more with the file itself.
        fs::remove_dir_all(home.join(".aws")).expect("a folder");
        fs::create_dir(home.join(".aws")).expect("a folder");
        symlink(&outside.path, home.join(".aws/login")).expect("a link");
        caged.sh("cat ~/.aws/login; echo new >~/.aws/login").await.well();
        outside.is_unharmed();
        assert_eq!(fs::read_to_string(person.join(".aws/login")).expect("it is there"), "new\n");
    }
}

/// The home itself is not what it leads to.
#[tokio::test(flavor = "multi_thread")]
async fn links_in_the_home_that_lead_out() {
    let Some(caged) = a_cage().await else { return };
    let outside = Prey::at(caged.world.folder().join("outside/file"));
    symlink(outside.folder(), caged.agents().join("way")).expect("a link");
    let ran = fail(&caged, &["cat ~/way/file", "echo x >~/way/file", "touch ~/way/new"].map(str::to_owned)).await;
    outside.is_unread(&caged, &ran);
    outside.is_unharmed();
}

/// A login that is a folder can be written by the agent. What else is found below it must not be led astray by that.
#[tokio::test(flavor = "multi_thread")]
async fn links_in_a_login_that_lead_to_other_things_of_the_user() {
    let Some(mut caged) = a_cage().await else { return };
    let person = caged.person();
    let key = Prey::at(person.join(".ssh/id_ed25519"));
    let settings = Prey::at(person.join(".config/git/config"));
    fs::write(&settings.path, format!("# {}", settings.words)).expect("a file");
    let settings = Prey::found(&settings.path);
    caged.belongings = vec![".config".to_owned(), ".local".to_owned()];
    fs::create_dir_all(person.join(".local/share")).expect("a folder");
    caged.sh("echo ours >~/.config/agent").await.well();
    assert_eq!(fs::read_to_string(person.join(".config/agent")).expect("it is there"), "ours\n");
    // What other programs of the user read there stays as it is.
    let harm = ["echo x >~/.config/git/config", "mv ~/.config/git ~/.config/away", "rm -r ~/.config/git"];
    fail(&caged, &harm.map(str::to_owned)).await;
    settings.is_unharmed();

    // Planted in one turn, laid into the home in the next.
    caged.sh("ln -s ../.ssh ~/.local/bin && ln -s ../.ssh ~/.local/lib").await.well();
    let ran = fail(
        &caged,
        &["cat ~/.local/bin/id_ed25519", "cat ~/.local/lib/id_ed25519", "cat ~/.ssh/id_ed25519"].map(str::to_owned),
    )
    .await;
    key.is_unread(&caged, &ran);
    key.is_unharmed();
}

/// The git of the server is the user's, with the user's settings, whatever an agent has in its home.
#[tokio::test(flavor = "multi_thread")]
async fn settings_of_git_in_its_own_home() {
    let Some(caged) = a_cage().await else { return };
    let canary = caged.world.folder().join("canary");
    let trap = format!("touch {}", canary.display());
    let plant = format!(
        "git config --global core.fsmonitor '{trap}'; git config --global filter.x.clean '{trap}'; \
         git config --global core.hooksPath ~/hooks; mkdir -p ~/hooks; printf '#!/bin/sh\\n{trap}\\n' >~/hooks/post-checkout; \
         chmod +x ~/hooks/post-checkout; echo '* filter=x' >.gitattributes; echo x >new; true"
    );
    caged.sh(&plant).await.well();
    let checked = caged.world.engine.checkpoint(&caged.environment, None, &hedgerow_testkit::world::alice()).await;
    assert!(checked.is_ok(), "{checked:?}");
    assert!(!canary.exists());
}
