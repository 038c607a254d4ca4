//! What git itself does with the credential of a forge: to whom it is shown, and to whom not.

use std::io::Write as _;
use std::process::Stdio;

use hedgerow_core::{RepositoryName, Secret};
use hedgerow_platforms::Forge;
use hedgerow_platforms::github::{Allow, Config, GitHub, Identity};
use hedgerow_testkit::git;

fn github() -> GitHub {
    let config = Config {
        api_url: "https://api.github.com".to_owned(),
        web_url: "https://github.com".to_owned(),
        identity: Identity::Token(Secret::new("ghp_of_a_person")),
        webhook_secrets: Vec::new(),
        bot_name: "hedgerow".to_owned(),
        allow: Allow::Writers,
        clones: true,
        look_every: None,
    };
    GitHub::new(config).expect("a good configuration")
}

/// What git fills in for a remote when a helper is set for `url`.
fn filled(url: &str, remote: &str, whole_path: bool) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let helper = format!("credential.{url}.helper");
    let mut command = git::command(folder.path());
    command.args(["-c", &format!("credential.useHttpPath={whole_path}"), "credential", "fill"]);
    command.env("GIT_TERMINAL_PROMPT", "0").env("GIT_CONFIG_COUNT", "2");
    command.env("GIT_CONFIG_KEY_0", &helper).env("GIT_CONFIG_VALUE_0", "");
    command.env("GIT_CONFIG_KEY_1", &helper);
    command.env("GIT_CONFIG_VALUE_1", "!f() { echo username=x-access-token; echo password=shown; }; f");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().expect("git starts");
    // As git asks it for a remote: `url=` is taken apart by git itself.
    let question = format!("url={remote}\n\n");
    child.stdin.take().expect("a pipe").write_all(question.as_bytes()).expect("git reads");
    let output = child.wait_with_output().expect("git ends");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[tokio::test]
async fn git_shows_it_to_that_repository_alone() {
    let shop = RepositoryName::new("acme", "shop").expect("a name");
    let credential = github().credential(&shop).await.expect("a credential");
    assert_eq!(credential.url, github().clone_url(&shop));
    assert_eq!((credential.username.as_str(), credential.password.reveal()), ("x-access-token", "ghp_of_a_person"));

    let url = credential.url.as_str();
    let table = [
        ("https://github.com/acme/shop.git", true),
        ("https://GitHub.com/acme/shop.git", true),
        ("https://github.com:443/acme/shop.git", true),
        ("https://github.com/acme/shop.git/info/lfs", true),
        ("https://x-access-token@github.com/acme/shop.git", true),
        // The same for GitHub, and not for git: such a remote needs the setting under its own URL.
        ("https://github.com/acme/shop", false),
        ("https://github.com/Acme/Shop.git", false),
        ("https://github.com/acme/other.git", false),
        ("https://github.com/acme/shop.git.evil", false),
        ("https://github.com", false),
        ("http://github.com/acme/shop.git", false),
        ("https://github.com.evil.example/acme/shop.git", false),
        ("https://evil.example/acme/shop.git", false),
    ];
    for (remote, is_shown) in table {
        for whole_path in [false, true] {
            let answer = filled(url, remote, whole_path);
            assert_eq!(answer.contains("password=shown"), is_shown, "{remote}, useHttpPath={whole_path}: {answer}");
        }
    }
}

#[test]
fn a_remote_in_another_spelling_is_opened_under_its_own_url() {
    for remote in ["https://github.com/acme/shop", "https://github.com/Acme/SHOP.git"] {
        assert_eq!(github().repository(remote), RepositoryName::new("acme", "shop"));
        assert!(filled(remote, remote, false).contains("password=shown"), "{remote}");
    }
}
