//! A GitHub App in place of a person's token: the same life in a private repository, and its secrets are nowhere.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use hedgerow_testkit::outside::github::{APP_KEY, GitHub, GitHubRepository, Role};

use super::looking::{head, last_word, place};
use super::town::{SECRET, Town, desk};
use crate::load::server::LOG_FILE;

/// A town whose server is an App. All that it says is in a file, and so is every command line of git.
async fn town_of_an_app() -> (Town, GitHubRepository, Notes) {
    let github = GitHub::start().await;
    let shop = github.repository("acme/shop").with("alice", Role::Write).private();
    let desk = desk().await;
    let notes = Notes::in_folder(desk.folder());
    let path = format!("{}:{}", notes.programs.display(), std::env::var("PATH").unwrap_or_default());
    let variables = [
        ("GITHUB_APP_ID", github.app_id()),
        ("GITHUB_PRIVATE_KEY_FILE", notes.key.display().to_string()),
        ("HEDGEROW_LOG", "trace".to_owned()),
        (LOG_FILE, notes.log.display().to_string()),
        ("PATH", path),
    ];
    let variables = variables.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    (Town::around(github, desk, variables).await, shop, notes)
}

/// What is written down of a server, outside of its own home.
struct Notes {
    key: PathBuf,
    log: PathBuf,
    programs: PathBuf,
    command_lines: PathBuf,
}

impl Notes {
    fn in_folder(folder: &Path) -> Self {
        let (key, programs) = (folder.join("app-key.pem"), folder.join("programs"));
        fs::write(&key, APP_KEY).expect("a key");
        fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).expect("for its owner alone");
        fs::create_dir(&programs).expect("a folder");
        let (git, command_lines) = (programs.join("git"), folder.join("command-lines"));
        let real = hedgerow_testkit::git::command(folder).get_program().to_owned();
        let real = which(&real.to_string_lossy());
        let script = format!(
            "#!/bin/sh\nprintf '%s\\n' \"$*\" >> '{}' 2>/dev/null\nexec '{}' \"$@\"\n",
            command_lines.display(),
            real.display()
        );
        fs::write(&git, script).expect("a program");
        fs::set_permissions(&git, fs::Permissions::from_mode(0o755)).expect("one that can be run");
        Self { key, log: folder.join("server.log"), programs, command_lines }
    }
}

fn which(program: &str) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).map(|folder| folder.join(program)).find(|file| file.is_file());
    found.expect("git is installed")
}

/// The files below a folder that hold one of the texts.
fn files_with(folder: &Path, texts: &[String]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let (path, kind) = (entry.path(), entry.file_type().expect("a kind"));
        if kind.is_dir() {
            found.extend(files_with(&path, texts));
        } else if kind.is_file() {
            let bytes = fs::read(&path).unwrap_or_default();
            let read = String::from_utf8_lossy(&bytes);
            found.extend(texts.iter().any(|text| read.contains(text.as_str())).then_some(path));
        }
    }
    found
}

#[tokio::test(flavor = "multi_thread")]
async fn an_app_clones_fetches_and_pushes_and_its_tokens_are_written_nowhere() {
    let (town, shop, notes) = town_of_an_app().await;
    let issue = shop.issue(42).titled("Login is broken").opened_by("alice").await;
    issue.says("alice", "@hedgerow write login.txt mended\ncommit Mend\nsay Mended.\nsay /worktree pr").await;
    town.is_quiet().await;
    let told = issue.transcript();
    let pull = shop.newest_pull().unwrap_or_else(|| panic!("no pull request: {told}"));
    assert_eq!(town.works(), [place(&["issue-42", "pr-43"], "issue-42")], "{told}");
    assert_eq!(pull.head(), town.head_of("issue-42"));
    assert!(last_word(&issue).contains("Opened pull request #43"), "{told}");

    // All that was given out is worth nothing from one moment to the next.
    let before = town.github.tokens();
    town.github.tokens_expire();
    shop.commits("alice", "main", "news.txt", "news\n").await;
    pull.says("alice", "@hedgerow write more.txt more\ncommit More\nsay More.\nsay /worktree pr").await;
    let other = shop.issue(50).opened_by("alice").await;
    other.says("alice", "@hedgerow cat news.txt").await;
    town.is_quiet().await;
    assert!(last_word(&pull).contains("Pushed 1 commit to #43"), "{}", pull.transcript());
    assert!(last_word(&other).contains("news.txt: news"), "{}", other.transcript());
    let tokens = town.github.tokens();
    assert!(tokens.len() > before.len(), "new ones were asked for");

    let line_of_the_key = APP_KEY.lines().nth(5).expect("a long key").to_owned();
    let secrets: Vec<String> =
        tokens.into_iter().chain([SECRET.to_owned(), line_of_the_key, "eyJ0eXAi".into(), "eyJhbGci".into()]).collect();
    let found = files_with(town.desk.folder(), &secrets);
    assert_eq!(found, std::slice::from_ref(&notes.key), "only the key's own file has any of them");
    let argv = fs::read_to_string(&notes.command_lines).expect("git was called");
    assert!(argv.contains(" push ") && argv.contains("clone"), "its command lines were seen: {argv}");
    let log = fs::read_to_string(&notes.log).expect("a log");
    assert!(log.contains("a run begins"), "the log was seen: {log}");

    let config = fs::read_to_string(clone_of(&town).join("config")).expect("the clone's settings");
    assert!(config.contains(&format!("url = {}", shop.clone_url())), "{config}");
    assert!(!config.contains("credential") && !config.contains('@'), "{config}");
}

/// The git folder that an environment is a worktree of.
fn clone_of(town: &Town) -> PathBuf {
    let said = hedgerow_testkit::git::git(&town.path_of("issue-42"), &["rev-parse", "--git-common-dir"]);
    said.trim().into()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_of_an_installation_opens_one_repository() {
    let (town, shop, _notes) = town_of_an_app().await;
    town.github.repository("acme/secrets");
    let issue = shop.issue(42).opened_by("alice").await;
    issue.says("alice", "@hedgerow write a.txt a\ncommit A").await;
    town.is_quiet().await;
    let wishes: Vec<_> =
        town.github.requests().into_iter().filter(|request| request.path.ends_with("/access_tokens")).collect();
    assert!(!wishes.is_empty() && wishes.iter().all(|wish| wish.body["repositories"] == serde_json::json!(["shop"])));

    let pull = shop.pull_request(99).from_branch("feature/auth").by("alice").await;
    pull.says("alice", "@hedgerow cat change-99.txt").await;
    town.is_quiet().await;
    assert!(last_word(&pull).contains("change-99.txt: changed"), "{}", pull.transcript());
    assert_eq!(head(&town.path_of("pr-99")), pull.head());
}
